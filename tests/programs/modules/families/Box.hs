{-# LANGUAGE TypeFamilies #-}
module Box (Container (..), Elem2, Age, mkAge, Name (..), fromList) where
class Container f where
  type Elem f
  type Elem f = Int
  empty :: f
  insert :: Elem f -> f -> f
  toL :: f -> [Elem f]
type family Elem2 a
type instance Elem2 [a] = a
newtype Age = Age Int deriving Show
mkAge :: Int -> Age
mkAge = Age
newtype Name = Name String deriving Show
instance Container [a] where
  type Elem [a] = a
  empty = []
  insert = (:)
  toL = id
fromList :: Container f => [Elem f] -> f
fromList = foldr insert empty
