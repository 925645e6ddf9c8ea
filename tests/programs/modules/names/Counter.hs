module Counter (Counter, newCounter, tick, count) where
newtype Counter = Counter { count :: Int } deriving Show
newCounter :: Counter
newCounter = Counter 0
tick :: Counter -> Counter
tick c = c { count = count c + 1 }
