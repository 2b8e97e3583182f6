#!/usr/bin/env python3
"""A worker whose node is killed goes on at another node, on a real cluster: two nodes hold the shards, two others have an API and carry workers. The
node that carries the worker is killed with kill -9, once while an answer with attempts is half written. The worker registers at the other node with its
session and what it holds: it is the same process to the cluster, all that it held goes on, nothing is done twice by the records of the service, and
nothing waits for the end of a lease, which is a minute away.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/work_moves.py
"""

import collections
import http.client
import json
import time

import harness
import node_file
import openapi
from api import api
from cluster_nodes import AGENTS, CONFIG, NODE_PORTS, SHARDS, cluster
from harness import expect, fairlead, wait_until
from workers import worker

CHARGE = """workflow: charge
on_failure: park
steps:
  pay:
    agent: till
    call: charge
    with: { order: "${ .task.id }", amount_cents: 100 }
    timeout: 60s
    attempts: 1
    in_doubt: park
"""
COUNT = 24
CAPACITY = 16
WITHIN = 10  # seconds after the kill, in which all is done


class doors(cluster):
    """The cluster, whose agent nodes have an API."""

    def __init__(self, box, service_ports):
        self.apis = dict(zip(AGENTS, harness.free_ports(len(AGENTS))))
        super().__init__(box, service_ports)

    def _node(self, name):
        settings = {"store.path" if name in SHARDS else "node.data": self.folder / name}
        if name in AGENTS:
            settings["api"] = f"{{ listen: '127.0.0.1:{self.apis[name]}' }}"
        config = node_file.derive(CONFIG / f"{name}.yaml", self.folder / f"{name}.yaml", ports=self.ports, settings=settings)
        return harness.node(self.box_, config, f"127.0.0.1:{self.port(NODE_PORTS[name])}", log=self.folder / f"{name}.log")


class till:
    """Does the work of the worker: charges orders at the recording service."""

    def __init__(self, services):
        self.port = services.ports["payment"]

    def charge(self, one):
        to = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        to.request("POST", "/charges", json.dumps(one["input"]), {
            "Content-Type": "application/json", "Idempotency-Key": one["idempotency_key"], "traceparent": one["traceparent"]})
        answer = to.getresponse()
        said = json.loads(answer.read())
        to.close()
        expect(answer.status == 200, f"the service answers with {answer.status}: {said}")
        return said


def carry_out(one, at, tickets):
    """Charges what was not charged yet, and reports all of it; what is reported is held no more."""
    for ticket in list(tickets):
        attempt = one.held[ticket]
        outputs = attempt.setdefault("done", None) or at.charge(attempt)
        attempt["done"] = outputs
        expect(one.report({"ticket": ticket, "output": outputs}) == ["accepted"], f"an outcome of {attempt} is not accepted")


def run():
    with harness.sandbox("work_moves") as box:
        services = harness.services(box)
        here = doors(box, services.ports.values())
        here.start()
        file = box.folder / "charge.yaml"
        file.write_text(CHARGE)
        here.deploy(file)
        for part in (half_written, held_and_reported):
            began = time.monotonic()
            part(here, services)
            print(f"ok  {part.__name__}, {time.monotonic() - began:.1f} s", flush=True)
        here.end()
    openapi.check("work_moves").write()
    return 0


def submit(here, door, ids):
    to = api(here.apis[door])
    for name in ids:
        to.expect(201, "PUT", f"/v1/tasks/{name}", {"workflow": "charge"})


def nothing_twice(services, ids):
    """By what the service has recorded: each order arrived once, and was charged once."""
    services.look()
    arrived = [json.loads(record["body"])["order"] for record in services.records() if record["record"] == "arrival"]
    charged = [record["order"] for record in services.records() if record["record"] == "effect_end"]
    arrivals, effects = (collections.Counter(one for one in orders if one in ids) for orders in (arrived, charged))
    expect(arrivals == collections.Counter(ids), f"orders that arrived another time than once: {[one for one in ids if arrivals[one] != 1]}")
    expect(effects == collections.Counter(ids), f"orders that were charged another time than once: {[one for one in ids if effects[one] != 1]}")


