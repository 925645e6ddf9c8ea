module Rec2 (P3 (..), pz') where
data P3 = P3 { px, py, pz :: Int }
pz' :: P3 -> Int
pz' = pz
