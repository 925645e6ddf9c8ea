module Algorithms.Kruskal where
import Data.Graph (Graph, Edge, edges, vertices)
import Data.List (sortOn)
import qualified Data.Map as Map
import Control.Monad.State
type Forest v = Map.Map v v
find :: Ord v => v -> State (Forest v) v
find v = do
  p <- gets (Map.! v)
  if p == v then return v else do
    r <- find p
    modify (Map.insert v r)
    return r
union :: Ord v => v -> v -> State (Forest v) Bool
union a b = do
  ra <- find a
  rb <- find b
  if ra == rb then return False else do
    modify (Map.insert ra rb)
    return True
kruskal :: (Ord v, Ord w) => Graph v w -> [Edge v w]
kruskal g = evalState (filterM (\(a, b, _) -> union a b) (sortOn (\(_, _, w) -> w) (edges g)))
                      (Map.fromList [(v, v) | v <- vertices g])
weight :: Num w => [Edge v w] -> w
weight es = sum [w | (_, _, w) <- es]
