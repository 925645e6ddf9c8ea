module Algorithms.Topological (topological) where
import Data.List
topological :: Eq a => [(a, [a])] -> Either [a] [a]
topological [] = Right []
topological deps = case partition (null . snd) deps of
  ([], stuck) -> Left (map fst stuck)
  (free, rest) -> (map fst free ++) <$> topological [(v, ds \\ map fst free) | (v, ds) <- rest]
