module Parts.Other where

x :: Int
x = 1
