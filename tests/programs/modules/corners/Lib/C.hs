{-
 header -}
module Lib.C
  where

fromC :: Int
fromC = 2

main :: IO ()
main = print fromC
