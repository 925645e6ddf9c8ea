module Expr.Parser (parseExpr, parseProgram) where

import Data.Char (isAlpha, isDigit)
import Expr.AST
import Expr.Combinators

parseExpr :: String -> Either String Expr
parseExpr = fmap fst . runParser (spaces *> expr <* eof)

parseProgram :: String -> Either String [Stmt]
parseProgram = fmap fst . runParser (spaces *> (stmt `sepBy` symbol ';') <* eof)

stmt :: Parser Stmt
stmt = (Assign <$> (name <* symbol '=') <*> expr) <|> (Print <$> expr)

expr :: Parser Expr
expr = letExpr <|> ifExpr <|> comparison

letExpr, ifExpr, comparison, additive, multiplicative, power, atom :: Parser Expr
letExpr = Let <$> (keyword "let" *> name) <*> (symbol '=' *> expr) <*> (keyword "in" *> expr)
ifExpr = If <$> (keyword "if" *> expr) <*> (keyword "then" *> expr) <*> (keyword "else" *> expr)
comparison = do
  l <- additive
  (Bin Less l <$> (symbol '<' *> additive)) <|> pure l
additive = multiplicative `chainl1` ops [('+', Add), ('-', Sub)]
multiplicative = power `chainl1` ops [('*', Mul), ('/', Div)]
power = atom `chainr1` ops [('^', Pow)]
atom = number <|> (Var <$> name) <|> (Neg <$> (symbol '-' *> atom)) <|> (symbol '(' *> expr <* symbol ')')

ops :: [(Char, Op)] -> Parser (Expr -> Expr -> Expr)
ops table = foldr (<|>) empty [Bin op <$ symbol c | (c, op) <- table]

number :: Parser Expr
number = Num . read <$> token (some (satisfy "digit" isDigit))

name :: Parser Name
name = do
  n <- token (some (satisfy "letter" isAlpha))
  if n `elem` ["let", "in", "if", "then", "else"] then empty else pure n
