module Parts.CycleB where
import Parts.CycleA
b :: Int
b = 1
