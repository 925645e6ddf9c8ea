"""Parts of programs that are the same in each: a state monad, functions over any functor and monad, a class of containers."""

# A state monad by hand, as programs have it.
STATE = """newtype St s a = St (s -> (a, s))

runSt :: St s a -> s -> (a, s)
runSt (St m) = m

instance Functor (St s) where
  fmap f (St m) = St (\\s -> case m s of (x, t) -> (f x, t))

instance Applicative (St s) where
  pure x = St (\\s -> (x, s))
  St f <*> St m = St (\\s -> let { (g, t) = f s; (x, u) = m t } in (g x, u))

instance Monad (St s) where
  St m >>= k = St (\\s -> case m s of (x, t) -> runSt (k x) t)

getS :: St s s
getS = St (\\s -> (s, s))

putS :: s -> St s ()
putS s = St (\\_ -> ((), s))

modifyS :: (s -> s) -> St s ()
modifyS f = getS >>= \\s -> putS (f s)"""
STATE_ENTRIES = """
3 runSt :: St s a -> s -> (a, s)
2 getS :: St s s
2 putS :: s -> St s ()
2 modifyS :: (s -> s) -> St s ()
2 pure :: a -> St s a
2 >>= :: St s a -> (a -> St s b) -> St s b
1 >> :: St s a -> St s b -> St s b
1 fmap :: (a -> b) -> St s a -> St s b
2 & mapM :: (a -> St s b) -> [a] -> St s [b]
1 & sequence :: [St s a] -> St s [a]
1 & traverse :: (a -> St s b) -> Maybe a -> St s (Maybe b)
"""

# What is used at several monads (an M) and containers (a T).
HIGHER = """mapTwice :: Functor f => (a -> a) -> f a -> f a
mapTwice g = fmap (g . g)

foldBoth :: Foldable t => (a -> b -> b) -> b -> t a -> t a -> b
foldBoth f z xs ys = foldr f (foldr f z ys) xs

pairM :: Monad m => m a -> m b -> m (a, b)
pairM m k = do { x <- m; y <- k; return (x, y) }

timesM :: Monad m => Int -> (a -> m a) -> a -> m a
timesM n f x
  | n <= 0 = return x
  | otherwise = f x >>= timesM (n - 1) f

gather :: (Foldable t, Monad m) => (a -> m b) -> t a -> m [b]
gather f = foldr (\\x r -> do { y <- f x; ys <- r; pure (y : ys) }) (return [])

class Container t where
  none :: t a
  put :: a -> t a -> t a
  items :: t a -> [a]
  puts :: [a] -> t a -> t a
  puts xs c = foldr put c xs
  count :: t a -> Int
  count = length . items

newtype Backwards a = Backwards [a] deriving (Eq, Ord, Show)

instance Container [] where
  none = []
  put = (:)
  items = id

instance Container Maybe where
  none = Nothing
  put x _ = Just x
  items m = [x | Just x <- [m]]
  count m = if null m then 0 else 1

instance Container Backwards where
  none = Backwards []
  put x (Backwards xs) = Backwards (xs ++ [x])
  items (Backwards xs) = reverse xs"""
HIGHER_MONADS = """
1 mapTwice :: (a -> a) -> M a -> M a
2 pairM :: M a -> M b -> M (a, b)
2 timesM :: Small -> (a -> M a) -> a -> M a
1 gather :: (a -> M b) -> Maybe a -> M [b]
1 & gather :: (a -> M b) -> [a] -> M [b]
"""
HIGHER_ENTRIES = """
1 & foldBoth :: (a -> b -> b) -> b -> [a] -> [a] -> b
1 put :: a -> [a] -> [a]
1 put :: a -> Maybe a -> Maybe a
2 put :: a -> Backwards a -> Backwards a
1 puts :: [a] -> Backwards a -> Backwards a
1 & puts :: [a] -> Maybe a -> Maybe a
1 & items :: Maybe a -> [a]
1 & items :: Backwards a -> [a]
1 & count :: Backwards a -> Int
1 & count :: [a] -> Int
1 none :: Backwards a
"""
