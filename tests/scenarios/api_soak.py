#!/usr/bin/env python3
"""The API of one node for as long as it is given, over TLS with tokens and on its Unix socket, while tasks run. Clients do right and wrong things
side by side: tasks, batches, streams that are cut and resumed, requests made by dice, requests that can be read in two ways, slow bytes, clients that
leave, thousands of connections that only stay. Meanwhile the certificate is replaced, tokens are revoked, and the node is killed. What was acknowledged
is there afterwards. In the second half nothing is killed: memory, files and threads of the node do not grow, and at the end it is idle.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_soak.py [--seconds N] [--idle N] [--seed N]
"""

import argparse
import pathlib
import random
import re
import threading
import time

import harness
import hostile_http
from api_access import make_certificate, new_token
from api_clients import clients, door, soak_state
from harness import expect, fairlead, wait_until
from hostile_http import open_files, share_of
from place import place

KILL_EVERY = 180  # seconds, in a long run
IDLE_SHARE = 0.01  # of a core, beside what the node spends before anybody has asked anything, which depends on the machine
POOL = 8  # threads of the agent that sleeps, which begin when they are first needed
GROWTH = 64 << 20  # of RssAnon, in the second half; with sanitizers more
# What takes memory when it is done for the first time, and keeps it for the next. So it is done once before memory is looked at.
ONCE = ("hostile", "batches", "streams", "dice", "leave")
STEP = {"agent": "echo", "call": "echo", "timeout": "5s", "attempts": 50, "backoff": {"first": "50ms", "max": "400ms"}}
SLEEP = {**STEP, "agent": "pause", "call": "pause"}
WORKFLOWS = (
    {"workflow": "soak", "steps": {"only": STEP}},
    {"workflow": "soak_slow", "steps": {"first": SLEEP, "second": {**SLEEP, "needs": ["first"]}, "third": {**STEP, "needs": ["second"]}}},
    # What the dice and the hostile clients know.
    {"workflow": "order", "steps": {"reserve": STEP}},
    {"workflow": "brittle", "steps": {"first": STEP, "second": {**STEP, "needs": ["first"]}}},
)
# Errors and warnings of the log that belong to this.
EXPECTED = re.compile(r"api\.tls: the (key|certificate|file)|does not belong to the certificate|the certificate ends|breaker|wrong tokens|"
                      r"is away \(it has ended\)|was not ended in order|not closed|recover|is registered again|lease|audit: .*refus")


def rss_anon(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) << 10


def threads(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))


