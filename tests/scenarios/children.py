#!/usr/bin/env python3
"""Sub-workflows of three levels, the lowest with a list of items, over a real node that dies by kill -9 again and again while operators cancel and undo
tasks. What was done, how often, in which order and how much of it at a time is what the service has written down, never what the node says.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/children.py [--seed N] [--rounds 2] [--items 30] [--kills 6] [--keep FOLDER]

--kills: of each round.
"""

import argparse
import collections
import http.server
import json
import random
import threading
import time

import harness
from harness import expect, fairlead, fairlead_json, wait_until

MIDDLE, INNER = "/order~1", "/order~1/ship~1"
LEVELS = ("", MIDDLE, INNER)
AT_ONCE = {"stop": 4, "collect": 7, "single": 1}
CALL = 'agent: shop, call: make, backoff: { first: 20ms, max: 100ms }, timeout: 1m'
UNDO = 'undo: { call: clear, with: { task: "${ .task.id }", step: %s }, backoff: { first: 20ms, max: 100ms }, timeout: 1m }'


def workflows(kind):
    """Three, each of which begins the next. `kind` is how the list of the lowest is carried out."""
    def step(name, more=""):
        return f'{name}: {{ {CALL}, with: {{ task: "${{ .task.id }}", step: {name}{more} }}, {UNDO % name}'
    given = 'with: { items: "${ .input.items }", bad: "${ .input.bad }" }'
    return {
        f"outer_{kind}": f"""workflow: outer_{kind}
on_failure: undo
steps:
  {step("lock")} }}
  order: {{ needs: lock, workflow: middle_{kind}, {given} }}
  {step("tell", ', told: "${ .steps.order }"')}, needs: order }}
""",
        f"middle_{kind}": f"""workflow: middle_{kind}
on_failure: undo
steps:
  {step("pay")} }}
  ship: {{ needs: pay, workflow: inner_{kind}, {given} }}
output: "${{ .steps.ship }}"
""",
        f"inner_{kind}": f"""workflow: inner_{kind}
on_failure: undo
steps:
  {step("pack")} }}
  parcels:
    needs: pack
    for_each: {{ items: "${{ .input.items }}", at_once: {AT_ONCE[kind]}, failures: {"collect" if kind == "collect" else "stop"} }}
    agent: shop
    call: make
    with: {{ task: "${{ .task.id }}", step: parcels, item: "${{ .item }}", index: "${{ .index }}", bad: "${{ .input.bad }}" }}
    backoff: {{ first: 20ms, max: 100ms }}
    timeout: 1m
    undo:
      call: clear
      with: {{ task: "${{ .task.id }}", step: parcels, item: "${{ .item }}", index: "${{ .index }}" }}
      backoff: {{ first: 20ms, max: 100ms }}
      timeout: 1m
  {step("close")}, needs: parcels }}
output: "${{ .steps.parcels }}"
"""}


