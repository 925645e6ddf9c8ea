(* The four functions, for ocamlopt and ocamlc: see tests/bench/table1. *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let rec ack m n =
  if m = 0 then n + 1
  else if n = 0 then ack (m - 1) 1
  else ack (m - 1) (ack m (n - 1))

let rec tak x y z =
  if y < x then tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y) else z

let rec prime k d = d = k || (k mod d <> 0 && prime k (d + 1))

let rec primes k n found =
  if k > n then found else primes (k + 1) n (if prime k 2 then found + 1 else found)

let call name numbers =
  match name, numbers with
  | "fib", [n] -> fib n
  | "ack", [m; n] -> ack m n
  | "tak", [x; y; z] -> tak x y z
  | "primes", [n] -> primes 2 n 0
  | _ -> failwith name

(* Until this many seconds of processor time are over, and at least once. *)
let () =
  let arguments = List.tl (Array.to_list Sys.argv) in
  match arguments with
  | name :: least :: numbers ->
    let numbers = List.map int_of_string numbers and least = float_of_string least in
    let start = Sys.time () in
    let rec go runs =
      let result = call name numbers in
      let seconds = Sys.time () -. start in
      if seconds < least then go (runs + 1)
      else Printf.printf "%d %d %.9f\n" result (runs + 1) seconds
    in
    go 0
  | _ -> failwith "bench NAME SECONDS NUMBER..."
