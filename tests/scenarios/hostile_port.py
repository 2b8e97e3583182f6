#!/usr/bin/env python3
"""Hostile input on the port between nodes: random bytes, frames cut off anywhere, slow and silent connections, thousands of them. The node goes on
serving clients and its peer, its memory stays within 100 MB of before, and no core spins.

What the framework's port cannot survive is not thrown here: docs/security.md lists it, and why the port is closed to strangers.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/hostile_port.py [--seed N]
"""

import argparse
import random
import resource
import select
import socket
import threading
import time

import harness
from harness import expect, fairlead, wait_until
from hostile_http import ALLOWED_SHARE, CONNECTIONS, MEGABYTE, allowed_growth, connect, open_files, resident, share_of
from place import deploy, expect_unharmed, place

FRAME_KINDS = 7    # a frame begins with its kind, 0 to 6
QUIET_SECONDS = 2  # how long it is watched for spinning


class forwarder(threading.Thread):
    """A port that passes everything on to another one, and keeps what its callers said."""

    def __init__(self, to):
        super().__init__(name="forwarder", daemon=True)
        self.said = []  # by caller
        self.to_ = to
        self.others_ = {}  # socket -> the other end
        self.books_ = {}   # socket of a caller -> what it said
        self.listener_ = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener_.getsockname()[1]
        self.start()

    def run(self):
        while True:
            for ready in select.select([self.listener_, *self.others_], [], [])[0]:
                if ready is self.listener_:
                    self._take(ready.accept()[0])
                elif ready in self.others_:
                    self._pass_on(ready)

    def _take(self, near):
        try:
            far = connect(self.to_)
        except OSError:
            near.close()
            return
        self.others_.update({near: far, far: near})
        self.books_[near] = bytearray()
        self.said.append(self.books_[near])

    def _pass_on(self, one):
        try:
            if data := one.recv(65536):
                if one in self.books_:
                    self.books_[one] += data
                self.others_[one].sendall(data)
                return
        except OSError:
            pass
        for end in (one, self.others_[one]):
            del self.others_[end]
            self.books_.pop(end, None)
            end.close()


class attacks:
    def __init__(self, port, recording, serves, rng):
        self.port, self.recording, self.serves, self.rng = port, recording, serves, rng

    def noise(self, length):
        """Random bytes that do not begin as one of the framework's frames: those bring a length of their own, and it is believed."""
        return bytes([self.rng.randrange(FRAME_KINDS, 256)]) + self.rng.randbytes(length - 1)

    def random_bytes(self):
        for _ in range(150):
            self.say(self.noise(self.rng.randrange(1, 4000)))
        for text in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 31, b"\xff" * 5000):
            self.say(text)

    def random_bytes_without_end(self):
        for _ in range(4):
            with connect(self.port) as one:
                one.settimeout(2)
                try:
                    for _ in range(64):
                        one.sendall(self.noise(65536))
                except OSError:
                    pass

    def frames_cut_off(self):
        """What a real client said, up to some byte."""
        places = range(len(self.recording)) if len(self.recording) < 400 else sorted(self.rng.sample(range(len(self.recording)), 400))
        for end in places:
            self.say(self.recording[:end], reset=self.rng.random() < 0.5)

    def garbage_behind_a_greeting(self):
        """The first frame as it should be, then anything."""
        for _ in range(100):
            self.say(self.recording[:first_frame(self.recording)] + self.noise(self.rng.randrange(32, 2000)))

    def the_same_again(self):
        """Everything that a real client said, by somebody else, also many at a time."""
        for _ in range(50):
            self.say(self.recording)
        standing = [connect(self.port) for _ in range(50)]
        for one in standing:
            one.sendall(self.recording)
        self.serves("while 50 say what another said before")
        for one in standing:
            one.close()

    def slow_connections(self):
        standing = [connect(self.port) for _ in range(200)]
        for at in range(0, min(24, len(self.recording)), 4):
            for one in standing:
                try:
                    one.sendall(self.recording[at : at + 4])
                except OSError:
                    pass
            self.serves("while 200 connections send a few bytes now and then")
        for one in standing:
            one.close()

    def say(self, data, reset=False):
        with connect(self.port) as one:
            one.settimeout(0.005)
            try:
                one.sendall(data)
                one.recv(65536)
            except OSError:
                pass
            if reset:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def first_frame(recording):
    """Where it ends: a header of 32 bytes, in which the second word is the length of what follows."""
    expect(len(recording) > 32, "a client said less than one frame")
    end = 32 + int.from_bytes(recording[4:8], "big")
    expect(32 < end <= len(recording), f"the first frame of a client is of {end} bytes, and it said {len(recording)}")
    return end


def record(node, port):
    """What a client says to a node."""
    between = forwarder(port)
    done = fairlead("status", "--json", node=f"127.0.0.1:{between.port}")
    expect(done.returncode == 0, f"`fairlead status` through a forwarder: {done.stderr}")
    return bytes(max(between.said, key=len))  # whoever looks first whether anybody listens says nothing


def quiet(pid, when):
    share = share_of(pid, QUIET_SECONDS)
    expect(share < ALLOWED_SHARE, f"{share:.0%} of a core are spent {when}")
    return share


def assault(port, pid, serves, recording, rng):
    serves("before anything")
    before, files = resident(pid), open_files(pid)
    worst = before
    these = attacks(port, recording, serves, rng)
    for attack in (these.random_bytes, these.random_bytes_without_end, these.frames_cut_off, these.garbage_behind_a_greeting, these.the_same_again,
                   these.slow_connections):
        began = time.monotonic()
        attack()
        serves(f"after {attack.__name__}")
        worst = max(worst, resident(pid))
        print(f"{attack.__name__.replace('_', ' '):28} {time.monotonic() - began:5.1f} s, {resident(pid) / MEGABYTE:.0f} MB", flush=True)
    standing = []
    try:
        for number in range(CONNECTIONS):
            standing.append(connect(port))
            if number % 1000 == 999:
                serves(f"while {number + 1} silent connections stand")
        worst = max(worst, resident(pid))
        share = quiet(pid, f"while {CONNECTIONS} connections stand silent")
        print(f"{CONNECTIONS} connections            {share:5.1%} of a core, {resident(pid) / MEGABYTE:.0f} MB", flush=True)
    finally:
        for one in standing:
            one.close()
    serves("after thousands of connections")
    wait_until(lambda: open_files(pid) <= files + 5, 15, f"connections are forgotten: {open_files(pid)} files are open, {files} were before")
    share = quiet(pid, "when all is over")
    worst = max(worst, resident(pid))
    print(f"afterwards                   {share:5.1%} of a core, {resident(pid) / MEGABYTE:.0f} MB", flush=True)
    expect(worst - before < allowed_growth(pid), f"memory grew by {(worst - before) / MEGABYTE:.0f} MB")


def raise_limit():
    """Of open files, for this program and what it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + 1000
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(hard, wanted), hard))


def run():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    seed = options.parse_args().seed
    print(f"--seed {seed} repeats this", flush=True)
    raise_limit()
    with harness.sandbox("hostile_port") as box:
        here = place(box, "node")
        here.node.start()
        deploy(here.node)

        def serves(when):
            done = fairlead("status", "--json", "--timeout", "10s", node=here.node.address)
            expect(done.returncode == 0, f"{when}: `fairlead status` ended with {done.returncode}: {done.stderr.strip()}; {here.node.last_words()}")

        assault(here.port, here.node.process.pid, serves, record(here.node, here.port), random.Random(seed))
        expect_unharmed(here.node)
    return 0


if __name__ == "__main__":
    harness.main(run)
