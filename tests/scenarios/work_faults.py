#!/usr/bin/env python3
"""Workers over HTTP through every fault: three nodes hold one shard, each with an API, and four workers of one agent are processes of their own: the
examples of docs/examples/workers, and one of tests/scenarios/watched_agents.py. Between workers and APIs stand proxies.

First the answers to a take, to outcomes and to heartbeats are cut at each byte, one by one: nothing is lost, and no attempt number rises. Then, by dice,
workers and nodes are killed and stopped, clocks are set, answers are cut, and packets are lost, while tasks are submitted.

The records of the service and the logs of the workers judge, not the nodes: every task ends; nothing is done twice; a step that must not be tried again in
doubt reaches the service at most once; and nobody else has an attempt of a step before the holder of the former one takes its lease to be over.

The clock of one node is wrong from the start, and is set while the node does not lead: leases end early where a clock is set that leads
(docs/guarantees.md). With --set-leader it is set at any time.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/work_faults.py [--seed N] [--long] [--set-leader]
"""

import argparse
import collections
import http.client
import itertools
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

import broken_wires
import faked_clock
import harness
import openapi
import replicated_nodes
from api import api
from harness import ROOT, expect, scenario_failed, wait_until
from replicated_nodes import LAN, NAMES
from work_cuts import cut_everywhere
from work_judge import judge

EXAMPLES = ROOT / "docs" / "examples" / "workers"
WATCHED = pathlib.Path(__file__).resolve().with_name("watched_agents.py")
LEASE = 3  # seconds
STEP = """workflow: {name}
on_failure: park
steps:
  mail:
    agent: {agent}
    call: send
    with: {{ order: "${{ .task.id }}", amount_cents: 100 }}
    timeout: {timeout}s
    backoff: {{ first: 50ms, max: 400ms }}
    in_doubt: {in_doubt}
"""
BEATS = "    heartbeat: {heartbeat}s\n"
WORKFLOWS = {
    "again": STEP.format(name="again", agent="mail", timeout=LEASE, in_doubt="retry"),
    "once": STEP.format(name="once", agent="mail", timeout=LEASE, in_doubt="park"),
    "beats": STEP.format(name="beats", agent="mail", timeout=30, in_doubt="retry") + BEATS.format(heartbeat=1),
    "cut": STEP.format(name="cut", agent="cut", timeout=120, in_doubt="park"),
    "cut_outcomes": STEP.format(name="cut_outcomes", agent="cut_outcomes", timeout=120, in_doubt="park"),
    "cut_beats": STEP.format(name="cut_beats", agent="cut_beats", timeout=120, in_doubt="park") + BEATS.format(heartbeat=20),
}
KINDS = {"again": 6, "beats": 2, "once": 2}  # of tasks, by weight
EVERY = 0.07       # seconds between two tasks
SKEWED = "n3"
SET_BY = 3_600     # seconds at most, forward or back
CUT_SHARE = 0.03
LOST_SHARE = 0.02
STOPPED = LEASE + 1
ENDS_WITHIN = 60


class doors(replicated_nodes.trio):
    """Each with an API; one has a clock that can be set."""

    def __init__(self, box, service_ports, ahead):
        """`ahead`: seconds by which that clock is wrong."""
        self.apis = dict(zip(NAMES, harness.free_ports(len(NAMES))))
        try:
            self.clock = faked_clock.clock(box.folder, faked_clock.utc(time.time() + ahead))
        except scenario_failed as why:
            print(f"no clock is set: {why}", flush=True)
            self.clock = None
        super().__init__(box, service_ports, settings=LAN)

    def _node(self, name, settings):
        out = super()._node(name, {**settings, "api": f"{{ listen: '127.0.0.1:{self.apis[name]}' }}"})
        if self.clock and name == SKEWED:
            out.prefix_ = self.clock.prefix
        return out


def run():
    if broken_wires.INSIDE not in os.environ:
        print(f"no packets are lost: {broken_wires.enter()}", flush=True)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="ten rounds of faults, not one")
    parser.add_argument("--set-leader", action="store_true", help="also the clock of the node that leads is set")
    options, dice = harness.with_dice(parser)
    began = time.monotonic()
    with harness.sandbox("work_faults", options.keep) as box:
        over = broken_wires.wire(options.seed) if broken_wires.INSIDE in os.environ else None
        # Workers in two languages spell the same JSON differently.
        services = harness.services(box, seed=options.seed, work_seconds=(0.02, 0.5), any_spelling=True)
        here = doors(box, services.ports.values(), dice.uniform(-SET_BY, SET_BY))
        here.start()
        for name, text in WORKFLOWS.items():
            file = box.folder / f"{name}.yaml"
            file.write_text(text)
            here.deploy(file)
        ways = broken_wires.proxies(here.apis, options.seed, over)
        cut_everywhere(here, ways, dice)
        print(f"each byte was cut {time.monotonic() - began:.1f} s after the start", flush=True)
        storm(box, here, services, ways, dice, options)
        print(f"{time.monotonic() - began:.0f} s in all", flush=True)
        here.end()
    openapi.check("work_faults").write()
    return 0


