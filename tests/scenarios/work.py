#!/usr/bin/env python3
"""Workers over the API of a real node, written with an HTTP client alone: they take attempts and report outcomes, lose answers, fall silent, look
steps up, undo them, drain and end. Then what they may not do: tickets and sessions that are forged, changed, another's, late or repeated, and a
second process under one name. It is refused as named, is in the audit, and changes nothing.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/work.py
"""

import time

import harness
import openapi
from api import api
from api_access import new_token
from harness import expect, fairlead_json, wait_until
from place import place
from workers import waiting_take, worker

SEND = {"workflow": "send", "steps": {"mail": {"agent": "mail", "call": "send", "with": {"to": "${ .input.to }"}, "timeout": "60s"}}}
LATE = {"workflow": "late", "steps": {"mail": {"agent": "mail", "call": "send", "timeout": "1s", "in_doubt": "park"}}}
LONG = {"workflow": "long", "on_failure": "undo",
        "steps": {"load": {"agent": "store", "call": "load", "timeout": "60s", "heartbeat": "2s", "attempts": 2,
                           "backoff": {"first": "10ms", "max": "10ms"}, "undo": "none"}}}
# The first step is undone after the second has failed; a step in doubt is looked up before it is undone.
TRIP = {"workflow": "trip", "on_failure": "undo",
        "steps": {"seat": {"agent": "trip", "call": "book", "timeout": "20s", "attempts": 1, "undo": {"call": "cancel", "with": {"task": "${ .task.id }"}}},
                  "hotel": {"needs": "seat", "agent": "trip", "call": "rent", "timeout": "20s", "attempts": 1, "undo": "none"}}}
# Steps for any instance, and for one that carries the label.
PLAIN = {"workflow": "plain", "steps": {"one": {"agent": "press", "call": "print", "timeout": "60s", "attempts": 1, "on_failure": "park"}}}
NORTH = {"workflow": "north", "steps": {"one": {"agent": "press", "call": "print", "timeout": "60s", "labels": {"site": "north"}}}}
COUNT = 200
PATIENCE_MS = 33_000  # longer than any other request may wait
CAPACITY = 8


class scene:
    """A node whose API asks for tokens."""

    def __init__(self, box):
        self.port, = harness.free_ports(1)
        file = box.folder / "tokens.yaml"
        made = {"ann": ("admin",), "one": ("agent",), "two": ("agent",), "bound": ("agent", "--agent", "store")}
        self.tokens = {name: new_token(file, name, "--role", role, *more)["token"] for name, (role, *more) in made.items()}
        self.place = place(box, "node", api=f"{{ listen: '127.0.0.1:{self.port}' }}", access=f"{{ tokens_file: {file} }}")
        self.node = self.place.node
        self.node.start()
        self.to = api(self.port)
        self.ann = {"Authorization": f"Bearer {self.tokens['ann']}"}
        for one in (SEND, LATE, LONG, TRIP, PLAIN, NORTH):
            self.ask(201, "POST", "/v1/workflows", one)

    def ask(self, wanted, method, path, body=None, **more):
        return self.to.expect(wanted, method, path, body, headers=self.ann, **more)[1]

    def worker(self, agent, instance, token="one", **more):
        return worker(self.port, agent, instance, token=self.tokens[token], **more)

    def submit(self, workflow, *ids, **more):
        for one in ids:
            self.ask(201, "PUT", f"/v1/tasks/{one}", {"workflow": workflow, **more})

    def task(self, one):
        return self.ask(200, "GET", f"/v1/tasks/{one}")

    def step(self, task, path):
        return next(one for one in self.task(task)["steps"] if one["path"] == path)

    def ends(self, task, state, seconds=20):
        return wait_until(lambda: (now := self.task(task))["state"] == state and now, seconds, f"the task {task} is {state}: {self.task(task)}")

    def audit(self, query):
        return self.ask(200, "GET", f"/v1/audit?{query}")["items"]


