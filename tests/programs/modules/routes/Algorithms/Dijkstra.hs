module Algorithms.Dijkstra (module Algorithms.Dijkstra, Distance (..)) where
import Data.Graph
import Data.Structures.Heap (Heap)
import qualified Data.Structures.Heap as H
import qualified Data.Map as M
import Algorithms.Distance
dijkstra :: (Ord v, Ord w, Num w) => Graph v w -> v -> M.Map v (Distance w)
dijkstra g s = go (H.insert (Finite 0, s) H.empty) M.empty
  where
    go h done = case H.pop h of
      Nothing -> done
      Just ((d, v), rest)
        | v `M.member` done -> go rest done
        | otherwise -> go (foldr push rest (neighbours g v)) (M.insert v d done)
        where push (u, w) = H.insert (d `add` Finite w, u)
pathTo :: (Ord v, Ord w, Num w) => Graph v w -> v -> v -> Maybe [v]
pathTo g s t = reverse <$> walk t
  where
    ds = dijkstra g s
    walk v | v == s = Just [s]
           | otherwise = do
               d <- M.lookup v ds
               case [u | (u, w) <- neighbours g v, Just du <- [M.lookup u ds], du `add` Finite w == d] of
                 u : _ -> (v :) <$> walk u
                 [] -> Nothing
