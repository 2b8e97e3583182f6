#!/usr/bin/env python3
"""The API of a real node, as programs use it: tasks are submitted, waited for, listed and shown; what is shown is what the command line shows. Then
what clients do wrong, byte by byte on raw sockets: requests that can be read in two ways, slow and silent ones, bodies without end, pages of other
sites, clients that leave. The node serves others meanwhile, no core spins, and it ends in order while clients wait.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api.py [--seed N]
"""

import argparse
import concurrent.futures
import http.client
import json
import random
import socket
import time
import urllib.parse

import harness
import hostile_http
import openapi
from harness import expect, wait_until
from hostile_http import exchange, exchange_quickly, open_files, resident, share_of, status_of
from place import deploy, place

INPUT = {"items": [{"sku": "NW-11", "quantity": 2}], "amount_cents": 2800, "address": {"city": "Reims"}}
IDLE = 1_500
ALLOWED_SHARE = 0.5  # of a core, while nobody asks anything
PROBLEM_KEYS = {"type", "title", "status", "detail", "instance", "code", "remedy", "retry_after_ms", "errors",
                "what_helps"}


class api:
    """A connection that is kept."""

    def __init__(self, port, seconds=40):
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)

    def ask(self, method, path, body=None, headers=None, raw=None):
        """(status, headers, JSON or None); a problem document has all its keys, and every answer is as the OpenAPI document says."""
        sent = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        given = {"Content-Type": "application/json"} if sent is not None else {}
        try:
            self.connection.request(method, path, sent, {**given, **(headers or {})})
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            # The node closes a connection that nobody has used for a while. What may be done twice is asked again, as HTTP clients do.
            if method != "DELETE":
                raise
            self.connection.close()
            self.connection.request(method, path, sent, {**given, **(headers or {})})
            answer = self.connection.getresponse()
        text, found = answer.read(), dict(answer.getheaders())
        expect(found.get("X-Request-Id") and found.get("Fairlead-Version") and found.get("X-Content-Type-Options") == "nosniff",
               f"{method} {path}: the answer lacks a header: {found}")
        if answer.status >= 400 and method != "HEAD":
            expect(found["Content-Type"] == "application/problem+json", f"{method} {path}: {answer.status} is no problem document: {text[:200]}")
            problem = json.loads(text)
            expect(set(problem) == PROBLEM_KEYS and problem["status"] == answer.status and problem["instance"] == found["X-Request-Id"],
                   f"{method} {path}: {problem}")
        said = json.loads(text) if text else None
        openapi.judge(method, path, answer.status, found, said, body if raw is None else None)
        return answer.status, found, said

    def expect(self, wanted, method, path, body=None, headers=None, raw=None, code=None, pointer=None):
        status, found, said = self.ask(method, path, body, headers, raw)
        expect(status == wanted, f"{method} {path} was answered with {status} and not with {wanted}: {said}")
        if code:
            expect(said["code"] == code, f"{method} {path}: the code is {said['code']} and not {code}")
        if pointer:
            expect(said["errors"][0]["pointer"] == pointer, f"{method} {path}: {said['errors']} does not point to {pointer}")
        return found, said


def run():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    seed = options.parse_args().seed
    print(f"--seed {seed} repeats this", flush=True)
    # The node takes half of what it may open.
    hostile_http.allow_files(2 * IDLE + 1_000)
    port, = harness.free_ports(1)
    with harness.sandbox("api") as box:
        services = harness.services(box)
        here = place(box, "node", services=services, api__listen=f"127.0.0.1:{port}")
        here.node.start()
        deploy(here.node)
        to = api(port)
        for part in (about, described, submissions, waits, lists, ended, replies, refusals):
            part(to, here.node)
            print(f"ok  {part.__name__}", flush=True)
        before = resident(here.node.process.pid), open_files(here.node.process.pid)
        for part in (two_ways, other_sites, sizes, slow, pipelined, random_bytes, idle, leave):
            began = time.monotonic()
            part(port, here.node, random.Random(seed))
            api(port).expect(200, "GET", "/v1/version")
            print(f"ok  {part.__name__}, {time.monotonic() - began:.1f} s", flush=True)
        wait_until(lambda: open_files(here.node.process.pid) <= before[1] + 5, 15, "connections are forgotten")
        grown = resident(here.node.process.pid) - before[0]
        expect(grown < hostile_http.allowed_growth(here.node.process.pid), f"memory grew by {grown / hostile_http.MEGABYTE:.0f} MB")
        end(port, here.node)
    openapi.check("api").write()
    return 0


def about(to, node):
    _, said = to.expect(200, "GET", "/v1/version")
    expect(said["api"] == "v1" and said["node"] == "single", f"{said}")
    found, _ = to.expect(200, "GET", "/v1/version", headers={"X-Request-Id": "mine-7"})
    expect(found["X-Request-Id"] == "mine-7", f"the request id is {found['X-Request-Id']}")
    found, _ = to.expect(200, "GET", "/v1/version", headers={"X-Request-Id": "not mine"})
    expect(found["X-Request-Id"] != "not mine", "a request id with a space was taken")
    found, said = to.expect(200, "HEAD", "/v1/version")
    expect(said is None and int(found["Content-Length"]) > 10, f"HEAD: {found}")
    _, said = to.expect(404, "GET", "/v1/nothing", code="not_found")
    _, kind = to.expect(200, "GET", said["type"])
    expect(kind["code"] == "not_found" and kind["status"] == 404 and kind["remedy"], f"{kind}")
    found, _ = to.expect(204, "OPTIONS", "/v1/tasks")
    expect(found["Allow"] == "GET, HEAD, POST, OPTIONS" and "Access-Control-Allow-Origin" not in found, f"OPTIONS: {found}")
    found, _ = to.expect(405, "DELETE", "/v1/tasks", code="method_not_allowed")
    expect(found["Allow"] == "GET, HEAD, POST, OPTIONS", f"405: {found}")


def described(to, node):
    """The document that is served is the one that answers are held against."""
    _, said = to.expect(200, "GET", "/v1/openapi.json")
    _, about = to.expect(200, "GET", "/v1/version")
    expect(said == openapi.join().load(about["version"]), "the OpenAPI document that is served is another one than that of the tree")


def shown(node, task):
    return harness.fairlead_json("task", "show", task, node=node.address)


def submissions(to, node):
    task = {"workflow": "order", "input": INPUT, "labels": {"kind": "api"}, "priority": 3}
    path = "/v1/tasks/" + urllib.parse.quote("orders/1", safe="")
    found, said = to.expect(201, "PUT", path, task)
    expect(said == {"id": "orders/1", "created": True, "start_at": None} and found["Location"] == "/v1/tasks/orders%2F1", f"{found} {said}")
    _, said = to.expect(200, "PUT", path, task)
    expect(said["created"] is False, f"the same task again: {said}")
    to.expect(409, "PUT", path, {**task, "priority": 4}, code="conflict")
    _, said = to.expect(200, "PUT", path + "?wait=30s", task)
    expect(said["state"] == "completed" and not said["parked"], f"it was waited for: {said}")
    _, said = to.expect(200, "GET", path)
    expect(said == shown(node, "orders/1"), "the API shows another task than the command line")
    _, output = to.expect(200, "GET", path + "/steps/reserve/output")
    expect(output == next(step["output"] for step in said["steps"] if step["path"] == "reserve"), f"the output of a step is {output}")
    expect(next(step["input"] for step in said["steps"] if step["path"] == "reserve") is None, f"an input that can be rendered again is kept: {said}")
    _, kept = to.expect(404, "GET", path + "/steps/reserve/input", code="not_found")
    expect("is not kept" in kept["detail"] and "yet" not in kept["detail"], f"{kept}")
    found, part = to.expect(206, "GET", path + "/steps/reserve/output", headers={"Range": "bytes=0-"})
    expect(part == output and found["Content-Range"].startswith("bytes 0-"), f"{found} {part}")
    to.expect(416, "GET", path + "/steps/reserve/output", headers={"Range": "bytes=1000000-"}, code="range_not_satisfiable")
    found, _ = to.expect(200, "GET", path + "/input")
    expect(found["Content-Disposition"] == "attachment" and found["Content-Security-Policy"].startswith("sandbox"), f"the input of a task: {found}")
    _, none = to.expect(200, "GET", path + "?payloads=none")
    _, head = to.expect(200, "GET", path + "?payloads=head")
    for one in (none, said):
        expect(set(one) == set(head) and [step["path"] for step in one["steps"]] == [step["path"] for step in head["steps"]], f"{head}")
    expect(none["input"] is None and all(step["output"] is None for step in none["steps"]), f"without payloads: {none}")
    expect(json.loads(head["input"]["head"]) == said["input"] and head["input"]["bytes"] == len(head["input"]["head"].encode()), f"{head['input']}")
    to.expect(201, "PUT", "/v1/tasks/wide", {"workflow": "order", "input": {**INPUT, "note": "é" * 3_000}, "delay": "1h"})
    _, wide = to.expect(200, "GET", "/v1/tasks/wide?payloads=head")
    expect(len(wide["input"]["head"].encode()) in (2_047, 2_048) and wide["input"]["bytes"] > 6_000, f"a long input: {wide['input']}")
    to.expect(400, "GET", path + "?payloads=some", pointer="payloads")
    key = {"Idempotency-Key": '"orders:2"'}
    found, said = to.expect(201, "POST", "/v1/tasks?wait=30s", task, headers=key)
    expect(said["id"] == "orders:2" and said["state"] == "completed", f"{said}")
    to.expect(200, "POST", "/v1/tasks", task, headers=key)
    to.expect(422, "POST", "/v1/tasks", {**task, "priority": 4}, headers=key, code="key_reused")
    found, said = to.expect(201, "POST", "/v1/tasks", {"workflow": "order", "input": INPUT})
    expect(found["Location"] == "/v1/tasks/" + said["id"], f"{found} {said}")
    _, said = to.expect(201, "PUT", "/v1/tasks/later", {**task, "delay": "1h"})
    expect(said["start_at"] is not None, f"{said}")
    _, said = to.expect(200, "PUT", path + "?wait=0s", task)
    expect(said["state"] == "completed", f"it had ended: {said}")
    _, said = to.expect(202, "PUT", "/v1/tasks/later?wait=200ms", {**task, "delay": "1h"})
    expect(said["state"] == "pending" and said["parked"] is False, f"it has not ended: {said}")


