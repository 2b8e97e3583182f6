#!/usr/bin/env python3
"""What operators do over the API of a real node: workflows and jobs are deployed, tasks that wait for an operator are mended, agents, alerts and the node
are looked at and acted on. What is shown is what the command line shows. Requests that are sent again are done once, those made on an old view are
refused, and what happens to a task is followed as events, also behind a lost connection and until the node ends.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_operators.py
"""

import http.client
import json
import socket
import threading
import time
import urllib.parse

import harness
import openapi
from api import api
from harness import expect, fairlead_json, scenario_failed, wait_until
from place import place

YAML = {"Content-Type": "application/yaml"}
BRITTLE = b"""workflow: brittle
on_failure: park
steps:
  first: { agent: inventory, call: reserve, with: { n: "${ .input.n }" }, timeout: 1s, attempts: 1 }
  second: { needs: [first], agent: payment, call: charge, with: { }, timeout: 1s, attempts: 1 }
"""
NIGHTLY = b"""job: nightly
schedule: "30 3 * * *"
workflow: brittle
input: { n: 7 }
overlap: allow
"""


def run():
    port, = harness.free_ports(1)
    with harness.sandbox("api_operators") as box:
        # Nobody listens where the agents look for their services: steps fail.
        here = place(box, "node", api__listen=f"127.0.0.1:{port}")
        here.node.start()
        to = api(port)
        for part in (workflows, batches, tasks, actions, events, jobs, agents, alerts, nodes, pages):
            part(to, here.node)
            print(f"ok  {part.__name__}", flush=True)
        end(to, here.node)
    openapi.check("api_operators").write()
    return 0


def shown(node, *words):
    return fairlead_json(*words, node=node.address)


def workflows(to, node):
    bad = BRITTLE.replace(b"needs: [first]", b"needs: [nobody]").replace(b"timeout: 1s", b"timeout: soon", 1)
    _, said = to.expect(400, "POST", "/v1/workflows", raw=bad, headers=YAML, code="invalid_argument")
    expect({(one["line"], one["pointer"].split(".")[1]) for one in said["errors"]} == {(4, "first"), (5, "second")}, f"{said['errors']}")
    _, said = to.expect(400, "POST", "/v1/workflows:check", raw=BRITTLE.replace(b".input.n", b".input.n |||"), headers=YAML, code="expression")
    _, said = to.expect(200, "POST", "/v1/workflows:check", raw=BRITTLE, headers=YAML)
    expect(said["created"] and said["workflow"] == "brittle", f"{said}")
    to.expect(404, "GET", "/v1/workflows/brittle", code="not_found")
    found, _ = to.expect(201, "POST", "/v1/workflows", raw=BRITTLE, headers=YAML)
    expect(found["Location"] == "/v1/workflows/brittle", f"{found}")
    _, said = to.expect(200, "POST", "/v1/workflows", raw=BRITTLE, headers=YAML)
    expect(said["created"] is False, f"{said}")
    to.expect(201, "POST", "/v1/workflows", {"workflow": "other", "steps": {"only": {"agent": "shipping", "call": "dispatch", "with": {}}}})
    _, said = to.expect(200, "GET", "/v1/workflows")
    expect(said == {"items": shown(node, "workflow", "list")["workflows"], "next": None}, "workflows")
    found, said = to.expect(200, "GET", "/v1/workflows/brittle")
    to.expect(304, "GET", "/v1/workflows/brittle", headers={"If-None-Match": found["ETag"]})
    expect(said == shown(node, "workflow", "show", "brittle") and said["source"].encode() == BRITTLE, "a workflow")
    to.expect(200, "DELETE", "/v1/workflows/other")
    to.expect(404, "DELETE", "/v1/workflows/other", code="not_found")
    to.expect(415, "POST", "/v1/tasks", raw=b"workflow: brittle", headers=YAML, code="unsupported_media_type")