class shop:
    """Makes and clears things, one effect for each key, and writes down whatever comes. A thing is (task, step, index)."""

    def __init__(self, dice):
        self.lock = threading.Lock()
        self.dice = dice
        self.answers = {}    # key -> (status, body)
        self.making = {}     # thing -> lock: one request about a thing at a time
        self.cleared = set()
        self.book = []       # (what, thing): made, refused, cleared, in the order of the effects
        self.keys = collections.defaultdict(set)   # (call, thing) -> keys
        self.given = {}      # thing -> input of its make
        self.first = collections.defaultdict(list)  # (call, task, step) -> indexes in the order of their first requests
        self.running = collections.defaultdict(collections.Counter)  # (call, task, step) -> requests in progress by index
        self.most = collections.Counter()          # (call, task, step) -> most indexes in progress at the same time
        self.requests = 0
        self.open = threading.Event()  # until then nothing gets its lock
        self.open.set()
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = outer.take(self.path.strip("/"), self.headers["Idempotency-Key"], given)
                text = json.dumps(body).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # the node died meanwhile

            def log_message(self, *_):
                pass

        class server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, call, key, given):
        thing = (given["task"], given["step"], given.get("index"))
        place = (call, *thing[:2])
        with self.lock:
            self.requests += 1
            if not self.keys[call, thing]:
                self.first[place].append(thing[2])
            self.keys[call, thing].add(key)
            self.running[place][thing[2]] += 1
            self.most[place] = max(self.most[place], sum(count > 0 for count in self.running[place].values()))
            before, behind = self.dice.uniform(0, 0.05), self.dice.uniform(0, 0.05)
            one_at_a_time = self.making.setdefault(thing, threading.Lock())
        if thing[1] == "lock" and call == "make":
            self.open.wait()
        with one_at_a_time:
            time.sleep(before)
            with self.lock:
                if key not in self.answers:
                    self.answers[key] = self.perform(call, thing, given)
                answer = self.answers[key]
            time.sleep(behind)
        with self.lock:
            self.running[place][thing[2]] -= 1
        return answer

    def perform(self, call, thing, given):
        if call == "clear":
            self.cleared.add(thing)
            if ("made", thing) in self.book:
                self.book.append(("cleared", thing))
            return 200, {}
        self.given[thing] = given
        if thing in self.cleared or thing[2] in (given.get("bad") or []) and thing[1] == "parcels":
            self.book.append(("refused", thing))
            return 422, {"code": "refused"}
        self.book.append(("made", thing))
        return 200, {"made": thing[2] if thing[2] is not None else thing[1]}