def all_done(here, door, ids, since):
    """Each task ended in its first attempt, and in time."""
    to = api(here.apis[door])
    for name in ids:
        task = wait_until(lambda name=name: (now := to.expect(200, "GET", f"/v1/tasks/{name}")[1])["state"] == "completed" and now, 10, f"{name} is completed")
        expect(task["steps"][0]["attempt"] == 1 and not task["parked"], f"{name} needed another attempt: {task['steps']}")
    took = time.monotonic() - since
    expect(took < WITHIN, f"all was done {took:.1f} s after the kill, and not within {WITHIN} s")


def kill_and_move(here, one, killed, door):
    """The moment of the kill. The worker is the same process as before."""
    incarnation, held = one.incarnation, set(one.held)
    since = time.monotonic()
    here.nodes[killed].kill()
    said = one.move(here.apis[door])
    expect(said["incarnation"] == incarnation and one.session.endswith(".1"), f"another process: {said}")
    expect(set(one.held) == held, "what it holds stays")
    return since


def half_written(here, services):
    """Killed while the answer to a take is half read; nothing of it is known to the worker."""
    killed, door = AGENTS
    ids = [f"half-{number}" for number in range(COUNT)]
    at = till(services)
    one = worker(here.apis[killed], "till", "till-1", calls=["charge"], capacity=CAPACITY)
    one.register()
    submit(here, killed, ids[:CAPACITY // 2])
    known = one.until(CAPACITY // 2, most=CAPACITY // 2)
    submit(here, killed, ids[CAPACITY // 2:])
    one.take_half(most=CAPACITY)
    since = kill_and_move(here, one, killed, door)
    carry_out(one, at, [each["ticket"] for each in known])
    done = len(known)
    while done < COUNT:
        expect(time.monotonic() - since < WITHIN + 5, f"{done} of {COUNT} attempts were done, the others do not come")
        new = one.take(CAPACITY, 1_000)
        expect({each["attempt"] for each in new} <= {1}, f"an attempt number rose: {new}")
        carry_out(one, at, [each["ticket"] for each in new])
        done += len(new)
    all_done(here, door, ids, since)
    nothing_twice(services, ids)
    found = next(each for each in api(here.apis[door]).expect(200, "GET", "/v1/agents/till")[1]["instances"] if each["instance"] == "till-1")
    expect(found["node"] == door and found["kind"] == "worker" and not found["away"], f"the node that carries the worker: {found}")
    one.end()
    here.nodes[killed].launch()
    here.wait_until_whole(30)


def held_and_reported(here, services):
    """Killed while outcomes are on their way: they are sent again, at the other node."""
    door, killed = AGENTS
    ids = [f"held-{number}" for number in range(COUNT)]
    at = till(services)
    # Two shards share the capacity, and each keeps a part for what may come.
    one = worker(here.apis[killed], "till", "till-2", calls=["charge"], capacity=2 * COUNT)
    one.register()
    submit(here, door, ids)
    held = one.until(COUNT, most=COUNT)
    for each in held:
        each["done"] = at.charge(each)
    items = [{"ticket": each["ticket"], "output": each["done"]} for each in held]
    # The first half is recorded; of the others the worker hears nothing.
    expect(one.report(*items[:COUNT // 2]) == ["accepted"] * (COUNT // 2), "the first half")
    to = http.client.HTTPConnection("127.0.0.1", one.port, timeout=20)
    to.request("POST", one.path("outcomes"), json.dumps({"items": items[COUNT // 2:]}), {"Content-Type": "application/json"})
    since = kill_and_move(here, one, killed, door)
    to.close()
    results = one.report(*items)
    # Those that were recorded before the kill are not held any more; what the tasks have decides.
    expect(set(results) <= {"accepted", "repeated", "not_held"}, f"outcomes that are sent again: {results}")
    all_done(here, door, ids, since)
    nothing_twice(services, ids)
    done = fairlead("agent", "list", node=here.nodes[door].address)
    expect(done.returncode == 0 and "till-2" in done.stdout, f"agent list: {done.stdout}{done.stderr}")
    one.end()
    here.nodes[killed].launch()
    here.wait_until_whole(30)


if __name__ == "__main__":
    harness.main(run)
