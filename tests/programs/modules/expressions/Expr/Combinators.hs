module Expr.Combinators
  ( Parser (runParser)
  , satisfy, char, token, symbol, spaces, keyword
  , chainl1, chainr1, sepBy, eof
  , module Control.Applicative
  ) where

import Control.Applicative
import Data.Char (isSpace, isAlphaNum)

newtype Parser a = Parser { runParser :: String -> Either String (a, String) }

instance Functor Parser where
  fmap f (Parser p) = Parser $ \s -> case p s of
    Left e -> Left e
    Right (a, rest) -> Right (f a, rest)

instance Applicative Parser where
  pure a = Parser $ \s -> Right (a, s)
  Parser pf <*> Parser pa = Parser $ \s -> do
    (f, rest) <- pf s
    (a, rest') <- pa rest
    return (f a, rest')

instance Monad Parser where
  Parser p >>= k = Parser $ \s -> p s >>= \(a, rest) -> runParser (k a) rest

instance Alternative Parser where
  empty = Parser (const (Left "nothing fits"))
  Parser p <|> Parser q = Parser $ \s -> either (const (q s)) Right (p s)

satisfy :: String -> (Char -> Bool) -> Parser Char
satisfy what ok = Parser go
  where
    go (c : cs) | ok c = Right (c, cs)
    go (c : _) = Left ("unexpected " ++ show c ++ ", wanted " ++ what)
    go [] = Left ("unexpected end, wanted " ++ what)

char :: Char -> Parser Char
char c = satisfy (show c) (== c)

spaces :: Parser ()
spaces = () <$ many (satisfy "space" isSpace)

token :: Parser a -> Parser a
token p = p <* spaces

symbol :: Char -> Parser Char
symbol = token . char

keyword :: String -> Parser ()
keyword w = token (mapM_ char w *> notFollowed)
  where notFollowed = Parser $ \s -> case s of
          (c : _) | isAlphaNum c -> Left ("wanted the end of " ++ w)
          _ -> Right ((), s)

chainl1, chainr1 :: Parser a -> Parser (a -> a -> a) -> Parser a
chainl1 p op = p >>= go
  where go a = (do { f <- op; b <- p; go (f a b) }) <|> pure a
chainr1 p op = do
  a <- p
  (do { f <- op; b <- chainr1 p op; pure (f a b) }) <|> pure a

sepBy :: Parser a -> Parser b -> Parser [a]
sepBy p sep = ((:) <$> p <*> many (sep *> p)) <|> pure []

eof :: Parser ()
eof = Parser $ \s -> if null s then Right ((), s) else Left ("unexpected " ++ show (take 5 s))
