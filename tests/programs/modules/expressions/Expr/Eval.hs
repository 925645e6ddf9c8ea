module Expr.Eval (EvalError (..), Env, eval, runProgram) where

import qualified Data.Map as Map
import Data.Map (Map)
import Expr.AST hiding (Num)
import qualified Expr.AST as AST (Expr (Num))

data EvalError = Unbound Name | DivideByZero | TypeMismatch Op deriving Show

type Env = Map Name Double

eval :: Env -> Expr -> Either EvalError Double
eval _ (AST.Num n) = Right n
eval env (Var v) = maybe (Left (Unbound v)) Right (Map.lookup v env)
eval env (Neg e) = negate <$> eval env e
eval env (Let v e b) = do
  x <- eval env e
  eval (Map.insert v x env) b
eval env (If c t e) = do
  x <- eval env c
  if x /= 0 then eval env t else eval env e
eval env (Bin op l r) = do
  a <- eval env l
  b <- eval env r
  case op of
    Add -> pure (a + b)
    Sub -> pure (a - b)
    Mul -> pure (a * b)
    Div | b == 0 -> Left DivideByZero
        | otherwise -> pure (a / b)
    Pow -> pure (a ** b)
    Less -> pure (if a < b then 1 else 0)

runProgram :: [Stmt] -> [Either EvalError Double]
runProgram = go Map.empty
  where
    go _ [] = []
    go env (Print e : rest) = eval env e : go env rest
    go env (s : rest) = case eval env (value s) of
      Left e -> [Left e]
      Right x -> go (Map.insert (target s) x env) rest
