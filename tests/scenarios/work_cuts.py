"""Answers to a take, to outcomes and to heartbeats of workers over HTTP that are cut at each byte, one by one: after each the worker goes on, nothing is
lost, and no attempt number rises. A part of work_faults.py."""

import concurrent.futures
import http.client
import itertools
import json

from api import api
from harness import expect
from replicated_nodes import NAMES
from workers import worker


class cutter:
    """A worker whose answers are cut on their way by a proxy of its own."""

    def __init__(self, here, way, agent, **more):
        self.way = way
        self.worker = worker(way.api_, agent, f"cut-{agent}-{way.api_}", **more)
        self.worker.register()
        self.to = api(way.api_)

    def submit(self, workflow, ids):
        _, said = self.to.expect(200, "POST", "/v1/tasks:batch", {"tasks": [{"id": one, "workflow": workflow} for one in ids]})
        return said

    def ask(self, verb, body, cut_at=None):
        """The answer, or None when it was cut before its end."""
        self.way.cut_at = cut_at
        to = http.client.HTTPConnection("127.0.0.1", self.way.port, timeout=20)
        try:
            to.request("POST", self.worker.path(verb), json.dumps(body), {"Content-Type": "application/json"})
            answer = to.getresponse()
            text = answer.read()
            said = json.loads(text)
        except (OSError, http.client.HTTPException, ValueError):
            expect(cut_at is not None, f"an answer to {verb} was cut, and should not be")
            return None
        finally:
            to.close()
        expect(answer.status == 200, f"{verb}, whose answer is cut at byte {cut_at}: {answer.status} {said}")
        return said

    def length(self, verb, body):
        """Bytes of a whole answer."""
        expect(self.ask(verb, body) is not None, verb)
        return self.way.answered

    def nothing_comes(self):
        said = self.worker.take(wait_ms=300)
        expect(not said, f"attempts came that were reported: {said}")
        self.worker.end()


def cut_everywhere(here, ways, dice):
    names = dice.sample(NAMES, len(NAMES))
    parts = [(part, here, ways[name]) for part, name in zip((cut_takes, cut_outcomes, cut_heartbeats), names)]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for done in [pool.submit(*part) for part in parts]:
            print(done.result(), flush=True)


def cut_takes(here, way):
    """An attempt comes again until an answer has arrived whole; for each hundred bytes another one."""
    one = cutter(here, way, "cut", calls=["send"], capacity=2)
    names = (f"take-{number}" for number in itertools.count())
    held = None
    for at in itertools.count():
        if held is None:
            one.submit("cut", [name := next(names)])
        said = one.ask("take", {"max": 2, "wait_ms": 5_000, "after": one.worker.after}, at)
        whole = said or one.ask("take", {"max": 2, "wait_ms": 5_000, "after": one.worker.after})
        attempts = [(each["ticket"], each["task"], each["attempt"]) for each in whole["attempts"]]
        expect(attempts == [(held or attempts[0][0], name, 1)] and whole["waited_ms"] < 2_000, f"after a cut at byte {at} there came {whole}")
        held = attempts[0][0]
        if said or at % 100 == 99:
            one.worker.after = whole["answer"]
            expect(one.worker.report({"ticket": held, "output": at}) == ["accepted"], f"an outcome after a cut at byte {at}")
            held = None
        if said:
            one.nothing_comes()
            return f"ok  takes: {at} cuts"


def cut_outcomes(here, way):
    """Each cut answer is that to the outcome of another task; sent again, it was recorded by then."""
    one = cutter(here, way, "cut_outcomes", calls=["send"], capacity=1_000)
    one.submit("cut_outcomes", ["outcome-first"])
    first, = one.worker.until(1)
    length = one.length("outcomes", {"items": [{"ticket": first["ticket"], "output": 0}]})
    ids = [f"outcome-{at}" for at in range(length)]
    one.submit("cut_outcomes", ids)
    held = one.worker.until(length, most=1_000)
    expect(sorted(each["task"] for each in held) == sorted(ids) and {each["attempt"] for each in held} == {1}, "each task is taken once")
    for at, each in enumerate(held):
        body = {"items": [{"ticket": each["ticket"], "output": at}]}
        one.ask("outcomes", body, at)
        said = one.ask("outcomes", body)["items"][0]
        expect(said["result"] in ("accepted", "repeated"), f"an outcome whose answer was cut at byte {at} is {said}")
    _, said = one.to.expect(200, "POST", "/v1/tasks:states", {"ids": ids})
    expect(str(said).count("'completed'") == length, f"not all of {length} tasks are completed: {str(said)[:500]}")
    one.worker.held.clear()
    one.nothing_comes()
    return f"ok  outcomes: {length} cuts"


def cut_heartbeats(here, way):
    """The attempt stays with the worker, whatever it hears."""
    one = cutter(here, way, "cut_beats", calls=["send"])
    one.submit("cut_beats", ["heartbeat"])
    held, = one.worker.until(1)
    sequence = itertools.count(1)

    def beat():
        number = next(sequence)
        return {"items": [{"ticket": held["ticket"], "sequence": number, "percent": number % 100, "checkpoint": number}]}
    for at in range(length := one.length("heartbeats", beat())):
        one.ask("heartbeats", beat(), at)
        said = one.ask("heartbeats", beat())["items"][0]
        # It is sent somewhat later than it came.
        expect(said["held"] and 15_000 < said["lease_ms"] < 25_000, f"after a cut at byte {at} a heartbeat is answered with {said}")
    expect(one.worker.complete([held]) == ["accepted"] and held["attempt"] == 1, "the outcome")
    one.nothing_comes()
    return f"ok  heartbeats: {length} cuts"
