module Parts.Orphan where

import Parts.One

instance Sized Int where
  size n = n + 1
