#!/usr/bin/env python3
"""One action on many tasks over the API: a dry run counts, what was confirmed is done, at the rate that was asked for, and nothing else. The operation goes
on through kill -9 of its node, is paused and stopped, and counts what it was refused. Confirmations of something else, old ones and those of a set that has
grown are refused, and clients cannot submit operations of their own.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_many.py
"""

import time

import harness
import openapi
from api import api
from api_operators import YAML, shown, stream
from harness import expect, wait_until
from place import place

TASKS = 600
ACT = "/v1/tasks:act"
# The input lacks what the step is to be given: each task parks at once, and no service is asked.
STUCK = b"""workflow: stuck
steps:
  only: { agent: inventory, call: reserve, with: { n: "${ .input.n }" } }
"""
PARKED = {"parked": True, "workflow": "stuck"}


def run():
    port, = harness.free_ports(1)
    with harness.sandbox("api_many") as box:
        here = place(box, "node", api__listen=f"127.0.0.1:{port}")
        here.node.start()
        to = api(port)
        to.expect(201, "POST", "/v1/workflows", raw=STUCK, headers=YAML)
        submit(to, "m", TASKS)
        for part in (refused, confirmed, killed, stopped, grown, ids, deployed, reserved):
            began = time.monotonic()
            to = part(to, here.node) or to
            print(f"ok  {part.__name__}, {time.monotonic() - began:.1f} s", flush=True)
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("api_many").write()
    return 0


def submit(to, prefix, count):
    for first in range(0, count, 200):
        batch = [{"workflow": "stuck", "id": f"{prefix}/{n}", "labels": {"set": prefix}} for n in range(first, min(first + 200, count))]
        to.expect(200, "POST", "/v1/tasks:batch", {"tasks": batch})
    wait_until(lambda: dry_run(to, "retry", {**PARKED, "labels": {"set": prefix}})["count"] == count, 60, f"{count} tasks are parked", every=0.2)


def dry_run(to, verb, chosen, **more):
    """`chosen`: a filter, or ids."""
    key = "ids" if isinstance(chosen, list) else "filter"
    return to.expect(200, "POST", ACT, {"verb": verb, key: chosen, "dry_run": True, **more})[1]


def begin(to, verb, chosen, confirm, **more):
    key = "ids" if isinstance(chosen, list) else "filter"
    found, said = to.expect(202, "POST", ACT, {"verb": verb, key: chosen, "confirm": confirm, **more})
    expect(found["Location"] == f"/v1/operations/{said['id']}", f"{found}")
    return said


def operation(to, one):
    return to.expect(200, "GET", f"/v1/operations/{one['id']}")[1]


def ended(to, one, state="done", seconds=60):
    return wait_until(lambda: (lambda now: now if now["state"] == state else None)(operation(to, one)), seconds, f"the operation is {state}", every=0.1)


def histories(to, prefix, count, event, every=50):
    """How often each of some tasks has the event."""
    for n in range(0, count, every):
        yield n, sum(1 for one in to.expect(200, "GET", f"/v1/tasks/{prefix}%2F{n}")[1]["history"] if one["event"] == event)