def waits(to, node):
    to.expect(201, "PUT", "/v1/tasks/followed", {"workflow": "order", "input": INPUT})
    seen, last = 0, None
    while last is None or last["state"] != "completed":
        status, found, said = to.ask("GET", f"/v1/tasks/followed?wait=10s&after={seen}")
        expect(status in (200, 204), f"{status}: {said}")
        last = said or last
        seen = max(event["sequence"] for event in said["history"]) if said else seen
    found, _ = to.expect(204, "GET", "/v1/tasks/later?wait=100ms&after=1")
    expect(found["Next-After"] == "1", f"{found}")
    began = time.monotonic()
    _, said = to.expect(200, "GET", "/v1/tasks/later?wait=20s&after=1000")
    expect([event["sequence"] for event in said["history"]] == [1] and time.monotonic() - began < 10, f"a place that the task does not have: {said}")
    to.expect(404, "GET", "/v1/tasks/nobody?wait=1s", code="not_found")


def lists(to, node):
    for number in range(25):
        to.expect(201, "PUT", f"/v1/tasks/list-{number}", {"workflow": "order", "input": INPUT, "labels": {"list": "yes", "a:b": "c=d"}})
    path, seen = "/v1/tasks?label=list:yes&page_size=10", []
    while path:
        _, page = to.expect(200, "GET", path)
        expect(set(page) == {"items", "by", "next", "looked_at", "complete", "missing"} and page["by"] == "label" and len(page["items"]) <= 10, f"{page}")
        expect(page["complete"] and page["looked_at"] >= len(page["items"]), f"how far a page has looked: {page}")
        seen += [one["id"] for one in page["items"]]
        path = page["next"]
    expect(sorted(seen) == sorted(f"list-{number}" for number in range(25)), f"a list by pages: {seen}")
    whole = harness.fairlead_json("task", "list", "--label", "list=yes", "--state", "pending", "--all", node=node.address)
    _, page = to.expect(200, "GET", "/v1/tasks?label=list:yes&state=pending&page_size=1000")
    expect(page["items"] == whole["tasks"], "the API lists other tasks than the command line")
    _, page = to.expect(200, "GET", "/v1/tasks?workflow=order&older_than=1h")
    expect(page["items"] == [], f"{page}")
    for query, by, least in (("id_prefix=list-2", "id_prefix", 6), ("id_prefix=list-2&label=list:yes", "label", 6), ("agent=inventory&id_prefix=list-", "id_prefix", 25),
                             ("agent=nobody", "all", 0), ("job=nobody", "job", 0), ("reason=nothing", "parked", 0), ("workflow=order", "workflow", 25),
                             ("top_level=true&id_prefix=list-2", "id_prefix", 6), ("top_level=false&id_prefix=list-2", "id_prefix", 6),
                             ("parent=list-2", "parent", 0), ("parent=list-2&label=list:yes", "parent", 0)):
        _, page = to.expect(200, "GET", "/v1/tasks?" + query)
        expect(page["by"] == by and (len(page["items"]) == least if by != "workflow" else len(page["items"]) >= least), f"{query}: {page}")
    _, page = to.expect(200, "GET", "/v1/tasks?id_prefix=list-2")
    expect([one["id"] for one in page["items"]] == ["list-24", "list-23", "list-22", "list-21", "list-20", "list-2"], f"{page}")
    whole = harness.fairlead_json("task", "list", "--id-prefix", "list-2", "--agent", "inventory", node=node.address)
    expect([one["id"] for one in whole["tasks"]] == [one["id"] for one in page["items"]], "the command line lists other tasks by their ids")
    _, page = to.expect(200, "GET", "/v1/tasks?state=pending&state=running&page_size=1")
    to.expect(200, "GET", "/v1/tasks?page_size=2")
    if page["next"]:
        other = page["next"].replace("state=running", "state=failed")
        to.expect(400, "GET", other, code="invalid_argument", pointer="cursor")


def ended(to, node):
    """Those of the day on which a task ended, and the days around it."""
    _, one = to.expect(200, "PUT", "/v1/tasks/list-0?wait=30s", {"workflow": "order", "input": INPUT, "labels": {"list": "yes", "a:b": "c=d"}})
    _, one = to.expect(200, "GET", "/v1/tasks/list-0")
    day, path, seen = one["finished_at"][:10], f"/v1/ended?day={one['finished_at'][:10]}&workflow=order&page_size=3", []
    while path:
        _, page = to.expect(200, "GET", path)
        expect(all(task["finished_at"].startswith(day) for task in page["items"]), f"the tasks of {day}: {page}")
        seen += page["items"]
        path = page["next"]
    expect("list-0" in [task["id"] for task in seen] and len({task["id"] for task in seen}) == len(seen), f"the tasks of {day}: {seen}")
    whole = harness.fairlead_json("task", "list", "--day", day, "--label", "kind=api", "--all", node=node.address)
    _, page = to.expect(200, "GET", f"/v1/ended?day={day}&label=kind:api")
    expect(page["items"] == whole["tasks"] and page["items"], "the API lists other tasks of a day than the command line")
    _, page = to.expect(200, "GET", f"/v1/ended?day={day}&state=undone")
    expect(page["items"] == [] and page["next"] is None, f"{page}")
    _, page = to.expect(200, "GET", f"/v1/ended?since={day}T00:00:00Z&id_prefix=list-0")
    expect([task["id"] for task in page["items"]] == ["list-0"] and page["by"] == "ended", f"{page}")
    _, page = to.expect(200, "GET", f"/v1/ended?since={day}T00:00:00Z&id_prefix=list-0&top_level=true")
    expect([task["id"] for task in page["items"]] == ["list-0"], f"{page}")
    _, page = to.expect(200, "GET", f"/v1/ended?since={day}T00:00:00Z&parent=list-0")
    expect(page["items"] == [], f"{page}")
    _, page = to.expect(200, "GET", f"/v1/ended?until={day}T00:00:00Z")
    expect(page["items"] == [], f"{page}")
    _, page = to.expect(200, "GET", f"/v1/tasks?ended_until={day}T00:00:00Z")
    expect(page["items"] == [] and page["by"] == "ended", f"{page}")
    _, page = to.expect(200, "GET", "/v1/ended?day=2001-02-03")
    expect(page["items"] == [] and page["complete"], f"{page}")
    to.expect(404, "GET", "/v1/ended?day=9000-01-01", code="not_found")
    for query, at in (("", "day"), ("?day=", "day"), ("?day=2026-13-01", "day"), ("?day=yesterday", "day"), (f"?day={day}&parked=true", "parked"),
                      (f"?day={day}&reason=x", "reason"), (f"?day={day}&since={day}T00:00:00Z", "day"), ("?since=soon", "since")):
        to.expect(400, "GET", "/v1/ended" + query, code="invalid_argument", pointer=at)
    to.expect(400, "GET", f"/v1/ended?day={day}&state=running", code="invalid_argument", pointer="state")
    to.expect(400, "GET", f"/v1/ended?since={day}T00:00:00Z&until=2001-01-01T00:00:00Z", code="invalid_argument", pointer="until")


