module Lib.Facade (module Lib.Ops, module X, Pair, fromSynonym) where
import Lib.Ops
import Lib.Cls as X (Container)
type Pair a = (a, a)
fromSynonym :: Num a => Pair a -> a
fromSynonym (a, b) = a + b
