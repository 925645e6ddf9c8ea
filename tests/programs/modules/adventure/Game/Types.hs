module Game.Types where
import qualified Data.Map as M
data Direction = North | South | Up | Down deriving (Eq, Ord, Show, Read, Enum, Bounded)
newtype RoomName = Room { roomName :: String } deriving (Eq, Ord)
instance Show RoomName where show = roomName
data GameState = GameState
  { place     :: RoomName
  , inventory :: [String]
  , moved     :: M.Map String RoomName
  , position  :: (Int, Int)
  } deriving (Show)
emptyState :: GameState
emptyState = GameState { place = Room "", inventory = [], moved = M.empty, position = (0, 0) }
