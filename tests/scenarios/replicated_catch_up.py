#!/usr/bin/env python3
"""Measures what it takes to bring a node of three back that has missed everything: a gigabyte of state, under light load.

It says how long the node took, how much more memory each of the three used meanwhile, and how long commits took before and meanwhile, by the
histogram of the node that leads. It judges nothing but that the node follows again.

    tests/scenarios/replicated_catch_up.py [--megabytes N]
"""

import argparse
import json
import random
import re
import threading
import time

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause

WORKFLOW = """
workflow: ballast
steps:
  wait:
    agent: nobody
    call: none
"""
TASK_BYTES = 250_000
BATCH = 64
BUCKET = re.compile(r'^fairlead_commit_duration_seconds_bucket\{[^}]*le="([^"]+)"\} (\d+)', flags=re.M)


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    with harness.sandbox("replicated_catch_up", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(box, ports))
        whole, look = working.nodes, working.look
        ballast = box.folder / "ballast.yaml"
        ballast.write_text(WORKFLOW)
        whole.deploy(ballast)
        leader = whole.wait_for_leader()
        away = next(name for name in NAMES if name != leader)
        fill(box, whole, TASK_BYTES * BATCH, "warm-up", look)
        before = buckets(whole, leader)
        pause(20, look)
        alone_p99 = p99_ms(before, buckets(whole, leader))
        whole.nodes[away].kill()
        began = time.monotonic()
        fill(box, whole, options.megabytes * 1_000_000, "fill", look)
        print(f"{options.megabytes} MB of state in {time.monotonic() - began:.0f} s without {away}", flush=True)
        pause(3, look)
        before, least = buckets(whole, leader), memory(whole)
        watch = memory_watch(whole)
        watch.start()
        whole.nodes[away].launch()
        began = time.monotonic()
        first = wait_until(lambda: look() or memory(whole).get(away), 10, f"{away} is there", every=0.05)
        wait_until(lambda: look() or whole.whole(), 300, f"{away} follows again", every=0.1)
        took = time.monotonic() - began
        meanwhile_p99 = p99_ms(before, buckets(whole, leader))
        watch.over.set()
        watch.join()
        least[away] = first
        growth = ", ".join(f"{name} {(watch.most[name] - least[name]) / 1e6:.0f} MB" for name in NAMES)
        copies = sum(node.log.read_text(encoding="utf-8", errors="replace").count("the copy of the state is in place") for node in whole.nodes.values())
        expect(copies > 0 and whole.wait_for_leader() == leader, f"{copies} copies were needed, and {whole.leader()} leads: the figures say little")
        print(f"{away} follows again {took:.1f} s after its start, by {copies} copies; more memory: {growth} ({leader} leads)\n"
              f"p99 of commits: {alone_p99:.1f} ms before, {meanwhile_p99:.1f} ms meanwhile", flush=True)
        working.client.finish(120)
        return 0


def fill(box, whole, all_bytes, name, look):
    """Tasks that wait for ever, until they have so many bytes."""
    dice = random.Random(1)
    path = box.folder / "ballast.jsonl"
    for first in range(0, all_bytes // TASK_BYTES, BATCH):
        look()
        path.write_text("".join(json.dumps({"id": f"{name}-{first + i}", "input": {"b": f"{dice.getrandbits(TASK_BYTES * 4):x}"}}) + "\n" for i in range(BATCH)))
        done = fairlead("submit", "ballast", "--batch", path, "--json", "--quiet", node=whole.address, seconds=120)
        expect(done.returncode == 0, f"ballast is not taken: {done.stdout[-600:]} {done.stderr[-600:]}")


def buckets(whole, name):
    return {float(edge): int(count) for edge, count in BUCKET.findall(whole.figures(name))}


def p99_ms(before, after):
    """The upper edge of the bucket in which it is."""
    edges = sorted(after)
    counts = [after[edge] - before.get(edge, 0) for edge in edges]
    expect(counts and counts[-1] > 100, "hardly any commit: the figure says nothing")
    return next(1000 * edge for edge, count in zip(edges, counts) if count >= 0.99 * counts[-1])


def memory(whole):
    """What each process has for itself, in bytes."""
    out = {}
    for name, node in whole.nodes.items():
        try:
            status = open(f"/proc/{node.process.pid}/status", encoding="utf-8").read()
        except OSError:
            continue
        found = re.search(r"RssAnon:\s+(\d+) kB", status)
        if found:
            out[name] = 1024 * int(found[1])
    return out


class memory_watch(threading.Thread):
    def __init__(self, whole):
        super().__init__(daemon=True)
        self.whole_, self.most, self.over = whole, dict.fromkeys(NAMES, 0), threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            for name, bytes_now in memory(self.whole_).items():
                self.most[name] = max(self.most[name], bytes_now)


if __name__ == "__main__":
    harness.main(run)