def refused(to, node):
    for body, at in (({"verb": "retry"}, "/filter"), ({"verb": "retry", "filter": {}}, "/filter"), ({"verb": "mend", "filter": PARKED}, "/verb"),
                     ({"verb": "retry", "filter": {"state": ["lost"]}}, "/filter/state/0"), ({"verb": "retry", "filter": {"jobs": "x"}}, "/filter/jobs"),
                     ({"verb": "retry", "filter": PARKED}, "/confirm"), ({"verb": "retry", "filter": PARKED, "confirm": "600.1.x"}, "/confirm"),
                     ({"verb": "retry", "filter": PARKED, "rate": 5001, "dry_run": True}, "/rate"), ({"filter": PARKED}, "/verb"),
                     ({"verb": "retry", "filter": PARKED, "ids": ["a"]}, "/filter"), ({"verb": "retry", "ids": []}, "/ids"),
                     ({"verb": "retry", "filter": PARKED, "dry_run": True, "confirm": "x"}, "/confirm")):
        to.expect(400, "POST", ACT, body, code="invalid_argument", pointer=at)
    found = dry_run(to, "retry", PARKED)
    expect(found["count"] == TASKS and found["at_least"] is False and len(found["sample"]) == 20, f"{found}")
    expect(sum(one["tasks"] for one in found["by_reason"]) == TASKS and len(found["by_reason"]) <= 3, f"reasons are not gathered: {found['by_reason']}")
    none = dry_run(to, "retry", {"workflow": "nothing"})
    expect(none["count"] == 0 and none["confirm"] is None, f"{none}")
    expect(set(found["sample"][0]) == {"id", "state", "parked", "reason"} and found["refused"] == [] and found["unknown"] == [], f"{found}")
    for verb, reason in (("resume", "the task is parked, not paused"), ("delete", "the task has not ended")):
        none = dry_run(to, verb, PARKED)
        expect(none["count"] == 0 and none["refused"] == [{"reason": reason, "tasks": TASKS}] and none["confirm"] is None, f"{none}")
    # Confirmed was something else.
    for body, differs in (({"verb": "undo", "filter": PARKED}, "another verb"), ({"verb": "retry", "filter": {"parked": True}}, "another filter"),
                          ({"verb": "retry", "filter": PARKED, "rate": 7}, "another rate"), ({"verb": "retry", "ids": ["m/1"]}, "other ids"),
                          ({"verb": "retry", "filter": PARKED, "reason": "x"}, "another reason")):
        _, said = to.expect(400, "POST", ACT, {**body, "confirm": found["confirm"]}, pointer="/confirm")
        expect(f"it was given for {differs}" in said["detail"], f"{said['detail']}")
    to.expect(404, "GET", "/v1/operations/none", code="not_found")
    to.expect(404, "POST", "/v1/operations/none/actions", {"verb": "stop"}, code="not_found")
    _, said = to.expect(200, "GET", "/v1/operations")
    expect(said["items"] == [], f"something refused has begun: {said}")


def confirmed(to, node):
    """Each task is paused once, and what ran or was submitted meanwhile is not."""
    chosen = {"workflow": "stuck", "labels": {"set": "m"}}
    found = dry_run(to, "pause", chosen, rate=1500, reason="a service is down")
    to.expect(201, "PUT", "/v1/tasks/late", {"workflow": "stuck", "labels": {"set": "m"}})
    one = begin(to, "pause", chosen, found["confirm"], rate=1500, reason="a service is down")
    again = begin(to, "pause", chosen, found["confirm"], rate=1500, reason="a service is down")
    expect(again["id"] == one["id"], f"the same confirmation began another operation: {again}")
    end = ended(to, one)
    expect((end["done"], end["refused"], end["left"], end["count"]) == (TASKS, 0, 0, TASKS), f"{end}")
    expect(end["by"] == "loopback" and end["reason"] == "a service is down" and end["filter"] == chosen and end["ended_at"], f"{end}")
    expect([n for n, times in histories(to, "m", TASKS, "operator_pause") if times != 1] == [], "not every task was paused once")
    _, late = to.expect(200, "GET", "/v1/tasks/late")
    expect(late["paused"] is False, "a task that was submitted after the dry run was paused")
    expect(shown(node, "task", "show", one["task"])["workflow"] == "fairlead-operation", "its task")
    expect(shown(node, "operation", "show", one["id"]) == end and shown(node, "operation", "list")["operations"] == [end], "the command line shows it, too")
    found, _ = to.expect(200, "GET", f"/v1/operations/{one['id']}")
    to.expect(304, "GET", f"/v1/operations/{one['id']}", headers={"If-None-Match": found["ETag"]})
    _, said = to.expect(200, "GET", "/v1/operations")
    expect(said["items"] == [end] and said["next"] is None, f"{said}")