class hand:
    """A worker's process, started as often as one likes."""

    def __init__(self, box, name, command, environment, prefix=()):
        self.box_, self.name, self.command_ = box, name, [*prefix, *command]
        self.log = box.folder / f"{name}.watch"
        self.words = box.folder / f"{name}.log"
        self.environment_ = {**os.environ, **environment, "WATCH_LOG": str(self.log)}
        self.launch()

    def launch(self):
        with open(self.words, "ab") as words:
            self.process = self.box_.start(self.command_, env=self.environment_, stdout=words, stderr=words)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def check(self):
        expect(self.process.poll() is None, f"worker {self.name} ({self.process.pid}) ended with {self.process.returncode}: {self.words.read_text()[-1_500:]}")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        wait_until(lambda: self.process.poll() is not None, 30, f"worker {self.name} ends after SIGTERM")
        expect(self.process.returncode == 0, f"worker {self.name} ended with {self.process.returncode}: {self.words.read_text()[-1_500:]}")


def start_hands(box, here, services, ways, seed):
    addresses = [f"http://127.0.0.1:{ways[name].port}" for name in NAMES]
    commands = {"python-1": [sys.executable, "-B", WATCHED, EXAMPLES / "agent.py"], "python-2": [sys.executable, "-B", WATCHED, EXAMPLES / "agent.py"],
                "own": [sys.executable, "-B", WATCHED]}
    if node := shutil.which("node"):
        commands["node"] = [node, "--import", WATCHED.with_suffix(".mjs").as_uri(), EXAMPLES / "agent.mjs"]
    else:
        print("agent.mjs is left out: there is no node here", flush=True)
    clock = None
    if here.clock and node:
        (folder := box.folder / "worker").mkdir()
        clock = faked_clock.clock(folder, faked_clock.utc(time.time()))
        clock.prefix = ("env", f"LD_PRELOAD={faked_clock.library()}", *clock.prefix[2:])
    hands = []
    for number, (name, command) in enumerate(commands.items()):
        environment = {"FAIRLEAD_API": ",".join(addresses[number % 3:] + addresses[:number % 3]), "SEED": str(seed),
                       "SERVICE_URL": f"http://127.0.0.1:{services.ports['payment']}/charges"}
        hands.append(hand(box, name, command, environment, clock.prefix if clock and name == "node" else ()))
    return hands, clock


class customer:
    """Submits tasks without end; what was acknowledged is in `taken`."""

    def __init__(self, here, seed):
        self.here_, self.dice_ = here, random.Random(seed)
        self.taken, self.error_ = [], None
        self.stop_ = threading.Event()
        self.thread_ = threading.Thread(target=self._run, daemon=True)
        self.thread_.start()

    def _run(self):
        try:
            doors_ = list(self.here_.apis.values())
            for number in itertools.count():
                kind, = self.dice_.choices(list(KINDS), list(KINDS.values()))
                while not self.stop_.is_set() and not self._submit(doors_[0], f"{kind}-{number}", kind):
                    doors_.append(doors_.pop(0))
                    self.stop_.wait(0.1)
                if self.stop_.wait(EVERY):
                    return
        except Exception as why:  # it is said where the scenario looks
            self.error_ = why

    def _submit(self, port, name, kind):
        try:
            status, _, said = api(port, 3).ask("PUT", f"/v1/tasks/{name}", {"workflow": kind})
        except (OSError, http.client.HTTPException):
            return False
        if status in (429, 503):
            return False
        expect(status in (200, 201), f"PUT {name}: {status} {said}")
        self.taken.append(name)
        return True

    def check(self):
        expect(self.error_ is None, f"the client of the tasks: {self.error_!r}")

    def end(self):
        self.stop_.set()
        self.thread_.join(20)
        self.check()


