module Parts.NeedsIllTyped where
import Parts.IllTyped
b :: Int
b = double 1
