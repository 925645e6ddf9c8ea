module Game.Monad (Game, runGame, say, tick, turns, here, moveTo, pick, gets) where
import Game.Types
import Game.World
import Control.Monad.State as S hiding (gets)
import qualified Control.Monad.State as S (gets)
import qualified Data.Map as M
data Log = Log { out :: [String] -> [String], count :: !Int, game :: GameState }
newtype Game a = Game { unGame :: State Log a }
instance Functor Game where fmap f (Game g) = Game (fmap f g)
instance Applicative Game where
  pure = Game . pure
  Game f <*> Game a = Game (f <*> a)
instance Monad Game where Game g >>= k = Game (g >>= unGame . k)
runGame :: Game a -> GameState -> (a, GameState, [String])
runGame (Game g) s = case runState g (Log id 0 s) of
  (a, l) -> (a, game l, out l [])
say :: String -> Game ()
say s = Game (modify (\l -> l { out = out l . (s :) }))
tick :: Game ()
tick = Game (modify (\l -> l { count = count l + 1 }))
turns :: Game Int
turns = Game (S.gets count)
here :: Game RoomData
here = Game (S.gets (roomAt . place . game))
moveTo :: RoomName -> Game ()
moveTo n = Game (modify (\l -> l { game = (game l) { place = n, position = bump (position (game l)) } }))
  where bump (a, b) = (a + 1, b - 1)
pick :: String -> Game Bool
pick t = do
  r <- here
  taken <- Game (S.gets (inventory . game))
  if t `elem` things r && t `notElem` taken
    then Game (modify (\l -> l { game = (game l) { inventory = t : inventory (game l) } })) >> return True
    else return False
gets :: (GameState -> a) -> Game a
gets f = Game (S.gets (f . game))
