module Shapes.Ops where
infixl 1 |>
(|>) :: a -> (a -> b) -> b
x |> f = f x
infixr 6 <+>, <->
(<+>), (<->) :: Int -> Int -> Int
a <+> b = a + b
a <-> b = a - b
infixl 8 `plus`
plus :: Int -> Int -> Int
plus = (+)
helper :: Int -> Int
helper x = x |> (+ 1)
data V = V Int Int deriving (Show, Eq)
data P = V :+: V deriving Show
infixl 4 :+:
