#!/usr/bin/env python3
"""Requests made from the OpenAPI document by dice, right and wrong ones: wrong types, absurd sizes, unknown fields, deep JSON, bad UTF-8,
cut bodies, wrong methods, odd ids. Each answer is one of the document, none is a 500, and the node lives and has not grown at the end.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_fuzz.py [--seconds N] [--seed N]
"""

import argparse
import collections
import http.client
import json
import random
import time

import harness
import openapi
from api import api
from api_dice import ODD_HEADERS, dice
from harness import expect, scenario_failed
from hostile_http import MEGABYTE, allowed_growth, resident
from place import deploy, place

MORE_GROWTH = 100 * MEGABYTE  # than of the port for machines: requests have bodies, and become tasks
WORKFLOW = {"workflow": "brittle", "steps": {"first": {"agent": "inventory", "call": "reserve", "attempts": 1},
                                             "second": {"needs": ["first"], "agent": "payment", "call": "charge", "attempts": 1}}}
JOB = {"job": "nightly", "schedule": "30 3 * * *", "workflow": "brittle", "overlap": "allow"}
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get"]


def run():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    given = options.parse_args()
    print(f"--seed {given.seed} repeats this", flush=True)
    port, = harness.free_ports(1)
    with harness.sandbox("api_fuzz") as box:
        # Nobody listens where the agents look for their services: steps fail.
        here = place(box, "node", api__listen=f"127.0.0.1:{port}")
        here.node.start()
        deploy(here.node)
        prepare(api(port))
        before = resident(here.node.process.pid)
        one = fuzzer(lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=40), random.Random(given.seed))
        end = time.monotonic() + given.seconds
        while time.monotonic() < end:
            one.throw()
            code = here.node.process.poll()
            expect(code is None, f"the node ended with {code} after {one.last}: {here.node.last_words()}")
        api(port).expect(200, "GET", "/v1/status")
        grown = resident(here.node.process.pid) - before
        expect(grown < allowed_growth(here.node.process.pid) + MORE_GROWTH, f"memory grew by {grown / MEGABYTE:.0f} MB")
        counts = ", ".join(f"{status}: {count}" for status, count in sorted(one.statuses.items(), key=str))
        print(f"ok  {sum(one.statuses.values())} requests ({counts}), {grown / MEGABYTE:+.0f} MB", flush=True)
        here.node.process.kill()
    return 0


def prepare(to):
    to.expect(201, "POST", "/v1/workflows", WORKFLOW)
    to.expect(201, "PUT", "/v1/jobs/nightly", JOB)
    for number in range(20):
        to.expect(201, "PUT", f"/v1/tasks/t-{number}", {"workflow": "brittle", "labels": {"kind": "x"}})


class fuzzer(dice):
    """`connection` makes a new one. What its owner may send besides is in `headers`."""

    closes = (ConnectionError, http.client.BadStatusLine)  # what a client sees when the node closes behind an early answer

    def __init__(self, connection, rng, headers=None):
        super().__init__(rng)
        self.make = connection
        self.headers = headers or {}
        self.checker = openapi.check()
        self.operations = list(self.checker.document.operations.items())
        self.connection = None
        self.statuses = collections.Counter()
        self.last = None

    # ---- a request ----

    def throw(self):
        rng = self.rng
        if rng.random() < 0.01:
            # It may have been deleted, and without it there are no tasks and jobs.
            return self.ask("POST", "/v1/workflows", {"Content-Type": "application/json"}, json.dumps(WORKFLOW).encode(), WORKFLOW)
        (path, method), operation = rng.choice(self.operations)
        method, headers, body, known = method.upper(), {}, None, None
        query = self.query_of(operation)
        for one in operation["parameters"]:
            if one["in"] == "header" and rng.random() < 0.3:
                headers[one["name"]] = rng.choice(ODD_HEADERS[one["name"]])
        if "application/x-protobuf" in operation.get("requestBody", {}).get("content", {}):
            body, headers["Content-Type"] = self.message(), "application/x-protobuf"
        elif "requestBody" in operation:
            known, body = self.body_of(operation["requestBody"]["content"]["application/json"]["schema"])
            headers["Content-Type"] = "application/json"
            if "application/yaml" in operation["requestBody"]["content"] and rng.random() < 0.3:
                headers["Content-Type"] = "application/yaml"
        target = self.path_of(path, body) + query
        if rng.random() < 0.05:
            method = rng.choice(METHODS)
        if rng.random() < 0.1:
            name = rng.choice(list(ODD_HEADERS))
            headers[name] = rng.choice(ODD_HEADERS[name])
        self.last = f"{method} {target[:500]} {headers} {body[:700] if body is not None else None}"
        if body and rng.random() < 0.02:
            return self.send_cut(method, target, headers, body)
        try:
            self.ask(method, target, headers, body, known)
        except scenario_failed as failure:
            raise scenario_failed(f"{failure}\n  the request: {self.last}") from None

    # ---- an answer ----

    def ask(self, method, target, headers, body, known):
        if self.connection is None:
            self.connection = self.make()
        try:
            sent = {name: value.encode() for name, value in {**self.headers, **headers}.items()}
            self.connection.request(method, target, body, sent)
            answer = self.connection.getresponse()
        except self.closes:
            # The node closes behind an answer that came before the body had gone.
            self.statuses["closed"] += 1
            self.connection = None
            return
        if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
            text = self.beginning_of(target, answer)
        else:
            text = answer.read()
        self.statuses[answer.status] += 1
        found = dict(answer.getheaders())
        # A healthy node has no reason for these.
        expect(answer.status not in (500, 504, 507), f"it was answered with {answer.status}: {text[:500]}")
        if answer.status == 200 and found.get("Content-Type", "").startswith("text/event-stream"):
            return self.checker.judge(method, target, 200, found, None)
        if found.get("Content-Type") == "application/x-protobuf":
            return self.checker.judge(method, target, answer.status, found, None)
        if answer.status == 206:  # a part of a JSON text is none
            return self.checker.judge(method, target, answer.status, found, text.decode("latin-1"))
        try:
            said = json.loads(text) if text else None
        except ValueError:
            raise scenario_failed(f"the answer {answer.status} is no JSON: {text[:500]}") from None
        self.checker.judge(method, target, answer.status, found, said, known)

    def beginning_of(self, target, answer):
        """The events that have come in 20 ms. The stream is left."""
        self.connection.sock and self.connection.sock.settimeout(0.02)
        text = b""
        try:
            answer.fp.raw._sock.settimeout(0.02)
            while piece := answer.read1(65536):
                text += piece
        except (OSError, http.client.HTTPException):
            pass
        self.connection.close()
        self.connection = None
        for event in text.split(b"\n\n")[:-1]:
            fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if line and not line.startswith(b":"))
            if b"data" in fields:
                self.checker.judge_event(target, fields[b"event"].decode(), json.loads(fields[b"data"]))
        return text

    def send_cut(self, method, target, headers, body):
        """The client goes in the middle of the body."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", "Content-Length": len(body), **self.headers, **headers}.items())
        one = self.make()
        one.connect()
        with one.sock:
            one.sock.sendall(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode() + body[:self.rng.randrange(len(body))][:100_000])
        self.statuses["cut"] += 1


if __name__ == "__main__":
    harness.main(run)