def killed(to, node):
    """kill -9 in the middle: the operation goes on, and no task is resumed twice."""
    chosen = {"workflow": "stuck", "labels": {"set": "m"}}
    confirm = dry_run(to, "resume", chosen, rate=150)["confirm"]
    one = begin(to, "resume", chosen, confirm, rate=150)
    wait_until(lambda: operation(to, one)["done"] >= 60, 30, "the operation has begun", every=0.1)
    node.kill()
    node.start()
    to = api(to.port)
    end = ended(to, one, seconds=90)
    expect((end["done"], end["refused"]) == (TASKS, 0), f"{end}")
    expect([n for n, times in histories(to, "m", TASKS, "operator_resume", every=7) if times != 1] == [], "not every task was resumed once")
    return to


def stopped(to, node):
    chosen = {"workflow": "stuck", "labels": {"set": "m"}}
    confirm = dry_run(to, "pause", chosen, rate=25)["confirm"]
    one = begin(to, "pause", chosen, confirm, rate=25)
    path = f"/v1/operations/{one['id']}/actions"
    to.expect(400, "POST", path, {"verb": "undo"}, pointer="/verb")
    to.expect(412, "POST", path, {"verb": "pause"}, headers={"If-Match": '"1-0"'}, code="changed")
    told = stream(to.port, f"/v1/operations/{one['id']}/events")
    wait_until(lambda: operation(to, one)["done"] >= 10, 30, "the operation has begun", every=0.1)
    to.expect(200, "POST", path, {"verb": "pause"}, headers={"Idempotency-Key": "p-1"})
    to.expect(422, "POST", path, {"verb": "stop"}, headers={"Idempotency-Key": "p-1"}, code="key_reused")
    wait_until(lambda: operation(to, one)["note"] == "paused", 30, "it is paused", every=0.1)
    held = operation(to, one)
    expect(held["state"] == "paused" and held["left"] > 0, f"{held}")
    to.expect(200, "POST", path, {"verb": "resume"})
    wait_until(lambda: operation(to, one)["done"] > held["done"], 30, "it goes on", every=0.1)
    expect(operation(to, one)["note"] is None, "it is not paused any more, and says so")
    said = shown(node, "operation", "pause", one["task"], "--reason", "a look")
    expect((said["id"], said["state"]) == (one["id"], "paused"), f"{said}")
    shown(node, "operation", "resume", one["id"])
    expect(shown(node, "operation", "stop", one["id"], "--reason", "enough")["state"] in ("stopping", "stopped"), "it is stopped")
    end = ended(to, one, "stopped")
    expect(held["done"] < end["done"] < TASKS and end["left"] == end["count"] - end["done"], f"{end}")
    _, said = to.expect(200, "GET", "/v1/tasks?workflow=stuck&page_size=1000")
    paused = sum(task["paused"] for task in said["items"])
    expect(paused == end["done"], f"{paused} tasks are paused, and {end['done']} were counted")
    _, said = to.expect(409, "POST", path, {"verb": "pause"}, code="wrong_state")
    expect("is stopped" in said["detail"] and said["what_helps"][0]["request"]["path"] == path.removesuffix("/actions"), f"{said}")
    followed(to, one, told, end)


def followed(to, one, told, end):
    """The stream had the operation as it changed, and ends with it."""
    wait_until(told.is_over, 10, "the stream ends with the operation")
    expect(told.events[-1]["event"] == "end" and told.events[-1]["data"] == end, f"{told.events[-1]}")
    states = [event["data"]["state"] for event in told.events if event["event"] == "progress"]
    expect({"running", "paused"} <= set(states), f"{states}")
    done = [event["data"]["done"] for event in told.events if event["event"] == "progress"]
    expect(done == sorted(done) and len(set(done)) > 1, f"{done}")
    expect({event["data"]["event"] for event in told.events if "id" in event} >= {"task_submitted", "operator_pause", "operator_resume"}, f"{told.events}")
    path = f"/v1/operations/{one['id']}/events"
    over = stream(to.port, path, {"Last-Event-ID": str(told.numbers()[-1])})
    expect(over.answer.status == 204, f"a client that has everything got {over.answer.status}")
    expect(stream(to.port, "/v1/operations/none/events").answer.status == 404, "events of an operation that does not exist")
    to.expect(400, "GET", path + "?after=x", pointer="after")


