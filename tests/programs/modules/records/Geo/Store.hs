module Geo.Store (Store, new, put, lookup, member, size, (<+>)) where
import Prelude hiding (lookup)
import qualified Data.Map as M
newtype Store = Store (M.Map String Int)
new :: Store
new = Store M.empty
put :: String -> Int -> Store -> Store
put k v (Store m) = Store (M.insert k v m)
lookup :: String -> Store -> Maybe Int
lookup k (Store m) = M.lookup k m
member :: String -> Store -> Bool
member k = maybe False (const True) . lookup k
size :: Store -> Int
size (Store m) = M.size m
infixl 6 <+>
(<+>) :: Int -> Int -> Int
a <+> b = a * b + 1
