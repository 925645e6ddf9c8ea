module Base
  ( Item, item, number
  , Pretty (..)
  , prettyAll
  ) where

import Data.List (intercalate)

newtype Item = Item Int deriving (Eq, Ord)

item :: Int -> Item
item = Item

number :: Item -> Int
number (Item n) = go n

class Pretty a where
  pretty :: a -> String
  prettyList :: [a] -> String
  prettyList xs = "[" ++ intercalate "; " (map pretty xs) ++ "]"
  {-# MINIMAL pretty #-}

instance Pretty Item where
  pretty (Item n) = "item " ++ show n

instance Pretty Bool where
  pretty = show
  prettyList = concatMap (\b -> if b then "1" else "0")

instance Pretty a => Pretty [a] where
  pretty = prettyList

instance Pretty a => Pretty (Maybe a) where
  pretty = maybe "none" pretty

prettyAll :: Pretty a => [a] -> String
prettyAll = prettyList

go :: Int -> Int
go n = n
