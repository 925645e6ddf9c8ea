module Lib.Internal.Render (Render (render)) where
class Render a where
  render :: a -> String
  render = const (hidden ++ "?")
  hiddenMethod :: a -> Int
  hiddenMethod _ = 0
hidden :: String
hidden = "hidden"
