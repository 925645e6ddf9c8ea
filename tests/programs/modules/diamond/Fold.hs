module Fold (fold) where

fold :: (a -> b -> b) -> b -> [a] -> b
fold = foldr
