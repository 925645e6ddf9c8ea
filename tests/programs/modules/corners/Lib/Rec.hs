module Lib.Rec (Conf (..), defaults, timeoutOf) where
data Conf = Conf { host :: String, port :: Int, timeout :: Double, retries :: Int }
defaults :: Conf
defaults = Conf { host = "localhost", port = 80, timeout = 1.5, retries = 3 }
timeoutOf :: Conf -> Double
timeoutOf = timeout
