module Parts.Deep.Sum where

import Parts.One (shared)

total :: Int
total = shared + 1
