module Data.Graph (Graph, Edge, fromEdges, neighbours, vertices, edges) where
import qualified Data.Map as Map
type Edge v w = (v, v, w)
newtype Graph v w = Graph (Map.Map v [(v, w)])
fromEdges :: Ord v => [Edge v w] -> Graph v w
fromEdges es = Graph (Map.fromListWith (++) (concat [[(a, [(b, w)]), (b, [(a, w)])] | (a, b, w) <- es]))
neighbours :: Ord v => Graph v w -> v -> [(v, w)]
neighbours (Graph m) v = Map.findWithDefault [] v m
vertices :: Graph v w -> [v]
vertices (Graph m) = Map.keys m
edges :: Ord v => Graph v w -> [Edge v w]
edges g = [(a, b, w) | a <- vertices g, (b, w) <- neighbours g a, a < b]
