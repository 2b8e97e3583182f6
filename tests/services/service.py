#!/usr/bin/env python3
"""One real HTTP service of an order business: inventory, payment or shipping, by name.

It records every request that arrives, durably and before anything else, then what it did and how it answered; nothing of Fairlead is
in it but the names of two headers. Requests are idempotent by their Idempotency-Key, also over a restart of the service. An undo
succeeds whether or not there is something to take back, and the key that its Fairlead-Perform-Key names has no effect from then on: a
perform under it that arrives later, or that was still being worked on, is answered with 409.

A share of the orders is refused for good, with 402 or 422, always the same ones. Faults are injected by rate: slow answers, 503 before
the work, connections dropped before and after the work. Each fault is decided by seed, key and how often that key was seen, so it does
not depend on the order in which requests happen to arrive.

Records: `arrival`, then `effect_begin` and `effect_end` (or `no_effect`, with the reason) for the first request with a key, then `answer`
(or, in it, `dropped`); `gone` when the client went away before the answer.
"""

import argparse
import asyncio
import base64
import dataclasses
import hashlib
import json
import os
import signal
import sys
import time

import http_server
import operations
from journal import journal

TOO_LATE = operations.refusal("", 409, "undone_before", at_once=False)  # of a perform that came after its undo


@dataclasses.dataclass
class faults:
    seed: int
    slow: float
    unavailable: float
    drop_before: float
    drop_after: float
    slow_seconds: tuple
    work_seconds: tuple
    refuse: float = 0.0

    def decide(self, key, times_seen):
        """What happens to the n-th request with this key."""
        digest = hashlib.blake2b(f"{self.seed}:{key}:{times_seen}".encode(), digest_size=40).digest()
        dice = [int.from_bytes(digest[i:i + 8], "big") / 2**64 for i in range(0, 40, 8)]
        chosen = fate()
        edge = 0.0
        for name in ("unavailable", "drop_before", "drop_after"):
            edge += getattr(self, name)
            if dice[0] < edge:
                chosen.fault = name
                break
        chosen.work = _between(self.work_seconds, dice[1])
        if dice[2] < self.slow:
            delay = _between(self.slow_seconds, dice[3])
            if dice[4] < 0.5:
                chosen.work += delay
            else:
                chosen.after_work = delay
        return chosen


@dataclasses.dataclass
class fate:
    fault: str = ""
    work: float = 0.0        # seconds between the beginning and the end of the effect
    after_work: float = 0.0  # seconds between the effect and the answer


def _why(code, order):
    """What the record of an answer says when there was no effect."""
    return {"order": order, **({"late": True} if code == TOO_LATE.code else {"refused": code})}


def _between(limits, share):
    return limits[0] + (limits[1] - limits[0]) * share


