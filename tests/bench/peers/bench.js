// The four functions, for Node: see tests/bench/table1. JavaScript has no tail calls: `prime` is a loop.
'use strict';

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function ack(m, n) {
  if (m === 0) return n + 1;
  if (n === 0) return ack(m - 1, 1);
  return ack(m - 1, ack(m, n - 1));
}

function tak(x, y, z) {
  return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z;
}

function prime(k) {
  for (let d = 2; d !== k; ++d) if (k % d === 0) return false;
  return true;
}

function primes(n) {
  let found = 0;
  for (let k = 2; k <= n; ++k) if (prime(k)) ++found;
  return found;
}

const call = { fib, ack, tak, primes };
const [name, least, ...words] = process.argv.slice(2);
const numbers = words.map(Number);

// Until this many seconds of processor time are over, and at least once.
const spent = () => { const t = process.cpuUsage(); return (t.user + t.system) / 1e6; };
const start = spent();
let runs = 0, seconds = 0, result;
do {
  result = call[name](...numbers);
  ++runs;
  seconds = spent() - start;
} while (seconds < Number(least));
console.log(result, runs, seconds.toFixed(9));
