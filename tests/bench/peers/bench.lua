-- The four functions, for Lua and LuaJIT: see tests/bench/table1.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end

local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end

local function tak(x, y, z)
  if y < x then return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) end
  return z
end

local function prime(k, d)
  if d == k then return true end
  if k % d == 0 then return false end
  return prime(k, d + 1)
end

local function primes(n)
  local found = 0
  for k = 2, n do
    if prime(k, 2) then found = found + 1 end
  end
  return found
end

local call = { fib = fib, ack = ack, tak = tak, primes = primes }
local name, least = arg[1], tonumber(arg[2])
local whole = math.tointeger or function(x) return x end  -- LuaJIT has no integers
local a, b, c = whole(tonumber(arg[3])), arg[4] and whole(tonumber(arg[4])), arg[5] and whole(tonumber(arg[5]))

-- Until this many seconds of processor time are over, and at least once.
local start, runs, seconds, result = os.clock(), 0, 0, nil
repeat
  result = call[name](a, b, c)
  runs = runs + 1
  seconds = os.clock() - start
until seconds >= least
print(string.format("%d %d %.9f", result, runs, seconds))