def batches(to, node):
    batch = {"tasks": [{"workflow": "brittle", "id": f"b/{n}", "input": {"n": n}} for n in range(3)]}
    batch["tasks"] += [{"workflow": "brittle"}, {"workflow": "brittle", "id": "b/x", "labels": {"a": 1}}, {"workflow": "nothing", "id": "b/y"}]
    _, said = to.expect(200, "POST", "/v1/tasks:batch", batch)
    expect([one["code"] for one in said["results"]] == ["ok"] * 3 + ["invalid_argument"] * 2 + ["not_found"], f"{said}")
    expect(said["results"][4]["error"].startswith("/tasks/4/labels/a: ") and said["results"][4]["id"] == "b/x", f"{said['results'][4]}")
    expect(said["results"][3]["error"].startswith("/tasks/3/id: ") and said["results"][3]["id"] is None, f"{said['results'][3]}")
    expect([one["created"] for one in said["results"][:3]] == [True] * 3, f"{said}")
    expect(any(one["request"]["path"] == "/v1/workflows" for one in said["results"][5]["what_helps"]) and not said["results"][0]["what_helps"], f"{said['results']}")
    _, said = to.expect(200, "POST", "/v1/tasks:batch", batch)
    expect([one["created"] for one in said["results"][:3]] == [False] * 3, f"the same batch again: {said}")
    _, said = to.expect(200, "POST", "/v1/tasks:states", {"ids": ["b/2", "nobody", "b/0"]})
    expect([one["id"] for one in said["items"]] == ["b/2", "nobody", "b/0"] and said["items"][1]["state"] is None, f"{said}")
    for body, at in (({"tasks": []}, "/tasks"), ({"tasks": 1}, "/tasks"), ({}, "/tasks"), ({"tasks": [{}] * 1001}, "/tasks"), ({"task": []}, "/task")):
        to.expect(400, "POST", "/v1/tasks:batch", body, pointer=at)
    refused_items(to)
    to.expect(400, "POST", "/v1/tasks:states", {"ids": ["a", 7]}, pointer="/ids/1")


def refused_items(to):
    """Each says what the same task alone is answered with, and where in the batch it stands."""
    asked = [({"id": "b/large", "input": "x" * (257 << 10)}, "too_large", "/input"), ({"id": "fairlead:x"}, "invalid_argument", "/id"),
             ({"id": "nightly@2026-11-24T03:30:00Z"}, "invalid_argument", "/id"), ({"id": 7}, "invalid_argument", "/id"),
             ({"id": "b/x", "lable": 1}, "invalid_argument", "/lable")]
    _, said = to.expect(200, "POST", "/v1/tasks:batch", {"tasks": [{"workflow": "brittle", **item} for item, *_ in asked]})
    for n, ((item, code, at), one) in enumerate(zip(asked, said["results"], strict=True)):
        wanted = item["id"] if isinstance(item["id"], str) else None
        expect((one["id"], one["code"], one["created"]) == (wanted, code, False) and one["error"].startswith(f"/tasks/{n}{at}: "), f"{one}")


def path_of(task):
    return "/v1/tasks/" + urllib.parse.quote(task, safe="")


def parked(to, task):
    """The task, once it is parked, and its ETag."""
    seen = {}

    def look():
        found, said = to.expect(200, "GET", path_of(task))
        seen.update(tag=found["ETag"], task=said)
        return said["parked"]

    wait_until(look, 20, f"{task} is parked")
    return seen["task"], seen["tag"]


def tasks(to, node):
    task, tag = parked(to, "b/0")
    expect(task == shown(node, "task", "show", "b/0"), "the API shows another task than the command line")
    status, found, _ = to.ask("GET", path_of("b/0"), headers={"If-None-Match": tag})
    expect(status == 304 and found["ETag"] == tag, f"{status} {found}")
    path, events = path_of("b/0") + "/history?page_size=2", []
    while path:
        _, page = to.expect(200, "GET", path)
        expect(len(page["items"]) <= 2, f"{page}")
        events, path = events + page["items"], page["next"]
    expect(events == task["history"], f"the history by pages is another one: {events}")
    _, said = to.expect(200, "GET", path_of("b/0") + "/input")
    expect(said == {"n": 0}, f"{said}")
    _, said = to.expect(200, "GET", path_of("b/0") + "/steps/first/input")
    expect(said == {"n": 0}, f"{said}")
    parts(to)
    to.expect(409, "GET", path_of("b/0") + "/steps/first/output", code="wrong_state")
    to.expect(404, "GET", path_of("b/0") + "/steps/third/output", code="not_found")
    to.expect(404, "GET", path_of("nobody") + "/history", code="not_found")


