{-# LANGUAGE GeneralizedNewtypeDeriving #-}
module Num.Mod (Mod7, mkMod, N (..)) where
import Num.Class
newtype Mod7 = Mod7 Int deriving (Eq, Ord)
newtype N = N Integer deriving (Show, Eq, Ord, Num, Semigroup', Monoid')
mkMod :: Int -> Mod7
mkMod n = Mod7 (n `mod` 7)
instance Show Mod7 where showsPrec p (Mod7 n) = showParen (p > 10) (showString "mod7 " . showsPrec 11 n)
instance Num Mod7 where
  Mod7 a + Mod7 b = mkMod (a + b)
  Mod7 a * Mod7 b = mkMod (a * b)
  negate (Mod7 a) = mkMod (negate a)
  abs = id
  signum = id
  fromInteger = mkMod . fromInteger
instance Bounded Mod7 where { minBound = Mod7 0; maxBound = Mod7 6 }
instance Enum Mod7 where
  fromEnum (Mod7 n) = n
  toEnum = mkMod
  enumFrom a = map toEnum [fromEnum a .. 6]
instance Semigroup' Mod7 where (|*|) = (*)
instance Monoid' Mod7 where one = 1
