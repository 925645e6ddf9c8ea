module Shapes.Area where
import Shapes.Util (twice)
data Shape = Circle Double | Square Double | Rect { w, h :: Double } deriving (Show, Eq)
class HasName a where
  name :: a -> String
  name _ = "thing"
instance HasName Shape where name (Circle _) = "circle"; name _ = "shape"
instance HasName Int
area :: Shape -> Double
area (Circle r) = 3 * sq r where sq x = x * x
area (Square a) = a * a
area s = w s * h s