def parts(to):
    """Of a payload, by the header Range. What is asked for here is JSON by itself, too."""
    for path in (path_of("b/0") + "/input", path_of("b/0") + "/steps/first/input"):
        found, said = to.expect(200, "GET", path)
        length = found["Content-Length"]
        expect(found["Accept-Ranges"] == "bytes", f"{found}")
        found, said = to.expect(206, "GET", path, headers={"Range": "bytes=1-3"})
        expect(said == "n" and found["Content-Range"] == f"bytes 1-3/{length}" and found["Content-Length"] == "3", f"{found} {said}")
        found, said = to.expect(206, "HEAD", path, headers={"Range": "bytes=-2"})
        expect(found["Content-Length"] == "2" and said is None, f"{found} {said}")
        found, _ = to.expect(416, "GET", path, headers={"Range": f"bytes={length}-"}, code="range_not_satisfiable")
        expect(found["Content-Range"] == f"bytes */{length}", f"{found}")
        for ignored in ({"Range": "bytes=1-3,5-6"}, {"Range": "items=1-3"}, {"Range": "bytes=3-1"}, {"Range": "bytes=1-3", "If-Range": '"x"'}):
            _, said = to.expect(200, "GET", path, headers=ignored)
            expect(said == {"n": 0}, f"{ignored}: {said}")


def actions(to, node):
    path = path_of("b/0") + "/actions"
    for body, at in (({}, "/verb"), ({"verb": "mend"}, "/verb"), ({"verb": "settle"}, "/verb"), ({"verb": "skip", "reason": "x"}, "/step"),
                     ({"verb": "skip", "step": "first"}, "/reason"), ({"verb": "skip", "step": "first", "reason": " "}, "/reason"),
                     ({"verb": "skip", "step": "first", "reason": "x" * 1001}, "/reason"), ({"verb": "pause", "step": "first"}, "/step"),
                     ({"verb": "settle_completed", "step": "first", "reason": "x"}, "/output"), ({"verb": "pause", "output": 1}, "/output"),
                     ({"verb": "pause", "input": 1}, "/input"), ({"verb": "retry", "input": 1}, "/step"), ({"verb": "undo", "now": True}, "/now")):
        to.expect(400, "POST", path, body, code="invalid_argument", pointer=at)
    task, tag = parked(to, "b/0")
    skip = {"verb": "skip", "step": "first", "reason": "it was done by hand"}
    to.expect(412, "POST", path, skip, headers={"If-Match": '"1-0"'}, code="changed")
    for wrong in ("x", '"x', f"{tag} {tag}"):
        to.expect(400, "POST", path, skip, headers={"If-Match": wrong}, pointer="If-Match")
    for wrong in ('"x"', '"0-1"', '"9"', '"-1"', f"W/{tag}", '"x", "y"'):
        to.expect(412, "POST", path, skip, headers={"If-Match": wrong}, code="changed", pointer="If-Match")
    for wrong in ("/v1/tasks", path):
        for key in (b'"\xff\xfe"', b"", b'""'):
            to.expect(400, "POST", wrong, {"workflow": "brittle"} if wrong == "/v1/tasks" else skip, headers={"Idempotency-Key": key},
                      pointer="Idempotency-Key")
    to.expect(400, "POST", path, skip, headers={"Idempotency-Key": "k" * 65}, code="invalid_argument", pointer="Idempotency-Key")
    to.expect(412, "PUT", path_of("b/0"), {"workflow": "brittle", "input": {"n": 0}}, headers={"If-None-Match": "*"}, code="changed")
    expect(to.expect(200, "GET", path_of("b/0"))[1] == task, "what was refused has changed the task")
    done = {"If-Match": f'"9", {tag}, "1-0"', "Idempotency-Key": '"skip-1"'}
    _, said = to.expect(200, "POST", path, skip, headers=done)
    expect(said["repeated"] is False and said["id"] == "b/0", f"{said}")
    _, said = to.expect(200, "POST", path, skip, headers=done)
    expect(said["repeated"] is True, f"the same action again: {said}")
    to.expect(422, "POST", path, {**skip, "reason": "another"}, headers=done, code="key_reused")
    parked(to, "b/0")
    _, said = to.expect(200, "POST", path, {"verb": "skip", "step": "second", "reason": "so was this"})
    expect(said["state"] == "completed", f"{said}")
    to.expect(409, "POST", path, {"verb": "pause"}, code="wrong_state")
    to.expect(404, "POST", path_of("nobody") + "/actions", {"verb": "pause"}, code="not_found")
    whos = [event["who"] for event in shown(node, "task", "show", "b/0")["history"] if event["who"]]
    expect(whos == ["loopback", "loopback"], f"{whos}")
    to.expect(400, "POST", path, {"verb": "delete"}, headers={"Idempotency-Key": "x"})
    to.expect(200, "POST", path, {"verb": "delete"})


