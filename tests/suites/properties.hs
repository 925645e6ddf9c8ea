{-# LANGUAGE TemplateHaskell #-}
-- What `$quickCheckAll` and its like find: the properties above them.
module Main where

import Test.QuickCheck

prop_turned :: [Int] -> [Int] -> Bool
prop_turned xs ys = reverse (xs ++ ys) == reverse ys ++ reverse xs

prop_wrong :: Int -> Bool
prop_wrong n = n == n + 1

helper :: Int
helper = 3

prop_one, prop_two :: Property
prop_one = once (helper === 3)
prop_two = once (helper =/= 4)

-- A line that begins with prop_ is none.
propose :: Int -> Bool
propose = (> 0)

return []

runTests :: IO Bool
runTests = $quickCheckAll

prop_below :: Bool
prop_below = False

main :: IO ()
main = do
  ok <- runTests
  print ok
  few <- $(forAllProperties) (quickCheckWithResult stdArgs {maxSuccess = 7})
  print few
  print (map fst $allProperties)
  print . length $ $(allProperties)
