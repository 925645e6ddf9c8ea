module Parts.IllTyped where

double :: Int -> Int
double x = x ++ x