def replies(to, node):
    """Status events are taken, come again until they are acknowledged, and are those that the command line shows."""
    path = "/v1/clients/shop%2F1/replies:take"
    _, said = to.expect(200, "POST", path, {})
    expect(said == {"replies": [], "positions": []}, f"{said}")
    to.expect(201, "PUT", "/v1/tasks/told?wait=30s", {"workflow": "order", "input": INPUT, "reply": {"client": "shop/1"}})
    _, first = to.expect(200, "POST", path, {"positions": [], "wait_ms": 20_000, "page_size": 1})
    expect([one["kind"] for one in first["replies"]] == ["received"] and first["replies"][0]["task"] == "told", f"{first}")
    _, again = to.expect(200, "POST", path, {"positions": []})
    expect(again["replies"][0] == first["replies"][0] and again["replies"][-1]["kind"] == "completed", f"{again}")
    listed = harness.fairlead("replies", "shop/1", "--keep", "--json", node=node.address).stdout.split("\n")
    expect([json.loads(line) for line in listed if line] == again["replies"], f"the command line shows others: {listed}")
    _, rest = to.expect(200, "POST", path, {"positions": first["positions"]})
    expect(rest["replies"] == again["replies"][1:] and rest["positions"] == again["positions"], f"{rest}")
    _, none = to.expect(200, "POST", path, {"positions": rest["positions"], "wait_ms": 100})
    expect(none == {"replies": [], "positions": rest["positions"]}, f"{none}")
    _, none = to.expect(200, "POST", path, {"positions": []})
    expect(none["replies"] == [], f"they were acknowledged: {none}")
    for body, at in (({"wait_ms": 30_001}, "/wait_ms"), ({"wait_ms": "1s"}, "/wait_ms"), ({"page_size": 0}, "/page_size"), ({"positions": 1}, "/positions"),
                     ({"positions": [{"shard": 0}]}, "/positions/0/acknowledged"), ({"positions": [{"shard": -1, "acknowledged": 1}]}, "/positions/0/shard"),
                     ({"client": "x"}, "/client")):
        to.expect(400, "POST", path, body, code="invalid_argument", pointer=at)
    to.expect(400, "POST", path, {"positions": [{"shard": 0, "acknowledged": 2**60}]}, code="invalid_argument")
    to.expect(400, "POST", "/v1/clients/no%20name/replies:take", {}, code="invalid_argument")