def run():
    with harness.sandbox("work") as box:
        here = scene(box)
        patient = here.worker("nothing", "patient")
        patient.register()
        long = waiting_take(patient, wait_ms=PATIENCE_MS)
        for part in (many, lost_answers, newer_takes, heartbeats, look_up_and_undo, like_any_instance, shown, drains, foreign, forged, late, second_process, wrong):
            began = time.monotonic()
            part(here)
            print(f"ok  {part.__name__}, {time.monotonic() - began:.1f} s", flush=True)
        status, said = long.end(60)
        expect(status == 200 and said["attempts"] == [] and PATIENCE_MS - 500 <= said["waited_ms"] and long.seconds < PATIENCE_MS / 1_000 + 5,
               f"a long take: {status} {said} after {long.seconds:.1f} s")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("work").write()
    return 0


def many(here):
    """200 tasks, a worker of capacity 8."""
    one = here.worker("mail", "many-1", capacity=CAPACITY)
    said = one.register()
    expect(said["session"].endswith(".0") and said["silence_ms"] == 15_000 and said["max_wait_ms"] == 60_000, f"{said}")
    ids = [f"many-{number}" for number in range(COUNT)]
    for name in ids:
        here.submit("send", name, input={"to": f"{name}@example.org"})
    seen, done = [], []
    while len(done) < COUNT:
        new = one.take(CAPACITY, 5_000)
        expect(len(one.held) <= CAPACITY, f"it holds {len(one.held)} attempts")
        seen += new
        for each in new:
            expect(each["direction"] == "perform" and each["attempt"] == 1 and each["call"] == "send" and each["workflow"] == "send"
                   and each["input"] == {"to": f"{each['task']}@example.org"} and 50_000 < each["lease_ms"] <= 60_000, f"{each}")
        results = one.complete(new) if new else []
        expect(set(results) <= {"accepted"}, f"{results}")
        done += new
    expect(sorted(each["task"] for each in seen) == sorted(ids), "each task is carried out once")
    expect(len({each["idempotency_key"] for each in seen}) == COUNT, "each has a key of its own")
    here.ends(ids[-1], "completed")
    for name in ids[::40]:
        here.ends(name, "completed")
        task = fairlead_json("task", "show", name, node=here.node.address)
        expect(task["steps"][0]["output"] == {"sent": name}, f"{task['steps']}")
    one.end()


def lost_answers(here):
    """An answer that is cut comes again with the next take, under the same numbers."""
    one = here.worker("mail", "lost-1", capacity=CAPACITY)
    one.register()
    names = [f"lost-{number}" for number in range(4)]
    here.submit("send", *names, input={"to": "x"})
    one.take_half(wait_ms=5_000)
    began = time.monotonic()
    found = one.until(4)
    expect(time.monotonic() - began < 5, "the attempts came again only after a while")
    expect({each["attempt"] for each in found} == {1}, f"an attempt number rose: {found}")
    # Until an answer is named, its attempts come again, and the worker knows them by their tickets.
    tickets = set(one.held)
    one.take(wait_ms=0, after=0)
    expect(set(one.held) == tickets, "tickets changed")
    expect(one.complete(found) == ["accepted"] * 4, "outcomes")
    expect(one.complete(found) == ["repeated"] * 4, "outcomes that are sent again")
    for name in names:
        expect(here.ends(name, "completed")["steps"][0]["attempt"] == 1, "an attempt was made twice")
    one.end()


def newer_takes(here):
    """A later take ends the one before, and one whose client has left takes nothing along."""
    one = here.worker("mail", "newer-1", capacity=2)
    one.register()
    first = waiting_take(one, wait_ms=60_000)
    time.sleep(0.3)
    one.take(wait_ms=100)
    status, said = first.end(5)
    expect(status == 200 and said["attempts"] == [] and first.seconds < 5, f"{status} {said}")
    leave_take(one)
    here.submit("send", "newer", input={"to": "x"})
    expect(one.work(1)[0]["attempt"] == 1, "the attempt is the first")
    one.end()