def grown(to, node):
    submit(to, "g", 20)
    chosen = {**PARKED, "labels": {"set": "g"}}
    confirm = dry_run(to, "terminate", chosen)["confirm"]
    to.expect(200, "POST", "/v1/tasks:batch", {"tasks": [{"workflow": "stuck", "id": f"g/more-{n}", "labels": {"set": "g"}} for n in range(3)]})
    wait_until(lambda: dry_run(to, "terminate", chosen)["count"] == 23, 30, "they are parked", every=0.2)
    _, said = to.expect(409, "POST", ACT, {"verb": "terminate", "filter": chosen, "confirm": confirm}, code="conflict")
    expect("23 tasks now, and 20 were confirmed" in said["detail"], f"{said}")


def ids(to, node):
    """What does not fit a task is refused for that task alone."""
    chosen = ["g/0", "g/1", "nobody", "g/2"]
    found = dry_run(to, "terminate", chosen)
    expect(found["count"] == 3 and [one["id"] for one in found["sample"]] == ["g/0", "g/1", "g/2"] and found["unknown"] == ["nobody"], f"{found}")
    to.expect(200, "POST", "/v1/tasks/g%2F1/actions", {"verb": "terminate"})
    less = dry_run(to, "terminate", chosen)
    expect(less["count"] == 2 and less["refused"] == [{"reason": "the task is failed already", "tasks": 1}], f"{less}")
    end = ended(to, begin(to, "terminate", chosen, found["confirm"]))
    expect(end["ids"] is True and end["filter"] is None and (end["done"], end["refused"]) == (2, 2), f"{end}")
    expect({one["code"] for one in end["refusals"]} == {"not_found", "wrong_state"}, f"{end['refusals']}")
    _, said = to.expect(200, "POST", "/v1/tasks:states", {"ids": ["g/0", "g/1", "g/2", "g/3"]})
    expect([one["state"] for one in said["items"]] == ["failed"] * 3 + ["running"], f"{said}")


def deployed(to, node):
    """The workflow of operations is the node's own: nobody puts another in its place, deletes it, launches it or has its agent work for another one."""
    path = "/v1/workflows/fairlead-operation"
    for raw in (STUCK.replace(b"stuck", b"fairlead-operation"), STUCK.replace(b"inventory, call: reserve", b"fairlead.operations, call: act")):
        to.expect(400, "POST", "/v1/workflows", raw=raw, headers=YAML, code="invalid_argument")
    to.expect(400, "DELETE", path, code="invalid_argument")
    job = b"schedule: '0 0 1 1 *'\nworkflow: fairlead-operation\n"
    to.expect(400, "PUT", "/v1/jobs/all", raw=b"job: all\n" + job, headers=YAML, code="invalid_argument")
    _, said = to.expect(200, "GET", path)
    expect("Made by Fairlead" in said["source"], f"{said}")


def reserved(to, node):
    """Nobody gets around the confirmation by a task of that kind, whichever port takes it."""
    body = {"workflow": "fairlead-operation", "input": {"verb": "delete", "filter": {"workflow": "stuck"}, "by": "x", "as_of_unix_ms": 1, "count": 1}}
    to.expect(400, "PUT", "/v1/tasks/fairlead:operation:mine", body, pointer="/id")
    to.expect(400, "POST", "/v1/tasks", body, headers={"Idempotency-Key": "fairlead:operation:mine"}, pointer="Idempotency-Key")
    to.expect(400, "PUT", "/v1/tasks/mine", body, pointer="/workflow")
    for words in (("stuck", "--id", "fairlead:operation:abd"), ("fairlead-operation", "--id", "mine")):
        done = harness.fairlead("submit", *words, node=node.address)
        expect(done.returncode == 2 and "operation" in done.stderr, f"{done.returncode} {done.stdout}{done.stderr}")


if __name__ == "__main__":
    harness.main(run)
