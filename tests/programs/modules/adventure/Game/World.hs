module Game.World (RoomData, exits, things, rooms, describe, roomAt) where
import Game.Types
import Data.List (intercalate)
data RoomData = RoomData { name :: RoomName, exits :: [(Direction, RoomName)], things :: [String] }
rooms :: [RoomData]
rooms =
  [ RoomData (Room "hall") [(North, Room "garden"), (Down, Room "cellar")] ["lamp", "key"]
  , RoomData (Room "garden") [(South, Room "hall")] ["rose"]
  , RoomData { name = Room "cellar", exits = [(Up, Room "hall")], things = [] } ]
roomAt :: RoomName -> RoomData
roomAt n = head ([r | r <- rooms, name r == n] ++ error ("no room " ++ show n))
describe :: RoomData -> String
describe r = "The " ++ show (name r) ++ ". Exits: " ++ intercalate ", " (map (show . fst) (exits r)) ++ list (things r)
  where list [] = ""
        list ts = ". There is: " ++ intercalate ", " ts
