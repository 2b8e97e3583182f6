#!/usr/bin/env python3
"""A cluster of real processes under load, while its nodes are killed with SIGKILL, and stopped and continued, at random; then all of them are
started anew one after the other. Judged by the services' records and the client's history: nothing that was acknowledged is lost, no effect is
doubled, no agent speaks after its lease, and a rolling restart gives the client no error.

    tests/scenarios/cluster_faults.py [--faults N] [--seed N]
"""

import argparse
import random
import statistics
import time

import cluster_nodes
import harness
import kill_loop
from cluster_nodes import AGENTS, NAMES, SHARDS
from harness import expect, wait_until

LEASE_SECONDS = 3
LANES = 2  # faults at a time, each at another node
NOTICED_DEAD, NOTICED_DEAD_BY_ALL = 0.1, 1.0
NOTICED_FROZEN = 3.0
NOTICE_TRIES = 5


class customer(kill_loop.customer):
    """Takes no error at all while `strict`."""

    strict = False

    def _give(self, path):
        done = super()._give(path)
        expect(done is not None or not self.strict, "the client found no node")
        return done


class weather:
    """One lane of faults; lanes share what is to be done and which nodes are hit already. All of it on the thread that looks on: the kernel
    kills what a thread has started when that thread ends."""

    def __init__(self, whole, services, dice, left, hit, at_least):
        self.whole_, self.services_, self.dice_, self.left_, self.hit_, self.at_least_ = whole, services, dice, left, hit, at_least
        self.told = []     # (kind, node, seconds)
        self.running = []  # steps running at each fault
        self.steps_ = self._strike_all()

    def go_on(self):
        """Does what is due; False when there is nothing more to do."""
        return next(self.steps_, False)

    def _strike_all(self):
        while self.left_:
            kind = self.left_.pop()
            name = self.dice_.choice([one for one in NAMES if one not in self.hit_])
            self.hit_.add(name)
            yield from self._pause(self.dice_.uniform(0, 0.4))
            yield from self._until(lambda: len(self.services_.running) >= self.at_least_, f"{self.at_least_} steps run at once, for the next fault")
            self.running.append(len(self.services_.running))
            self.whole_.check(name)
            node, seconds = self.whole_.nodes[name], self.dice_.uniform(0, 1.5) if kind == "kill" else self.dice_.uniform(1, 8)
            node.kill() if kind == "kill" else node.freeze()
            yield from self._pause(seconds)
            node.launch() if kind == "kill" else node.thaw()
            if kind == "kill":
                yield from self._until(lambda: self.whole_.figures(name), f"{name} is back")
            self.told.append((kind, name, seconds))
            self.hit_.discard(name)

    @staticmethod
    def _pause(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield True

    @staticmethod
    def _until(condition, what):
        end = time.monotonic() + 60
        while not condition():
            expect(time.monotonic() < end, f"waited 60 s in vain for this: {what}")
            yield True


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--running", type=int, default=10, help="steps that must be running at each fault")
    options, dice = harness.with_dice(parser)
    began = time.monotonic()
    with harness.sandbox("cluster_faults", options.keep) as box:
        services = imperfect_services(box, options.seed)
        whole = cluster_nodes.cluster(box, services.ports.values())
        whole.start(60)
        notice(whole)
        whole.deploy(short_leases(box.folder))
        client = customer(box, whole.address, options.seed, lambda: client.acknowledged - services.effects.get("dispatch", 0) - len(services.refused))
        client.start()
        sleep_through_a_lease(whole, services, client, options.running)
        lanes = storm(whole, services, client, dice, options)
        last_fault = time.monotonic()
        whole.wait_until_whole(60)
        roll(whole, services, client)
        client.finish(120)
        kill_loop.wait_for_all(whole, services, client)
        print(f"all ended {time.monotonic() - last_fault:.0f} s after the last fault", flush=True)
        client.history.add_ends(whole.tasks())
        whole.end()
        report(lanes, client, services, began, options)
        return kill_loop.judge(whole.stores(), services, client, [moment for name, node in whole.nodes.items() if name not in SHARDS for moment in node.woken])


def imperfect_services(box, seed):
    return harness.services(box, seed=seed, slow=0.3, slow_seconds=(0.2, 1.0), work_seconds=(0.1, 0.4), unavailable=0.03, drop_before=0.02,
                            drop_after=0.02, refuse=kill_loop.REFUSED, max_seconds=3600)


def short_leases(folder):
    """The workflow of kill_loop, with leases that end while a node is stopped."""
    text = kill_loop.WORKFLOW.read_text(encoding="utf-8")
    expect("timeout: 10s" in text, f"{kill_loop.WORKFLOW} has other timeouts")
    path = folder / "kill_order.yaml"
    path.write_text(text.replace("timeout: 10s", f"timeout: {LEASE_SECONDS}s"), encoding="utf-8")
    return path


def neighbours(name):
    return [other for other in NAMES if other != name and (other in SHARDS or name in SHARDS)]


def notice(whole):
    """Before there is load: how soon the others write down that a node is gone. A busy machine may give a process its turn late, so that a
    kill must be noticed by all within 100 ms once in a few tries, and at each try long before a heartbeat could tell."""
    for name in ("shard-b", "agents-a"):
        node, found = whole.nodes[name], []
        while not found or found[-1] > NOTICED_DEAD:
            expect(len(found) < NOTICE_TRIES, f"{name} was killed {len(found)} times and noticed by the last after {found} s")
            since = time.time()
            node.kill()
            found.append(noticed(whole, name, since))
            expect(found[-1] < NOTICED_DEAD_BY_ALL, f"the death of {name} was noticed after {found[-1]:.2f} s")
            node.start(60)
            whole.wait_until_whole(60, names=(*SHARDS, name))
        since = time.time()
        node.freeze()
        frozen = noticed(whole, name, since)
        node.thaw()
        expect(frozen < NOTICED_FROZEN, f"that {name} stood still was noticed after {frozen:.2f} s")
        whole.wait_until_whole(60, names=(*SHARDS, name))
        print(f"{name}: its death noticed by all within {found[-1] * 1000:.0f} ms, that it stood still within {frozen:.2f} s", flush=True)


def noticed(whole, name, since):
    """Seconds until the last of those who were connected with it had noticed."""
    def all_of_them():
        moments = [whole.notices(other, name, since) for other in neighbours(name)]
        return None if None in moments else (max(moments),)
    return wait_until(all_of_them, 10, f"{', '.join(neighbours(name))} notice that {name} is gone")[0]


def sleep_through_a_lease(whole, services, client, at_least):
    """An agent node stands still until all that it held has been given to others. What it then wakes up with must stay unsaid: the audit's
    rules on leases and attempts judge it by what arrives at the services."""
    wait_until(lambda: services.look() >= at_least, 60, f"{at_least} steps run")
    before = expired(whole)
    node = whole.nodes["agents-a"]
    node.freeze()
    end = time.monotonic() + LEASE_SECONDS + 2.5
    while time.monotonic() < end:
        services.look()
        client.check()
        time.sleep(0.05)
    again = expired(whole) - before
    node.thaw()
    whole.wait_until_whole(60, names=("agents-a", *SHARDS))
    expect(again > 0, "no lease of the frozen agents ended: the run says nothing about waking up late")
    print(f"agents-a stood still for {LEASE_SECONDS + 2.5:g} s; the leases of {again} steps ended meanwhile", flush=True)


def expired(whole):
    """Attempts so far whose lease ended without a word of the agent."""
    return sum(whole.nodes[name].log.read_text(encoding="utf-8").count(", lease_expired") for name in SHARDS)


def storm(whole, services, client, dice, options):
    kinds = ["kill" if number % 2 else "freeze" for number in range(options.faults)]
    dice.shuffle(kinds)
    hit = set()
    lanes = [weather(whole, services, random.Random(dice.random()), kinds, hit, options.running) for _ in range(LANES)]
    told, going = 0, lanes
    while going:
        services.look()
        client.check()
        going = [lane for lane in going if lane.go_on()]
        done = sum(len(lane.told) for lane in lanes)
        if done >= told + 10:
            told = done
            print(f"{done} faults, {client.acknowledged} orders acknowledged, {services.effects.get('dispatch', 0)} shipped", flush=True)
        time.sleep(0.02)
    expect(sum(len(lane.told) for lane in lanes) == options.faults, "a fault was left out")
    return lanes


def roll(whole, services, client):
    """Each node is asked to end and started again, as for an upgrade, once the others have it back."""
    before, began = client.acknowledged, time.monotonic()
    client.strict = True
    for name in (*AGENTS, *SHARDS):
        code, seconds = whole.nodes[name].end()
        expect(code == 0, f"{name} ended with {code} after SIGTERM: {whole.nodes[name].last_words()}")
        whole.nodes[name].start(60)
        whole.wait_until_whole(60)
        services.look()
        client.check()
    client.strict = False
    # The services fail now and then, and a breaker that has opened several times in a row stays open for up to 100 s.
    wait_until(lambda: services.look() is not None and client.acknowledged > before, 160, "the client gets orders taken during a rolling restart", every=0.1)
    client.check()
    print(f"rolling restart in {time.monotonic() - began:.0f} s: {client.acknowledged - before} orders were taken meanwhile, and the client saw no error", flush=True)


def report(lanes, client, services, began, options):
    told = [fault for lane in lanes for fault in lane.told]
    running = [number for lane in lanes for number in lane.running]
    kinds = {kind: sum(1 for fault in told if fault[0] == kind) for kind in ("kill", "freeze")}
    at = {name: sum(1 for fault in told if fault[1] == name) for name in NAMES}
    print(f"{kinds['kill']} kills and {kinds['freeze']} stops of 1 to 8 s ({', '.join(f'{name} {count}' for name, count in at.items())}), "
          f"{LANES} at a time; steps running at a fault: min {min(running)}, median {statistics.median(running):g}")
    print(f"{client.acknowledged} orders acknowledged, {services.arrivals} requests; {time.monotonic() - began:.0f} s in all", flush=True)
    expect(client.acknowledged >= 3 * options.faults, "hardly anything was submitted: the run says nothing")


if __name__ == "__main__":
    harness.main(run)