def refusals(to, node):
    task = {"workflow": "order", "input": INPUT}
    for query, at in (("state=gone", "state"), ("page_size=0", "page_size"), ("page_size=1001", "page_size"), ("page_size=x", "page_size"), ("what=1", "what"),
                      ("parked=yes", "parked"), ("label=a", "label"), ("older_than=soon", "older_than"), ("cursor=abc", "cursor"), ("workflow=", "workflow"),
                      ("workflow=a&workflow=b", "workflow"), ("ended_since=yesterday", "ended_since"), ("job=", "job"), ("id_prefix=", "id_prefix"),
                      ("id_prefix=" + "x" * 257, "id_prefix"), ("top_level=1", "top_level"), ("parent=", "parent"), ("parent=a%20b", "parent"),
                      ("parent=" + "x" * 481, "parent"), ("parent=a&top_level=true", "parent"),
                      ("ended_since=2026-11-24T00:00:00Z&ended_until=2026-11-23T00:00:00Z", "ended_until")):
        to.expect(400, "GET", "/v1/tasks?" + query, code="invalid_argument", pointer=at)
    for body, at in (({"workflow": 7}, "/workflow"), ({"input": 1}, "/workflow"), ({**task, "labels": {"a": 1}}, "/labels/a"), ({**task, "lable": 1}, "/lable"),
                     ({**task, "priority": "high"}, "/priority"), ({**task, "id": "other"}, "/id"), ({**task, "reply": {}}, "/reply")):
        to.expect(400, "PUT", "/v1/tasks/bad", body, code="invalid_argument", pointer=at)
    for raw in (b"{", b"[]", b"\xff\xfe", b"{}{}", b"[" * 70 + b"]" * 70, b'{"workflow": "order", "workflow": "order"}', b'{"input": NaN}', b" "):
        to.expect(400, "PUT", "/v1/tasks/bad", raw=raw, code="invalid_argument")
    to.expect(400, "PUT", "/v1/tasks/bad%20id", task, code="invalid_argument")
    to.expect(400, "PUT", "/v1/tasks/bad%2", task, code="invalid_argument")
    for dots in (".", ".."):
        to.expect(400, "PUT", "/v1/tasks/" + dots.replace(".", "%2E"), task, code="invalid_argument", pointer="/id")
        to.expect(400, "POST", "/v1/tasks", {**task, "id": dots}, code="invalid_argument", pointer="/id")
        to.expect(400, "POST", "/v1/tasks", task, headers={"Idempotency-Key": dots}, pointer="Idempotency-Key")
    to.expect(400, "GET", "/v1/tasks?state=%zz", code="invalid_argument")
    to.expect(400, "PUT", "/v1/tasks/bad?wait=31s", task, pointer="wait")
    to.expect(400, "GET", "/v1/tasks/later?after=-1", pointer="after")
    to.expect(400, "POST", "/v1/tasks", task, headers={"Idempotency-Key": '"a b"'}, code="invalid_argument", pointer="Idempotency-Key")
    to.expect(400, "POST", "/v1/tasks", task, headers={"Idempotency-Key": "nightly@2026-11-24T03:30:00Z"}, pointer="Idempotency-Key")
    to.expect(404, "PUT", "/v1/tasks/bad", {"workflow": "nothing"}, code="not_found")
    to.expect(413, "PUT", "/v1/tasks/bad", {"workflow": "order", "input": "x" * (257 << 10)}, code="too_large", pointer="/input")
    to.expect(415, "PUT", "/v1/tasks/bad", task, headers={"Content-Type": "text/plain"}, code="unsupported_media_type")
    api(to.port).expect(406, "GET", "/v1/version", headers={"Accept": "text/html"}, code="not_acceptable")
    api(to.port).expect(404, "GET", "/v1/tasks/bad", code="not_found")


# ---- what clients do wrong ----

def refused(port, status, request, what):
    answer = exchange(port, request)
    expect(status_of(answer) == status, f"{what} was answered with {answer[:200]}")
    expect(b"problem+json" in answer and answer.count(b"HTTP/1.1 ") == 1, f"{what}: {answer[:300]}")


