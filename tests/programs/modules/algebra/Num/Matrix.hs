module Num.Matrix (Matrix, matrix, entry, rows, determinant, module Num.Class) where
import Num.Class
import Data.List (transpose)
newtype Matrix a = Matrix { rows :: [[a]] } deriving Eq
matrix :: [[a]] -> Matrix a
matrix = Matrix
entry :: Int -> Int -> Matrix a -> a
entry i j m = rows m !! i !! j
instance Show a => Show (Matrix a) where
  show (Matrix rs) = concatMap ((++ "; ") . unwords . map show) rs
instance Functor Matrix where fmap f = Matrix . map (map f) . rows
instance Foldable Matrix where foldr f z = foldr f z . concat . rows
instance Num a => Semigroup' (Matrix a) where
  Matrix a |*| Matrix b = Matrix [[sum (zipWith (*) r c) | c <- transpose b] | r <- a]
instance Num a => Monoid' (Matrix a) where
  one = error "of no size"
  oneLike (Matrix rs) = Matrix [[if i == j then 1 else 0 | j <- is] | i <- is] where is = [1 .. length rs]
determinant :: Num a => Matrix a -> a
determinant (Matrix []) = 1
determinant (Matrix (r : rs)) = sum [sign * a * determinant (Matrix (map (dropAt i) rs)) | (i, a, sign) <- zip3 [0 ..] r (cycle [1, -1])]
  where dropAt i xs = take i xs ++ drop (i + 1) xs
