#!/usr/bin/env python3
"""An agent in Python, with the standard library alone. Its call `send` writes a line to the file OUTBOX, or posts to SERVICE_URL.

    FAIRLEAD_API=http://127.0.0.1:7190 OUTBOX=/tmp/outbox python3 agent.py

Several nodes are separated by commas. SIGTERM ends it once it holds nothing. The rules are those of docs/any-language.md.
"""

import http.client
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

NODES = os.environ.get("FAIRLEAD_API", "http://127.0.0.1:7190").split(",")
TOKEN, OUTBOX, SERVICE = (os.environ.get(name, "") for name in ("FAIRLEAD_TOKEN", "OUTBOX", "SERVICE_URL"))
KNOWN = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
CAPACITY = 4
STARTED = f"{os.getpid()}-{time.time_ns()}"
ME = {"agent": "mail", "instance": f"mail-{os.uname().nodename}-{STARTED}", "calls": ["send"], "lookups": ["send"],
      "capacity": CAPACITY}  # rule 8: one process for each instance name
NO_ANSWER = (OSError, http.client.HTTPException, ValueError)
clock = time.monotonic
held = {}  # by ticket, until the outcome is accepted
had = {}  # tickets of the latest attempts
session, worker, after, ending = None, "", 0, False


class gone(Exception):
    """The session has ended."""


def ask(url, method, body=None, seconds=20.0, **headers):
    headers = {"Content-Type": "application/json", **headers} if body else headers
    with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=seconds) as answer:
        text = answer.read()
        if not text and answer.status != 204 and answer.headers["Content-Length"] != "0":
            raise ValueError("the answer ends in its head")  # http.client takes it for an empty one
        return json.loads(text or b"null")


def api(path, body=None, method="POST", **headers):
    """Sends the same request until there is an answer; gives it, and the moment before it was sent (rule 1)."""
    while True:
        stamp, pause = clock(), 1.0
        try:
            return ask(NODES[0] + path, method, json.dumps(body).encode() if body else None, **KNOWN, **headers), stamp
        except urllib.error.HTTPError as refused:
            if refused.code == 410:
                raise gone from None
            if refused.code not in (429, 502, 503, 504):
                raise SystemExit(f"{path}: {refused.code} {refused.read().decode()}") from None
            pause = float(refused.headers.get("Retry-After") or 1)
        except NO_ANSWER:
            NODES.append(NODES.pop(0))
        time.sleep(pause)


def register():
    """The first one may be sent again: its key makes it the same registration."""
    global session, worker, after
    key = {} if session else {"Idempotency-Key": STARTED}
    made, _ = api("/v1/workers", {**ME, "session": session, "have": list(held)}, **key)  # rule 7
    session, worker, after = made["session"], "/v1/workers/" + made["worker"], 0


def outbox_has(key):
    return os.path.exists(OUTBOX) and any(json.loads(line)[0] == key for line in open(OUTBOX, "rb"))


def send(one, seconds):
    key, text = one["idempotency_key"], one["input"]  # rule 5
    if SERVICE:
        ask(SERVICE, "POST", json.dumps(text).encode(), seconds, **{"Idempotency-Key": key})
    elif not one["in_doubt"] or not outbox_has(key):
        with open(OUTBOX, "ab", buffering=0) as box:
            box.write(json.dumps([key, text]).encode() + b"\n")
    return {"output": {"sent": True, "to": (text or {}).get("to")}}


def look_up(one, seconds):
    key = one["perform_key"]
    if SERVICE:
        return {"verdict": "done", "output": ask(f"{SERVICE}?key={key}", "GET", None, seconds)}
    return {"verdict": "done" if outbox_has(key) else "never_happened"}


def work(one):
    asks = one["direction"] == "lookup"
    try:
        out = (look_up if asks else send)(one, one["end"] - clock())
    except urllib.error.HTTPError as refused:
        kind = "transient" if refused.code in (429, 503) else "permanent" if refused.code < 500 else "in_doubt"
        out = {"verdict": "never_happened" if refused.code == 410 else "unknown"} if asks else {"fault": {"kind": kind, "code": f"http_{refused.code}"}}
    except Exception as why:  # rule 6: it may have been sent
        out = {"verdict": "unknown"} if asks else {"fault": {"kind": "in_doubt", "code": "no_answer", "message": str(why)}}
    one["outcome"] = {"ticket": one["ticket"], **out} if clock() < one["end"] else None  # rule 2


def beat():
    due = [one for one in held.values() if one["heartbeat_ms"] and "outcome" not in one and clock() > one["beat"] + one["heartbeat_ms"] / 3000]
    if not due:
        return
    answer, stamp = api(worker + "/heartbeats", {"items": [{"ticket": one["ticket"], "sequence": time.time_ns() // 1000} for one in due]})
    for item in answer["items"]:
        held[item["ticket"]].update(beat=stamp, end=stamp + item["lease_ms"] / 1000 if item["held"] else 0)


def round_trip():
    """Reports what is done, and takes what there is."""
    global after
    done = [one["outcome"] for one in held.values() if one.get("outcome")]
    for item in api(worker + "/outcomes", {"items": done})[0]["items"] if done else []:  # rule 4
        held.pop(item["ticket"])
    for one in [one for one in held.values() if not one.get("outcome") and clock() > one["end"]]:
        del held[one["ticket"]]
    beat()
    if ending or len(held) >= CAPACITY:
        return time.sleep(0.05)
    answer, stamp = api(worker + "/take", {"max": CAPACITY - len(held), "wait_ms": 100 if held else 5000, "after": after})
    after = answer["answer"]  # rule 3
    for one in answer["attempts"]:
        one.update(end=stamp + (answer["waited_ms"] + one["lease_ms"]) / 1000, beat=stamp)  # rule 1
        if one["ticket"] not in had and clock() < one["end"]:  # rules 8 and 2
            held[one["ticket"]], had[one["ticket"]] = one, None
            if len(had) > 10_000:
                del had[next(iter(had))]
            threading.Thread(target=work, args=(one,), daemon=True).start()
    if answer["draining"]:
        NODES.append(NODES.pop(0))  # another node answers 410, and gets the session
        time.sleep(0.2)


def end(*_):
    global ending
    ending = True


signal.signal(signal.SIGTERM, end)
register()
while not ending or held:
    try:
        round_trip()
    except gone:
        register()
try:
    api(worker, method="DELETE")
except gone:
    pass
