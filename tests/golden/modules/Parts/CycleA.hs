module Parts.CycleA where
import Parts.CycleB
a :: Int
a = b
