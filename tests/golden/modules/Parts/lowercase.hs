module Parts.Lowercase where
