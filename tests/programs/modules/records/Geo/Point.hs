module Geo.Point
  ( Point (..)   -- both
  , origin
  , norm,
    Named (..),
    Dir (..),
  ) where
data Point = Point { x :: !Int, y :: !Int } deriving (Eq, Ord, Show)
data Dir = North | East | South | West deriving (Eq, Show, Enum, Bounded)
origin :: Point
origin = Point { x = 0, y = 0 }
norm :: Point -> Double
norm p = sqrt (fromIntegral (x p ^ 2 + y p ^ 2))
class Show a => Named a where
  nameOf :: a -> String
  nameOf = defaultName
  defaultName :: a -> String
  defaultName = show
instance Named Point
