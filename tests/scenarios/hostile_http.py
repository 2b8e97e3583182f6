#!/usr/bin/env python3
"""Hostile input on the port for machines: slow and silent connections, thousands of them, huge headers, random bytes, pipelined and half
requests, methods that are none. The node goes on serving tasks and figures, its memory stays within 100 MB of before, and no core spins.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/hostile_http.py [--seed N]
"""

import argparse
import http.client
import mmap
import os
import pathlib
import random
import resource
import socket
import ssl
import sys
import time

import harness
from harness import expect, wait_until
from place import deploy, expect_unharmed, place

MEGABYTE = 1 << 20
CONNECTIONS = 3_000
ALLOWED_GROWTH = 100 * MEGABYTE
SANITIZER_GROWTH = 300 * MEGABYTE  # what AddressSanitizer keeps of freed memory, by its default
ALLOWED_SHARE = 0.5  # of a core, over all threads, while only silent connections stand


def resident(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share_of(pid, seconds):
    """Of a core, over all threads, while nobody asks anything."""
    spent, began = cpu_seconds(pid), time.monotonic()
    # The measurement is the waiting.
    time.sleep(seconds)
    return (cpu_seconds(pid) - spent) / (time.monotonic() - began)


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def connect(port, seconds=10):
    """`port`: or what makes connections."""
    return port(seconds) if callable(port) else socket.create_connection(("127.0.0.1", port), timeout=seconds)


def get(port, path, seconds=10, method="GET", host="127.0.0.1"):
    """(status, headers, body)"""
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def exchange(port, request, seconds=15):
    """Everything that comes back until the other side closes; a reset is an end too."""
    with connect(port, seconds) as one:
        answer = b""
        try:
            one.sendall(request)
            while piece := one.recv(65536):
                answer += piece
        except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            pass
        return answer


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else None


def allow_files(wanted):
    """Open files of this process, and of those that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted) if hard != resource.RLIM_INFINITY else wanted, hard))


def allowed_growth(pid):
    with open(f"/proc/{pid}/exe", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program:
        return ALLOWED_GROWTH + (SANITIZER_GROWTH if program.find(b"__asan_init") >= 0 else 0)


class attacks:
    """Each leaves what it says behind it, and `port` must serve others while it goes on and afterwards."""

    def __init__(self, port, serves, rng):
        self.port = port
        self.serves = serves
        self.rng = rng

    def bad_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "QUERY", "get"):
            status, headers, _ = get(self.port, "/metrics", method=method)
            expect(status == 405, f"{method} was answered with {status} and not with 405")
            expect(headers.get("Allow") == "GET, HEAD", f"the answer to {method} does not say what is allowed: {headers}")
        body = b"x" * (8 * MEGABYTE)
        answer = exchange(self.port, b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        expect(status_of(answer) in (405, None), f"a POST with 8 MB was answered with {answer[:80]}")
        answer = exchange(self.port, b"GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + body[:1000])
        expect(status_of(answer) in (200, 400, 413, None), f"a chunk without end was answered with {answer[:80]}")

    def bad_paths(self):
        for path in ("/", "/metrics/", "/METRICS", "/../etc/passwd", "/metrics%00", "/%2e%2e/%2e%2e/etc/passwd", "//metrics", "/" + "a" * 5000):
            status, _, body = get(self.port, path)
            expect(status == 404, f"{path[:40]} was answered with {status} and not with 404")
            expect(b"root:" not in body, f"{path} gave a file away")

    def huge_headers(self):
        for request in (b"GET /" + b"a" * (4 * MEGABYTE) + b" HTTP/1.1\r\nHost: a\r\n\r\n",
                        b"GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + b"b" * (4 * MEGABYTE) + b"\r\n\r\n",
                        b"GET /metrics HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 500_000 + b"\r\n",
                        b"GET /metrics HTTP/1.1\r\nHost: a\r\nCookie: " + b"a=b; " * 100_000 + b"\r\n\r\n",
                        b"\r\n" * MEGABYTE):
            answer = exchange(self.port, request)
            expect(status_of(answer) in (400, 413, 414, 431, 500, None), f"{request[:40]} and so on was answered with {answer[:80]}")

    def random_bytes(self):
        for _ in range(300):
            exchange_quickly(self.port, self.rng.randbytes(self.rng.randrange(1, 4000)) + b"\r\n\r\n")
        pieces = [b"GET ", b"/metrics", b" HTTP/1.1", b"\r\n", b"\n", b"\0", b"Host:", b" ", b"\t", b":", b"Content-Length: -1\r\n", b"HTTP/9.9",
                  b"Transfer-Encoding: chunked\r\n", b"\xff\xfe", b"%", b"?&=&", b"Expect: 100-continue\r\n", b"Connection: upgrade\r\n"]
        for _ in range(300):
            exchange_quickly(self.port, b"".join(self.rng.choices(pieces, k=self.rng.randrange(1, 30))) + b"\r\n\r\n")

    def pipelining(self):
        answer = exchange(self.port, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 5_000)
        expect(answer.count(b"HTTP/1.1 ") <= 1, f"{answer.count(b'HTTP/1.1 ')} of the pipelined requests were answered: the connection is to be closed after one")

    def half_requests(self):
        """Reset, closed in the middle, shut down one way."""
        for _ in range(200):
            one = connect(self.port)
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"[: self.rng.randrange(1, 36)])
            if self.rng.random() < 0.5:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif self.rng.random() < 0.5:
                one.shutdown(socket.SHUT_WR)
            one.close()

    def readers_that_do_not_read(self):
        standing = []
        for _ in range(100):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            one.connect(("127.0.0.1", self.port))
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
            standing.append(one)
        self.serves("while 100 readers do not read")
        for one in standing:
            one.close()

    def slow_connections(self):
        """A byte every half second keeps them from being idle; the others are to be served all the same."""
        standing = [connect(self.port) for _ in range(200)]
        request = b"GET /metrics HTTP/1.1\r\nHost: a\r\nX-Slow: "
        for at in range(8):
            for one in standing:
                try:
                    one.sendall(request[at : at + 1])
                except OSError:
                    pass
            self.serves("while 200 connections send a byte now and then")
            time.sleep(0.5)
        for one in standing:
            one.close()

    def thousands(self):
        """Silent ones: they make room for each other, so that not even 3,000 shut others out."""
        standing = []
        try:
            for number in range(CONNECTIONS):
                standing.append(connect(self.port))
                if number % 500 == 499:
                    self.serves(f"while {number + 1} connections are open")
            yield
        finally:
            for one in standing:
                one.close()


def exchange_quickly(port, request):
    """Sends and looks at what comes at once; silence is an answer too."""
    with connect(port) as one:
        one.settimeout(0.02)
        try:
            one.sendall(request)
            while one.recv(65536):
                pass
        except OSError:
            pass


def assault(port, pid, serves, rng):
    """All of it against a process; `serves(when)` fails when it does not serve. The bounds are on what it is like in the end and meanwhile."""
    serves("before anything")
    before, files = resident(pid), open_files(pid)
    worst = before
    these = attacks(port, serves, rng)
    for attack in (these.bad_methods, these.bad_paths, these.huge_headers, these.random_bytes, these.pipelining, these.half_requests,
                   these.readers_that_do_not_read, these.slow_connections):
        began = time.monotonic()
        attack()
        serves(f"after {attack.__name__}")
        worst = max(worst, resident(pid))
        print(f"{attack.__name__.replace('_', ' '):28} {time.monotonic() - began:5.1f} s, {resident(pid) / MEGABYTE:.0f} MB")

    for _ in these.thousands():
        worst = max(worst, resident(pid))
        share = share_of(pid, 3)
        expect(share < ALLOWED_SHARE, f"{share:.0%} of a core are spent while {CONNECTIONS} connections stand silent")
        print(f"{CONNECTIONS} connections            {share:5.1%} of a core, {resident(pid) / MEGABYTE:.0f} MB")
    serves("after thousands of connections")
    expect(worst - before < allowed_growth(pid), f"memory grew by {(worst - before) / MEGABYTE:.0f} MB")
    wait_until(lambda: open_files(pid) <= files + 5, 15, f"connections are forgotten: {open_files(pid)} files are open, {files} were before")


def run():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    seed = options.parse_args().seed
    print(f"--seed {seed} repeats this", flush=True)
    allow_files(CONNECTIONS + 500)
    port, = harness.free_ports(1)
    with harness.sandbox("hostile_http") as box:
        here = place(box, "node", http__listen=f"127.0.0.1:{port}")
        here.node.start()
        deploy(here.node)

        def serves(when):
            status, _, body = get(port, "/healthz")
            expect(status == 200, f"{when}: /healthz was answered with {status}: {body[:200]}")
            status, _, body = get(port, "/metrics")
            expect(status == 200 and b"\nfairlead_shard_up{" in body, f"{when}: /metrics was answered with {status}: {body[:200]}")

        assault(port, here.node.process.pid, serves, random.Random(seed))
        expect_unharmed(here.node)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    harness.main(run)
