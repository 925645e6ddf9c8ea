#!/usr/bin/env python3
"""Batching across tags gives what the reference engine gives, at any batch size: batching.py --dfc build/dfc

Each program is run unbatched by `reference`, and by `tagged` at several batch sizes, on several threads (with
`--stress` all batches are shared by them) and on a device, the simulated one or --device, optimised and not: output, error and exit
code have to be the same text. What `--stats` counts shows that there was something to batch.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

BATCHES = ("off", "1", "2", "3", "7", "auto")
PRELUDE = """{-# LANGUAGE Strict #-}
import Gradient
import Optim (sgd)
import Spread (sumSpread)
import qualified Optim as O
import qualified Tensor as T
import qualified Tensor.Linear as L

data Tree = Leaf Int | Node Tree Tree

waves :: Float -> Tensor Float s
waves k = sin (T.fill k * T.convert T.iota)

-- Of some shape that follows from the number; n leaves.
tree :: Int -> Int -> Tree
tree seed n
  | n == 1 = Leaf (seed `mod` 11)
  | otherwise = cut (1 + (seed * 7 + 3) `mod` (n - 1)) seed n
cut left seed n = Node (tree (seed * 5 + 1) left) (tree (seed * 3 + 2) (n - left))

trees :: Int -> [Tree]
trees n = [tree s (3 + s `mod` 14) | s <- [1 .. n]]

data State h = State (Tensor Float [h]) (Tensor Float [h])
data Cell h = Cell (Tensor Float [2 * h, 5 * h]) (Tensor Float [5 * h])

encode :: Cell h -> Tensor Float [words, h] -> Tree -> State h
encode cell embeddings (Leaf word) = let c = T.index embeddings word in State (tanh c) c
encode cell embeddings (Node l r) = combine cell (encode cell embeddings l) (encode cell embeddings r)

combine :: Cell h -> State h -> State h -> State h
combine (Cell w b) (State hl cl) (State hr cr) = State (T.sigmoid o * tanh c) c
  where
    (i, gates) = T.split (T.vecmat (T.concat hl hr) w + b)
    (o, gates') = T.split gates
    (u, forget) = T.split gates'
    (fl, fr) = T.split forget
    c = T.sigmoid i * tanh u + T.sigmoid fl * cl + T.sigmoid fr * cr

cell :: Cell 5
cell = Cell (waves 0.7) (waves 1.1)
embeddings :: Tensor Float [11, 5]
embeddings = waves 0.9

hiddens :: [Tree] -> Tensor Float [5]
hiddens [] = 0
hiddens (t : ts) = case encode cell embeddings t of State h _ -> h + hiddens ts
"""

# name, program behind PRELUDE, the least number of regions in a batch of `auto` at the largest (0: none need be)
PROGRAMS = [
    ("trees", "main = hiddens (trees 20)", 20),
    ("one tree after the other", "main = [T.sum h | t <- trees 6, let State h _ = encode cell embeddings t]", 2),
    ("weights of two models", """
main = sum' (trees 12)
sum' [] = 0
sum' (t : ts) = case encode cell embeddings t of
  State h _ -> case encode other embeddings t of State g _ -> h - 2 * g + sum' ts
other :: Cell 5
other = Cell (waves 0.3) (waves 0.2)
""", 12),
    ("linear chains and the same subtree twice", """
main = hiddens [chain 40 (Leaf 3), Node (chain 30 (Leaf 2)) (chain 30 (Leaf 2))]
chain n t = if n == 0 then t else chain (n - 1) (Node t (Leaf (n `mod` 11)))
""", 2),
    # What is computed decides what is computed next: the tree is made while it is measured.
    ("top down", """
data Made = End Float | Made Made (Tensor Float [4]) Made
grow :: Tensor Float [4, 8] -> Int -> Tensor Float [4] -> Made
grow w depth state
  | depth == 0 || T.sum state > 1.5 = End (state T.! 0)
  | otherwise = case T.split (tanh (T.vecmat state w)) of (l, r) -> Made (grow w (depth - 1) l) state (grow w (depth - 1) r)
size (End _) = 1
size (Made l _ r) = size l + size r
least (End x) = x
least (Made l s r) = min (least l) (min (T.sum s) (least r))
main = [(size t, least t) | k <- [1 .. 6], let t = grow (3 * waves 0.8) 7 (waves k)]
""", 0),
    ("all kinds of ops", """
step :: Tensor Float [3, 3] -> Tensor Float [3, 3] -> Int -> Tensor Float [3, 3]
step m x0 n
  | n == 0 = x
  | otherwise = branch (step m (T.matmul x m) (n - 1)) (step m (T.transpose x + m) (n - 1))
  where x = tanh x0
        branch a b = sin (T.softmax (T.select (T.less a b) (T.matmul a b) (T.matmul b (exp (negate (abs a))))) + T.broadcast (T.sum0 a)
             * T.reshape (T.concat (T.sumRows b) (T.concat (T.matvec a (T.sum0 b)) (T.matvec m (T.index b 1)))))
main = step (waves 0.4) (waves 0.2) 5
""", 16),
    ("doubles", """
walk :: Tensor Double [6, 6] -> Int -> Tensor Double [6]
walk w n = if n < 2 then T.index w n else tanh (T.vecmat (walk w (n - 1)) w + T.matvec w (walk w (n - 2)))
main = walk (sin (T.convert T.iota)) 11
""", 2),
    # Each factorisation under many tags; a gradient through all of them.
    ("linear algebra", """
belief :: Tensor Float [4] -> Tree -> Tensor Float [4, 4]
belief v (Leaf w) = 2 * L.eye + 0.1 * L.symmetric (waves (fromIntegral w)) + L.diagonalMatrix (v * v)
belief v (Node l r) = L.inverse s + 0.3 * s + 0.1 * L.matrixExp (0.1 * s) + T.fill (0.01 * L.logDet s) * L.eye + 0.01 * seen s
  where s = belief v l + belief v r
seen :: Tensor Float [4, 4] -> Tensor Float [4, 4]
seen s = T.matmul (L.choleskySolve c q) (L.symmetric (T.matmul t t)) + T.matmul (e * T.broadcast w) (T.transpose e) + T.matmul (u * T.broadcast d) vt + L.pinv c
  where
    c = L.cholesky s
    (w, e) = L.eigh s
    (q, t) = L.qr s
    (u, d, vt) = L.svd s
main = (sum' (trees 10), grad (\\v -> T.sum (belief v (tree 3 9))) (waves 0.6))
sum' [] = 0
sum' (t : ts) = belief 1 t + sum' ts
""", 8),
    # What could not be computed is a value: who asks for its elements fails, and of a batch those rows that have it.
    ("matrices without inverses", """
inverse :: Int -> Tensor Float [3, 3]
inverse k = L.inverse (T.fill (fromIntegral (k `mod` 4)) * L.eye + 0.1 * (waves 0.2 - waves 0.2))
data Box = Box (Tensor Float [3, 3]) (Tensor Float [3, 3])
boxes = [Box (tanh (inverse k) + T.fill (fromIntegral k)) (T.matmul (inverse k) (waves 0.3)) | k <- [0 .. 15]]
main = ([T.sum (T.matmul b c) | (k, Box b c) <- zip [0 ..] boxes, k `mod` 4 /= 0], T.size (inverse 0), [T.sum (if k `mod` 4 == 0 then 1 else inverse k) | k <- [0 .. 5]], chosen 0)
chosen k = if k == 16 then 0 else T.sum (T.select (T.fill (k `mod` 4 == 0)) 1 (tanh (inverse k))) + chosen (k + 1)
""", 8),
    ("the first matrix without an inverse", """
inverse :: Int -> Tensor Float [3, 3]
inverse k = L.inverse (T.fill (fromIntegral (k `mod` 4)) * L.eye)
main = sum [T.sum (tanh (L.solve (inverse k + inverse (k + 1)) (inverse k))) | k <- [1 .. 9]]
""", 0),
    # What waits for a batch and has one holder is written by an op of the host, then used by a batch again.
    ("written in place", """
row :: Int -> Tensor Float [5]
row n = if n == 0 then waves 0.3 else tanh (row (n - 1))
main = [T.sum (tanh (T.scatterAdd (row n) [1, n] [2, 3]) * row n) | n <- [0 .. 3]]
""", 0),
    # A vector that is seen whole and in parts has its elements once; who writes into a part that nobody else holds has a copy of it.
    ("written into a part", """
square = waves 1 :: Tensor Float [8, 8]
state :: Int -> Tensor Float [8]
state n = if n == 0 then T.index square 1 else tanh (T.vecmat (state (n - 1)) square)
data Parts = Parts (Tensor Float [8]) (Tensor Float [4]) (Tensor Float [6])
parts n = let { y = tanh (T.vecmat (state n) square); (a, _) = T.split y :: (Tensor Float [4], Tensor Float [4]); (_, b) = T.split y :: (Tensor Float [2], Tensor Float [6]) } in Parts y a b
fillUp :: Int -> Tensor Float [4] -> Tensor Float [4]
fillUp i t = if i >= 4 then t else fillUp (i + 1) (T.set t i (fromIntegral (10 * i)))
later y b k = if k > 50 then T.dot y (T.set y 2 k) + T.sum b else T.dot y (T.set y 3 k) - T.sum (T.set b 1 k)
one, two :: Parts -> Float
one (Parts y a b) = later y b (fillUp 0 a T.! 1)
two (Parts y a b) = later y b (T.scatterAdd a [0, 1] [100, 200] T.! 1)
go :: Int -> Float -> Float -> (Float, Float)
go n s t = if n == 0 then (s, t) else go (n - 1) (s + one (parts (n `mod` 5))) (t + two (parts (n `mod` 7)))
main = go 40 0 0
""", 0),
    # Each element is a batch of one, which writes over the tensor.
    ("filled with numbers of tensors", """
element :: Tensor Float [4] -> Int -> Float
element x i = T.sum (tanh (x * T.fill (fromIntegral i)))
main = let t = T.tabulate (element (waves 0.7)) :: Tensor Float [700] in (T.sum t, T.sum (T.set t 3 9), t T.! 3)
""", 0),
    # Numbers of tensors that are added up stay tensors; a number that is compared is read.
    ("a loss at each node", """
data Scored = Scored (State 5) Float
score :: Tensor Float [5, 3] -> Tree -> Scored
score w (Leaf word) = let s = encode cell embeddings (Leaf word) in Scored s (loss w word s)
score w (Node l r) = case score w l of
  Scored sl a -> case score w r of Scored sr b -> let s = combine cell sl sr in Scored s (a + b + abs (loss w 1 s))
loss w k (State h _) = negate (T.logSoftmax (T.vecmat h w) T.! (k `mod` 3)) / T.sum (h * h)
total :: [Tree] -> Float -> Float
total [] sum = sum
total (t : ts) sum = case score (waves 0.6) t of Scored _ l -> total ts (sum + l)
main = let s = total (trees 20) 0 in (s, s > 3)
""", 20),
    ("gradients of losses at each node", """
data Scored = Scored (State 5) Double
score :: Cell 5 -> Tree -> Scored
score c (Leaf word) = let s = encode c embeddings (Leaf word) in Scored s (loss s)
score c (Node l r) = case score c l of
  Scored sl a -> case score c r of Scored sr b -> let s = combine c sl sr in Scored s (a + b + loss s)
loss (State h _) = let x = realToFrac (T.sum h) - 0.5 in x * x
total :: Cell 5 -> [Tree] -> Double -> Double
total c [] sum = sum
total c (t : ts) sum = case score c t of Scored _ l -> total c ts (sum + l)
descend :: Int -> Cell 5 -> Double -> (Double, Float)
descend n c sum
  | n == 0 = case c of Cell w b -> (sum, T.sum w + T.sum b)
  | otherwise = case valueAndGrad (\\m -> total m (trees 14) 0) c of
      (l, Cell dw db) -> case c of Cell w b -> descend (n - 1) (Cell (w - 0.1 * dw) (b - 0.1 * db)) (sum + l)
main = descend 3 cell 0
""", 8),
    # Sums of gradients stay where their terms are: of outer products (of vectors, of matrices), rows, and whole tensors between them.
    ("gradients of all kinds of terms", """
walk :: Tensor Float [9, 4] -> Tensor Float [4, 4] -> Tree -> Tensor Float [4]
walk e w (Leaf word) = T.index e (word `mod` 9)
walk e w (Node l r) = tanh (T.vecmat (walk e w l) w + T.index w (depth l `mod` 4) + T.sum0 (T.matmul (T.gather e [1, depth r `mod` 9]) w))
depth (Leaf _) = 1
depth (Node l r) = 1 + max (depth l) (depth r)
objective :: [Tree] -> (Tensor Float [9, 4], Tensor Float [4, 4]) -> Float
objective ts (e, w) = go ts 0
  where go [] sum = sum
        go (t : rest) sum = go rest (sum + T.sum (walk e w t * walk e (w * w) t) + T.sum (w * T.transpose w))
descend :: Int -> (Tensor Float [9, 4], Tensor Float [4, 4]) -> (Tensor Float [9, 4], Tensor Float [4, 4])
descend n m
  | n == 0 = m
  | otherwise = case (m, grad (objective (trees 24)) m) of ((e, w), (de, dw)) -> descend (n - 1) (e - 0.01 * de, w - 0.01 * dw)
main = descend 3 (waves 0.9, waves 0.4)
""", 8),
    # What goes through strips of rows: rows of odd lengths, short ones and none, parts that are joined and parts that are taken, numbers, choices;
    # of long rows, pieces. One of the words is no row of the table.
    ("chains of ops on rows of all lengths", """
walk :: Tensor Float [11, 2 * n] -> Tensor Float [n, n] -> Tree -> Tensor Float [n]
walk e w (Leaf word) = let (a, b) = T.split (T.index e word) in T.relu a * b - exp (negate b)
walk e w (Node l r) = let (u, v) = T.split (T.concat (T.sigmoid a * b + bias) (T.select (T.less a b) (a - b * a) (negate b)) * T.fill (T.sum a)) in u / (1 + abs v)
  where { a = T.vecmat (walk e w l) w; b = tanh (walk e w r); bias = T.index w 0 * T.fill 0.5 }
flat :: Tree -> Tensor Float [7]
flat (Leaf word) = T.softmax (waves (fromIntegral word) * 3)
flat (Node l r) = let { a = flat l; b = flat r; c = tanh (a * b - a) } in T.set (T.softmax (c + 2 * b) - a) 2 (T.sum c)
none :: Tensor Float [11, 0] -> Tree -> Tensor Float [0]
none e (Leaf word) = tanh (T.index e word)
none e (Node l r) = let { a = none e l; b = none e r } in T.sigmoid (a * b) + T.relu (a - b)
long :: Tree -> Tensor Double [5003]
long (Leaf word) = sin (T.fill (fromIntegral word) * T.convert T.iota)
long (Node l r) = let { a = long l; b = long r } in T.select (T.less a b) (a * b + T.fill (T.sum a / 100)) (negate (T.sigmoid a) - b)
sums f ts = [T.sum (f t) | t <- ts]
main = ( sums (walk (waves 0.7 :: Tensor Float [11, 10]) (waves 0.4)) (trees 12), sums (walk (waves 0.2 :: Tensor Float [11, 34]) (waves 0.9)) (trees 12)
       , sums (walk (waves 0.3 :: Tensor Float [11, 2]) (waves 0.5)) (trees 12), sums flat (trees 12), sums (none (waves 1)) (trees 9), sums long (trees 3)
       , T.sum (none (waves 1) (Node (tree 4 9) (Node (Leaf 12) (Leaf 11)))))
""", 12),
    # As numbers and as tensors without dimensions they have the same bits.
    ("functions of numbers of tensors", """
features :: (Floating a, Ord a) => a -> a
features x = exp x + log (abs x + 1) * tanh x - sigmoid x * sqrt (abs x) + sin x ** 2 + max 0 x + signum x * atan x
sigmoid x = 1 / (1 + exp (negate x))
sums :: Tensor Float [5, 3] -> Tree -> (Float, Double)
sums w (Leaf word) = let s = T.sum (T.vecmat (T.index embeddings word) w) in (features s, features (T.sum (T.convert (T.index embeddings word))))
sums w (Node l r) = case sums w l of { (a, b) -> case sums w r of { (c, d) -> (features (a + c), features (b * d)) } }
main = [sums (waves 0.6) t | t <- trees 20]
""", 8),
    # Of 40 words the trees have 11: the table's gradient is a few rows (runtime/value/tensor.h), and a step goes through these alone. With some
    # rates it may not: elements are -0, and 0 times infinity is no number.
    ("steps of gradient descent on a table", """
data Model = Model { table :: Tensor Float [40, 5], cells :: Cell 5, root :: Tensor Float [5] }
objective :: Int -> Model -> Float
objective n m = sum [T.dot (root m) h | t <- trees n, let State h _ = encode (cells m) (table m) t]
descend :: Double -> Int -> Model -> Model
descend rate n m = if n == 0 then m else descend rate (n - 1) (sgd rate (grad (objective n) m) m)
model :: Model
model = Model (T.convert (T.iota :: Tensor Int [40, 5]) * waves 0.9 * T.fill (negate 0)) cell (waves 0.4)
shown m = (table m, T.sum (weights (cells m)), root m)
weights (Cell w _) = w
main = ([shown (descend rate 3 model) | rate <- [0.5, 0, negate 0, -0.5, 1 / 0, 0 / 0]], shown model)
""", 5),
    ("a gradient of few rows, and all that may be done with it", """
data Model = Model { table :: Tensor Double [30, 2], other :: Tensor Double [2, 3] }
objective :: Model -> Double
objective (Model e w) = T.sum (tanh (T.vecmat (T.index e 4) w) + T.vecmat (T.index e 7 * T.index e 4) w) + T.sum (T.gather e [3, 4, 3])
model :: Model
model = Model (T.convert (waves 0.3)) (T.convert (waves 0.8))
late :: Model -> Double -> Model
late m rate = let g = grad objective m in if T.index (table g) 4 T.! 0 > 0 then sgd rate g m else sgd 1 g m
main = (table g, table g - 0.5 * table g, T.index (table g) 4, T.reshape (table g) :: Tensor Double [60], table (sgd 0.1 g (sgd 0.2 g model)),
        both (sgd 0.3 g model) (sgd 0.4 g model), table (late model 0.5), table (Model (table model - table g * 0.5) 0), table model,
        [T.sum (table (plain k g)) | k <- [0.1, -2, 1 / 0]])
  where
    g = grad objective model
    both a b = (T.sum (table a * table b), T.sum (other a))
    plain :: Double -> Model -> Model
    plain k d = Model (table model - T.fill k * table d) (other model - other d * T.fill k)
""", 0),
    ("rows of a table that stay when it is written over, and are written over", """
rows :: Tensor Float [11, 5] -> [Int] -> [Tensor Float [5]]
rows e words = [T.index e w | w <- words]
descend :: Int -> Tensor Float [11, 5] -> Tensor Float [11, 5]
descend n e = if n == 0 then e else descend (n - 1) (sgd 0.5 (grad (\\x -> sum [T.sum (tanh (T.index x w) * T.index x 4) | w <- [1, 3, 4]]) e) e)
main = (before, later, [T.set r 1 9 | r <- rows later [0 .. 10]], later, [T.reshape r * 2 + r | r <- before])
  where
    before = rows (embeddings + 1) [10, 9 .. 0]
    later = descend 3 (embeddings + T.fill 0.5)
""", 0),
    # The cotangent of an element is made next to what uses it; its index is looked at before.
    *[("a class at each node, out of range: %s" % where, """
data Classes = Class Int | Both Int Classes Classes
data Net = Net (Tensor Double [6]) Double
net :: Tensor Double [12, 6] -> Classes -> Net
net w (Class c) = let h = tanh (T.index w c) in Net h (T.logSoftmax h T.! c)
net w (Both c l r) = case net w l of
  Net x a -> case net w r of
    Net y b -> let h = tanh (T.vecmat (T.concat x y) w) in Net h (a + b + T.logSoftmax h T.! c)
classes :: Int -> Int -> Classes
classes n bad = if n < 2 then Class n else Both (if n == 9 then bad else n `mod` 5) (classes (n - 1) bad) (classes (n - 2) bad)
main = grad (\\w -> sum [case net w (classes n %s) of Net _ l -> l | n <- [7, 10, 9, 4]]) (sin (T.convert T.iota))
""" % bad, 0) for where, bad in (("no", "2"), ("above", "6"), ("below", "(-1)"))],
    # Known by rows until the step, or until somebody wants all.
    ("sums of gradients of a table, in chunks", """
data P = P (Tensor Float [900, 8]) (Tensor Float [8])
loss :: P -> Int -> Float
loss (P t b) i = T.sum (tanh (T.index t ((i * 37) `mod` 900) * b))
main = go 6 (P (waves 0.9) (waves 1.1)) []
go :: Int -> P -> [Float] -> ([Float], Float, Float)
go n p losses
  | n == 0 = case p of P t _ -> (losses, T.sum t, T.sum (t * t))
  | otherwise = case sumSpread 4 loss p [n .. n + 21] of
      (l, g) -> case O.plus g (snd (valueAndGrad (\\q -> loss q n) p)) of
        h -> go (n - 1) (sgd 0.1 (if n == 3 then O.plus h h else if n == 2 then O.scaled (-0.5) h else h) p) (l : losses)
""", 22),
    # Whole numbers and truth values of tensors: what is counted at each node, by branches that only choose.
    ("an accuracy of all nodes", """
score :: Cell 5 -> Tree -> (State 5, Int, Int, Float)
score c (Leaf word) = let s = encode c embeddings (Leaf word) in (s, right s word, positive s word, hinge s)
score c (Node l r) = case score c l of
  (sl, a, p, x) -> case score c r of
    (sr, b, q, y) -> let s = combine c sl sr in (s, a + b + right s 3, p + q + positive s 2, x + y + hinge s)
right :: State 5 -> Int -> Int
right (State h _) label = if T.argmax h == label then 1 else 0
positive :: State 5 -> Int -> Int
positive (State h c) label
  | label == 3 = 0
  | (both > 0.3) == (label > 2) && not (p >= 4) = 2 - p
  | otherwise = fromEnum (both > 0)
  where { p = T.argmax c; both = T.sum h }
hinge :: State 5 -> Float
hinge (State h _) = let m = T.sum h in if m < 0.1 then 0.1 - m else if m > 2 then fromIntegral (T.argmax h) else 0
main = go (trees 20) 0 0 0
go [] a b x = (a, b, x)
go (t : ts) a b x = case score cell t of (_, c, d, y) -> go ts (a + c) (b + d) (x + y)
""", 20),
    # Batches of one row with weights that are worth keeping turned: rows, columns and matrices of few rows.
    ("rows one at a time", """
weight :: Tensor Double [70, 80]
weight = sin (T.convert T.iota)
loss :: Tensor Double [70, 80] -> Tensor Double [70] -> Tensor Double [3, 70] -> Int -> Double
loss w x m n
  | n == 0 = T.sum (T.vecmat x w) + T.sum (T.matmul m w)
  | T.sum z > 0 = T.sum y + loss w (tanh z) (tanh k) (n - 1)
  | otherwise = loss w (0.5 * z) k (n - 1)
  where { y = tanh (T.vecmat x w); z = T.matvec w y; k = T.matmul (tanh (T.matmul m w)) (T.transpose w) }
main = [(v, T.sum (abs g), T.index g 3 T.! 4) | s <- [1 .. 4],
        let (v, g) = valueAndGrad (\\u -> loss u (cos (T.fill (fromIntegral s) * T.convert T.iota)) (sin (T.convert T.iota)) 5) weight]
""", 0),
    # A class that is an index, and what is written at it.
    ("the nearest of some points", """
points :: Tensor Float [40, 4]
points = waves 3.1
nearest :: Tensor Float [6, 4] -> Tensor Float [4] -> Int
nearest c x = T.argmax (negate (T.sumRows (let d = c - T.broadcast x in d * d)))
step :: Tensor Float [6, 4] -> Tensor Float [6, 4]
step c = go 0 0 (T.fill 0.01)
  where
    go :: Int -> Tensor Float [6, 4] -> Tensor Float [6] -> Tensor Float [6, 4]
    go i sums counts
      | i == 40 = sums / T.transpose (T.broadcast counts)
      | otherwise = let { x = T.index points i; k = nearest c x } in go (i + 1) (T.scatterAdd sums [k] (T.reshape x)) (T.set counts k (counts T.! k + 1))
main = let c = iterate step (waves 1.7) !! 5 in (c, sum [nearest c (T.index points i) | i <- [0 .. 39]], sum [T.sum (T.index c (nearest c (T.index points i))) | i <- [0 .. 39]])
""", 0),
    # An error that the branch would not have looked at.
    ("a choice between what may fail", """
pick :: State 5 -> Int -> Int -> Int
pick (State h _) x y = if T.argmax h > 2 then x else y + 1
walk :: Int -> Int -> Int
walk k n = if n == 0 then 0 else pick (encode cell embeddings (tree n 4)) (n `div` k) 7 + walk k (n - 1)
main = walk 2 30 + walk 0 1
""", 0),
    ("an index out of range", "main = hiddens [tree 3 9, Node (Node (Leaf 4) (Leaf 12)) (Leaf 1), tree 5 4]", 0),
    ("an index out of range that nobody asks for", """
pick lazily = case lazily of { ~(a, _) -> a }
main = hiddens (trees 4) + pick (hiddens (trees 3), hiddens [Leaf 99])
""", 0),
    ("an error between tensors", """
walk :: Int -> Tensor Float [5] -> Tensor Float [5]
walk n x = if n == 0 then x else walk (n - 1) (tanh (T.vecmat x (waves 0.1)) * T.fill (fromIntegral (12 `div` (n - 3))))
main = walk 8 (waves 0.3)
""", 0),
    ("what is deferred and not wanted", """
main = keep 3000 (waves 0.3)
keep :: Int -> Tensor Float [5] -> Float
keep n x = if n == 0 then T.sum x else case tanh (x * 0.5) of _ -> keep (n - 1) (T.vecmat x (T.fill 0.2))
""", 0),
    ("a long chain", """
main = T.sum (steps 50000 (waves 0.3))
steps :: Int -> Tensor Float [4] -> Tensor Float [4]
steps n x = if n == 0 then x else steps (n - 1) (x * 0.999 + 0.001)
""", 0),
    ("a long chain that nobody wants", """
main = case steps 20000 (waves 0.3) of _ -> 1
steps :: Int -> Tensor Float [4] -> Tensor Float [4]
steps n x = if n == 0 then x else steps (n - 1) (x * 0.999 + 0.001)
""", 0),
]
# Ordinary Haskell, where tensors are delayed and gradients come back through lists; and the most batches that it may take.
LAZY_PRELUDE = """import Gradient
import NN (binaryCrossEntropy)
import qualified Tensor as T

data Cell = Cell { gate :: Tensor Float [9, 8], bias :: Tensor Float [8], table :: Tensor Float [7, 5], query :: Tensor Float [4] }

waves :: Float -> Tensor Float s
waves k = sin (T.fill k * T.convert T.iota)

step :: Cell -> Tensor Float [4] -> Int -> Tensor Float [4]
step m h word = (1 - z) * h + z * n
  where
    x = T.index (table m) word
    (n', z') = T.split (T.vecmat (T.concat x h) (gate m) + bias m)
    n = tanh n'
    z = T.sigmoid z'

states :: Cell -> Tensor Float [4] -> [Int] -> [Tensor Float [4]]
states _ _ [] = []
states m h (w : ws) = let h' = step m h w in h' : states m h' ws

-- Of different lengths.
texts :: [[Int]]
texts = [take (5 + n `mod` 9) (iterate (\\w -> (w * 3 + n) `mod` 7) (n `mod` 7)) | n <- [1 .. 12]]

descended :: Cell -> Cell -> Cell
descended m d = Cell (gate m - 0.1 * gate d) (bias m - 0.1 * bias d) (table m - 0.1 * table d) (query m - 0.1 * query d)

model :: Cell
model = Cell (waves 0.7) (waves 1.1) (waves 0.9) (waves 0.3)

"""
LAZY = [
    ("attention in lazy code", """
attend m hs = foldr1 (+) [T.fill (w / total) * h | (w, h) <- zip ws hs]
  where
    ws = [exp (T.dot (query m) h) | h <- hs]
    total = sum ws
data Step = Step !Int !Float deriving Show
descend :: Int -> Cell -> [Step]
descend n m
  | n == 0 = []
  | otherwise = Step n value : descend (n - 1) (descended m d)
  where (value, d) = valueAndGrad (\\x -> sum [log (T.sum (attend x (states x 0 t)) ^ 2 + 1) | t <- texts]) m
main = descend 3 model
""", 1200),
    # What main gives keeps its type; other lists of Floats have late numbers all the same.
    ("attention where main gives a list of losses", """
attend m hs = foldr1 (+) [T.fill (w / total) * h | (w, h) <- zip ws hs]
  where
    ws = [exp (T.dot (query m) h) | h <- hs]
    total = sum ws
mean :: [Float] -> Float
mean xs = sum xs / fromIntegral (length xs)
descend :: Int -> Cell -> [Float]
descend n m
  | n == 0 = []
  | otherwise = value : descend (n - 1) (descended m d)
  where (value, d) = valueAndGrad (\\x -> mean [log (T.sum (attend x (states x 0 t)) ^ 2 + 1) | t <- texts]) m
main = descend 3 model
""", 1200),
    # The library's losses look at no score.
    ("yes or no at each state", """
cost :: Cell -> Float
cost m = sum [binaryCrossEntropy (T.dot (query m) h) (w > 2) | t <- texts, (w, h) <- zip t (states m 0 t)]
descend :: Int -> Cell -> [Float]
descend n m = if n == 0 then [] else let (l, d) = valueAndGrad cost m in l : descend (n - 1) (descended m d)
main = descend 3 model
""", 700),
    # A sum of many is a long chain; what comes behind it is still computed together.
    ("large batches behind a long sum", """
score :: Float -> Float -> Float
score k x = T.sum (tanh (T.vecmat (T.fill x + query model) (T.fill k * waves 0.4 :: Tensor Float [4, 6])))
total :: Float -> Int -> Float -> Float
total k n s = if n == 0 then s else total k (n - 1) $! (s + score k (fromIntegral n))
main = [total k 600 0 | k <- [0.1, 0.2, 0.3]]
""", 2100),
    # Numbers that a loop, or anything, writes into a tensor are no batches of one, by which all that follows would not be batched.
    ("tensors made element by element", """
made :: Int -> Tensor Float [300, 60]
made k = T.tabulate2 (\\i j -> fromIntegral (k * i + j) / 18000)
ev, od :: Int -> Tensor Float [n] -> Tensor Float [n]
ev i t = if i >= T.length t then t else od (i + 1) (T.set t i (fromIntegral i))
od i t = if i >= T.length t then t else ev (i + 1) (T.set t i (fromIntegral (2 * i)))
row :: Tensor Float [6, 6] -> Int -> Tensor Float [6]
row w n = if n == 0 then T.index w 1 else tanh (T.vecmat (row w (n - 1)) w)
main = let { m = made 3; v = ev 5 (T.fill 0 :: Tensor Float [17000]) }
       in (T.sum m, T.sum v, sum [T.sum (row (waves 0.3) (k `mod` 5) * T.fill (v T.! k)) | k <- [1 .. 40]])
""", 60),
]
# Options, and the exit code: a limit ends a run while much is deferred.
LIMITS = [
    ("memory", ["--max-memory", "3M"], 3, "main = T.sum (deep 100000)\ndeep :: Int -> Tensor Float [40]\n"
     "deep n = if n == 0 then waves 1 else tanh (deep (n - 1)) + waves (fromIntegral n)\n"),
    ("time", ["--timeout", "300ms"], 3, "main = T.sum (loop (waves 1))\nloop :: Tensor Float [40] -> Tensor Float [40]\n"
     "loop x = if T.size x == 0 then x else loop (tanh x + 1)\n"),
    ("time on a device", ["--device", "--timeout", "300ms"], 3, "main = T.sum (loop (waves 1))\nloop :: Tensor Float [40] -> Tensor Float [40]\n"
     "loop x = if T.size x == 0 then x else loop (tanh x + 1)\n"),
    ("memory of a device", ["--device", "--max-device-memory", "20K"], 3, "main = T.sum (T.matvec (waves 1 :: Tensor Float [100, 100]) (waves 2))\n"),
]
# Steps of training: descend n (cell, embeddings).
DESCENT = """
loss :: Tensor Float [5] -> Float
loss h = T.sum (h * h)
total :: (Cell 5, Tensor Float [11, 5]) -> [Tree] -> Float -> Float
total (c, e) [] sum = sum
total (c, e) (t : ts) sum = case encode c e t of State h _ -> total (c, e) ts (sum + loss h)
descend :: Int -> (Cell 5, Tensor Float [11, 5]) -> (Cell 5, Tensor Float [11, 5])
descend n m
  | n == 0 = m
  | otherwise = descend (n - 1) (sgd 0.01 (grad (\\x -> total x (trees 12) 0) m) m)
"""
# Steps of training of which nothing comes back but what is printed. Over go the first weights, 1,320 bytes and their rates, and for each step 12 small vectors.
RESIDENT = DESCENT + """main :: Int -> Float
main n = case descend n (cell, embeddings) of (Cell w b, e) -> T.sum w + T.sum b + T.sum e
"""
# Of which size a device's memory is far too small for all that the program computes: some of it goes to the host and comes back.
SCARCE = ("gradients of losses at each node", {"simulated": "5K", "cuda": "12K"})


def run(dfc, path, *options):
    done = subprocess.run([dfc, "run", path, *options], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--threads", action="store_true", help="only runs on several threads, of optimised programs")
    parser.add_argument("--device", default="simulated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth way to run a program only, others for each")
    args = parser.parse_args()
    device, scarce = f"--device={args.device}", SCARCE[1].get(args.device)
    every = [[f"--batch={b}"] for b in BATCHES] + [["--threads=2", "--batch=off"]]
    every += [["--without=strips"], ["--without=strips", "--batch=3"]]
    every += [[device, f"--batch={b}"] for b in (1, 3, "auto")]
    threads = [["--threads=2"], ["--threads=4", "--stress=1"], ["--threads=3", "--stress=1", "--batch=7"]]
    failures = runs = 0

    def fail(name, what):
        nonlocal failures
        failures += 1
        print(f"{name}: {what}")

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.df")
        programs = [(name, PRELUDE + text, least, None) for name, text, least in PROGRAMS]
        programs += [(name, LAZY_PRELUDE + text, 2, most) for name, text, most in LAZY]
        for number, (name, text, least, most) in enumerate(programs):
            with open(path, "w") as out:
                out.write(text)
            for level in ([],) if args.threads else ([], ["-O0"]):
                want = run(args.dfc, path, "--engine=reference", *level)
                # Compiled once for all that only changes how it runs: most of a run's time would be the compiler's.
                graph = os.path.join(folder, "p.graph")
                subprocess.run([args.dfc, path, "--no-warnings", "-o", graph, *level], check=True)
                early = [] if level else [["--without=late-numbers"]]
                ways = threads if args.threads else every + threads + early
                for options in ways[number % args.every :: args.every]:
                    got = run(args.dfc, path if options in early else graph, *options, *level)
                    runs += 1
                    if got != want:
                        fail(f"{name} {options} {level}", f"\n  reference: {want}\n  tagged:    {got}")
            if args.threads:
                continue
            if least:
                stats = json.loads(run(args.dfc, path, "--stats=json")[2].splitlines()[-1])
                if stats["largest_batch"] < least:
                    fail(name, f"the largest batch has {stats['largest_batch']} regions, less than {least}")
                if most and stats["batches"] > most:
                    fail(name, f"{stats['batches']} batches of {stats['batched']} regions, more than {most}")
                if run(args.dfc, path, "--batch=off", "--stats=json")[2].find('"batches":0') < 0:
                    fail(name, "there were batches with --batch=off")
            if name == SCARCE[0] and scarce:
                want = run(args.dfc, path)
                got = run(args.dfc, path, device, "--max-device-memory", scarce)
                runs += 1
                if got != want:
                    fail(name, f"with {scarce} on the device: {got}")
                peaks = [json.loads(run(args.dfc, path, device, "--stats=json", *more)[2]) for more in ([], ["--max-device-memory", scarce])]
                if peaks[0]["peak_device_bytes"] < 4 * peaks[1]["peak_device_bytes"]:
                    fail(name, f"{scarce} are not scarce: {peaks}")
                if peaks[0]["downloads"] >= peaks[1]["downloads"]:
                    fail(name, "nothing was given up on the device")
        with open(path, "w") as out:
            out.write(PRELUDE.replace("import Gradient", "import Gradient\nimport Optim") + RESIDENT)
        copies = []
        for steps in () if args.threads else (1, 9):
            runs += 1
            want, got = (run(args.dfc, path, *options, "--input", f"n={steps}") for options in (["--engine=reference"], [device]))
            if got != want:
                fail("steps on a device", f"{got} and not {want}")
            stats = json.loads(run(args.dfc, path, device, "--stats=json", "--input", f"n={steps}")[2])
            copies.append((stats["uploaded_bytes"], stats["downloads"]))
        if not args.threads and (copies[1][0] - copies[0][0] > 8 * 12 * 20 or copies[0][1] != copies[1][1] or copies[0][1] > 3):
            fail("steps on a device", f"copies of one step and of nine: {copies}")
        for name, options, code, text in [] if args.threads else LIMITS:
            with open(path, "w") as out:
                out.write(PRELUDE + text)
            runs += 1
            got = run(args.dfc, path, *[device if option == "--device" else option for option in options])
            if got[0] != code or ("device" in name and "memory" in name and f"memory limit of 20 KiB of the {args.device} device" not in got[2]):
                fail(name, f"ends with {got}")
    print(f"{runs} runs, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
