"""Who the agent is, and what it does: put your code here.

The call `send` appends a line to the file OUTBOX, or posts to SERVICE_URL.
"""

import json
import os
import time
import urllib.error
import urllib.request

INSTANCE = f"{os.uname().nodename[:30]}-{os.getpid()}-{time.time_ns()}"  # rule 8: one process for each name
CAPACITY = 4
OUTBOX, SERVICE = os.environ.get("OUTBOX", ""), os.environ.get("SERVICE_URL", "")
if not OUTBOX and not SERVICE:
    raise SystemExit("set OUTBOX to a file, or SERVICE_URL to a service")


def carry_out(one, seconds):
    """How an attempt ended, after so many seconds at most."""
    is_lookup = one["direction"] == "lookup"
    try:
        return (LOOKUPS if is_lookup else CALLS)[one["call"]](one, seconds)
    except Exception as why:  # rule 6: it may have happened
        doubt = {"kind": "in_doubt", "code": "no_answer", "message": str(why)}
        return {"verdict": "unknown"} if is_lookup else {"fault": doubt}


def ask(url, seconds, body=None, **headers):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return json.loads(answer.read())


def outbox_has(key):
    return os.path.exists(OUTBOX) and any(json.loads(line)[0] == key for line in open(OUTBOX, "rb"))


def send(one, seconds):
    """An undo has a key of its own, and is sent to a path of its own."""
    key, text, is_undo = one["idempotency_key"], one["input"], one["direction"] == "undo"  # rule 5
    if SERVICE:
        try:
            to = SERVICE + ("/undo" if is_undo else "")
            ask(to, seconds, json.dumps(text).encode(), **{"Idempotency-Key": key})
        except urllib.error.HTTPError as refused:
            kind = "transient" if refused.code in (429, 503) else "permanent" if refused.code < 500 else "in_doubt"
            return {"fault": {"kind": kind, "code": f"http_{refused.code}"}}
    elif not outbox_has(key):
        with open(OUTBOX, "ab", buffering=0) as box:
            box.write(json.dumps([key, one["direction"], text]).encode() + b"\n")
    return {"output": {"sent": not is_undo, "to": (text or {}).get("to")}}


def look_up(one, seconds):
    key = one["perform_key"]
    if not SERVICE:
        return {"verdict": "done" if outbox_has(key) else "never_happened"}
    try:
        return {"verdict": "done", "output": ask(f"{SERVICE}?key={key}", seconds)}
    except urllib.error.HTTPError as refused:
        return {"verdict": "never_happened" if refused.code == 410 else "unknown"}


CALLS, LOOKUPS = {"send": send}, {"send": look_up}
ME = {"agent": "mail", "instance": INSTANCE, "calls": [*CALLS], "lookups": [*LOOKUPS], "capacity": CAPACITY}