class children:
    def __init__(self, box, options, dice):
        self.options, self.dice = options, dice
        self.shop = shop(random.Random(dice.random()))
        (port,) = harness.free_ports(1)
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
agents:
  shop:
    kind: http
    base_url: {self.shop.url}
    concurrency: 64
    breaker: off
    retry: {{ tries: 1 }}
    calls: {{ make: {{ path: /make }}, clear: {{ path: /clear }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        paths = []
        for kind in AT_ONCE:
            for name, text in workflows(kind).items():
                paths.append(box.folder / f"{name}.yaml")
                paths[-1].write_text(text)
        self.run("workflow", "deploy", *paths)
        self.bad = {}    # task -> indexes of items that the shop refuses
        self.kind = {}   # task -> how its list is carried out
        self.settled = set()  # things
        self.kills = 0

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address, seconds=60)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def submit(self, task, kind, bad=()):
        self.bad[task], self.kind[task] = set(bad), kind
        given = {"items": [f"item {index}" for index in range(self.options.items)], "bad": list(bad)}
        self.run("submit", f"outer_{kind}", "--id", task, "--input", json.dumps(given))

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def states(self):
        return {one["id"]: "parked" if one["parked"] else one["state"] for one in self.node.tasks()}

    def all_end(self, tasks):
        """Once all have ended: the states of all tasks. Of an item that was refused, and whose request before that was cut off by a kill, nobody but the
        shop knows whether it was made, so an operator has to ask there."""
        def look():
            states = self.states()
            parked = {one for one, state in states.items() if state == "parked"}
            for item in sorted(one for one in parked if "/parcels~" in one):
                self.settle(item)
                parked = {one for one in parked if not item.startswith(one)}
            expect(not parked, f"parked: {sorted(parked)}: {[self.shown(one)['reason'] for one in sorted(parked)]}")
            return all(states[one] in ("completed", "undone", "failed") for one in tasks) and states
        return wait_until(look, 120, f"{', '.join(tasks)} end", every=0.2)

    def settle(self, item):
        task, index = item.split("/parcels~1.")
        thing = (task, "parcels", int(index) - 1)
        reason = self.shown(item)["reason"]
        expect(("refused", thing) in self.shop.book and ("made", thing) not in self.shop.book, f"{item} is parked: {reason}")
        self.run("task", "settle", item, "parcels", "--never-happened", "--reason", "tested")
        self.settled.add(thing)

    def kill(self):
        self.node.kill()
        self.kills += 1
        self.node.start(60)

    # ---- the judge ----

    def lists(self):
        """The list without children, and the children of each task, against the ids of all tasks, which have ended."""
        states = self.states()

        def listed(*words):
            return {one["id"] for one in fairlead_json("task", "list", "--all", *words, node=self.node.address)["tasks"]}
        own = {one for one in states if "~" not in one}
        expect(listed("--top-level") == own, f"without a parent are {own}")
        for of in [task + level for task in self.kind for level in LEVELS]:
            wanted = {one for one in states if "~" in one and one.rpartition("/")[0] == of}
            expect((found := listed("--parent", of)) == wanted, f"the children of {of} are {wanted}, and listed are {found}")

    def audit(self, task, state, states):
        """What the shop has written down about the task and its children, against the only states that may be."""
        kind, count = self.kind[task], self.options.items
        of_levels = [states.get(task + level) for level in LEVELS]
        expect(all(one in (None, state) for one in of_levels), f"{task}: the levels are {of_levels}, and {state} was expected")
        inner = task + INNER
        book = [(what, thing) for what, thing in self.shop.book if what != "refused" and thing[0] in {task + level for level in LEVELS}]
        where = {one: number for number, one in enumerate(book)}
        expect(len(where) == len(book), f"{task}: something happened twice: {[one for one, times in collections.Counter(book).items() if times > 1]}")
        made = {thing for what, thing in book if what == "made"}
        cleared = {thing for what, thing in book if what == "cleared"}
        for call in ("make", "clear"):
            for (of, thing), keys in self.shop.keys.items():
                if of == call and thing[0].startswith(task) and thing not in self.settled:
                    expect(len(keys) == 1, f"{thing}: {call} was asked for under {keys}")
            most = self.shop.most[call, inner, "parcels"]
            expect(most <= AT_ONCE[kind], f"{inner}: {most} items at a time, and at most {AT_ONCE[kind]} were wanted ({call})")
        parcels = [(inner, "parcels", index) for index in range(count)]
        begun = self.shop.first["make", inner, "parcels"]
        expect(kind != "single" or begun == list(range(len(begun))), f"{inner}: items one by one began in this order: {begun}")
        around = [(task, "lock", None), (task + MIDDLE, "pay", None), (inner, "pack", None)]
        behind = [(inner, "close", None), (task, "tell", None)]
        good = [one for one in parcels if one[2] not in self.bad[task]]
        if state == "completed":
            wanted = around + good + behind
            expect(made == set(wanted) and not cleared, f"{task}: made and not wanted {made - set(wanted)}, not made {set(wanted) - made}, cleared {cleared}")
            self.follow(where, "made", around + [good] + behind)
            outputs = [{"made": index} for index in range(count)]
            told = self.shop.given[behind[1]]["told"]
            if kind == "collect":
                expect([one["status"] == "completed" for one in told] == [one[2] not in self.bad[task] for one in parcels], f"{task} was told {told}")
                outputs = [outputs[one[2]] if one in set(good) else None for one in parcels]
                told = [one["output"] for one in told]
            expect(told == outputs, f"{task}: the outputs of the list are not in its order: {told}")
            return
        expect(cleared == made, f"{task}: not undone {made - cleared}, undone and not made {cleared - made}")
        levels = [[one] for one in around] + [good] + [[one] for one in behind]
        for earlier, later in zip(levels, levels[1:]):
            for first in earlier:
                for second in later:
                    if first in made and second in made:
                        expect(where["made", first] < where["made", second], f"{second} was made before {first}")
                        expect(where["cleared", first] > where["cleared", second], f"{first} was cleared before {second}")
        asked = {thing for call, thing in self.shop.keys if call == "make" and thing[0] == inner and thing[1] == "parcels"}
        expect(not asked or len(asked) == max(one[2] for one in asked) + 1, f"{inner}: items were left out: {sorted(one[2] for one in asked)}")

    def follow(self, where, what, stages):
        before = -1
        for stage in stages:
            places = [where[what, one] for one in (stage if isinstance(stage, list) else [stage])]
            expect(min(places) > before, f"{stage}: {what} too early")
            before = max(places)

    # ---- parts ----

    def without_kills(self):
        """One failed item ends the list: what was in progress ends, and nothing new begins."""
        fails_at = 5
        self.submit("a-1", "stop", [fails_at])
        self.submit("a-2", "single", [fails_at])
        self.submit("a-3", "collect", [0, fails_at])
        states = self.all_end(["a-1", "a-2", "a-3"])
        for task, state in (("a-1", "undone"), ("a-2", "undone"), ("a-3", "completed")):
            expect(states[task] == state, f"{task} is {states[task]}")
            self.audit(task, state, states)
        for task in ("a-1", "a-2"):
            begun = self.shop.first["make", task + INNER, "parcels"]
            expect(len(begun) <= fails_at + 3 * AT_ONCE[self.kind[task]], f"{task}: {len(begun)} items began although item {fails_at} failed")
            step = next(one for one in self.shown(task + INNER)["steps"] if one["path"] == "parcels")
            expect(step["fault"]["code"] == "item_failed", f"{task}: {step['fault']}")
        items = next(one for one in self.shown("a-3" + INNER)["steps"] if one["path"] == "parcels")["items"]
        expect((items["completed"], items["failed"], items["count"]) == (self.options.items - 2, 2, self.options.items), f"{items}")
        expect(self.shop.most["make", "a-3" + INNER, "parcels"] > 1, "no two items were in progress at the same time")
        self.run("task", "undo", "a-3", "--reason", "tested")
        self.audit("a-3", "undone", wait_until(lambda: (seen := self.states())["a-3"] == "undone" and seen, 60, "a-3 is undone", every=0.2))

    def through_kills(self, number):
        count, dice = self.options.items, self.dice
        wanted = {}
        for kind in AT_ONCE:
            wanted[f"k{number}-{kind}"] = (kind, [])
        wanted[f"k{number}-fails"] = ("stop", [dice.randrange(count)])
        wanted[f"k{number}-some"] = ("collect", sorted(dice.sample(range(count), 4)))
        wanted[f"k{number}-cancelled"] = (dice.choice(["stop", "collect"]), [])
        wanted[f"k{number}-undone"] = ("stop", [])
        self.shop.open.clear()
        for task, (kind, bad) in wanted.items():
            self.submit(task, kind, bad)
        self.shop.open.set()
        to_cancel, to_undo = {f"k{number}-cancelled"}, {f"k{number}-undone"}
        cancel_at = dice.randrange(self.options.kills)
        for kill in range(self.options.kills):
            time.sleep(dice.uniform(0.02, 0.7))
            self.kill()
            if kill == cancel_at:
                fairlead("task", "cancel", to_cancel.pop(), "--reason", "tested", node=self.node.address)
            if to_undo and self.states()[next(iter(to_undo))] == "completed":
                self.run("task", "undo", to_undo.pop(), "--reason", "tested")
        states = self.all_end(list(wanted))
        for task in to_undo:
            self.run("task", "undo", task, "--reason", "tested")
            self.kill()
            states = wait_until(lambda: (seen := self.states())[task] == "undone" and seen, 60, f"{task} is undone", every=0.2)
        for task in wanted:
            fixed = "undone" if task.endswith(("fails", "undone")) else None if task.endswith("cancelled") else "completed"
            expect(fixed is None or states[task] == fixed, f"{task} is {states[task]}, and not {fixed}")
            expect(states[task] in ("completed", "undone"), f"{task} is {states[task]}")
            self.audit(task, states[task], states)


def run():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--kills", type=int, default=6)
    options, dice = harness.with_dice(parser)
    with harness.sandbox("children", options.keep) as box:
        here = children(box, options, dice)
        here.without_kills()
        print("ok  without kills", flush=True)
        for number in range(options.rounds):
            here.through_kills(number)
            print(f"ok  round {number + 1}: {here.kills} kills, {here.shop.requests} requests, {len(here.shop.book)} effects", flush=True)
        here.lists()
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
