module Expr.Pretty (Pretty (..)) where

import Expr.AST

class Pretty a where
  pretty :: a -> String
  pretty = flip (prettyAt 0) ""
  prettyAt :: Int -> a -> ShowS
  prettyAt _ a = showString (pretty a)
  {-# MINIMAL pretty | prettyAt #-}

instance Pretty Op where
  pretty Add = "+"
  pretty Sub = "-"
  pretty Mul = "*"
  pretty Div = "/"
  pretty Pow = "^"
  pretty Less = "<"

instance Pretty Expr where
  prettyAt _ (Num n) = if n == fromIntegral whole then shows whole else shows n
    where whole = round n :: Integer
  prettyAt _ (Var v) = showString v
  prettyAt p (Neg e) = showParen (p > 9) (showChar '-' . prettyAt 10 e)
  prettyAt p (Bin op l r) = showParen (p > q) $ prettyAt left l . showChar ' ' . prettyAt 0 op . showChar ' ' . prettyAt right r
    where q = precedence op
          (left, right) = if op == Pow then (q + 1, q) else (q, q + 1)
  prettyAt p (Let v e b) = showParen (p > 0) (showString "let " . showString v . showString " = " . prettyAt 0 e . showString " in " . prettyAt 0 b)
  prettyAt p (If c t e) = showParen (p > 0) (foldr (.) id [showString w . prettyAt 0 x | (w, x) <- zip ["if ", " then ", " else "] [c, t, e]])

instance Pretty a => Pretty [a] where
  pretty = concatMap pretty