def leave_take(one):
    """A take whose client goes while it waits."""
    to = api(one.port)
    to.connection.connect()
    to.connection.putrequest("POST", one.path("take"))
    body = b'{"after": 0, "wait_ms": 30000}'
    for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **one.headers_}.items():
        to.connection.putheader(name, str(value))
    to.connection.endheaders(body)
    time.sleep(0.3)
    to.connection.close()


def heartbeats(here):
    """They renew the lease and keep a checkpoint; a silent attempt is lost, and the next one has the checkpoint."""
    one, other = (here.worker("store", f"beats-{number}", calls=["load"]) for number in (1, 2))
    one.register()
    here.submit("long", "beats")
    held, = one.until(1)
    expect(held["heartbeat_ms"] == 2_000 and held["checkpoint"] is None and held["lease_ms"] <= 2_000, f"{held}")
    for sequence in range(1, 6):
        time.sleep(0.5)
        said = one.heartbeat(held["ticket"], sequence=sequence, percent=sequence * 10, note=f"row {sequence}", checkpoint={"row": sequence})
        # It is counted from when the node has sent it on, which was a moment after it had come.
        expect(said["held"] and 0 < said["lease_ms"] <= 2_500, f"{said}")
    progress = here.step("beats", "load")["progress"]
    expect(progress["percent"] == 50 and progress["note"] == "row 5" and progress["checkpoint"] == {"row": 5}, f"{progress}")
    other.register()
    second, = other.until(1)
    expect(second["attempt"] == 2 and second["checkpoint"] == {"row": 5} and second["idempotency_key"] == held["idempotency_key"], f"{second}")
    said = one.heartbeat(held["ticket"], sequence=6)
    expect(not said["held"] and said["cancel"], f"a lost attempt: {said}")
    expect(one.complete([held]) == ["not_held"], "the outcome of a lost attempt")
    expect(other.complete([second]) == ["accepted"], "that of the attempt that took its place")
    expect(here.ends("beats", "completed")["steps"][0]["output"] == {"sent": "beats"}, "the output of the second attempt")
    one.end(), other.end()


def doubtful(one, task):
    """Books the seat of a trip, and has the hotel end in doubt: both attempts."""
    book, = one.until(1)
    expect(book["task"] == task and book["call"] == "book", f"{book}")
    expect(one.complete([book], lambda each: {"seat": task}) == ["accepted"], "the seat is booked")
    rent, = one.until(1)
    expect(rent["task"] == task and rent["call"] == "rent", f"{rent}")
    fault = {"kind": "in_doubt", "code": "cut", "message": "the line was cut"}
    expect(one.report({"ticket": rent["ticket"], "fault": fault}) == ["accepted"], "a fault in doubt")
    return book, rent


def look_up_and_undo(here):
    """A step in doubt is looked up by another worker. What it says decides: the task is undone, or goes on."""
    one, other = (here.worker("trip", f"trip-{number}", calls=["book", "cancel", "rent"], lookups=["book", "rent"]) for number in (1, 2))
    one.register()
    here.submit("trip", "trip-a")
    book, rent = doubtful(one, "trip-a")
    other.register()
    found, = other.until(1)
    expect(found["direction"] == "lookup" and found["call"] == "rent" and found["perform_key"] == rent["idempotency_key"]
           and found["in_doubt"] and found["perform_output"] is None and found["heartbeat_ms"] is None, f"{found}")
    expect(other.report({"ticket": found["ticket"], "verdict": "never_happened"}) == ["accepted"], "a verdict")
    undo, = other.until(1)
    expect(undo["direction"] == "undo" and undo["call"] == "cancel" and undo["input"] == {"task": "trip-a"}
           and undo["perform_key"] == book["idempotency_key"] and undo["perform_output"] == {"seat": "trip-a"} and undo["in_doubt"] is False, f"{undo}")
    expect(other.complete([undo]) == ["accepted"], "an undo")
    here.ends("trip-a", "undone")
    here.submit("trip", "trip-b")
    _, rent = doubtful(one, "trip-b")
    found, = other.until(1)
    expect(found["direction"] == "lookup" and found["perform_key"] == rent["idempotency_key"], f"{found}")
    expect(other.report({"ticket": found["ticket"], "verdict": "done", "output": {"room": 7}}) == ["accepted"], "a verdict with an output")
    done = here.ends("trip-b", "completed")
    expect(next(each["output"] for each in done["steps"] if each["path"] == "hotel") == {"room": 7}, f"{done['steps']}")
    one.end(), other.end()


