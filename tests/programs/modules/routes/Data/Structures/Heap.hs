module Data.Structures.Heap (Heap, empty, insert, pop, merge, null, size) where
import Prelude hiding (null)
data Heap a = Empty | Node !Int a (Heap a) (Heap a)
empty :: Heap a
empty = Empty
null :: Heap a -> Bool
null Empty = True
null _ = False
size :: Heap a -> Int
size Empty = 0
size (Node _ _ l r) = 1 + size l + size r
rank :: Heap a -> Int
rank Empty = 0
rank (Node r _ _ _) = r
merge :: Ord a => Heap a -> Heap a -> Heap a
merge Empty h = h
merge h Empty = h
merge h1@(Node _ x l1 r1) h2@(Node _ y l2 r2)
  | x <= y = make x l1 (merge r1 h2)
  | otherwise = make y l2 (merge h1 r2)
  where
    make v a b | rank a >= rank b = Node (rank b + 1) v a b
               | otherwise = Node (rank a + 1) v b a
insert :: Ord a => a -> Heap a -> Heap a
insert x = merge (Node 1 x Empty Empty)
pop :: Ord a => Heap a -> Maybe (a, Heap a)
pop Empty = Nothing
pop (Node _ x l r) = Just (x, merge l r)
instance Foldable Heap where
  foldMap _ Empty = mempty
  foldMap f (Node _ x l r) = f x <> foldMap f l <> foldMap f r
