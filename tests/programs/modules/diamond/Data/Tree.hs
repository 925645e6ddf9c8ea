module Data.Tree (Tree (..), build, flatten) where

data Tree a = Leaf | Node (Tree a) a (Tree a)

build :: Ord a => [a] -> Tree a
build = foldr insert Leaf

insert :: Ord a => a -> Tree a -> Tree a
insert x Leaf = Node Leaf x Leaf
insert x t@(Node l y r) = case compare x y of
  LT -> Node (insert x l) y r
  GT -> Node l y (insert x r)
  EQ -> t

flatten :: Tree a -> [a]
flatten Leaf = []
flatten (Node l x r) = flatten l ++ [x] ++ flatten r
