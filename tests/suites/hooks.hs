module Main where

import Control.Exception
import Data.IORef
import Test.Hspec
import Test.Hspec.QuickCheck
import Test.QuickCheck

data Refused = Refused Int
  deriving (Eq, Show)

instance Exception Refused

main :: IO ()
main = do
  ref <- newIORef (0 :: Int)
  hspec $ do
    describe "before and after" $ before (modifyIORef ref (+ 1) >> readIORef ref) $ after (\n -> putStrLn ("after " ++ show n)) $ do
      it "is given 1" $ \n -> n `shouldBe` 1
      it "is given 2" $ \n -> n `shouldBe` 2
      it "fails, and is cleaned up" $ \n -> n `shouldBe` 2
    describe "around" $ around (\run -> putStrLn "open" >> run "handle" >> putStrLn "close") $ do
      it "has a handle" $ \h -> h `shouldBe` "handle"
      it "has a property" $ \h -> property $ withMaxSuccess 2 $ \x -> length h `shouldSatisfy` (> min 0 (x :: Int))
    describe "beforeAll" $ beforeAll (putStrLn "once" >> return 'x') $ afterAll (\c -> putStrLn ("at the end " ++ [c])) $ do
      it "one" $ \c -> c `shouldBe` 'x'
      it "two" $ \c -> c `shouldBe` 'x'
      beforeWith (\c -> return [c, c]) $ it "three" $ \s -> s `shouldBe` "xx"
    describe "beforeAll that fails" $ beforeAll (throwIO (Refused 1) :: IO Int) $ do
      it "one" $ \n -> n `shouldBe` 1
      it "two" $ \n -> n `shouldBe` 1
    describe "around_" $ around_ (\run -> putStrLn "(" >> run >> putStrLn ")") $ do
      it "stands in brackets" $ putStrLn "."
    describe "afterAll_ that fails" $ afterAll_ (throwIO (Refused 2)) $ do
      it "passes" True
    describe "built by hand" $ do
      n <- runIO (return 3)
      mapM_ (\i -> it ("example " ++ show i) $ i `shouldSatisfy` (< n)) [1 .. n :: Int]
    describe "exceptions" $ do
      it "is of a type of one's own" $ (throwIO (Refused 3) :: IO ())
      it "is of input and output" $ (readFile "there/is/none" >>= putStr)
      it "is a user error" $ (ioError (userError "no") :: IO ())
      it "is expected" $ throwIO (Refused 4) `shouldThrow` (== Refused 4)
      it "is another one" $ throwIO (Refused 4) `shouldThrow` (== Refused 5)
      it "is none" $ return () `shouldThrow` (== Refused 5)
      it "is any" $ evaluate (1 `div` (0 :: Int)) `shouldThrow` anyArithException
      it "is in a Bool" $ 1 `div` (0 :: Int) == 1
    describe "properties" $ do
      modifyMaxSuccess (const 20) $ prop "has fewer tests" $ \x -> x == (x :: Int)
      prop "has labels" $ \x -> classify (x > 0) "positive" $ x == (x :: Int)
      prop "gives up" $ \x -> x > 1000 ==> x == (x :: Int)
      prop "throws" $ \x -> 10 `div` (x :: Int) >= -10
      prop "expects a failure" $ expectFailure $ \x -> x < (3 :: Int)
      prop "expects one in vain" $ expectFailure $ \x -> x == (x :: Int)
      it "has values with names" $ property $ forAll (choose (1, 9 :: Int)) $ \x -> counterexample "here" (x < 5)
      it "has more than one line" $ (["a", "b"] :: [String]) `shouldBe` lines "a\nc"
    xdescribe "left out" $ do
      it "one" False
      it "two" $ 1 `shouldBe` (2 :: Int)
