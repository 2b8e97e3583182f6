#!/usr/bin/env python3
"""What the API refuses, path by path: each operation of the OpenAPI document gets each request that every path refuses. Then the statuses
that the other scenarios of the API do not come by.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_refusals.py
"""

import http.client
import json

import harness
import hostile_http
import openapi
from api import api
from harness import expect, wait_until
from place import place

JSON = {"Content-Type": "application/json"}
SHIPPED = {"workflow": "shipped", "steps": {"only": {"agent": "shipping", "call": "dispatch", "attempts": 1},
                                            "then": {"needs": "only", "agent": "shipping", "call": "dispatch"}}}
FRAGILE = {"workflow": "fragile", "on_failure": "undo",
           "steps": {"only": {"agent": "inventory", "call": "reserve", "attempts": 1, "undo": "none"}}}
YEARLY = {"job": "yearly", "schedule": "0 0 1 1 *", "workflow": "shipped", "overlap": "skip"}
PARTS = {"{request}": "StatusRequest", "{id}": "nobody", "{step}": "first", "{number}": "999999", "{node}": "nobody", "{code}": "nothing",
         "{name}": "nobody", "{client}": "nobody", "{worker}": "nobody", "{callback}": "nobody"}
QUERIES = {"/v1/ended": "?day=9000-01-01"}


def run():
    port, = harness.free_ports(1)
    hostile_http.allow_files(4_000)
    with harness.sandbox("api_refusals") as box:
        # Nobody listens where the agents look for their services: steps fail.
        here = place(box, "node", api__listen=f"127.0.0.1:{port}", undo_brake__at_least=1, agents__shipping__breaker="off")
        here.node.start()
        to = api(port)
        for part in (at_the_door, nobody, tasks, places, heads, jobs, operators, brake):
            part(to, here.node)
            print(f"ok  {part.__name__}", flush=True)
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("api_refusals").write()
    return 0


def helps(said):
    """`METHOD PATH VERB` of what a problem document says would help."""
    found = [one["request"] for one in said["what_helps"]]
    return [" ".join([one["method"], one["path"]] + ([one["body"]["verb"]] if "verb" in (one["body"] or {}) else [])) for one in found]


def filled(path):
    for name, value in PARTS.items():
        path = path.replace(name, value)
    return path


