module Left.Side where

import Base

describe :: Item -> String
describe i = "left " ++ pretty i ++ " " ++ show (go (number i))

go :: Int -> Int
go n = n + 10
