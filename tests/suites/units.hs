module Main where
import Test.HUnit

foo :: Int -> (Int, Int)
foo x = (1, x)

test1 = TestCase (assertEqual "for (foo 3)," (1,2) (foo 3))
test2 = TestCase (do (x, y) <- return (3, 4)
                     assertEqual "for the first result" 5 x
                     assertBool "second" (y == 2))
tests = TestList [TestLabel "test1" test1, TestLabel "test2" test2]
tests2 = test [ "a" ~: "b" ~: 1 ~=? 2, "c" ~: 2 ~?= 3, "d" ~: (assertFailure "x" :: Assertion), "f" ~: True ~? "no", "g" ~: (1 @?= 1), "h" ~: 1 @=? 2, "i" ~: assertString "", "j" ~: assertString "str", "k" ~: (False @? "pred"), "l" ~: assertEqual "" 1 2 , "m" ~: TestCase (fail "iofail")]
main = do
  c <- runTestTT tests
  print c
  c <- runTestTT tests2
  print c
  c <- runTestTT (TestCase (return ()))
  print (testCaseCount tests2, testCasePaths tests2)
  (c, s) <- runTestText (putTextToShowS) tests
  putStrLn (s "")
