module Lib.A where
fromA :: Int
fromA = 1
both :: a -> a
both = id