def agents_of(here, agent):
    return here.ask(200, "GET", f"/v1/agents/{agent}")


def shown(here):
    """A worker is an instance like others."""
    one = here.worker("mail", "shown-1", capacity=3, labels={"zone": "eu"}, policies=[{"call": "send", "key_valid_for": "24h"}],
                      breaker={"failure_percent": 40, "window": "20s"}, limits=[{"call": "send", "concurrency": 100}])
    one.register()
    thread = waiting_take(one, wait_ms=10_000, max=3)
    found = wait_until(lambda: next((each for each in agents_of(here, "mail")["instances"] if each["instance"] == "shown-1"), None), 10, "the worker is listed")
    expect(found["kind"] == "worker" and found["calls"] == ["send"] and found["labels"] == {"zone": "eu"}
           and found["incarnation"] == one.incarnation, f"{found}")
    listed = fairlead_json("agent", "list", node=here.node.address)
    expect("shown-1" in str(listed) and '"worker"' in str(listed).replace("'", '"'), f"{listed}")
    here.submit("send", "shown", input={"to": "x"})
    status, said = thread.end(15)
    expect(status == 200 and len(said["attempts"]) == 1, f"{status} {said}")
    expect(one.complete(said["attempts"]) == ["accepted"], "it is done")
    one.end()
    wait_until(lambda: all(each["away"] for each in here.ask(200, "GET", "/v1/agents")["agents"] if each["instance"] == "shown-1"), 10,
               "the shard knows that the worker has ended")


def like_any_instance(here):
    """Labels, priorities, limits and the breaker hold for workers as for every instance."""
    rules = {"limits": [{"concurrency": 2}], "breaker": {"at_least": 5, "failure_percent": 50, "window": "60s", "open": "60s"}}
    north = here.worker("press", "press-north", calls=["print"], capacity=4, labels={"site": "north"}, **rules)
    south = here.worker("press", "press-south", calls=["print"], capacity=4, labels={"site": "south"}, **rules)
    north.register(), south.register()
    here.submit("north", "north-1")
    expect(south.take(4, 300) == [], "the south gets nothing that wants the north")
    first, = north.until(1)
    # The limit is one of the service: of two instances together.
    here.submit("plain", "plain-low", priority=-1)
    here.submit("plain", "plain-1", "plain-2", "plain-3", priority=0)
    here.submit("plain", "plain-high", priority=1)
    second, = south.until(1)
    expect(south.take(4, 300) == [] and north.take(4, 300) == [], "the limit allows no third attempt")
    expect(south.complete([second]) == ["accepted"], "outcome")
    third, = south.until(1)
    expect(third["task"] == "plain-high", f"the highest priority is next: {third['task']}")
    expect(north.complete([first]) == ["accepted"], "outcome")
    # Bad ends open the breaker, and no instance of the service gets anything then.
    here.submit("plain", *(f"bad-{number}" for number in range(6)), priority=-1)
    bad = 0
    while bad < 8 and (new := south.take(2, 1_000)):
        bad += len(new)
        south.report(*({"ticket": one["ticket"], "fault": {"kind": "transient", "code": "jam"}} for one in new))
    wait_until(lambda: any(one["agent"] == "press" and one["breaker"] == "open" for one in here.ask(200, "GET", "/v1/agents")["services"]), 10,
               f"the breaker is open after {bad} bad ends")
    expect(south.take(4, 300) == [] and north.take(4, 300) == [], "nothing comes through an open breaker")
    expect(south.complete([third]) == ["accepted"], "outcome")
    north.end(), south.end()