def two_ways(port, node, rng):
    """A request that another reader would take for two is not answered twice."""
    head = b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    second = b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for lines in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                  b"Content-Length: 0\r\nContent-Length: 40\r\n", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                  b"Transfer-Encoding: xchunked\r\n", b"Transfer-Encoding: identity, chunked\r\n", b"Transfer-Encoding: chunked, identity\r\n",
                  b"Host: example.org\r\nContent-Length: 0\r\n"):
        refused(port, 400, head + lines + b"\r\n0\r\n\r\n" + second, lines)
    # Names that hide a length: what stands behind the head is no second request.
    for lines in (b"Content-Length : %d\r\n" % len(second), b"Content-Length:\r\n %d\r\n" % len(second), b"Transfer-Encoding:\r\n chunked\r\n",
                  b"Transfer-Encoding : chunked\r\n", b"Content-Length\t: %d\r\n" % len(second)):
        answer = exchange(port, b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n" + second)
        expect(status_of(answer) == 400 and answer.count(b"HTTP/1.1 ") == 1, f"{lines} was answered with {answer[:300]}")
    # A condition or a key in a folded line would be lost.
    for lines in (b'If-Match: "1-a"\r\n x\r\n', b"Idempotency-Key: a\r\n\tb\r\n", b'If-Match:\r\n "1-a"\r\n'):
        refused(port, 400, head + b"Connection: close\r\n" + lines + b"Content-Length: 2\r\n\r\n{}", lines)
    for lines in (b"Content-Length: -1\r\n", b"Content-Length: 1x\r\n", b"Content-Length : 4\r\n", b" Content-Length: 4\r\n", b"Content-Length: 4\r\n\tx\r\n",
                  b"X\r\n", b"X: a\rb\r\n", b"X: a\0b\r\n"):
        answer = exchange(port, head + lines + b"\r\n0\r\n\r\n" + second)
        expect(status_of(answer) in (400, 415, None) and answer.count(b"HTTP/1.1 2") == 0, f"{lines} was answered with {answer[:300]}")
    refused(port, 400, b"POST /v1/tasks HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunks in HTTP/1.0")
    for request, what in ((b"GET /v1/version HTTP/1.1\r\n\r\n", "no Host"), (b"POST /v1/tasks HTTP/1.1\r\nContent-Length: 40\r\n\r\n", "no Host, and a body"),
                          (b"GET /v1/version HTTP/1.0\r\n\r\n", "no Host in HTTP/1.0"),
                          (b"GET /v1/ver sion HTTP/1.1\r\nHost: localhost\r\n\r\n", "a space in the target"),
                          (b"GET /v1/ver\tsion HTTP/1.1\r\nHost: localhost\r\n\r\n", "a tab in the target"),
                          (b"GET /v1/version HTTP/1.1 HTTP/1.1\r\nHost: localhost\r\n\r\n", "two versions")):
        refused(port, 400, request + second, what)


def other_sites(port, node, rng):
    """Names that were made to lead here, and pages of other sites."""
    to, task = api(port), {"workflow": "order", "input": INPUT}
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", "169.254.169.254"):
        refused(port, 421, f"GET /v1/tasks HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), host)
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "same-site"}):
        api(port).expect(403, "PUT", "/v1/tasks/evil", task, headers=headers, code="cross_origin")
    to.expect(404, "GET", "/v1/tasks/evil")
    to.expect(201, "PUT", "/v1/tasks/good", task, headers={"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"})


