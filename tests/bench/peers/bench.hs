-- The four functions, for `ghc -O2` and GHCi: see tests/bench/table1. As a program for dfc: bench.df.
module Main where

import Control.Exception (evaluate)
import Data.IORef
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

ack :: Int -> Int -> Int
ack m n
  | m == 0 = n + 1
  | n == 0 = ack (m - 1) 1
  | otherwise = ack (m - 1) (ack m (n - 1))

tak :: Int -> Int -> Int -> Int
tak x y z = if y < x then tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y) else z

prime :: Int -> Int -> Bool
prime k d
  | d == k = True
  | k `mod` d == 0 = False
  | otherwise = prime k (d + 1)

primes :: Int -> Int -> Int -> Int
primes k n found
  | k > n = found
  | otherwise = primes (k + 1) n (if prime k 2 then found + 1 else found)

call :: String -> [Int] -> Int
call "fib" [n] = fib n
call "ack" [m, n] = ack m n
call "tak" [x, y, z] = tak x y z
call "primes" [n] = primes 2 n 0
call name _ = error name
{-# NOINLINE call #-}

-- Until this many seconds of processor time are over, and at least once.
repeated :: String -> IORef [Int] -> Double -> Integer -> Int -> IO (Int, Int, Double)
repeated name arguments least begin runs = do
  numbers <- readIORef arguments  -- each time anew: nothing is shared between runs
  result <- evaluate (call name numbers)
  now <- getCPUTime
  let seconds = fromIntegral (now - begin) / 1e12
  if seconds < least then repeated name arguments least begin (runs + 1) else return (result, runs + 1, seconds)

main :: IO ()
main = do
  name : least : numbers <- getArgs
  arguments <- newIORef (map read numbers)
  begin <- getCPUTime
  (result, runs, seconds) <- repeated name arguments (read least) begin 0
  putStrLn (unwords [show result, show runs, show seconds])
