module Lib.Part (Part (One, Two), secret) where
data Part = One | Two | Three deriving (Show, Read, Eq)
secret :: Part
secret = Three