class stream:
    """Server-sent events of a task or an operation, read in the background."""

    def __init__(self, port, path, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=40)
        self.connection.request("GET", path, headers={"Accept": "text/event-stream", **(headers or {})})
        self.answer = self.connection.getresponse()
        self.path, self.events, self.ended, self.fault = path, [], False, None
        checker = openapi.check()
        checker.see(checker.document.operations[openapi.events_of(path), "get"]["operationId"], self.answer.status)
        if self.answer.status == 200:
            expect(self.answer.headers["Content-Type"].startswith("text/event-stream"), f"{self.answer.headers}")
            self.thread = threading.Thread(target=self.read, daemon=True)
            self.thread.start()

    def read(self):
        event = {}
        for line in self.lines():
            line = line.decode().rstrip("\n")
            if line and not line.startswith(":"):
                name, value = line.split(": ", 1)
                event[name] = value
            elif event:
                if "data" in event:
                    event["data"] = json.loads(event["data"])
                    self.judge(event)
                    self.events.append(event)
                event = {}
        self.ended = True

    def judge(self, event):
        """A thread cannot fail the scenario: whoever looks at the numbers, or at the end, does."""
        try:
            openapi.check().judge_event(self.path, event["event"], event["data"])
        except scenario_failed as failure:
            self.fault = failure

    def is_over(self):
        if self.fault:
            raise self.fault
        return self.ended

    def lines(self):
        try:
            yield from self.answer
        except (OSError, http.client.HTTPException):
            pass

    def numbers(self):
        return [int(event["id"]) for event in self.events if "id" in event]


