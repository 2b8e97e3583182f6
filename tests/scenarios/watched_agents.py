"""Agents that write down what they hold, for scenarios that judge leases: the examples of docs/examples/workers, which are run as they are, and a worker
of its own kind, which uses short timeouts, and sends more than it has to: outcomes twice, and numbers of answers that came before the last.

    WATCH_LOG=/tmp/log python3 tests/scenarios/watched_agents.py docs/examples/workers/agent.py
    WATCH_LOG=/tmp/log node --import tests/scenarios/watched_agents.mjs docs/examples/workers/agent.mjs
    WATCH_LOG=/tmp/log python3 tests/scenarios/watched_agents.py

A line of the log is JSON. `at`: CLOCK_MONOTONIC in ns, which all processes of a machine have in common, `pid`, and `what`:

    lease    the attempt `ticket` of `task`, `step`, `direction`, `attempt` is here; `end`: what its holder takes for the end of its lease, in ns
    told     its outcome is made: `kind` (output, fault, verdict), null: there is none as the lease is over
    result   the node says `result` of its outcome
    refused  the node says that it is not held any more
"""

import functools
import http.client
import json
import os
import random
import runpy
import signal
import sys
import threading
import time

CAPACITY = 4
FOLLOWS = ("ticket", "task", "step", "direction", "attempt")


def note(what, ticket, **more):
    line = {"at": time.monotonic_ns(), "pid": os.getpid(), "what": what, "ticket": ticket, **more}
    os.write(note.file, json.dumps(line).encode() + b"\n")


def note_lease(one, end):
    note("lease", end=round(end * 1e9), **{name: one[name] for name in FOLLOWS})


def note_outcome(ticket, outcome):
    note("told", ticket, kind=next((kind for kind in ("output", "fault", "verdict") if kind in outcome), None) if outcome else None)


def note_item(item):
    """Of an answer to outcomes or heartbeats."""
    if "result" in item:
        note("result", item["ticket"], result=item["result"])
    elif not item["held"]:
        note("refused", item["ticket"])


# ---- an example, as it is ----

class noted(dict):
    """What was read from an answer."""

    def update(self, *given, **more):
        super().update(*given, **more)
        if "end" in more and more["end"]:
            note_lease(self, more["end"])

    def __setitem__(self, name, value):
        if name == "outcome":
            note_outcome(self["ticket"], value)
        super().__setitem__(name, value)


def read(pairs):
    out = noted(pairs)
    if "ticket" in out and ("result" in out or "held" in out):
        note_item(out)
    return out


def watch(path):
    sys.path.insert(0, os.path.dirname(path))  # the example imports its neighbour
    json.loads = functools.partial(json.loads, object_hook=read)
    runpy.run_path(path, run_name="__main__")


# ---- a worker of its own kind ----

class gone(Exception):
    """410"""