def drains(here):
    """A worker that drains gets nothing more, and ends once it holds nothing."""
    one = here.worker("mail", "drain-1", capacity=4)
    one.register()
    here.submit("send", "drain-0", input={"to": "x"})
    held, = one.until(1)
    expect(one.drain() == {"draining": True, "held": 1}, "drain")
    here.submit("send", "drain-1", input={"to": "x"})
    path = one.path("take")
    _, said = one.ask(200, "POST", path, {"max": 4, "wait_ms": 500, "after": one.after})
    expect(said["draining"] and said["attempts"] == [], f"{said}")
    one.end(409)
    expect(one.complete([held]) == ["accepted"], "what it holds is done to its end")
    one.end()
    for method, where, body in (("POST", path, {"after": 0}), ("POST", one.path("heartbeats"), {"items": [{"ticket": "x"}]}),
                                ("POST", one.path("outcomes"), {"items": [{"ticket": "x", "output": 1}]}), ("POST", one.path("drain"), None),
                                ("DELETE", f"/v1/workers/{one.id}", None)):
        _, said = one.ask(410, method, where, body, code="gone")
        expect("Register again" in said["remedy"], f"{said}")
    expect(not here.audit(f"path={path}"), "a worker that this node does not carry any more has done no wrong")
    # One that abandons leaves doubt, and is in the audit.
    two = here.worker("mail", "drain-2", capacity=4)
    two.register()
    left, = two.until(1)
    two.end(409)
    two.end(abandon=True)
    expect([each["verb"] for each in here.audit(f"path=/v1/workers/{two.id}")] == ["abandon"], "the audit has it")
    three = here.worker("mail", "drain-3")
    three.register()
    again = three.work(1)[0]
    expect(again["task"] == left["task"] == "drain-1" and again["attempt"] == left["attempt"] + 1 and again["idempotency_key"] == left["idempotency_key"], f"{again}")
    three.end()


def foreign(here):
    """Whose worker it is not."""
    _, said = here.worker("mail", "foreign-0", token="bound").ask(403, "POST", "/v1/workers", {"agent": "mail", "instance": "foreign-0", "calls": ["send"]},
                                                                  code="forbidden")
    expect("may not work for the agent mail" in said["detail"], f"{said}")
    one, other = here.worker("mail", "foreign-1"), here.worker("mail", "foreign-2", token="two")
    one.register(), other.register()
    here.submit("send", "foreign", input={"to": "x"})
    held, = one.until(1)
    mine, other.id = other.id, one.id
    other.ask(410, "POST", other.path("take"), {"after": 0}, code="gone")
    other.ask(410, "POST", other.path("outcomes"), {"items": [{"ticket": held["ticket"], "output": 1}]}, code="gone")
    other.ask(410, "DELETE", f"/v1/workers/{one.id}", code="gone")
    other.id = mine
    expect(other.report({"ticket": held["ticket"], "output": "stolen"}) == ["not_held"], "the ticket of another worker")
    expect(not other.heartbeat(held["ticket"])["held"], "a heartbeat for another worker")
    expect(one.complete([held]) == ["accepted"] and here.ends("foreign", "completed")["steps"][0]["output"] == {"sent": "foreign"}, "nothing was changed")
    noted = here.audit("who=two&page_size=1000")
    expect({"gone", "wrong_state"} <= {each["code"] for each in noted}, f"the audit: {noted}")
    expect([each["status"] for each in here.audit("who=bound")] == [403], "the audit has the refusal")
    one.end(), other.end()


def changed(text, at):
    """With one letter replaced by another."""
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1:]


