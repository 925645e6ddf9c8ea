module Geo.Colour (Colour (..)) where
data Colour = Red | Green | Blue
  deriving (Eq, Ord, Show, Read, Enum, Bounded)
