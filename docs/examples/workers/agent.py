#!/usr/bin/env python3
# An agent in Python 3.11, with the standard library alone. What it does is in service.py.
#
#     FAIRLEAD_API=http://127.0.0.1:7190 OUTBOX=/tmp/outbox python3 agent.py
#
# Several nodes are separated by commas. SIGTERM ends it once it holds nothing. docs/any-language.md has the rules.

import collections, http.client, json, os, signal, sys, threading, time
from urllib.request import HTTPError, Request, urlopen

from service import CAPACITY, INSTANCE, ME, carry_out

NODES = [node.rstrip("/") for node in os.getenv("FAIRLEAD_API", "http://127.0.0.1:7190").split(",")]
TOKEN, clock, ending = os.getenv("FAIRLEAD_TOKEN"), time.monotonic, threading.Event()
HEADERS = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {TOKEN}"} if TOKEN else {})
# `held`: attempts until their outcome is accepted; `had`: the latest tickets.
held, had, session, worker = {}, collections.deque(maxlen=10_000), None, None


# Sends the same request until there is an answer; gives it, and the moment before it was sent (rule 1).
def api(path, body=None, method="POST", **more):
    text = body and json.dumps(body).encode()
    while True:
        stamp, pause = clock(), 1.0
        try:
            with urlopen(Request(NODES[0] + path, text, HEADERS | more, method=method), timeout=20) as answer:
                return None if answer.status == 204 else json.loads(answer.read()), stamp
        except HTTPError as refused:
            if refused.code not in (429, 502, 503, 504):
                raise refused if refused.code == 410 else SystemExit(f"{path}: {refused.read().decode()}")
            pause = float(refused.headers.get("Retry-After") or 1)
        except (OSError, http.client.HTTPException, ValueError) as why:  # no answer, or a part of one
            print(f"{NODES[0]}: {why}", file=sys.stderr)
            NODES.append(NODES.pop(0))
        if ending.is_set() and not held:
            raise SystemExit(0)
        time.sleep(pause)


def work(one):
    out = carry_out(one, 600 if one["heartbeat_ms"] else one["end"] - clock())  # heartbeats prolong the lease
    one["outcome"] = {"ticket": one["ticket"], **out} if clock() < one["end"] else None  # rule 2


signal.signal(signal.SIGTERM, lambda *_: ending.set())
while worker or held or not ending.is_set():
    try:
        # Register (rule 7). What is sent again under the same key is the same registration.
        if not worker:
            made, _ = api("/v1/workers", {**ME, "session": session, "have": [*held]}, **{"Idempotency-Key": INSTANCE})
            session, worker, after = made["session"], "/v1/workers/" + made["worker"], 0

        # Report what is done, and forget what is late.
        done = [one["outcome"] for one in held.values() if one.get("outcome")]
        for item in api(worker + "/outcomes", {"items": done})[0]["items"] if done else []:  # rule 4
            del held[item["ticket"]]
        held = {ticket: one for ticket, one in held.items() if one.get("outcome") or clock() < one["end"]}  # rule 2

        # Heartbeats.
        due = [{"ticket": ticket, "sequence": time.monotonic_ns()} for ticket, one in held.items()
               if one["heartbeat_ms"] and "outcome" not in one and clock() > one["beat"] + one["heartbeat_ms"] / 3000]
        answer, stamp = api(worker + "/heartbeats", {"items": due}) if due else ({"items": []}, 0)
        for item in answer["items"]:
            held[item["ticket"]].update(beat=stamp, end=stamp + item["lease_ms"] / 1000 if item["held"] else 0)

        # End, or take what there is.
        if ending.is_set() and not held:
            worker, _ = api(worker, method="DELETE")
        if ending.is_set() or len(held) == CAPACITY:
            time.sleep(0.05)
            continue
        wait_ms = 100 if held else 5000
        answer, stamp = api(worker + "/take", {"max": CAPACITY - len(held), "wait_ms": wait_ms, "after": after})
        after = answer["answer"]  # rule 3
        for one in answer["attempts"]:
            one.update(end=stamp + (answer["waited_ms"] + one["lease_ms"]) / 1000, beat=stamp)  # rule 1
            if one["ticket"] not in had and clock() < one["end"]:  # rules 8 and 2
                held[one["ticket"]] = one
                had.append(one["ticket"])
                threading.Thread(target=work, args=(one,), daemon=True).start()
        if answer["draining"]:
            NODES.append(NODES.pop(0))  # another node answers 410, and gets the session
    except HTTPError:  # 410: the session has ended
        worker = None