def forged(here):
    """Tickets that are made up, or changed anywhere, name no attempt."""
    one = here.worker("mail", "forged-1")
    one.register()
    here.submit("send", "forged", input={"to": "x"})
    held, = one.until(1)
    ticket = held["ticket"]
    wrong_ones = ["x", "A" * len(ticket), ticket[:-1], ticket + "A", ticket.lower(), *(changed(ticket, at) for at in range(len(ticket) - 1))]
    results = one.report(*({"ticket": each, "output": "forged"} for each in wrong_ones if each != ticket))
    expect(set(results) == {"not_held"}, f"{results}")
    for each in wrong_ones[:5]:
        expect(not one.heartbeat(each)["held"], f"a heartbeat for the ticket {each}")
    expect(here.step("forged", "mail")["state"] == "running", "nothing was changed")
    expect(one.complete([held]) == ["accepted"] and here.ends("forged", "completed")["steps"][0]["output"] == {"sent": "forged"}, "the right one")
    noted = [each for each in here.audit("who=one&page_size=1000") if each["reason"] and each["reason"].startswith("not held")]
    expect(noted and {each["verb"] for each in noted} <= {"outcomes", "heartbeats"}, f"the audit: {noted}")
    session = one.session
    for each in (changed(session, 3), changed(session, session.rindex(".") - 2), session[:-2] + "AA.0"):
        status, _, said = one.reports_.ask("POST", "/v1/workers", {**one.registration, "session": each, "have": []}, one.headers_)
        expect(status in (400, 403, 409) and said["code"] in ("invalid_argument", "forbidden", "conflict"), f"a changed session: {status} {said}")
    for each in ("", "x", session.rpartition(".")[0], session.rpartition(".")[0] + ".-1", session + "x"):
        one.register(400, "invalid_argument", "/session", session=each)
    other = here.worker("mail", "forged-2")
    other.register(400, "invalid_argument", "/session", session=session)
    expect(one.again()["incarnation"] == one.incarnation and one.session.endswith(".1"), "its own session goes on")
    noted = here.audit("object=forged-1&page_size=1000")
    expect([each["status"] for each in noted if each["code"] is None] == [201] and "forbidden" in {each["code"] for each in noted},
           f"the audit has its beginning, and sessions that are not its own: {noted}")
    one.end()


def late(here):
    """What comes behind the end of the lease changes nothing."""
    one = here.worker("mail", "late-1")
    one.register()
    here.submit("late", "late")
    held, = one.until(1)
    expect(0 < held["lease_ms"] <= 1_000, f"{held}")
    wait_until(lambda: here.task("late")["parked"], 20, "the step in doubt parks its task")
    expect(one.complete([held]) == ["not_held"], "the lease has ended")
    expect(not here.audit(f"path={one.path('outcomes')}"), "being late is no offence")
    expect(here.step("late", "mail")["output"] is None and here.task("late")["parked"], "nothing was changed")
    here.ask(200, "POST", "/v1/tasks/late/actions", {"verb": "terminate"})
    one.end()


def second_process(here):
    """One process has a name. Another one has to vouch that it is dead, and the first finds out."""
    one, other = here.worker("mail", "twice"), here.worker("mail", "twice")
    one.register()
    here.submit("send", "twice", input={"to": "x"})
    held, = one.until(1)
    _, said = other.ask(409, "POST", "/v1/workers", other.registration, code="conflict")
    expect("twice" in said["detail"], f"{said}")
    other.register(409, "conflict", take_over=True, key="other")
    other.register(400, "invalid_argument", "Idempotency-Key", take_over=True)
    expect(other.ask(400, "POST", "/v1/workers", {**other.registration, "session": one.session, "take_over": True}, pointer="/take_over"), "both")
    expect(here.audit("object=twice&code=conflict") and here.audit("object=twice&verb=take_over"), "the audit has the refusals")
    vouched = here.worker("mail", "twice", token="ann")
    later = vouched.register(take_over=True, key="later")["incarnation"]
    began = vouched.session
    expect(vouched.register(take_over=True, key="later")["incarnation"] == later and vouched.session == began, "a copy is the same registration")
    for more in ({"capacity": 3}, {"calls": ["send", "look"]}, {"take_over": False}):
        vouched.register(422, "key_reused", key="later", **{"take_over": True, **more})
    expect(later > one.incarnation, f"{later} does not follow {one.incarnation}")
    # What the first process held is another attempt now.
    status, _, said = one.reports_.ask("POST", one.path("outcomes"), {"items": [{"ticket": held["ticket"], "output": "late"}]}, one.headers_)
    expect(status == 410 or said["items"][0]["result"] == "not_held", f"{status} {said}")
    again = vouched.work(1)[0]
    expect(again["attempt"] == 2 and again["idempotency_key"] == held["idempotency_key"], f"{again}")
    expect(here.ends("twice", "completed")["steps"][0]["output"] == {"sent": "twice"}, "the output is that of the second")
    one.register(409, "conflict", session=one.session, have=[held["ticket"]])
    vouched.end()


