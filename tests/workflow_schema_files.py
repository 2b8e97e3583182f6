"""Workflow files for workflow_schema_test.py: one with every key, files made at random that are sound, and files that are spoilt in one place."""

import copy
import json

UNKNOWN = "qqqqqqqqqqqq"  # near to no key

# Every key in its place.
FULL = {"workflow": "full", "timeout": "1d", "retention": "7d", "on_failure": "undo", "end": "failed", "cool_off": "1h", "output": "${ .steps.state }",
        "input": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]},
        "steps": {"start": {"agent": "x", "call": "y", "with": None, "timeout": "5s", "heartbeat": "1s", "labels": {"zone": "eu", "rack": 7}, "retry_for": "1h", "attempts": 3,
                            "backoff": {"first": "1s", "factor": 1.5, "max": "1m"}, "retry": [{"on": ["busy", "http_5*"], "retry_for": "2h", "attempts": 2, "backoff": {"first": "1s"}}],
                            "in_doubt": "park", "on_failure": "cool_off", "cool_off": "1m", "callback": {"timeout": "7d"},
                            "undo": {"call": "z", "with": 1, "timeout": "5s", "retry_for": "1h", "attempts": 3, "backoff": {"max": "1m"}, "also_if_failed": True}},
                  "state": {"needs": "start", "agent": "x", "call": "y", "repeat": {"until": "${ .steps.state }", "every": "1s", "max": 3}, "on_failure": "continue", "undo": "none"},
                  "pause": {"needs": ["start", "state"], "wait": "10m", "when": "${ .input.a == \"x\" }"},
                  "asked": {"signal": "go", "timeout": "1h", "on_failure": "fail"},
                  "goes_on": {"signal": "go", "timeout": "1h", "on_timeout": "continue"},
                  "price": {"with": {"a": 1}},
                  "letters": {"agent": "x", "call": "y", "for_each": {"items": "${ .input.list }", "at_once": 20, "failures": "collect"}, "with": {"to": "${ .item }", "n": "${ .index }"},
                              "undo": {"call": "z", "with": "${ .item }"}},
                  "parcels": {"workflow": "other", "for_each": ["a", {"to": "${ .input.a }"}]},
                  "child": {"workflow": "other", "with": {"a": 1}, "timeout": "2h", "on_failure": "fail", "pivot": False},
                  "unlock": {"finally": True, "agent": "x", "call": "y"},
                  "tell": {"needs": "unlock", "finally": "after_failure", "agent": "x", "call": "y", "undo": "none"},
                  "done": {"needs": ["state", "price"], "join": "any", "agent": "x", "call": "y", "pivot": True, "undo": "none"}}}



def file_with_every_key(without):
    """But for steps that have one of the keys in `without`."""
    return {**FULL, "steps": {name: step for name, step in FULL["steps"].items() if not without & set(step)}}


# ---- spoilt files ----

# What is below these is a value, or has names of its own.
FREE = {"with", "output"}


def places(value, path=()):
    yield path, value
    if path and path[-1] in FREE:
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def put(document, path, value):
    out = copy.deepcopy(document)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return out


def without(document, path):
    out = copy.deepcopy(document)
    at = out
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return out


def spoilt(document):
    """(name, document) of each way to spoil it in one place."""
    for path, value in places(document):
        here = ".".join(map(str, path)) or "the whole"
        if isinstance(value, dict) and not (path and path[-1] in FREE | {"steps", "properties", "$defs", "labels"}):
            out = copy.deepcopy(document)
            at = out
            for key in path:
                at = at[key]
            at[UNKNOWN] = 1
            yield f"{here} with an unknown key", out
        if not path or path[-1] in FREE:
            continue
        for other in (17, -1, True, None, "", "no such word", [], [1], {}, {"zz": 1}):
            if type(other) is not type(value) or other != value:
                yield f"{here} as {json.dumps(other)}", put(document, path, other)
        if isinstance(value, str):
            yield f"{here} as {value}x", put(document, path, value + "x")
        if isinstance(path[-1], str):
            yield f"{here} taken out", without(document, path)


# ---- files made at random ----


