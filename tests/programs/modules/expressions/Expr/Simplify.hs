module Expr.Simplify (simplify, derive) where

import Expr.AST

simplify :: Expr -> Expr
simplify e | e' == e = e
           | otherwise = simplify e'
  where e' = step e

step :: Expr -> Expr
step (Bin op l r) = rule op (step l) (step r)
step (Neg (Neg e)) = step e
step (Neg e) = Neg (step e)
step (Let v e b) = Let v (step e) (step b)
step e = e

rule :: Op -> Expr -> Expr -> Expr
rule Add (Num a) (Num b) = Num (a + b)
rule Add (Num 0) e = e
rule Add e (Num 0) = e
rule Mul (Num a) (Num b) = Num (a * b)
rule Mul (Num 0) _ = 0
rule Mul _ (Num 0) = 0
rule Mul (Num 1) e = e
rule Mul e (Num 1) = e
rule op l r = Bin op l r

derive :: Name -> Expr -> Expr
derive _ (Num _) = 0
derive v (Var w) = if v == w then 1 else 0
derive v (Neg e) = negate (derive v e)
derive v (Bin Add l r) = derive v l + derive v r
derive v (Bin Sub l r) = derive v l - derive v r
derive v (Bin Mul l r) = derive v l * r + l * derive v r
derive _ e = error ("no rule for " ++ show e)