def names_of_threads(pid):
    return sorted(one.read_text().strip() for one in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"))


class soak:
    def __init__(self, box, options):
        self.options, self.folder = options, box.folder
        (self.folder / "tls").mkdir()
        expect(fairlead("certificate", "create-ca", "--out", self.folder / "tls" / "ca").returncode == 0, "create-ca")
        make_certificate(self.folder / "tls", "first")
        token = new_token(self.folder / "tokens.yaml", "customer", "--role", "client", "--role", "viewer", "--role", "payloads")["token"]
        port, = harness.free_ports(1)
        tls = f"{{ certificate: {self.folder}/tls/cert.pem, key: {self.folder}/tls/key.pem }}"
        self.place = place(box, "node", api=f"{{ listen: '127.0.0.1:{port}', socket: {self.folder}/api.sock, tls: {tls} }}",
                           access=f"{{ tokens_file: {self.folder}/tokens.yaml }}", log="{ level: warning, format: text }",
                           retention="{ archive_after: 30s, keep: 30d }", agents__echo="{ kind: native, handler: echo, concurrency: 64 }",
                           agents__pause="{ kind: native, handler: pause, concurrency: " + f"{POOL} }}")
        self.node = self.place.node
        self.state = soak_state(door(port, self.folder / "tls" / "ca" / "ca.pem", self.folder / "api.sock"), token, options.idle)
        self.state.folder = self.folder
        self.operator = clients(self.state, local=True)
        self.start()
        for workflow in WORKFLOWS:
            status, said = self.operator.ask("POST", "/v1/workflows", workflow)
            expect(status in (200, 201), f"{workflow['workflow']}: {status} {said}")
        expect(self.operator.ask("PUT", "/v1/tasks/soak-later", {"workflow": "soak", "delay": "2h"})[0] == 201, "a task for later")
        self.state.acknowledge(["soak-later"])
        self.idle = clients(self.state)
        self.threads = []

    def start(self):
        """The node answers on its port a moment before it serves the API."""
        self.node.start(30)

        def serves():
            try:
                return self.operator.ask("GET", "/v1/me")[0] == 200 and clients(self.state).ask("GET", "/v1/me")[0] == 200
            except OSError:
                self.operator.drop()
                return False
        wait_until(serves, 15, f"the API answers, see {self.node.log}")

    @property
    def pid(self):
        return self.node.process.pid

    def begin(self):
        deeds = [(clients.right, False), (clients.right, False), (clients.right, True), (clients.dice, False), (clients.hostile, False),
                 (clients.slow, False), (clients.leave, False), (clients.streams, False), (clients.streams, True), (clients.batches, False),
                 (clients.keys, False), (clients.idle, False)]
        for number, (deed, local) in enumerate(deeds):
            of = self.idle if deed is clients.idle else clients(self.state, local)
            rng = random.Random(f"{self.options.seed} {number}")
            self.threads.append(threading.Thread(target=self.state.keep_on, args=(of, deed, rng), name=deed.__name__, daemon=True))
        for one in self.threads:
            one.start()

    def check(self):
        code = self.node.process.poll()
        expect(code is None, f"the node ended with {code}: {self.node.last_words()}")
        expect(self.state.failure is None, f"{self.state.failure}; the node's log: {self.node.last_words()}")

    def let_go_on(self, seconds):
        """All goes on for so long, or until something has failed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.state.over.wait(0.5):
            self.check()
        self.check()

    def expect_acknowledged(self):
        """Each task that a client was told of is there. Archived ones are asked for one by one, and of them some."""
        asked, gone = self.state.acknowledged(), []
        for at in range(0, len(asked), 1_000):
            status, said = self.operator.ask("POST", "/v1/tasks:states", {"ids": asked[at:at + 1_000]})
            expect(status == 200, f"the states: {status} {said}")
            gone += [one["id"] for one in said["items"] if one["state"] is None]
        for one in gone:
            expect(self.operator.ask("GET", f"/v1/tasks/{one}")[0] == 200, f"the task {one} was acknowledged, and is gone")
        return len(asked)

    def kill(self):
        with self.state.files:
            self.state.kills += 1
            self.node.kill()
            self.operator.drop()
            self.start()
            tasks = self.expect_acknowledged()
            self.operator.drop()
            self.state.kills += 1
        print(f"killed; {tasks} acknowledged tasks are there", flush=True)

    def first_half(self):
        kills = max(1, round(self.options.seconds / 2 / KILL_EVERY))
        rng = random.Random(self.options.seed)
        for _ in range(kills):
            self.let_go_on(self.options.seconds / 2 / kills * rng.uniform(0.6, 1.0))
            self.kill()

    def second_half(self):
        warm, counts = max(2, self.options.seconds / 10), self.state.counts
        done = {deed: counts[deed] for deed in ONCE}
        self.let_go_on(warm)
        wait_until(lambda: self.check() or all(counts[deed] > before for deed, before in done.items()), 300, f"each of {', '.join(ONCE)} was done once")
        wait_until(lambda: self.check() or self.state.counts["idle now"] >= self.options.idle - 1, 300, "all idle connections are open")
        before = rss_anon(self.pid), threads(self.pid)
        self.let_go_on(max(2, self.options.seconds / 2 - warm))
        self.state.over.set()
        for one in self.threads:
            one.join(60)
            expect(not one.is_alive(), f"the client {one.name} does not end")
        self.check()
        return before

    def finish(self, before):
        tasks = self.expect_ended()
        self.idle.refresh(after=0)
        share = self.wait_for_idleness()
        grown, made = rss_anon(self.pid) - before[0], threads(self.pid) - before[1]
        allowed = GROWTH + hostile_http.allowed_growth(self.pid) - hostile_http.ALLOWED_GROWTH
        standing = len(self.idle.idle_)
        memory = rss_anon(self.pid)
        expect(grown < allowed, f"memory grew by {grown / hostile_http.MEGABYTE:.0f} MB")
        expect(made <= POOL, f"there are {made} more threads than before: {names_of_threads(self.pid)}")
        self.idle.drop()
        self.operator.drop()
        wait_until(lambda: open_files(self.pid) <= self.files + 10, 30, f"connections are forgotten: {open_files(self.pid)} files, {self.files} before")
        code, _ = self.node.end()
        expect(code == 0, f"the node ended with {code}: {self.node.last_words()}")
        self.expect_quiet_log()
        print(f"{standing} idle connections: {share:.2%} of a core ({self.alone:.2%} before anybody had asked); RssAnon {memory / hostile_http.MEGABYTE:.0f} MB, "
              f"{grown / hostile_http.MEGABYTE:+.0f} MB in the second half; {tasks} tasks", flush=True)

    def expect_ended(self):
        """Whatever was submitted has ended well, but for the task that is to begin later."""
        def left():
            found = self.operator.ask("GET", "/v1/tasks?label=soak:yes&state=running&state=pending&state=undoing&state=failed&page_size=10")[1]["items"]
            return [one["id"] for one in found]
        wait_until(lambda: not left(), 120, f"every task has ended: {left()}", every=0.2)
        return self.expect_acknowledged()

    def wait_for_idleness(self):
        """What is left to do, such as archives, is done, and then nothing is done. Connections that are open may double what a node spends."""
        share, end = 1.0, time.monotonic() + 90
        while share > 2 * self.alone + IDLE_SHARE:
            expect(time.monotonic() < end, f"{share:.1%} of a core are spent while nobody asks anything, {self.alone:.1%} before anybody had asked")
            share = share_of(self.pid, 3)
            self.idle.refresh(after=30)
        return share

    def expect_quiet_log(self):
        wrong = [line for line in self.node.log.read_text(errors="replace").splitlines()
                 if re.match(r"\S+ (error|warning) ", line) and not EXPECTED.search(line)]
        expect(not wrong, f"the log has {len(wrong)} lines that do not belong there, such as: {wrong[:5]}")

    def run(self):
        self.files = open_files(self.pid)
        self.alone = min(share_of(self.pid, 3) for _ in range(2))  # it may still be busy with its start
        began = time.monotonic()
        self.begin()
        self.first_half()
        self.finish(self.second_half())
        counts = self.state.counts
        print("  ".join(f"{name} {count}" for name, count in sorted(counts.items())), flush=True)
        print(f"the API was soaked for {time.monotonic() - began:.0f} s: {counts['requests']} requests", flush=True)


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--idle", type=int, default=200, help="connections that only stay")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    hostile_http.allow_files(2 * options.idle + 1_000)
    with harness.sandbox("api_soak") as box:
        soak(box, options).run()
    return 0


if __name__ == "__main__":
    harness.main(run)
