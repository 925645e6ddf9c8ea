module Main where
import Test.Hspec
import Test.Hspec.QuickCheck
import Test.QuickCheck
import Control.Exception
import qualified Data.Map as M

main :: IO ()
main = hspec $ do
  describe "Prelude.head" $ do
    it "returns the first element of a list" $ do
      head [23 ..] `shouldBe` (23 :: Int)

    it "returns the first element of an *arbitrary* list" $
      property $ \x xs -> head (x:xs) == (x :: Int)

    it "throws an exception if used with an empty list" $ do
      evaluate (head []) `shouldThrow` anyException
    it "fails" $ do
      length "abc" `shouldBe` 4
    it "fails with strings" $ do
      show [1,2,3] `shouldBe` "[1,2,4]"
    it "multi" $ unlines ["a","b"] `shouldBe` unlines ["a","c"]
    it "satisfies" $ 3 `shouldSatisfy` (> (4 :: Int))
    it "pends" $ pending
    it "pends with" $ pendingWith "not yet"
    it "contains" $ [1,2,3] `shouldContain` [4 :: Int]
    it "matches" $ [1,2,3] `shouldMatchList` [4,1,2 :: Int]
    it "returns" $ return 3 `shouldReturn` (4 :: Int)
    it "throws" $ evaluate (1 `div` 0 :: Int) `shouldThrow` errorCall "x"
    it "throws not" $ evaluate (1 :: Int) `shouldThrow` anyErrorCall
    it "throws right" $ evaluate (1 `div` 0 :: Int) `shouldThrow` (== DivideByZero)
    it "bool" $ False
    it "expfail" $ expectationFailure "bad thing"
    xit "skipped" $ True
  describe "nested" $ do
    context "inner" $ do
      prop "prop" $ \x -> x + 0 == (x :: Int)
      prop "prop fails" $ \x -> x < (5 :: Int)
      it "prop2" $ property $ \x y -> x + y === (x - y :: Int)
      specify "spec" $ True
      it "propexp" $ property $ \x -> (x :: Int) `shouldBe` x
      it "propexp fail" $ property $ \x -> (abs x :: Int) `shouldSatisfy` (< 4)
    it "startWith" $ "abc" `shouldStartWith` "bc"
    it "endWith" $ "abc" `shouldEndWith` "ab"
    it "notBe" $ 3 `shouldNotBe` (3 :: Int)
    it "notSat" $ 3 `shouldNotSatisfy` (== (3::Int))
    it "notContain" $ "abc" `shouldNotContain` "b"
    it "notReturn" $ return 3 `shouldNotReturn` (3 :: Int)
    it "just" $ Just 3 `shouldBe` Nothing
  before (return 5) $ do
    it "with arg" $ \x -> x `shouldBe` (5 :: Int)
    it "with arg 2" $ \x -> x + 1 `shouldBe` (5 :: Int)
  it "" True
  describe "" $ it "unnamed" True
  it "example" $ example $ 1 `shouldBe` 1
