-- Writes tests/unit/runtime/ops/ghc_table.inc: what GHC gives for the ops of the graph, as the runtime's kernels must.
-- Each line is op;type of the first operand;type of the result;operands...;result as shown, or !message.
--
--   runghc tests/unit/runtime/ops/ghc_table.hs > tests/unit/runtime/ops/ghc_table.inc
module Main where

import Control.Exception
import Data.Bits
import Data.Char
import Data.List (intercalate)
import GHC.Float (castWord32ToFloat, castWord64ToDouble, double2Float, float2Double)

line :: Show r => String -> String -> String -> [String] -> r -> IO ()
line op from to args result = do
  text <- try (evaluate (let s = show result in length s `seq` s))
  putStrLn ("R\"(" ++ intercalate ";" ([op, from, to] ++ args ++ [either message id text]) ++ ")\",")
  where
    message e = '!' : case e of
      ErrorCall m -> m

arithmetic :: ArithException -> ErrorCall
arithmetic = ErrorCall . show

un :: (Show a, Show r) => String -> String -> String -> [a] -> (a -> r) -> IO ()
un op from to xs f = sequence_ [line op from to [show x] (guarded (f x)) | x <- xs]

bin :: (Show a, Show b, Show r) => String -> String -> String -> [a] -> [b] -> (a -> b -> r) -> IO ()
bin op from to xs ys f = sequence_ [line op from to [show x, show y] (guarded (f x y)) | x <- xs, y <- ys]

-- Arithmetic exceptions as calls of error, so that there is one kind to catch.
newtype Guarded r = Guarded r
guarded :: r -> Guarded r
guarded = Guarded
instance Show r => Show (Guarded r) where
  show (Guarded r) = mapException arithmetic (show r)

ints :: [Int]
ints = [0, 1, -1, 7, -3, minBound, maxBound]

integers :: [Integer]
integers = [0, -1, 12, 2 ^ 63 - 1, -(2 ^ 63), 2 ^ 64 + 12345, -(3 ^ 80)]

doubles, someDoubles :: [Double]
doubles = [0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 123456.789, 1e-3, 9007199254740993, 5.0e-324, 1.7976931348623157e308, 1 / 0, -1 / 0]
someDoubles = [0, -0.0, 1, -2.5, 1e200, 1 / 0]

floats, someFloats :: [Float]
floats = [0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 0.1, 123456.79, 1e-3, 16777217, 1.0e-45, 3.4028235e38, 1 / 0, -1 / 0]
someFloats = [0, -0.0, 1, -2.5, 1e30, 1 / 0]

numeric :: (Show a, Ord a, Num a) => String -> [a] -> IO ()
numeric t xs = do
  bin "Add" t t xs xs (+)
  bin "Sub" t t xs xs (-)
  bin "Mul" t t xs xs (*)
  un "Neg" t t xs negate
  un "Abs" t t xs abs
  un "Signum" t t xs signum
  bin "Eq" t "Bool" xs xs (==)
  bin "Ne" t "Bool" xs xs (/=)
  bin "Lt" t "Bool" xs xs (<)
  bin "Le" t "Bool" xs xs (<=)
  bin "Gt" t "Bool" xs xs (>)
  bin "Ge" t "Bool" xs xs (>=)

integralOps :: (Show a, Integral a, Bits a) => String -> [a] -> IO ()
integralOps t xs = do
  numeric t xs
  bin "Quot" t t xs xs quot
  bin "Rem" t t xs xs rem
  bin "Div" t t xs xs div
  bin "Mod" t t xs xs mod
  bin "Gcd" t t xs xs gcd
  bin "BitAnd" t t xs xs (.&.)
  bin "BitOr" t t xs xs (.|.)
  bin "BitXor" t t xs xs xor
  bin "ShiftL" t t xs [0, 1, 3, 63, 64, 130, -1 :: Int] shiftL
  bin "ShiftR" t t xs [0, 1, 3, 63, 64, 130, -1 :: Int] shiftR
  un "Convert" t "Int" xs (fromIntegral :: Integral a => a -> Int)
  un "Convert" t "Integer" xs toInteger
  un "Convert" t "Float" xs (fromIntegral :: Integral a => a -> Float)
  un "Convert" t "Double" xs (fromIntegral :: Integral a => a -> Double)

floating :: (Show a, RealFloat a) => String -> [a] -> [a] -> IO ()
floating t xs some = do
  numeric t some
  bin "FDiv" t t some some (/)
  bin "Pow" t t some some (**)
  bin "Atan2" t t some some atan2
  sequence_
    [ un name t t xs f
    | (name, f) <-
        [ ("Sqrt", sqrt), ("Exp", exp), ("Log", log), ("Sin", sin), ("Cos", cos), ("Tan", tan), ("Asin", asin)
        , ("Acos", acos), ("Atan", atan), ("Sinh", sinh), ("Cosh", cosh), ("Tanh", tanh), ("Asinh", asinh)
        , ("Acosh", acosh), ("Atanh", atanh) ]
    ]
  un "Truncate" t "Int" xs (truncate :: RealFloat a => a -> Int)
  un "Round" t "Int" xs (round :: RealFloat a => a -> Int)
  un "Ceiling" t "Int" xs (ceiling :: RealFloat a => a -> Int)
  un "Floor" t "Int" xs (floor :: RealFloat a => a -> Int)
  un "Truncate" t "Integer" xs (truncate :: RealFloat a => a -> Integer)
  un "Round" t "Integer" xs (round :: RealFloat a => a -> Integer)
  un "Ceiling" t "Integer" xs (ceiling :: RealFloat a => a -> Integer)
  un "Floor" t "Integer" xs (floor :: RealFloat a => a -> Integer)
  un "IsNaN" t "Bool" xs isNaN
  un "IsInfinite" t "Bool" xs isInfinite
  un "IsNegativeZero" t "Bool" xs isNegativeZero
  un "DecodeMantissa" t "Integer" xs (fst . decodeFloat)
  un "DecodeExponent" t "Int" xs (snd . decodeFloat)
  bin "EncodeFloat" "Integer" t [3, 2 ^ 53 + 1, -(2 ^ 54 + 3), 2 ^ 70 + 1, 2 ^ 2000] [0, 1, -10, -1070, -1990, 5000]
    (\m e -> encodeFloat m e `asTypeOf` head xs)

chars :: [Char]
chars = ['\0', '\t', ' ', '0', 'A', 'z', '_', '\DEL', '\223', '\255', '\402', '\931', '\1046', '\8364', '\55296', '\66560', '\1114111']

main :: IO ()
main = do
  integralOps "Int" ints
  integralOps "Integer" integers
  un "PopCount" "Int" "Int" ints popCount
  un "Chr" "Int" "Char" (ints ++ [65, 0x10FFFF, 0x110000]) chr
  floating "Double" doubles someDoubles
  floating "Float" floats someFloats
  un "Convert" "Double" "Float" doubles double2Float
  un "Convert" "Float" "Double" floats float2Double
  un "Ord" "Char" "Int" chars ord
  un "CharClass" "Char" "Int" chars (fromEnum . generalCategory)
  un "ToUpper" "Char" "Char" chars toUpper
  un "ToLower" "Char" "Char" chars toLower
  bin "Lt" "Char" "Bool" (take 4 chars) (take 4 chars) (<)
  bin "Le" "Bool" "Bool" [False, True] [False, True] (<=)
  un "Not" "Bool" "Bool" [False, True] not
  un "BoolToInt" "Bool" "Int" [False, True] fromEnum