def events(to, node):
    parked(to, "b/1")
    code = next(step["fault"]["code"] for step in shown(node, "task", "show", "b/1")["steps"] if step["fault"])
    _, page = to.expect(200, "GET", "/v1/tasks?reason=" + code)
    expect("b/1" in [task["id"] for task in page["items"]] and page["by"] == "parked", f"parked because of {code}: {page}")
    whole = stream(to.port, path_of("b/1") + "/events")
    wait_until(lambda: len(whole.events) >= 4, 10, "events come")
    middle = whole.numbers()[1]
    rest = stream(to.port, path_of("b/1") + "/events", {"Last-Event-ID": str(middle)})
    later = stream(to.port, path_of("b/1") + f"/events?after={middle}")
    _, said = to.expect(200, "POST", path_of("b/1") + "/actions", {"verb": "terminate", "now": True})
    expect(said["state"] == "failed", f"{said}")
    for one in (whole, rest, later):
        wait_until(one.is_over, 10, "the stream ends with the task")
        expect(one.events[-1]["event"] == "end" and one.events[-1]["data"]["state"] == "failed", f"{one.events[-1]}")
    history = shown(node, "task", "show", "b/1")["history"]
    expect(whole.numbers() == [event["sequence"] for event in history], f"the stream has {whole.numbers()}")
    expect([event["data"] for event in whole.events if "id" in event] == history, "events are not those of the history")
    expect(rest.numbers() == later.numbers() == [number for number in whole.numbers() if number > middle], f"behind {middle}: {rest.numbers()}")
    expect({event["event"] for event in whole.events} == {"state", "step", "end"}, f"{whole.events}")
    over = stream(to.port, path_of("b/1") + "/events", {"Last-Event-ID": str(whole.numbers()[-1])})
    expect(over.answer.status == 204, f"a client that has everything got {over.answer.status}")
    # Of another history: everything comes again.
    for number in (500, whole.numbers()[-1] + 1):
        anew = stream(to.port, path_of("b/1") + "/events", {"Last-Event-ID": str(number)})
        wait_until(anew.is_over, 10, "the stream of an ended task ends")
        expect(anew.events[0]["event"] == "reset" and anew.events[0]["id"] == "0" and anew.events[0]["data"]["reason"], f"{anew.events}")
        expect(anew.events[1:] == whole.events, f"behind a reset: {anew.events}")
    alive = stream(to.port, path_of("b/2") + "/events?after=500")
    wait_until(lambda: len(alive.events) > 1, 5, "a task that lives is told anew at once")
    expect([one["event"] for one in alive.events[:2]] == ["reset", "state"] and alive.numbers()[:2] == [0, 1], f"{alive.events}")
    alive.connection.sock.shutdown(socket.SHUT_RDWR)
    # Its record was deleted.
    gone = stream(to.port, path_of("b/0") + "/events")
    wait_until(gone.is_over, 10, "the stream of a deleted task ends")
    expect([event["event"] for event in gone.events] == ["end"], f"{gone.events}")
    over = stream(to.port, path_of("b/0") + "/events", {"Last-Event-ID": gone.events[-1]["id"]})
    expect(over.answer.status == 204, f"a client of a deleted task that came again got {over.answer.status}")
    expect(stream(to.port, path_of("nobody") + "/events").answer.status == 404, "events of a task that does not exist")
    to.expect(400, "GET", path_of("b/1") + "/events?after=x", pointer="after")
    # Streams that are left, and one that takes nothing.
    standing = [stream(to.port, path_of("b/2") + "/events") for _ in range(20)]
    for one in standing:
        one.connection.sock.shutdown(socket.SHUT_RDWR)
        one.thread.join(10)


