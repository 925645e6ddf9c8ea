module Colours (Colour (Red, Green, Blue)) where
data Colour = Red | Green | Blue | Hidden deriving (Show, Eq, Ord, Enum, Bounded)
