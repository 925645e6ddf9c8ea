module Geo.Facade (module Geo.Colour, module Geo.Facade, module Data.List, C.toUpper) where
import Geo.Colour
import Data.List (sortOn, foldl')
import qualified Data.Char as C
facade :: Int -> Int
facade n = foldl' (+) 0 [1 .. n]
