x :: Int
x = 1
