module Num.Poly where
import Num.Class
newtype Poly a = Poly [a] deriving (Eq)
infixl 7 %*
poly :: (Eq a, Num a) => [a] -> Poly a
poly = Poly . reverse . dropWhile (== 0) . reverse
x :: Num a => Poly a
x = Poly [0, 1]
degree :: Poly a -> Int
degree (Poly as) = length as - 1
(%*) :: (Eq a, Num a) => a -> Poly a -> Poly a
c %* Poly as = poly (map (c *) as)
evalAt :: Num a => Poly a -> a -> a
evalAt (Poly as) v = foldr (\a acc -> a + v * acc) 0 as
instance (Eq a, Num a) => Num (Poly a) where
  fromInteger n = poly [fromInteger n]
  Poly as + Poly bs = poly (longer as bs)
    where longer (a : r) (b : s) = a + b : longer r s
          longer r [] = r
          longer [] s = s
  Poly as * Poly bs = sum' [poly (replicate i 0 ++ map (a *) bs) | (i, a) <- zip [0 ..] as]
  negate (Poly as) = Poly (map negate as)
  abs = undefined
  signum = undefined
instance (Show a, Num a, Ord a) => Show (Poly a) where
  showsPrec p (Poly as) = showParen (p > 6) (showString (render (zip [0 :: Int ..] as)))
    where
      render ts = case [term i a | (i, a) <- ts, a /= 0] of
        [] -> "0"
        ss -> foldr1 (\l r -> l ++ " + " ++ r) ss
      term 0 a = show a
      term 1 a = coefficient a ++ "x"
      term i a = coefficient a ++ "x^" ++ show i
      coefficient a | a == 1 = ""
                    | otherwise = show a