def wrong(here):
    """Requests that are no good."""
    one = here.worker("mail", "wrong-1")
    for more, pointer in (({"capacity": 0}, "/capacity"), ({"capacity": 1001}, "/capacity"), ({"capacity": "8"}, "/capacity"), ({"calls": []}, "/calls"),
                          ({"lookups": ["ask"]}, "/lookups/0"), ({"instance": "single/mail"}, "/instance"), ({"agent": "ma il"}, "/agent"),
                          ({"have": ["x"]}, "/have"), ({"breaker": {"percent": 1}}, "/breaker/percent"), ({"limits": [{"rate": "fast"}]}, "/limits/0/rate"),
                          ({"labels": {"a": 1}}, "/labels/a"), ({"secret": 1}, "/secret")):
        one.register(400, "invalid_argument", pointer, **more)
    one.register()
    take, beats, outcomes = one.path("take"), one.path("heartbeats"), one.path("outcomes")
    for path, body, pointer in ((take, {}, "/after"), (take, {"after": None}, "/after"), (take, {"after": -1}, "/after"), (take, {"after": 0, "max": 0}, "/max"),
                                (take, {"after": 0, "max": 1001}, "/max"), (take, {"after": 0, "wait_ms": 60001}, "/wait_ms"),
                                (beats, {}, "/items"), (beats, {"items": []}, "/items"), (beats, {"items": [{}]}, "/items/0/ticket"),
                                (beats, {"items": [{"ticket": "x", "percent": 101}]}, "/items/0/percent"),
                                (beats, {"items": [{"ticket": "x", "note": "n" * 257}]}, "/items/0/note"),
                                (outcomes, {"items": [{"ticket": "x"}]}, "/items/0"), (outcomes, {"items": [{"ticket": "x", "output": 1}] * 1001}, "/items"),
                                (outcomes, {"items": [{"ticket": "x", "fault": {"kind": "bad", "code": "x"}}]}, "/items/0/fault/kind"),
                                (outcomes, {"items": [{"ticket": "x", "verdict": "perhaps"}]}, "/items/0/verdict")):
        _, said = one.ask(400, "POST", path, body, code="invalid_argument")
        expect(said["errors"][0]["pointer"] == pointer, f"{path} {str(body)[:100]}: {said['errors']} does not point to {pointer}")
    # An answer that has never been given is refused, or counts as none: it must not take attempts away.
    here.submit("send", "wrong", input={"to": "x"})
    status, _, said = one.to_.ask("POST", take, {"max": 8, "wait_ms": 0, "after": 1 << 40}, one.headers_)
    expect(status in (200, 400), f"an answer that was never given: {status} {said}")
    held, = one.until(1)
    one.ask(400, "POST", outcomes, {"items": [{"ticket": held["ticket"], "verdict": "done", "output": 1}]}, code="invalid_argument")
    expect(one.complete([held]) == ["accepted"] and held["task"] == "wrong", "the attempt comes all the same, and its outcome is taken")
    for path, item, pointer in ((outcomes, {"output": "o" * 1_048_576}, "/items/0/output"), (beats, {"checkpoint": "c" * 65_536}, "/items/0/checkpoint")):
        one.ask(413, "POST", path, {"items": [{"ticket": "x", **item}]}, code="too_large", pointer=pointer)
    one.end()


if __name__ == "__main__":
    harness.main(run)
