{-# LANGUAGE PatternSynonyms, ViewPatterns #-}
module Shapes (Point, pattern Point, pattern Origin, Shape (.., Square), area, pattern (:+:)) where
newtype Point = MkPoint (Int, Int) deriving (Eq, Show)
pattern Point :: Int -> Int -> Point
pattern Point x y = MkPoint (x, y)
{-# COMPLETE Point #-}
pattern Origin :: Point
pattern Origin = Point 0 0
data Shape = Rect Int Int | Circle Int deriving Show
pattern Square :: Int -> Shape
pattern Square n <- (square -> Just n) where Square n = Rect n n
square :: Shape -> Maybe Int
square (Rect a b) | a == b = Just a
square _ = Nothing
area :: Shape -> Int
area (Square n) = n * n
area (Rect a b) = a * b
area (Circle r) = 3 * r * r
infixr 5 :+:
pattern (:+:) :: a -> [a] -> [a]
pattern x :+: xs = x : xs