def ask_once(port, method, path, headers, body=b""):
    """On a connection of its own, which the node may close. `headers` are all that is sent; (status, the problem's code)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": "localhost", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    openapi.judge(method, path, answer.status, dict(answer.getheaders()), said)
    return answer.status, said.get("code")


def at_the_door(to, node):
    """What is refused before anybody looks at what is asked for."""
    large = {**JSON, "Content-Length": str((4 << 20) + 1)}
    for path, method in openapi.check().document.operations:
        method, at = method.upper(), filled(path)
        changes = method not in ("GET", "HEAD")
        sent, length = (b"{}", {**JSON, "Content-Length": "2"}) if changes and method != "DELETE" else (b"", {})
        for wanted, where, headers, body in (
                ((400, "invalid_argument"), at + "?what=1", length, sent),
                ((403, "cross_origin") if changes else None, at, {**length, "Origin": "https://evil.example"}, sent),
                ((406, "not_acceptable"), at, {**length, "Accept": "text/html"}, sent),
                ((413, "too_large"), at, large, b""),
                ((414, "target_too_long"), at + "?a=" + "a" * 33_000, length, sent),
                ((415, "unsupported_media_type"), at, {"Content-Type": "text/plain", "Content-Length": "2"}, b"{}"),
                ((421, "misdirected"), at, {**length, "Host": "evil.example"}, sent),
                ((431, "headers_too_large"), at, {**length, "X": "a" * 17_000}, sent)):
            if wanted:
                found = ask_once(to.port, method, where, headers, body)
                expect(found == wanted, f"{method} {where[:100]} was answered with {found} and not with {wanted}")
        if path.endswith("/events"):
            for accept in ("application/json", "text/event-stream;q=0, */*"):
                found = ask_once(to.port, method, at, {"Accept": accept})
                expect(found == (406, "not_acceptable"), f"{method} {at} with Accept: {accept} was answered with {found}")
    for headers in ({"Content-Encoding": "gzip"}, {"Content-Type": "application/json; charset=latin1"}, {"Content-Type": "application/vnd.x+json"}):
        found = ask_once(to.port, "POST", "/v1/tasks", {**JSON, "Content-Length": "2", **headers}, b"{}")
        expect(found == (415, "unsupported_media_type"), f"a body with {headers} was answered with {found}")
    for accept in ("application/json;q=0", "application/json;q=0, */*", "text/event-stream"):
        found = ask_once(to.port, "GET", "/v1/status", {"Accept": accept})
        expect(found == (406, "not_acceptable"), f"Accept: {accept} was answered with {found}")
    for path in openapi.check().document.parts["paths"]:
        found, _ = to.expect(204, "OPTIONS", filled(path))
        allowed = {method for at, method in openapi.check().document.operations if at == path}
        named = {one.strip().lower() for one in found["Allow"].split(",")} - {"head", "options"}
        expect(named == allowed, f"OPTIONS {path}: {found['Allow']}")
        to.expect(405, "PATCH", filled(path), code="method_not_allowed")


def nobody(to, node):
    """What is asked for does not exist."""
    for (path, method), operation in openapi.check().document.operations.items():
        if ("{" in path or path in QUERIES) and "requestBody" not in operation:
            # There may have been such a worker.
            status, code = (410, "gone") if "{worker}" in path else (404, "not_found")
            to.expect(status, method.upper(), filled(path) + QUERIES.get(path, ""), code=code)


def tasks(to, node):
    to.expect(201, "POST", "/v1/workflows", SHIPPED)
    to.expect(404, "POST", "/v1/tasks", {"workflow": "nothing"}, code="not_found")
    to.expect(201, "POST", "/v1/tasks", {"workflow": "shipped", "id": "t-1", "delay": "1h"})
    to.expect(409, "POST", "/v1/tasks", {"workflow": "shipped", "id": "t-1", "priority": 1}, code="conflict")
    to.expect(412, "POST", "/v1/tasks", {"workflow": "shipped", "id": "t-1"}, headers={"If-None-Match": "*"}, code="changed")
    to.expect(202, "POST", "/v1/tasks?wait=10ms", {"workflow": "shipped", "id": "t-1", "delay": "1h"})
    _, said = to.expect(409, "GET", "/v1/tasks/t-1/steps/then/input", code="wrong_state")
    expect("GET /v1/tasks/t-1 " in said["remedy"] and helps(said) == ["GET /v1/tasks/t-1"], f"{said}")
    to.expect(404, "GET", "/v1/tasks/t-1/steps/last/input", code="not_found")
    to.expect(201, "POST", "/v1/tasks", {"workflow": "shipped", "id": "t-2", "delay": "1h"})
    acts = "/v1/tasks/t-2/actions"
    _, said = to.expect(409, "POST", acts, {"verb": "delete"}, code="wrong_state")
    expect(helps(said) == [f"POST {acts} cancel", f"POST {acts} terminate"], f"{said}")
    # What is named is taken.
    what = said["what_helps"][1]["request"]
    to.expect(200, what["method"], what["path"], what["body"])
    _, said = to.expect(409, "POST", acts, {"verb": "retry"}, code="wrong_state")
    expect(helps(said) == [f"POST {acts} undo", f"POST {acts} delete"] and said["remedy"] and "fairlead" not in said["remedy"], f"{said}")
    for repeated in (False, True):
        _, said = to.expect(200, "POST", acts, {"verb": "delete"})
        expect(said["repeated"] == repeated, f"{said}")
    _, said = to.expect(404, "GET", "/v1/tasks/nobody", code="not_found")
    expect(said["remedy"].startswith("GET /v1/tasks ") and helps(said) == ["GET /v1/tasks"], f"{said}")
    for body, words in ((b'{"workflow": "shipped", "labels": {"a": 1}}', "text"), (b'{"workflow": shipped}', "JSON")):
        _, said = to.expect(400, "POST", "/v1/tasks", raw=body)
        expect(words in said["remedy"] and "fields" not in said["remedy"] and said["errors"][0]["remedy"] == said["remedy"], f"{said}")


def places(to, node):
    """Where no place to wait is left, a task that is to be waited for is not submitted."""
    after = next(n for n in range(10) if to.ask("GET", f"/v1/tasks/t-1?wait=10ms&after={n}")[0] == 204)
    waiting = []

    def one_more_waits():
        waiting.append(hostile_http.connect(to.port))
        waiting[-1].sendall(f"GET /v1/tasks/t-1?wait=25s&after={after} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def all_taken():
        one_more_waits()
        # To look takes a place for a moment, too.
        return to.ask("GET", f"/v1/tasks/t-1?wait=10ms&after={after}")[0] == 429
    for _ in range(1_023):
        one_more_waits()
    wait_until(all_taken, 20, "all places are taken")
    to.expect(429, "PUT", "/v1/tasks/t-full?wait=10ms", {"workflow": "shipped", "delay": "1h"}, code="overloaded")
    to.expect(404, "GET", "/v1/tasks/t-full", code="not_found")
    to.expect(201, "PUT", "/v1/tasks/t-full", {"workflow": "shipped", "delay": "1h"})
    for one in waiting:
        one.close()
    again = lambda: to.ask("PUT", "/v1/tasks/t-full?wait=10ms", {"workflow": "shipped", "delay": "1h"})[0]  # noqa: E731
    wait_until(lambda: again() == 202, 20, "places are given back")


def heads(to, node):
    """An answer to HEAD has no body: what comes behind its head is the next answer."""
    following = b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for path, method in openapi.check().document.operations:
        if method == "get":
            at = filled(path.replace("{id}", "t-1"))
            answer = hostile_http.exchange(to.port, f"HEAD {at} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() + following)
            head, _, rest = answer.partition(b"\r\n\r\n")
            expect(head.startswith(b"HTTP/1.1 ") and rest.startswith(b"HTTP/1.1 200"), f"HEAD {at}: behind the head is {rest[:100]}")


def jobs(to, node):
    acts = "/v1/jobs/yearly/actions"
    to.expect(404, "POST", acts, {"verb": "pause"}, code="not_found")
    to.expect(404, "PUT", "/v1/jobs/yearly", {**YEARLY, "workflow": "nothing"}, code="not_found")
    to.expect(201, "PUT", "/v1/jobs/yearly", YEARLY)
    found, _ = to.expect(200, "GET", "/v1/jobs/yearly?coming=2")
    to.expect(304, "GET", "/v1/jobs/yearly?coming=2", headers={"If-None-Match": found["ETag"]})
    to.expect(200, "PUT", "/v1/jobs/yearly", {**{key: value for key, value in YEARLY.items() if key != "job"}, "notes": "changed"})
    to.expect(400, "POST", "/v1/jobs:apply", {"schedule": "0 0 1 1 *", "workflow": "shipped"}, code="invalid_argument", pointer="job")
    to.expect(412, "POST", acts, {"verb": "pause"}, headers={"If-Match": found["ETag"]}, code="changed")
    # A condition that cannot be kept is refused, not passed over.
    for method, other, condition in (("DELETE", "/v1/workflows/order", "If-Match"), ("POST", "/v1/alerts:ack", "If-Match"),
                                     ("PUT", "/v1/tasks/conditional", "If-Match"), (*("POST", acts), "If-None-Match")):
        to.expect(400, method, other, headers={condition: '"1-0"'}, pointer=condition)
    to.expect(200, "POST", acts, {"verb": "run", "overlap": "allow"}, headers={"Idempotency-Key": "k"})
    to.expect(422, "POST", acts, {"verb": "run"}, headers={"Idempotency-Key": "k"}, code="key_reused")
    wait_until(lambda: to.expect(200, "GET", "/v1/tasks?job=yearly&agent=shipping")[1]["items"], 10, "the launch is listed by its job")
    _, page = to.expect(200, "GET", "/v1/tasks?job=yearly")
    expect([one["id"].split("@")[0] for one in page["items"]] == ["yearly"] and page["by"] == "job", f"{page}")
    to.expect(409, "POST", acts, {"verb": "run", "overlap": "skip"}, code="wrong_state")
    _, said = to.expect(409, "DELETE", "/v1/workflows/shipped", code="wrong_state")
    expect(helps(said) == ["DELETE /v1/jobs/yearly"], f"{said}")
    to.expect(404, "POST", "/v1/jobs:next", {"schedule": "0 0 30 2 *"}, code="not_found")
    # What is given empty is not as if it were not given.
    to.expect(400, "POST", "/v1/jobs:next", {"schedule": "@daily", "after": ""}, code="invalid_argument", pointer="/after")
    to.expect(400, "POST", acts, {"verb": "run", "overlap": ""}, code="invalid_argument", pointer="/overlap")


def operators(to, node):
    _, said = to.expect(404, "POST", "/v1/agents/shipping/actions", {"verb": "drain"}, code="not_found")
    expect(helps(said)[0] == "POST /v1/agents/single%2Fshipping/actions drain", f"{said}")
    to.expect(409, "POST", "/v1/agents/shipping/actions", {"verb": "breaker_open"}, code="wrong_state")
    to.expect(409, "POST", "/v1/nodes/single/actions", {"verb": "forget"}, code="wrong_state")
    _, said = to.expect(200, "POST", "/v1/nodes/nobody/actions", {"verb": "forget"})
    expect(said["state"] == "unknown", f"{said}")


def brake(to, node):
    _, said = to.expect(409, "POST", "/v1/brake:release", code="wrong_state")
    expect(helps(said) == ["GET /v1/status"], f"{said}")
    to.expect(201, "POST", "/v1/workflows", FRAGILE)
    for number in range(3):
        to.expect(201, "PUT", f"/v1/tasks/fragile-{number}", {"workflow": "fragile"})
    wait_until(lambda: to.expect(200, "GET", "/v1/status")[1]["undo_brake"]["held"], 20, "the brake holds a task")
    _, said = to.expect(200, "POST", "/v1/brake:release", {"reason": "to see"})
    expect(said["held"] > 0, f"{said}")


if __name__ == "__main__":
    harness.main(run)
