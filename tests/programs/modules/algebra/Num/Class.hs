module Num.Class (Semigroup' (..), Monoid' (..), power, sum', product', Sum' (..)) where
class Semigroup' a where
  infixl 7 |*|
  (|*|) :: a -> a -> a
class Semigroup' a => Monoid' a where
  one :: a
  oneLike :: a -> a
  oneLike _ = one
instance Semigroup' Integer where (|*|) = (*)
instance Semigroup' Int where (|*|) = (*)
instance Semigroup' Bool where (|*|) = (&&)
instance Monoid' Bool where one = True
instance Monoid' Integer where one = 1
instance Monoid' Int where one = 1
instance (Semigroup' a, Semigroup' b) => Semigroup' (a, b) where (a, b) |*| (c, d) = (a |*| c, b |*| d)
instance (Monoid' a, Monoid' b) => Monoid' (a, b) where one = (one, one)
power :: (Monoid' a, Integral n) => a -> n -> a
power a n
  | n == 0 = oneLike a
  | even n = half |*| half
  | otherwise = a |*| power a (n - 1)
  where half = power a (n `div` 2)
newtype Sum' a = Sum' { getSum' :: a } deriving (Show, Eq, Ord)
instance Num a => Semigroup (Sum' a) where Sum' a <> Sum' b = Sum' (a + b)
instance Num a => Monoid (Sum' a) where mempty = Sum' 0
sum', product' :: (Foldable t, Num a) => t a -> a
sum' = getSum' . foldMap Sum'
product' = foldr (*) 1
