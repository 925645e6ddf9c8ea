module Algorithms.Distance where
data Distance w = Finite w | Infinite deriving (Eq, Ord)
instance Show w => Show (Distance w) where
  showsPrec p (Finite w) = showsPrec p w
  showsPrec _ Infinite = showString "oo"
add :: Num w => Distance w -> Distance w -> Distance w
add (Finite a) (Finite b) = Finite (a + b)
add _ _ = Infinite
instance Ord w => Semigroup (Distance w) where (<>) = min
instance Ord w => Monoid (Distance w) where mempty = Infinite