class service:
    def __init__(self, name, rules, book, any_spelling=False):
        """`any_spelling`: bodies that are the same JSON are the same content."""
        self.name_ = name
        self.rules_ = rules
        self.book_ = book
        self.any_spelling_ = any_spelling
        self.effects_ = {}   # key -> (hash of path and body, future of (status, answer))
        self.undone_ = set()  # keys of performs that must have no effect any more
        self.seen_ = {}      # key -> requests so far
        self.standing_ = {}  # (step, order) -> amounts of performs that no undo has taken back
        self.serial_ = 0
        self.run_ = 1
        for record in book.old_records:
            self._replay(record)

    async def handle(self, request, peer):
        self.serial_ += 1
        number = f"{self.run_}-{self.serial_}"
        key = request.headers.get("idempotency-key")
        times_seen = self.seen_[key] = self.seen_.get(key, 0) + 1
        peer.on_lost = lambda: self._write(number, "gone")
        await self.book_.write(self._arrival(number, key, request))

        what = operations.by_service_and_path(self.name_, request.path)
        problem, order, body = self._check(what, key, request)
        if problem is not None:
            return await self._answer(peer, number, *problem)
        refusal = self._refusal(what, order)
        if refusal is not None and refusal.at_once:
            return await self._answer(peer, number, refusal.status, {"error": refusal.code}, **_why(refusal.code, order))

        lot = self.rules_.decide(key, times_seen)
        if lot.fault == "drop_before":
            return await self._drop(peer, number, "before_work")
        if lot.fault == "unavailable":
            return await self._answer(peer, number, 503, {"error": f"{self.name_} is not available just now"})

        text = json.dumps(body, sort_keys=True).encode() if self.any_spelling_ else request.body
        content = hashlib.sha256(request.path.encode() + b"\0" + text).hexdigest()
        known = self.effects_.get(key)
        if known is not None and known[0] != content:
            return await self._answer(peer, number, 422, {"error": "this Idempotency-Key came with another content before"})
        if known is None:
            known = (content, asyncio.get_running_loop().create_future())
            self.effects_[key] = known
            await self._work(number, key, what, order, body, content, lot.work, refusal, request.headers.get("fairlead-perform-key"), known[1])
            replay = False
        else:
            replay = True
        status, answer = await asyncio.shield(known[1])
        if lot.after_work:
            await asyncio.sleep(lot.after_work)
        if lot.fault == "drop_after":
            return await self._drop(peer, number, "after_work")
        await self._answer(peer, number, status, answer, replay=replay, **({} if status == 200 else _why(answer["error"], order)))

    def _refusal(self, what, order):
        if what.direction != "perform":
            return None
        refusal = operations.refused(order, self.rules_.refuse, self.rules_.seed)
        return refusal if refusal is not None and refusal.step == what.step else None

    async def _work(self, number, key, what, order, body, content, seconds, refusal, perform_key, done):
        self._write(number, "effect_begin", key=key, operation=what.name, order=order)
        if seconds:
            await asyncio.sleep(seconds)
        # From here to the queueing of the record nothing is awaited: an undo of the same key comes wholly before or wholly after.
        if refusal is None and key in self.undone_:
            refusal = TOO_LATE
        if refusal is not None:
            # Not needed to answer the same again: refusals follow from the order, and what is undone is recorded with the undo.
            await self._write(number, "no_effect", key=key, operation=what.name, order=order, reason=refusal.code)
            done.set_result((refusal.status, {"error": refusal.code}))
            return
        effect = {"operation": what.name, "step": what.step, "direction": what.direction, "order": order, "key": key}
        effect.update(self._effect(what, order, body, perform_key))
        answer = {"order": order, what.name: f"{what.name}-{key}"[:120], "amount_cents": effect["amount_cents"]}
        await self._write(number, "effect_end", **effect, content=content, answer=answer)
        done.set_result((200, answer))

    def _effect(self, what, order, body, perform_key):
        """The effect itself: a perform adds to what stands for the order, an undo takes back all that stands (and may find nothing)."""
        place = (what.step, order)
        if what.direction == "perform":
            amount = body.get("amount_cents", 0)
            self.standing_.setdefault(place, []).append(amount)
            return {"amount_cents": amount, "count": 1}
        taken = self.standing_.pop(place, [])
        self._remember_undone(perform_key)
        return {"amount_cents": sum(taken), "count": len(taken), "perform_key": perform_key}

    def _remember_undone(self, perform_key):
        if perform_key is not None:
            self.undone_.add(perform_key)

    def _arrival(self, number, key, request):
        try:
            body = {"body": request.body.decode()}
        except UnicodeDecodeError:
            body = {"body_base64": base64.b64encode(request.body).decode()}
        headers = request.headers
        return {"record": "arrival", "service": self.name_, "request": number, "method": request.method, "path": request.path, "key": key,
                "attempt": headers.get("fairlead-attempt"), "complete_by": headers.get("fairlead-complete-by"),
                "traceparent": headers.get("traceparent"), "perform_key": headers.get("fairlead-perform-key"),
                "in_doubt": headers.get("fairlead-in-doubt"), **body}

    def _check(self, what, key, request):
        """((status, answer) or None, order, body)"""
        if what is None:
            return (404, {"error": f"{self.name_} has no {request.path}"}), None, None
        if request.method != "POST":
            return (405, {"error": f"{request.path} wants POST"}), None, None
        if not key:
            return (400, {"error": "Idempotency-Key is missing"}), None, None
        try:
            body = json.loads(request.body)
        except ValueError as error:
            return (400, {"error": f"the body is not JSON: {error}"}), None, None
        missing = [field for field in what.fields if not isinstance(body, dict) or field not in body]
        if missing:
            return (400, {"error": f"the body lacks {', '.join(missing)}"}), None, None
        if "amount_cents" in what.fields and type(body["amount_cents"]) is not int:
            return (400, {"error": "amount_cents is not a whole number"}), None, None
        return None, str(body["order"]), body

    async def _answer(self, peer, number, status, body, replay=False, **more):
        await self._write(number, "answer", status=status, replay=replay, delivered=peer.open(), **more)
        peer.on_lost = None
        peer.answer(status, json.dumps(body, ensure_ascii=False).encode())

    async def _drop(self, peer, number, when):
        await self._write(number, "answer", dropped=when)
        peer.on_lost = None
        peer.drop()

    def _write(self, number, kind, **fields):
        return self.book_.write({"record": kind, "service": self.name_, "request": number, **fields})

    def _replay(self, record):
        """Takes up what an earlier run of this service has recorded."""
        kind = record["record"]
        self.run_ = max(self.run_, int(record["request"].split("-")[0]) + 1)
        if kind == "arrival":
            self.seen_[record["key"]] = self.seen_.get(record["key"], 0) + 1
        elif kind == "effect_end":
            done = asyncio.get_running_loop().create_future()
            done.set_result((200, record["answer"]))
            self.effects_[record["key"]] = (record["content"], done)
            place = (record["step"], record["order"])
            if record["direction"] == "perform":
                self.standing_.setdefault(place, []).append(record["amount_cents"])
            else:
                self.standing_.pop(place, None)
                self._remember_undone(record["perform_key"])


