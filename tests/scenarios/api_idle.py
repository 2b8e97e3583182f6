#!/usr/bin/env python3
"""Ten thousand connections to the API of a node that have asked once and stay, then five thousand over TLS: the node serves others, no core spins,
and its memory comes back when they have gone. Says what each costs. Skipped where the system allows too few open files.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_idle.py [--connections N] [--tls N]
"""

import argparse
import random
import resource
import socket
import time

import harness
import hostile_http
from api_access import make_certificate, new_token
from api_clients import PER_ADDRESS, door
from api_soak import IDLE_SHARE, rss_anon
from harness import expect, fairlead, wait_until
from hostile_http import open_files, share_of
from place import place

SKIPPED = 75
LOOKS_FOR = 10  # seconds
STAYS = 45  # seconds within which a connection asks again: the node closes it after 60
MOST_EACH = {"plain": 128 << 10, "tls": 256 << 10}  # bytes of RssAnon
REQUEST = b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"


def source(number):
    """Many addresses, as of many machines."""
    group = number // PER_ADDRESS
    return f"127.0.{group // 250 + 1}.{group % 250 + 2}", 0


class crowd:
    """Connections that stay, and ask now and then so that they are not closed."""

    def __init__(self, connect):
        self.connect = connect
        self.all = []
        self.asked = []

    def ask(self, number):
        one = self.all[number]
        one.sendall(REQUEST)
        answer = b""
        # Over TLS head and body come one after the other.
        while not answer.endswith(b"}"):
            piece = one.recv(4096)
            expect(piece, f"connection {number} was closed behind {answer[:200]}")
            answer += piece
        expect(answer.startswith(b"HTTP/1.1 200"), f"connection {number} was answered with {answer[:200]}")
        self.asked[number] = time.monotonic()

    def grow(self, count):
        for number in range(count):
            self.all.append(self.connect(number))
            self.asked.append(0)
            self.ask(number)
            if number % 200 == 199:
                self.stay()

    def stay(self):
        for number, asked in enumerate(self.asked):
            if time.monotonic() - asked > STAYS:
                self.ask(number)

    def leave(self):
        for one in self.all:
            one.close()
        self.all = []


def look_at(kind, count, connect, node, rng):
    pid = node.process.pid
    alone = share_of(pid, LOOKS_FOR)
    files, before = open_files(pid), rss_anon(pid)
    all_of_them = crowd(connect)
    began = time.monotonic()
    all_of_them.grow(count)
    took = time.monotonic() - began
    for number in range(count):
        # None of them is to be closed while the node is looked at.
        if time.monotonic() - all_of_them.asked[number] > STAYS - 2 * LOOKS_FOR:
            all_of_them.ask(number)
    expect(open_files(pid) >= files + count - 5, f"{open_files(pid) - files} of {count} connections are open")
    share = share_of(pid, LOOKS_FOR)
    each = (rss_anon(pid) - before) / count
    for number in rng.sample(range(count), min(count, 200)):
        all_of_them.ask(number)
    print(f"{count} idle connections, {kind}: made in {took:.0f} s, {share:.2%} of a core ({alone:.2%} without them), {each / 1024:.1f} KiB of RssAnon each", flush=True)
    expect(share - alone <= IDLE_SHARE, f"{share:.1%} of a core are spent while {count} connections are idle, {alone:.1%} without them")
    expect(each <= MOST_EACH[kind], f"a connection costs {each / 1024:.0f} KiB")
    all_of_them.leave()
    wait_until(lambda: open_files(pid) <= files + 5, 30, "connections that were closed are forgotten")
    wait_until(lambda: rss_anon(pid) - before < each * count / 4, 60, "the memory of connections that were closed comes back", every=0.5)


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--tls", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # The node takes half of what it may open.
    wanted = 2 * max(options.connections, options.tls)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        print(f"skipped: a process may open {hard} files (ulimit -Hn), and this takes {wanted}", flush=True)
        return SKIPPED
    hostile_http.allow_files(wanted + 1_000)
    # As many as the node takes, but for a few that others need.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 10
    ports = harness.free_ports(2)
    with harness.sandbox("api_idle") as box:
        folder = box.folder / "tls"
        folder.mkdir()
        expect(fairlead("certificate", "create-ca", "--out", folder / "ca").returncode == 0, "create-ca")
        make_certificate(folder, "idle")
        new_token(box.folder / "tokens.yaml", "nobody", "--role", "viewer")
        plain = place(box, "plain", api__listen=f"127.0.0.1:{ports[0]}")
        tls = place(box, "tls-node", api=f"{{ listen: '127.0.0.1:{ports[1]}', tls: {{ certificate: {folder}/cert.pem, key: {folder}/key.pem }} }}",
                    access=f"{{ tokens_file: {box.folder}/tokens.yaml }}")
        at = door(ports[1], folder / "ca" / "ca.pem", "")

        def connect(port, number):
            out = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=source(number))
            # As clients of HTTP do: the request goes right behind the end of the handshake, which the node need not acknowledge at once.
            out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return out

        rng = random.Random(options.seed)
        for kind, here, port, count, dial in (
                ("plain", plain, ports[0], options.connections, lambda number: connect(ports[0], number)),
                ("tls", tls, ports[1], options.tls,
                 lambda number: at.context.wrap_socket(connect(ports[1], number), server_hostname="127.0.0.1"))):
            here.node.start()
            wait_until(lambda port=port: harness.port_in_use(port), 15, "the API is served")
            look_at(kind, min(count, most), dial, here.node, rng)
            code, _ = here.node.end()
            expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