class storm_of:
    """Two lanes of faults, on the thread that looks on."""

    def __init__(self, here, hands, clock, client, dice, set_leader):
        self.here, self.hands, self.clock, self.client, self.dice, self.set_leader = here, hands, clock, client, dice, set_leader
        self.down, self.told = set(), collections.Counter()

    def look(self):
        self.client.check()
        for one in self.hands:
            if one.name not in self.down:
                one.check()
        for name in NAMES:
            if name not in self.down:
                self.here.check(name)

    def rage(self, *lanes):
        lanes = list(lanes)
        while lanes:
            self.look()
            lanes = [lane for lane in lanes if next(lane, lanes) is not lanes]
            time.sleep(0.02)

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield

    def whole(self, seconds=40):
        end = time.monotonic() + seconds
        while not self.here.whole():
            expect(time.monotonic() < end, f"{seconds} s after a fault not all nodes have all: {self.here.replications()}")
            yield from self.pause(0.2)

    def of_workers(self):
        kinds = ["kill", "kill", "stop", "stop"]
        self.dice.shuffle(kinds)
        for kind, one in zip(kinds, self.dice.sample(self.hands, len(self.hands))):
            yield from self.pause(self.dice.uniform(0, 0.5))
            self.down.add(one.name)
            print(f"{kind} worker {one.name}", flush=True)
            if kind == "kill":
                one.kill()
                yield from self.pause(self.dice.uniform(0, 1))
                one.launch()
            else:
                one.process.send_signal(signal.SIGSTOP)
                yield from self.pause(STOPPED + self.dice.uniform(0, 1))
                one.process.send_signal(signal.SIGCONT)
            self.down.discard(one.name)
            self.told[f"worker: {kind}"] += 1
            if self.clock:
                self.set(self.clock, f"worker {self.hands[-1].name}")

    def carriers(self):
        """The nodes that carry workers, as any node says."""
        for port in self.here.apis.values():
            try:
                status, _, said = api(port, 3).ask("GET", "/v1/agents/mail")
            except (OSError, http.client.HTTPException):
                continue
            if status == 200:
                return sorted({one["node"] for one in said["instances"] if one["kind"] == "worker"} & set(NAMES))
        return []

    def of_nodes(self):
        kinds = ["kill the leader", "kill a door", "stop a node", "set the clock"]
        self.dice.shuffle(kinds)
        for kind in kinds:
            leader = self.here.wait_for_leader()
            others = [name for name in self.carriers() if name != leader] or [name for name in NAMES if name != leader]
            name = leader if kind == "kill the leader" else self.dice.choice(others if kind == "kill a door" else NAMES)
            if kind == "set the clock":
                if self.here.clock and (self.set_leader or leader != SKEWED):
                    self.set(self.here.clock, SKEWED)
                    yield from self.pause(1)
                continue
            self.told[kind] += 1
            print(f"{kind}: {name}{', which leads' if name == leader else ''}", flush=True)
            self.down.add(name)
            node = self.here.nodes[name]
            if kind == "stop a node":
                node.freeze()
                yield from self.pause(self.dice.uniform(1, STOPPED))
                node.thaw()
            else:
                node.kill()
                yield from self.pause(self.dice.uniform(0.2, 1))
                node.launch()
            self.down.discard(name)
            yield from self.whole()

    def set(self, clock, whose):
        by = self.dice.uniform(-SET_BY, SET_BY)
        clock.set(faked_clock.utc(time.time() + by))
        self.told["clock of " + whose.partition(" ")[0]] += 1
        print(f"the clock of {whose} is set to {by:+.0f} s", flush=True)


def storm(box, here, services, ways, dice, options):
    hands, clock = start_hands(box, here, services, ways, dice.randrange(1 << 32))
    client = customer(here, dice.randrange(1 << 32))
    now = storm_of(here, hands, clock, client, dice, options.set_leader)

    def arrivals():
        now.look(), services.look()
        return services.arrivals
    wait_until(lambda: arrivals() > 20, 20, "the workers work")
    for _ in range(10 if options.long else 1):
        ways.share = CUT_SHARE
        now.rage(now.of_workers(), now.of_nodes())
        if ways.wire:
            ways.over_the_wire, ways.wire.share = True, LOST_SHARE
            now.rage(now.pause(4))
            ways.over_the_wire, ways.wire.share = False, 0
    ways.share = 0
    client.end()
    ended = wait_until(lambda: now.look() or all_ended(here, client.taken), ENDS_WITHIN, f"all tasks have ended: {left(here, client.taken)}", every=0.3)
    for one in hands:
        now.down.add(one.name)
        one.end()
    lost = f", {ways.wire.lost} of {ways.wire.passed + ways.wire.lost} packets lost" if ways.wire else ""
    print(f"{sum(now.told.values())} faults of workers and nodes: {dict(now.told)}, {ways.cuts} connections cut{lost}", flush=True)
    judge(ended, client.taken, services, hands)


def is_over(task):
    return task["state"] in ("completed", "failed", "undone") or task["parked"]


def tasks_of(here, ids):
    known = {task["id"]: task for task in here.tasks()}
    return {name: known.get(name) for name in ids}


def all_ended(here, ids):
    found = tasks_of(here, ids)
    return found if all(task and is_over(task) for task in found.values()) else None


def left(here, ids):
    try:
        return [(name, task and task["state"]) for name, task in tasks_of(here, ids).items() if not task or not is_over(task)][:10]
    except scenario_failed as why:
        return str(why)


if __name__ == "__main__":
    harness.main(run)