class maker:
    """Sound workflows."""

    def __init__(self, chance, without):
        self.chance, self.without = chance, without  # keys

    def maybe(self, into, key, value, odds=0.3):
        if self.chance.random() < odds and key not in self.without:
            into[key] = value()

    def duration(self):
        return self.chance.choice(["250ms", "5s", "1m30s", "2h", "7d", "1.5s", "10m"])

    def backoff(self):
        out = {}
        self.maybe(out, "first", lambda: self.chance.choice(["200ms", "1s"]))
        self.maybe(out, "factor", lambda: self.chance.choice([1, 1.5, 100]))
        self.maybe(out, "max", lambda: self.chance.choice(["2s", "1h"]))
        return out

    def limits(self, out):
        self.maybe(out, "retry_for", self.duration)
        self.maybe(out, "attempts", lambda: self.chance.randint(1, 1000))
        self.maybe(out, "backoff", self.backoff)

    def condition(self):
        return self.chance.choice(["${ .input.a }", "  ${ .input.n > 3 } ", "${ .input.a? // false }"])

    def value(self, depth=0):
        pick = self.chance.randrange(8 if depth < 2 else 6)
        if pick == 6:
            return [self.value(depth + 1) for _ in range(self.chance.randint(0, 2))]
        if pick == 7:
            return {self.chance.choice("abc"): self.value(depth + 1) for _ in range(2)}
        return [None, True, 17, 1.5, "text", "${ .input.a }"][pick]

    def undo(self):
        if self.chance.random() < 0.4:
            return "none"
        out = {"call": "un.do-1"}
        self.maybe(out, "with", self.value)
        self.maybe(out, "timeout", self.duration)
        self.limits(out)
        self.maybe(out, "also_if_failed", lambda: self.chance.random() < 0.5)
        return out

    def rules(self):
        out = []
        for number in range(self.chance.randint(1, 3)):
            rule = {"on": self.chance.choice([f"code_{number}", [f"code_{number}", f"more_{number}.*"], f"http_{number}*"])}
            self.limits(rule)
            out.append(rule)
        return out

    def call(self, undoes):
        out = {"agent": self.chance.choice(["payment", "A.b-c_1"]), "call": "do"}
        self.maybe(out, "with", self.value)
        self.maybe(out, "timeout", lambda: self.chance.choice(["5s", "1h"]))
        self.maybe(out, "heartbeat", lambda: "1s")
        self.maybe(out, "labels", lambda: {"zone": self.chance.choice(["eu", 1, True, ""])})
        self.limits(out)
        self.maybe(out, "retry", self.rules)
        self.maybe(out, "in_doubt", lambda: self.chance.choice(["retry", "park", "fail"]))
        self.failure(out, undoes)
        self.maybe(out, "callback", lambda: {"timeout": self.duration()})
        if self.chance.random() < 0.2:
            out["repeat"] = {"until": self.condition()}
            self.maybe(out["repeat"], "every", lambda: self.chance.choice(["0s", "10m"]))
            self.maybe(out["repeat"], "max", lambda: self.chance.randint(1, 10_000))
            out["undo"] = "none"
        else:
            if out.get("on_failure") != "cool_off":
                self.maybe(out, "for_each", self.items, 0.2)
            if undoes or self.chance.random() < 0.5:
                out["undo"] = self.undo()
        return out

    def items(self):
        each = self.chance.choice(["${ .input.list }", " ${ [.input.list[] | select(.n > 3)] }", [1, "${ .input.a }", {"b": None}]])
        if self.chance.random() < 0.5:
            return each
        out = {"items": each}
        self.maybe(out, "at_once", lambda: self.chance.randint(1, 1000))
        self.maybe(out, "failures", lambda: self.chance.choice(["stop", "collect"]))
        return out

    def child(self, undoes):
        out = {"workflow": self.chance.choice(["w", "other_1"])}
        self.maybe(out, "with", self.value)
        self.maybe(out, "for_each", self.items)
        self.maybe(out, "timeout", self.duration)
        self.maybe(out, "on_failure", lambda: self.chance.choice(["park", "fail", "continue", *(["undo"] if undoes else [])]))
        self.maybe(out, "undo", lambda: "none")
        return out

    def failure(self, out, undoes):
        if self.chance.random() < 0.3:
            out["on_failure"] = self.chance.choice(["park", "fail", "continue", "cool_off", *(["undo"] if undoes else [])])
            if out["on_failure"] == "cool_off":
                out["cool_off"] = self.duration()

    def step(self, undoes):
        kind = self.chance.choice(["call", "call", "wait", "signal", "value", *(["child"] if "workflow" not in self.without else [])])
        if kind == "call":
            return self.call(undoes)
        if kind == "wait":
            return {"wait": self.chance.choice([self.duration(), "2026-12-24T18:00:00Z", "2026-12-24 18:00:00.5+01:00", "${ .input.at }"])}
        if kind == "child":
            return self.child(undoes)
        if kind == "value":
            return {"with": self.value()} if self.chance.random() < 0.7 else {}
        out = {"signal": "go_on", "timeout": self.duration()}
        self.maybe(out, "on_timeout", lambda: self.chance.choice(["fail", "continue"]))
        if out.get("on_timeout") != "continue":
            self.failure(out, undoes)
        return out

    def workflow(self):
        out = {"workflow": self.chance.choice(["w", "order-2", "a_b"])}
        undoes = self.chance.random() < 0.5
        # Longer than all waits together, which is checked too.
        self.maybe(out, "timeout", lambda: self.chance.choice(["90d", "60d12h", "3660d"]))
        self.maybe(out, "retention", lambda: self.chance.choice(["7d", "24h"]))
        self.maybe(out, "input", lambda: {"type": "object", "required": ["a"], "properties": {"a": {"type": ["boolean", "null"]}, "b": {"enum": [1, "x"]}, "c": True}})
        self.maybe(out, "output", self.value)
        if undoes:
            out["on_failure"] = "undo"
        else:
            self.maybe(out, "on_failure", lambda: self.chance.choice(["park", "fail"]))
        steps = out["steps"] = {}
        for number in range(self.chance.randint(1, 6)):
            step = self.step(undoes)
            if self.chance.random() < 0.15 and "finally" not in self.without and not {"undo", "on_failure", "workflow", "for_each"} & set(step):
                steps[f"end{number}"] = {**step, "finally": self.chance.choice([True, "after_failure"])}
                continue
            self.maybe(step, "when", self.condition, 0.2)
            if any(not name.startswith("end") for name in steps) and self.chance.random() < 0.7:
                others = [name for name in steps if not name.startswith("end")]
                needs = self.chance.sample(others, self.chance.randint(1, min(3, len(others))))
                step["needs"] = needs[0] if len(needs) == 1 and self.chance.random() < 0.5 else needs
                # A step that a join may leave over says how it is undone.
                if undoes:
                    self.maybe(step, "join", lambda needs=needs: self.chance.choice(["all", "any", self.chance.randint(1, len(needs))]))
            if step.keys() <= {"wait", "signal", "timeout", "on_timeout", "with", "needs", "when"}:
                self.maybe(step, "undo", lambda: "none")
            steps[f"s{number}"] = step
        if all(name.startswith("end") for name in steps):
            steps["only"] = {"with": 1}
        return out