def sizes(port, node, rng):
    head = b"PUT /v1/tasks/large-%d HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % rng.randrange(1 << 32)
    refused(port, 413, head + b"Content-Length: 4194305\r\n\r\n" + b"x" * 100_000, "a body of more than 4 MiB")
    refused(port, 413, head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"40000\r\n" + b" " * 0x40000 + b"\r\n") * 17 + b"0\r\n\r\n", "chunks of more than 4 MiB")
    answer = exchange(port, head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"40000\r\n" + b" " * 0x40000 + b"\r\n") * 100)
    expect(status_of(answer) is None, f"chunks without end were answered with {answer[:100]}")
    refused(port, 414, b"GET /v1/tasks?workflow=" + b"a" * 33_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", "a target of 33 KB")
    refused(port, 431, b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 17_000 + b"\r\n\r\n", "headers of 17 KB")
    for request in (b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 200_000 + b"\r\n"):
        answer = exchange(port, request)
        expect(status_of(answer) in (400, 413, 414, 431, None), f"{request[:20]}… was answered with {answer[:80]}")
    body = json.dumps({"workflow": "order", "input": INPUT}).encode()
    pieces = b"".join(b"%x;why=not\r\n%s\r\n" % (1, body[at : at + 1]) for at in range(len(body)))
    answer = exchange(port, head + b"Connection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\nX-Trailer: a\r\n\r\n")
    expect(b"HTTP/1.1 201" in answer, f"a body in chunks of one byte was answered with {answer[:300]}")


def slow(port, node, rng):
    """Bytes now and then do not keep a request alive for ever: a head has 5 seconds."""
    standing = [hostile_http.connect(port) for _ in range(50)]
    silent = [hostile_http.connect(port) for _ in range(50)]
    request, began = b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", time.monotonic()
    for one in standing:
        one.sendall(request)
        one.setblocking(False)
    gone = set()
    while len(gone) < len(standing) and time.monotonic() - began < 15:
        for one in standing:
            try:
                one.send(b"a")
                if one.recv(1) == b"":
                    gone.add(one)
            except BlockingIOError:
                pass
            except OSError:
                gone.add(one)
        api(port).expect(200, "GET", "/v1/version")
        time.sleep(0.2)
    took = time.monotonic() - began
    expect(len(gone) == len(standing) and took > 4, f"{len(standing) - len(gone)} slow connections are open after {took:.1f} s")
    for one in silent:
        expect(one.recv(1) == b"", "a silent connection is open")
        one.close()
    for one in standing:
        one.close()


def pipelined(port, node, rng):
    with hostile_http.connect(port) as one:
        one.sendall(b"".join(b"GET /v1/tasks/pipe-%d HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: p%d\r\n\r\n" % (n, n) for n in range(200)))
        one.settimeout(20)
        said = b""
        while said.count(b"HTTP/1.1 404") < 200:
            piece = one.recv(65536)
            expect(piece, f"{said.count(b'HTTP/1.1 404')} of 200 pipelined requests were answered")
            said += piece
    ids = [line.split(b": ")[1] for line in said.split(b"\r\n") if line.startswith(b"X-Request-Id")]
    expect(ids == [b"p%d" % n for n in range(200)], "pipelined requests are answered out of order")


def random_bytes(port, node, rng):
    pieces = [b"GET ", b"PUT ", b"/v1/tasks", b"/v1/tasks/a%2Fb", b"?wait=1ms", b" HTTP/1.1", b"\r\n", b"\n", b"\0", b"Host: localhost\r\n", b" ", b"\t", b":",
              b"Content-Length: 3\r\n", b"HTTP/9.9", b"Transfer-Encoding: chunked\r\n", b"\xff\xfe", b"%", b"?&=&", b"Expect: 100-continue\r\n", b"{}", b"3\r\nabc\r\n",
              b"Connection: upgrade\r\n", b"Content-Type: application/json\r\n", b"\r\n\r\n"]
    for _ in range(300):
        exchange_quickly(port, b"".join(rng.choices(pieces, k=rng.randrange(1, 30))) + b"\r\n\r\n")
    for _ in range(100):
        exchange_quickly(port, rng.randbytes(rng.randrange(1, 4000)))


def idle(port, node, rng):
    """Many that have asked once and stay."""
    standing, files = [], open_files(node.process.pid)
    for number in range(IDLE):
        one = api(port)
        one.expect(200, "GET", "/v1/version")
        standing.append(one)
    share = share_of(node.process.pid, 2)
    expect(share < ALLOWED_SHARE, f"{share:.0%} of a core are spent while {IDLE} connections are idle")
    print(f"{IDLE} idle connections, {share:.1%} of a core, {resident(node.process.pid) / hostile_http.MEGABYTE:.0f} MB", flush=True)
    for one in rng.sample(standing, 100):
        one.expect(200, "GET", "/v1/version")
    for one in standing:
        one.connection.close()
    wait_until(lambda: open_files(node.process.pid) <= files + 5, 15, "connections that were closed are forgotten")


def leave(port, node, rng):
    """Clients that go while they wait, in every way."""
    files = open_files(node.process.pid)
    request = b"GET /v1/tasks/later?wait=30s&after=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    standing = [hostile_http.connect(port) for _ in range(200)]
    for one in standing:
        one.sendall(request)
    # A few connections of others may be on their way out.
    wait_until(lambda: open_files(node.process.pid) >= files + 190, 10, "all wait")
    for one in standing:
        if rng.random() < 0.5:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        one.close()
    wait_until(lambda: open_files(node.process.pid) <= files + 5, 5, "the node sees that clients have gone, long before their time is over")


def end(port, node):
    """The node ends in order while clients wait, and tells them."""
    files = open_files(node.process.pid)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        asked = [api(port) for _ in range(20)]
        for one in asked:
            one.expect(200, "GET", "/v1/version")
        expect(open_files(node.process.pid) >= files + 20, "connections are kept")
        waiting = [pool.submit(one.ask, "GET", "/v1/tasks/later?wait=30s&after=1") for one in asked]
        # Nothing outside shows that a request waits. One that is not there yet is answered in the same way.
        time.sleep(0.5)
        began = time.monotonic()
        code, _ = node.end()
        expect(code == 0 and time.monotonic() - began < 10, f"the node ended with {code} after {time.monotonic() - began:.1f} s: {node.last_words()}")
        for one in waiting:
            status, found, said = one.result()
            expect(status == 503 and said["code"] == "unavailable" and found.get("Retry-After"), f"a client that waited got {status} {said}")


if __name__ == "__main__":
    harness.main(run)
