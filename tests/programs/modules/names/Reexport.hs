module Reexport (module Reexport, module Colours, S.insert) where
import Colours
import qualified Data.Map as M
import qualified Data.Set as S
fromPairs :: Ord k => [(k, v)] -> M.Map k v
fromPairs = M.fromList
insertAll :: Ord a => [a] -> S.Set a
insertAll = foldr S.insert S.empty
