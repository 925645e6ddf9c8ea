#!/usr/bin/env python3
"""A line between two processes that is as bad as one asks: slow, late, cut, or deaf in one direction. Bytes are opaque to it.

    relay.py --to HOST:PORT [--listen PORT] [--delay MS] [--jitter MS] [--rate MBIT] [--seed N] [--cut S] [--stall S]

Whoever connects to the relay is connected to the other side. --delay: each byte comes so much later; --jitter: and up to so much more;
--rate: of each direction; --cut, --stall: about every S seconds all connections are cut off, or one direction carries nothing for a while. The same
seed has the same fate. Tests use the class.
"""

import argparse
import collections
import random
import socket
import struct
import threading
import time

PIECE = 64 << 10
OUT, BACK = 0, 1  # directions: from who connected, and back


class Pipe:
    """One direction of one connection: a reader and a writer, and between them the bytes that are on their way."""

    def __init__(self, line, source, sink, direction):
        self.line, self.source, self.sink, self.direction = line, source, sink, direction
        self.waiting = collections.deque()  # (when it is due, bytes)
        self.bytes = 0
        self.changed = threading.Condition()
        self.ended = False
        for work in (self.read, self.write):
            threading.Thread(target=work, daemon=True).start()

    def room(self):
        """How much the line holds: what fits into its delay, and a little."""
        line = self.line
        return PIECE if line.rate is None and not line.delay else int((line.rate or 1e9) * (line.delay + line.jitter)) + (16 << 10)

    def read(self):
        try:
            while True:
                data = self.source.recv(PIECE if self.line.rate is None else 4096)
                if not data:
                    break
                self.line.saw(self.direction, data)
                due = time.monotonic() + self.line.delay + self.line.random.random() * self.line.jitter
                with self.changed:
                    self.changed.wait_for(lambda: self.bytes < self.room() or self.ended)
                    self.waiting.append((max(due, self.waiting[-1][0] if self.waiting else 0), data))
                    self.bytes += len(data)
                    self.changed.notify_all()
        except OSError:
            pass
        with self.changed:
            self.waiting.append((0, b""))
            self.changed.notify_all()

    def write(self):
        free = 0.0  # when the line can carry more
        try:
            while True:
                with self.changed:
                    self.changed.wait_for(lambda: self.waiting)
                    due, data = self.waiting[0]
                if not data:
                    break
                while (wait := max(due, free, self.line.deaf[self.direction]) - time.monotonic()) > 0:
                    time.sleep(min(wait, 0.1))
                if self.line.rate:
                    free = max(free, time.monotonic() - 0.01) + len(data) / self.line.rate
                self.sink.sendall(data)
                with self.changed:
                    self.waiting.popleft()
                    self.bytes -= len(data)
                    self.changed.notify_all()
        except OSError:
            pass
        self.line.end(self.source, self.sink, hard=False)
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class Relay:
    def __init__(self, to, listen=0, delay=0.0, jitter=0.0, rate=None, seed=1, record=0):
        """`to`: (host, port). `delay`, `jitter` in seconds, `rate` in bytes a second. `record`: keep so many bytes of each connection's beginning."""
        self.to, self.delay, self.jitter, self.rate, self.record = to, delay, jitter, rate, record
        self.random = random.Random(seed)
        self.deaf = [0.0, 0.0]  # a direction carries nothing until then
        self.closed_until = 0.0
        self.carried = [0, 0]
        self.connections = 0
        self.recorded = []
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.small(self.listener)
        self.listener.bind(("127.0.0.1", listen))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.address = "tcp://127.0.0.1:%d" % self.port
        threading.Thread(target=self.accept, daemon=True).start()

    def small(self, one):
        """What the system itself keeps on the way is part of the line."""
        if self.rate:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 10)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if time.monotonic() < self.closed_until:
                self.end(near, hard=True)
                continue
            far = socket.socket()
            self.small(far)
            try:
                far.connect(self.to)
            except OSError:
                self.end(near, hard=True)
                continue
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
                self.pairs.add((near, far))
                if self.record:
                    self.recorded.append(bytearray())
            Pipe(self, near, far, OUT)
            Pipe(self, far, near, BACK)

    def saw(self, direction, data):
        with self.lock:
            self.carried[direction] += len(data)
            if direction == OUT and self.record and len(self.recorded[-1]) < self.record:
                self.recorded[-1] += data

    def end(self, *sockets, hard):
        for one in sockets:
            try:
                if hard:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            except OSError:
                pass

    def cut(self, seconds=0.0):
        """All connections end at once, and for so long nobody can connect. What is on its way is lost."""
        self.closed_until = time.monotonic() + seconds
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.end(*pair, hard=True)

    def stall(self, direction, seconds):
        """A partition of one direction: nothing is lost, nothing comes."""
        self.deaf[direction] = time.monotonic() + seconds

    def fate(self, cut=None, stall=None, longest_cut=0.5, longest_stall=0.8):
        """From now on cuts and stalls at random times, about every so many seconds."""
        fate = random.Random(self.random.random())

        def live():
            while self.listener.fileno() >= 0:
                rates = [1 / mean if mean else 0 for mean in (cut, stall)]
                time.sleep(fate.expovariate(sum(rates)))
                if fate.random() * sum(rates) < rates[0]:
                    self.cut(fate.choice((0.0, fate.random() * longest_cut)))
                else:
                    self.stall(fate.choice((OUT, BACK)), fate.random() * longest_stall)

        threading.Thread(target=live, daemon=True).start()

    def close(self):
        self.listener.close()
        self.cut()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", required=True)
    parser.add_argument("--listen", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--jitter", type=float, default=0)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cut", type=float)
    parser.add_argument("--stall", type=float)
    args = parser.parse_args()
    host, port = args.to.rsplit(":", 1)
    relay = Relay((host, int(port)), args.listen, args.delay / 1000, args.jitter / 1000, args.rate * 1e6 / 8 if args.rate else None, args.seed)
    print("listening on %s" % relay.address, flush=True)
    if args.cut or args.stall:
        relay.fate(args.cut, args.stall)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        relay.close()


if __name__ == "__main__":
    main()
