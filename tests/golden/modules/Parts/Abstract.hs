module Parts.Abstract (Stack, empty, push) where

newtype Stack = Stack [Int] deriving Show

empty :: Stack
empty = Stack []

push :: Int -> Stack -> Stack
push x (Stack xs) = Stack (x : xs)

depth :: Stack -> Int
depth (Stack xs) = length xs
