module Lib.Instances where
import Lib.Internal.Render
instance Render Int where render n = "#" ++ show n
instance Render Char
