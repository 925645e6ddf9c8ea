-- Writes runtime/base/unicode_table.inc: the general category and the simple case mappings of every character as this GHC's
-- Data.Char has them. Run it again when the language's reference GHC changes:
--
--   runghc runtime/base/unicode_table.hs > runtime/base/unicode_table.inc
module Main where

import Data.Char (generalCategory, ord, toLower, toUpper)
import Data.List (groupBy, intercalate)

-- First character of each run of one category, shifted left by five, and the category.
categories :: [Int]
categories = map packed (groupBy same [(ord c, fromEnum (generalCategory c)) | c <- [minBound .. maxBound :: Char]])
  where
    same a b = snd a == snd b
    packed run = fst (head run) * 32 + snd (head run)

-- (first, last, step, distance): every step-th character is mapped to the one at this distance.
type Range = (Int, Int, Int, Int)

mapping :: (Char -> Char) -> [Range]
mapping f = foldr add [] [(ord c, ord (f c) - ord c) | c <- [minBound .. maxBound], f c /= c]
  where
    add (c, d) ((a, b, s, d') : rest)
      | d == d' && a == b && a - c <= 2 = (c, b, a - c, d) : rest
      | d == d' && a /= b && a - c == s = (c, b, s, d) : rest
    add (c, d) rest = (c, c, 1, d) : rest

table :: String -> [String] -> String
table name entries = name ++ " = {\n" ++ unlines (map row (chunks 8 entries)) ++ "};\n"
  where
    row es = "    " ++ intercalate ", " es ++ ","
    chunks _ [] = []
    chunks n xs = take n xs : chunks n (drop n xs)

main :: IO ()
main = do
  putStr "// Written by runtime/base/unicode_table.hs; not to be edited.\n"
  putStr (table "constexpr uint32_t kCategories[]" (map show categories))
  putStr (table "constexpr CaseRange kToUpper[]" (map range (mapping toUpper)))
  putStr (table "constexpr CaseRange kToLower[]" (map range (mapping toLower)))
  where
    range (a, b, s, d) = "{" ++ intercalate ", " (map show [a, b, s, d]) ++ "}"
