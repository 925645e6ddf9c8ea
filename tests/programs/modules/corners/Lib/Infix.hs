module Lib.Infix where
infixl 6 :+:
infixl 7 :*:
infixl 1 |>
data E = E :+: E | E :*: E | L Int
(|>) :: a -> (a -> b) -> b
x |> f = f x
