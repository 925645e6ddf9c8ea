module Lib.Cls where
class Container f where
  cempty :: f a
  cinsert :: a -> f a -> f a
  ctoList :: f a -> [a]
class Monoidal a where
  infixr 6 <+>
  (<+>) :: a -> a -> a
  unit :: a
instance Monoidal Int where { a <+> b = a - b; unit = 0 }
instance Monoidal [a] where { (<+>) = (++); unit = [] }
sizeTwice :: Container f => f a -> Int
sizeTwice c = 2 * length (ctoList c)