def jobs(to, node):
    _, said = to.expect(400, "PUT", "/v1/jobs/nightly", raw=NIGHTLY.replace(b"30 3", b"99 3"), headers=YAML)
    expect(said["errors"][0]["line"] == 2 and said["errors"][0]["pointer"] == "schedule", f"{said}")
    to.expect(400, "PUT", "/v1/jobs/other", raw=NIGHTLY, headers=YAML, code="invalid_argument", pointer="job")
    _, said = to.expect(200, "POST", "/v1/jobs:apply?check_only=true", raw=NIGHTLY, headers=YAML)
    expect(said["jobs"][0]["created"] and said["jobs"][0]["job"] == "nightly", f"{said}")
    to.expect(404, "GET", "/v1/jobs/nightly", code="not_found")
    to.expect(412, "PUT", "/v1/jobs/nightly", raw=NIGHTLY, headers={**YAML, "If-Match": "*"}, code="changed")
    to.expect(201, "PUT", "/v1/jobs/nightly", raw=NIGHTLY, headers={**YAML, "If-None-Match": "*"})
    to.expect(412, "PUT", "/v1/jobs/nightly", raw=NIGHTLY, headers={**YAML, "If-None-Match": "*"}, code="changed")
    found, said = to.expect(200, "GET", "/v1/jobs/nightly")
    expect(said == shown(node, "job", "show", "nightly"), "the API shows another job than the command line")
    tag = found["ETag"]
    changed = NIGHTLY + b"notes: for Ann\n"
    _, said = to.expect(200, "PUT", "/v1/jobs/nightly", raw=changed, headers={**YAML, "If-Match": tag})
    expect(said["changed"] and not said["created"], f"{said}")
    for old in (tag, '"4294967298-0"'):
        to.expect(412, "PUT", "/v1/jobs/nightly", raw=NIGHTLY, headers={**YAML, "If-Match": old}, code="changed")
    _, said = to.expect(200, "POST", "/v1/jobs:apply", raw=changed + b"---\n" + NIGHTLY.replace(b"nightly", b"weekly"), headers=YAML)
    expect([one["created"] for one in said["jobs"]] == [False, True], f"{said}")
    _, page = to.expect(200, "GET", "/v1/jobs?page_size=1")
    _, rest = to.expect(200, "GET", page["next"])
    expect(page["items"] + rest["items"] == shown(node, "job", "list")["jobs"] and rest["next"] is None, f"{page} {rest}")
    acts = "/v1/jobs/nightly/actions"
    to.expect(200, "POST", acts, {"verb": "pause", "reason": "to see"})
    _, said = to.expect(200, "GET", "/v1/jobs/nightly")
    expect(said["paused"] and said["paused_by"] == "loopback" and said["paused_reason"] == "to see", f"{said}")
    to.expect(200, "POST", acts, {"verb": "resume"})
    key = {"Idempotency-Key": '"by hand"'}
    _, first = to.expect(200, "POST", acts, {"verb": "run", "input": {"n": 1}}, headers=key)
    _, again = to.expect(200, "POST", acts, {"verb": "run", "input": {"n": 1}}, headers=key)
    expect(first["launch"] == again["launch"], f"a run that was sent again: {first} {again}")
    to.expect(422, "POST", acts, {"verb": "run", "input": {"n": 2}}, headers=key, code="key_reused")
    to.expect(200, "POST", acts, {"verb": "run", "input": {"n": 1}}, headers={**key, "If-Match": tag})
    to.expect(412, "POST", acts, {"verb": "run"}, headers={"If-Match": tag}, code="changed")
    _, other = to.expect(200, "POST", acts, {"verb": "run"})
    expect(other["launch"] != first["launch"], f"{other}")
    _, said = to.expect(200, "GET", "/v1/jobs/nightly/launches?page_size=1")
    _, rest = to.expect(200, "GET", said["next"])
    both = shown(node, "job", "history", "nightly")["launches"]
    expect([one["id"] for one in said["items"] + rest["items"]] == [one["id"] for one in both] == [other["launch"], first["launch"]], f"{said} {rest}")
    for body, at in (({"verb": "mend"}, "/verb"), ({"verb": "pause", "input": 1}, "/input"), ({"verb": "backfill"}, "/from"),
                     ({"verb": "backfill", "from": "soon"}, "/from"), ({"verb": "run", "from": "2026-11-24T09:00:00Z"}, "/from"),
                     ({"verb": "run", "overlap": "maybe"}, "/overlap"), ({"verb": "backfill", "from": "2026-11-24T09:00:00Z", "overlap": "skip"}, "/overlap")):
        to.expect(400, "POST", acts, body, pointer=at)
    to.expect(400, "POST", acts, {"verb": "run", "dry_run": True}, pointer="/dry_run")
    to.expect(409, "POST", acts, {"verb": "rewind", "dry_run": True}, code="wrong_state")
    times = {"verb": "backfill", "from": "2026-11-24T00:00:00Z", "to": "2026-11-25T00:00:00Z"}
    _, would = to.expect(200, "POST", acts, {**times, "dry_run": True})
    expect([at[:16] for at in would["times"]] == ["2026-11-24T03:30"] and would["launches"] == 0, f"{would}")
    _, said = to.expect(200, "POST", acts, times)
    expect(said["launches"] == 1, f"one night: {said}")
    _, said = to.expect(200, "POST", "/v1/jobs:next", {"schedule": "30 2 * * *", "time_zone": "Europe/Berlin", "after": "2026-03-28T00:00:00Z", "count": 2})
    expect([one["utc"] for one in said["items"]] == ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"], f"{said}")
    for more, at in (({"schedule": "99 * * * *"}, "/schedule"), ({"time_zone": "Europe/Bonn"}, "/time_zone"), ({"dst": "x"}, "/dst"), ({"count": 0}, "/count"),
                     ({"after": "soon"}, "/after")):
        _, said = to.expect(400, "POST", "/v1/jobs:next", {"schedule": "30 2 * * *", **more}, code="invalid_argument", pointer=at)
        expect("--" not in said["detail"] and (at not in ("/dst", "/after") or f"field '{at[1:]}'" in said["detail"]), f"{said}")
    to.expect(412, "DELETE", "/v1/jobs/nightly", headers={"If-Match": tag}, code="changed")
    to.expect(200, "DELETE", "/v1/jobs/nightly")
    to.expect(404, "DELETE", "/v1/jobs/nightly", code="not_found")
    to.expect(200, "DELETE", "/v1/jobs/weekly")


def agents(to, node):
    _, said = to.expect(200, "GET", "/v1/agents")
    expect({one["agent"] for one in said["agents"]} == {"fairlead.operations", "inventory", "payment", "shipping"} and set(said) == set(shown(node, "agent", "list")), f"{said}")
    _, said = to.expect(200, "GET", "/v1/agents/payment")
    expect(set(said) == set(shown(node, "agent", "show", "payment")) and said["agent"] == "payment", f"{said}")
    to.expect(404, "GET", "/v1/agents/paymnt", code="not_found")

    def unchanged():
        found, _ = to.expect(200, "GET", "/v1/agents/payment")
        return to.ask("GET", "/v1/agents/payment", headers={"If-None-Match": found["ETag"]})[0] == 304

    wait_until(unchanged, 10, "an agent that has not changed is not sent again")
    _, said = to.expect(200, "POST", "/v1/agents/payment/actions", {"verb": "breaker_open", "reason": "to see"})
    expect(said["breaker"] == "open", f"{said}")
    expect(shown(node, "agent", "show", "payment")["service"]["breaker"] == "open", "the breaker is open")
    to.expect(200, "POST", "/v1/agents/payment/actions", {"verb": "breaker_close"})
    instance = "/v1/agents/single%2Fpayment"
    _, said = to.expect(200, "POST", instance + "/actions", {"verb": "drain"})
    expect(said["state"] in ("drained", "draining"), f"{said}")
    _, said = to.expect(200, "GET", instance)
    expect(said["instances"][0]["draining"], f"{said}")
    to.expect(200, "POST", instance + "/actions", {"verb": "resume"})
    to.expect(400, "POST", instance + "/actions", {"verb": "mend"}, pointer="/verb")
    to.expect(404, "POST", "/v1/agents/nobody/actions", {"verb": "breaker_open"}, code="not_found")


def alerts(to, node):
    # The launches of the job park meanwhile.
    listed = {}

    def same():
        listed["api"], listed["cli"] = to.expect(200, "GET", "/v1/alerts")[1]["items"], shown(node, "alert", "list")["alerts"]
        return listed["api"] == listed["cli"] and len(listed["api"]) >= 4

    wait_until(same, 20, f"the same alerts are listed: {listed}")
    number = listed["api"][0]["number"]
    found, said = to.expect(200, "GET", f"/v1/alerts/{number}")
    to.expect(304, "GET", f"/v1/alerts/{number}", headers={"If-None-Match": found["ETag"]})
    expect(said == shown(node, "alert", "show", str(number)), f"{said}")
    _, said = to.expect(200, "POST", "/v1/alerts:ack", {"numbers": [number, 999_999], "note": "seen"})
    expect([one["code"] for one in said["results"]] == ["ok", "not_found"], f"{said}")
    expect(said["results"][0]["alert"]["acknowledged_by"] == "loopback", f"{said}")
    _, said = to.expect(200, "GET", "/v1/alerts?state=acknowledged")
    expect([one["number"] for one in said["items"]] == [number], f"{said}")
    to.expect(404, "GET", "/v1/alerts/x", code="not_found")
    to.expect(404, "GET", "/v1/alerts/999999", code="not_found")
    to.expect(400, "GET", "/v1/alerts?state=gone", pointer="state")
    to.expect(400, "POST", "/v1/alerts:ack", {"numbers": ["1"]}, pointer="/numbers/0")
    status, _, said = to.ask("POST", "/v1/brake:release", {"reason": "to see"})
    expect((status, said.get("held")) == (200, 0) or said.get("code") == "wrong_state", f"{status} {said}")


def nodes(to, node):
    for path, words in (("/v1/status", ("status",)), ("/v1/cluster", ("cluster", "status"))):
        _, said = to.expect(200, "GET", path)
        expect(set(said) == set(shown(node, *words)), f"{path}: {set(said)}")
    _, said = to.expect(200, "GET", "/v1/nodes")
    expect(said["node"] == "single", f"{said}")
    _, said = to.expect(200, "GET", "/v1/nodes/single/tree")
    expect(said["node"] == "single" and len(said["actors"]) > 10, f"{said}")
    to.expect(404, "GET", "/v1/nodes/nobody/tree", code="not_found")
    _, said = to.expect(200, "POST", "/v1/nodes/single/actions", {"verb": "log_level", "log_level": "debug"})
    expect(said["before"] == "info", f"{said}")
    to.expect(200, "POST", "/v1/nodes/single/actions", {"verb": "log_level", "log_level": "info"})
    _, said = to.expect(200, "POST", "/v1/nodes/single/actions", {"verb": "drain"})
    expect(said["state"] == "draining", f"{said}")
    _, said = to.expect(200, "POST", "/v1/nodes/single/actions", {"verb": "resume"})
    expect(said["state"] == "resumed", f"{said}")
    _, said = to.expect(200, "POST", "/v1/nodes/single/actions", {"verb": "reload"})
    expect(said["applied"] == [] and said["needs_restart"] == [], f"{said}")
    for body, at in (({"verb": "mend"}, "/verb"), ({"verb": "log_level"}, "/log_level"), ({"verb": "log_level", "log_level": "loud"}, "/log_level"),
                     ({"verb": "drain", "log_level": ""}, "/log_level"),
                     ({"verb": "drain", "log_level": "info"}, "/log_level")):
        to.expect(400, "POST", "/v1/nodes/single/actions", body, pointer=at)
    to.expect(404, "POST", "/v1/nodes/nobody/actions", {"verb": "drain"}, code="not_found")
    _, said = to.expect(200, "POST", "/v1/doctor")
    expect(said["found"] == 0 and said == shown(node, "task", "doctor"), f"{said}")
    to.expect(400, "POST", "/v1/doctor", {"repair": "yes"}, pointer="/repair")


def pages(to, node):
    """A cursor is one of its own list."""
    for path in ("/v1/jobs", "/v1/alerts", path_of("b/1") + "/history"):
        to.expect(400, "GET", path + "?cursor=abc", pointer="cursor")
        to.expect(400, "GET", path + "?page_size=0", pointer="page_size")
        to.expect(400, "GET", path + "?what=1", pointer="what")
    for method, path in (("DELETE", "/v1/jobs"), ("POST", "/v1/alerts"), ("PUT", "/v1/workflows/brittle"), ("GET", "/v1/tasks:batch"), ("GET", "/v1/doctor")):
        to.expect(405, method, path, code="method_not_allowed")


def end(to, node):
    """A stream says that the node ends."""
    to.expect(201, "PUT", "/v1/tasks/later", {"workflow": "brittle", "input": {"n": 1}, "delay": "1h"})
    open_ones = [stream(to.port, "/v1/tasks/later/events") for _ in range(5)]
    for one in open_ones:
        wait_until(lambda: one.events, 10, "events come")
    began = time.monotonic()
    code, _ = node.end()
    expect(code == 0 and time.monotonic() - began < 10, f"the node ended with {code}: {node.last_words()}")
    for one in open_ones:
        wait_until(one.is_over, 5, "the stream ends")
        expect(one.events[-1]["event"] == "bye", f"the last event is {one.events[-1]}")


if __name__ == "__main__":
    harness.main(run)