async def run(options):
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    rules = faults(options.seed, options.slow, options.unavailable, options.drop_before, options.drop_after,
                   tuple(options.slow_seconds), tuple(options.work_seconds), options.refuse)
    try:
        server = await loop.create_server(lambda: http_server.connection(handler), options.host, options.port, backlog=4096,
                                          start_serving=False)
    except OSError as error:
        print(f"{options.name}: port {options.port} cannot be used: {error.strerror}", file=sys.stderr)
        return 75
    book = journal(options.record, loop)  # after the port is ours: two services never write one file by mistake
    handler = service(options.name, rules, book, options.any_spelling).handle
    await server.start_serving()
    print(f"ready {server.sockets[0].getsockname()[1]}", flush=True)

    end = time.monotonic() + options.max_seconds
    parent = os.getppid()
    while not stop.is_set() and time.monotonic() < end and (not options.with_parent or os.getppid() == parent):
        try:
            await asyncio.wait_for(stop.wait(), 0.5)
        except asyncio.TimeoutError:
            pass
    server.close()
    book.close()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True, choices=sorted(operations.SERVICES))
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one; it is printed as `ready PORT`")
    parser.add_argument("--host", default="127.0.0.1", help="the address of this machine that it listens on")
    parser.add_argument("--record", required=True, help="the record file; an old one is read and continued")
    parser.add_argument("--seed", type=int, default=1)
    for name, what in (("slow", "slow answers"), ("unavailable", "503 before the work"), ("drop-before", "connections dropped before the work"),
                       ("drop-after", "connections dropped after the work")):
        parser.add_argument(f"--{name}", type=float, default=0.0, metavar="RATE", help=f"share of {what}, 0 to 1")
    parser.add_argument("--refuse", type=float, default=0.0, metavar="RATE", help="share of orders refused for good, by this or another service")
    parser.add_argument("--slow-seconds", type=float, nargs=2, default=(0.2, 2.0), metavar=("FROM", "TO"))
    parser.add_argument("--work-seconds", type=float, nargs=2, default=(0.0, 0.0), metavar=("FROM", "TO"), help="what all work takes")
    parser.add_argument("--any-spelling", action="store_true", help="a key may come again with the same JSON in another spelling")
    parser.add_argument("--max-seconds", type=float, default=3600.0, help="ends by itself after this time")
    parser.add_argument("--with-parent", action="store_true", help="ends when the process that started it has ended")
    return asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # transfers still under way are cut, as with any service that is stopped
