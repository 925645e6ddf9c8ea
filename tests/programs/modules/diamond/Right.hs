module Right (describe, go, total, minus, (##), Wrap (..), safe) where

import qualified Base as B
import Base (Item)

infixr 4 `minus`
infixl 3 ##

describe :: Item -> String
describe i = "right " ++ B.pretty i ++ " " ++ show (Right.go (B.number i))

go :: Int -> Int
go n = n + 100

total :: [Item] -> Int
total = sum . map B.number

minus, (##) :: Int -> Int -> Int
minus a b = a - b
a ## b = 10 * a + b

newtype Wrap a = Wrap { unwrap :: a } deriving (Show, Eq, Ord)

safe :: Int -> Either String Int
safe 0 = Left "zero"
safe n = Prelude.Right (100 `div` n)
