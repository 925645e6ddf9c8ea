"""The four functions, for CPython: see tests/bench/table1. Python has no tail calls: `prime` is a loop."""
import sys
import time

sys.setrecursionlimit(1000000)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


def tak(x, y, z):
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) if y < x else z


def prime(k):
    for d in range(2, k):
        if k % d == 0:
            return False
    return True


def primes(n):
    return sum(1 for k in range(2, n + 1) if prime(k))


def main():
    """Until this many seconds of processor time are over, and at least once."""
    function, least, numbers = globals()[sys.argv[1]], float(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    start, runs, seconds = time.process_time(), 0, 0.0
    while True:
        result = function(*numbers)
        runs += 1
        seconds = time.process_time() - start
        if seconds >= least:
            break
    print(result, runs, "%.9f" % seconds)


main()
