module Parts.Fails where

share :: Int -> Int
share n = 100 `div` n