class worker:
    def __init__(self):
        self.doors_ = os.environ["FAIRLEAD_API"].split(",")
        self.service_ = os.environ["SERVICE_URL"].removeprefix("http://").partition("/")
        self.dice_ = random.Random(int(os.environ.get("SEED", "1")))
        self.held_ = {}
        self.session_, self.path_, self.after_, self.before_ = None, "", 0, 0
        self.ending_ = threading.Event()
        self.done_ = threading.Event()

    def ask(self, path, body, seconds=3, method="POST"):
        """Of the first door, until there is an answer; with the moment before it was sent."""
        while True:
            stamp, pause = time.monotonic(), 0.1
            to = http.client.HTTPConnection(self.doors_[0].removeprefix("http://"), timeout=seconds)
            try:
                to.request(method, path, json.dumps(body() if callable(body) else body), {"Content-Type": "application/json"})
                answer = to.getresponse()
                text = answer.read()
                if answer.status == 410:
                    raise gone
                if answer.status in (429, 502, 503, 504):
                    pause = float(answer.headers.get("Retry-After") or 1)
                elif answer.status >= 400:
                    sys.exit(f"{path}: {answer.status} {text.decode()}")
                else:
                    return json.loads(text) if answer.status != 204 else None, stamp
            except (OSError, http.client.HTTPException, ValueError):
                self.doors_.append(self.doors_.pop(0))
            finally:
                to.close()
            self.done_.wait(pause)

    def register(self):
        def me():
            if self.session_ is None:
                self.name_ = f"own-{os.getpid()}-{time.monotonic_ns()}"
            return {"agent": "mail", "instance": self.name_, "calls": ["send"], "capacity": CAPACITY, "session": self.session_, "have": list(self.held_)}
        made, _ = self.ask("/v1/workers", me)
        self.session_, self.path_, self.after_, self.before_ = made["session"], f"/v1/workers/{made['worker']}", 0, 0

    def work(self, one):
        left = one["end"] - time.monotonic()
        to = http.client.HTTPConnection(self.service_[0], timeout=max(0.001, left))
        try:
            headers = {"Content-Type": "application/json", "Idempotency-Key": one["idempotency_key"]}
            to.request("POST", f"/{self.service_[2]}", json.dumps(one["input"]), headers)
            answer = to.getresponse()
            text = answer.read()
            outcome = {"output": json.loads(text)} if answer.status == 200 else {"fault": {"kind": "permanent", "code": f"http_{answer.status}"}}
        except (OSError, http.client.HTTPException, ValueError) as why:
            outcome = {"fault": {"kind": "in_doubt", "code": "no_answer", "message": str(why)}}
        finally:
            to.close()
        one["outcome"] = {"ticket": one["ticket"], **outcome} if time.monotonic() < one["end"] else None
        note_outcome(one["ticket"], one["outcome"])
        self.done_.set()

    def report(self):
        items = [one["outcome"] for one in self.held_.values() if one.get("outcome")]
        if not items:
            return
        for _ in range(1 + (self.dice_.random() < 0.1)):
            for item in self.ask(self.path_ + "/outcomes", {"items": items}, 12)[0]["items"]:
                note_item(item)
                self.held_.pop(item["ticket"], None)

    def beat(self):
        due = [one for one in self.held_.values()
               if one["heartbeat_ms"] and "outcome" not in one and time.monotonic() > one["beat"] + one["heartbeat_ms"] / 4_000]
        if not due:
            return
        said, stamp = self.ask(self.path_ + "/heartbeats", {"items": [{"ticket": one["ticket"], "sequence": time.monotonic_ns()} for one in due]}, 6)
        for one, item in zip(due, said["items"]):
            if not item["held"]:
                note_item(item)
            one["beat"], one["end"] = stamp, stamp + item["lease_ms"] / 1_000 if item["held"] else 0
            if item["held"]:
                note_lease(one, one["end"])

    def take(self):
        said, stamp = self.ask(self.path_ + "/take", {"max": CAPACITY - len(self.held_), "wait_ms": 50 if self.held_ else 500,
                                                      "after": self.before_ if self.dice_.random() < 0.1 else self.after_})
        self.before_, self.after_ = self.after_, max(self.after_, said["answer"])
        for one in said["attempts"]:
            one.update(end=stamp + (said["waited_ms"] + one["lease_ms"]) / 1_000, beat=stamp)
            note_lease(one, one["end"])
            if one["ticket"] not in self.held_ and time.monotonic() < one["end"]:
                self.held_[one["ticket"]] = one
                threading.Thread(target=self.work, args=(one,), daemon=True).start()

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: self.ending_.set())
        self.register()
        while not self.ending_.is_set() or self.held_:
            try:
                self.report()
                for one in [one for one in self.held_.values() if not one.get("outcome") and time.monotonic() > one["end"]]:
                    del self.held_[one["ticket"]]
                self.beat()
                if self.ending_.is_set() or len(self.held_) >= CAPACITY:
                    self.done_.wait(0.05)
                else:
                    self.take()
                self.done_.clear()
            except gone:
                self.register()
        try:
            self.ask(self.path_, {}, method="DELETE")
        except gone:
            pass


if __name__ == "__main__":
    note.file = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    watch(sys.argv[1]) if sys.argv[1:] else worker().run()
