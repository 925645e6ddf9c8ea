module Geo.Only (Only (Only, one), mk, Ring (zero, (|+|), (|*|)), sumR) where
data Only = Only { one :: Int, two :: Int } deriving Show
mk :: Int -> Int -> Only
mk = Only
infixl 6 |+|
infixl 7 |*|
class Ring a where
  zero :: a
  (|+|), (|*|) :: a -> a -> a
  square :: a -> a
  square a = a |*| a
instance Ring Int where { zero = 0; (|+|) = (+); (|*|) = (*) }
instance Ring Integer where { zero = 0; (|+|) = (+); (|*|) = (*) }
sumR :: Ring a => [a] -> a
sumR = foldr (|+|) zero
