-- | The syntax tree.
module Expr.AST where

type Name = String

data Op = Add | Sub | Mul | Div | Pow | Less
  deriving (Eq, Ord, Show, Enum, Bounded)

data Expr
  = Num Double
  | Var Name
  | Neg Expr
  | Bin Op Expr Expr
  | Let Name Expr Expr
  | If Expr Expr Expr
  deriving (Eq, Show)

data Stmt = Assign { target :: Name, value :: Expr } | Print Expr
  deriving (Eq, Show)

instance Num Expr where
  fromInteger = Num . fromInteger
  (+) = Bin Add
  (*) = Bin Mul
  (-) = Bin Sub
  negate = Neg
  abs = error "abs"
  signum = error "signum"

precedence :: Op -> Int
precedence op = case op of
  Less -> 4
  Add -> 6
  Sub -> 6
  Mul -> 7
  Div -> 7
  Pow -> 8
