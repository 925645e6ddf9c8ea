module Lib.Ops ((>+>), minus, render) where
import Lib.Internal.Render
infixr 3 >+>
(>+>) :: Int -> Int -> Int
a >+> b = a - b
infixr 3 `minus`
minus :: Int -> Int -> Int
minus = (-)
