module Game.Parser (Command (..), parse) where
import Game.Types (Direction)
import Data.Char (toLower, toUpper)
import Text.Read (readMaybe)
data Command = Go Direction | Look | Take String | Inventory | Quit | Unknown String deriving (Show, Eq)
parse :: String -> Command
parse line = case words (map toLower line) of
  ["go", d] | Just dir <- direction d -> Go dir
  [d] | Just dir <- direction d -> Go dir
  ["look"] -> Look
  ["take", t] -> Take t
  ["inventory"] -> Inventory
  ["i"] -> Inventory
  ["quit"] -> Quit
  _ -> Unknown line
  where direction (c : cs) = readMaybe (toUpper c : cs)
        direction [] = Nothing
