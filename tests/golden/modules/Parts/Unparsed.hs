module Parts.Unparsed where

f x = (x
