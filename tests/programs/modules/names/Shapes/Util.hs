module Shapes.Util (twice) where
twice :: (a -> a) -> a -> a
twice f = f . f
secret :: Int
secret = 1
