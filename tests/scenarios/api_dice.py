"""Parts of requests, made by dice from the schemas of the OpenAPI document: right ones, and ones with something wrong in them."""

import json
import re
import urllib.parse

# What there may be, so that many requests find something.
NAMES = {
    "id": [f"t-{n}" for n in range(40)], "step": ["first", "second"], "number": [str(n) for n in range(1, 30)], "node": ["single"],
    "name": ["brittle", "order", "nightly", "j-1", "inventory", "payment", "single/payment"], "code": ["conflict", "not_found"],
    "workflow": ["brittle", "order"], "agent": ["inventory", "payment", "shipping"], "call": ["reserve", "charge", "dispatch"],
    "job": ["nightly", "j-1", "j/2"], "task": ["t-1"], "time_zone": ["UTC", "Europe/Berlin", "Nowhere"], "numbers": list(range(1, 30)),
    "schedule": ["* * * * *", "? 3 * * *", "@every 90m", "0 0 30 2 *", "*/7 * * * * *"], "label": ["a:b", "kind:x", "a", ":", ""],
    "request": ["TaskListRequest", "TaskShowRequest", "StatesRequest", "SubmitRequest", "WatchRequest", "OperateRequest", "JobApplyRequest",
                "JobShowRequest", "AlertAckRequest", "StatusRequest", "InspectRequest", "RepliesRequest", "DeployRequest", "Nothing"],
    "tasks": [{"workflow": "brittle", "id": "t-7"}, {"workflow": "nothing", "id": "t-8"}, {"id": "t-9"}, 7],
    "wait": ["0s", "5ms", "20ms", "31s", "-1s", "1d", "soon"], "cursor": ["abc", "0123456789abcdef.7"],
    "wait_ms": [0, 5, 20, 30_001, -1], "client": ["shop", "f/1"], "worker": ["w-1", "w/2"], "callback": ["w-1", "AAAAAAAAAAEAAAAAdC0xAAAAAAAAAAAAAAAAAAAAAAA"], "instance": ["w-1", "w/2"], "day": ["2026-11-24", "1970-01-01", "2026-02-30", "9999-12-31", "today"],
    "namespace": ["default"] * 9 + ["nothing"],
}
ODD_TEXTS = ["", " ", "\0", "\n", "é", "漢字", "\u202e", "😀", "..", "../..", "a/b", "%", "%00", "'", '"', "<b>", "${ .input }", "null", "-1",
             "1e9", "a" * 255, "a" * 257, "a" * 70_000, "\ud800", "*", "?", "@", "{id}", "0", "18446744073709551616"]
ODD_NUMBERS = [0, -1, 1, 2**31, -2**31 - 1, 2**53, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308]
ODD_PARTS = ["%", "%zz", "%00", "%ff%fe", "%C0%AF", "%2e%2e", "a;b", "a+b", "+", "~", "a%2Fb", ""]
ODD_BYTES = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\0", b"\xf8"]
ODD_BODIES = [b"", b" ", b"{", b"nul", b"NaN", b"-", b'"', b"01", b"&a *a", b"!!x y", b"- a", b"\xef\xbb\xbf{}"]
ODD_HEADERS = {
    "Range": ["bytes=0-1", "bytes=-3", "bytes=9-", "bytes=5-2", "bytes=0-0,2-3", "bytes=99999999999999999999-", "lines=1-2", ""],
    "If-Match": ["*", '"1-0"', '"7-abc"', "x", '""', '"99999999999999999999-0"'], "If-None-Match": ["*", '"1-0"', ""],
    "Idempotency-Key": ['"k-1"', "k-2", '"t-3"', '"a b"', "é", '""', '"' + "k" * 300 + '"'],
    "Last-Event-ID": ["0", "3", "x", "-1", "9" * 30], "X-Request-Id": ["mine", "not mine", "x" * 65],
    "Accept": ["*/*", "text/html", "application/json;q=0.1", ","], "Origin": ["null", "https://evil.example"],
    "Content-Type": ["application/yaml", "text/plain", "application/json; charset=latin-1", "application/merge-patch+json", ""],
    "Sec-Fetch-Site": ["cross-site", "none"], "Host": ["evil.example", "localhost:1", "[::1]"],
}
MOMENTS = ["2026-11-24T09:00:00Z", "2027-01-01T00:00:00.250Z", "2026-11-24T09:00:00+01:00", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
DURATIONS = ["1ms", "250ms", "5s", "1m30s", "2h", "7d", "1.5s", "0s", "3660d", "100000d"]
# The HTTP library itself refuses what is much larger, without a problem document.
MOST_QUERY = 50_000


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


class dice:
    def __init__(self, rng):
        self.rng = rng

    def any_json(self, depth=3):
        kind = self.rng.randrange(7 if depth else 5)
        if kind < 2:
            return self.rng.choice([None, True, False, *ODD_NUMBERS])
        if kind < 5:
            return self.rng.choice(ODD_TEXTS)
        if kind == 5:
            return [self.any_json(depth - 1) for _ in range(self.rng.randrange(4))]
        return {self.rng.choice(ODD_TEXTS[:12]): self.any_json(depth - 1) for _ in range(self.rng.randrange(4))}

    def right(self, schema, name=""):
        """A value of the schema, or nearly: what the words of the schema do not say is left to chance."""
        rng = self.rng
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                one = rng.choice(schema[key])
                return self.right({**one, "required": one["required"] + schema["required"]} if "required" in schema else one, name)
        kind = schema.get("type")
        kind = rng.choice(kind) if isinstance(kind, list) else kind
        if kind == "array":
            return [self.right(schema.get("items", {}), name) for _ in range(rng.choice([1, 1, 2, 5]))]
        if name in NAMES and rng.random() < 0.9:
            return rng.choice(NAMES[name])
        if kind == "object":
            return self.right_object(schema)
        if kind == "string":
            return self.right_text(schema)
        if kind == "boolean":
            return rng.random() < 0.5
        if kind in ("integer", "number"):
            least = schema.get("minimum", -10)
            return rng.choice([least, least + 1, min(least + 7, schema.get("maximum", least + 7)), schema.get("maximum", 100)])
        return None if kind == "null" else self.any_json()

    def right_object(self, schema):
        out = {}
        for name, one in schema["properties"].items():
            if name in schema["required"] or self.rng.random() < 0.2:
                out[name] = self.right(one, name)
        if isinstance(schema.get("additionalProperties"), dict):
            for _ in range(self.rng.randrange(1, 4)):
                out[self.rng.choice(["a", "kind", "first", "second"])] = self.right(schema["additionalProperties"])
        return out

    def right_text(self, schema):
        pattern = schema.get("pattern", "")
        if schema.get("format") == "date-time":
            return self.rng.choice(MOMENTS)
        if "ms|s|m|h|d" in pattern:
            return self.rng.choice(DURATIONS)
        if pattern:
            return self.rng.choice(["t-1", "f-" + str(self.rng.randrange(300)), "brittle", "j-1", "a:b"])
        return self.rng.choice(ODD_TEXTS) if self.rng.random() < 0.1 else "to see"

    def bend(self, value):
        """One thing in it becomes wrong."""
        rng = self.rng
        if isinstance(value, dict) and value and rng.random() < 0.8:
            out, name = dict(value), rng.choice(list(value))
            deed = rng.randrange(4)
            if deed == 0:
                del out[name]
            elif deed == 1:
                out[rng.choice(ODD_TEXTS)] = self.any_json()
            else:
                out[name] = self.bend(value[name])
            return out
        if isinstance(value, list) and value:
            if rng.random() < 0.2:
                return value * rng.choice([0, 300, 1_001])
            at = rng.randrange(len(value))
            return value[:at] + [self.bend(value[at])] + value[at + 1:]
        return self.any_json()

    def path_of(self, path, body):
        """A job is often called as its body says."""
        out, job = path, re.search(rb'"job": "([\w/-]+)"', body or b"")
        # A target that is too long for the HTTP library is answered by it alone.
        if job and len(job[1]) < 1_000 and self.rng.random() < 0.8:
            out = out.replace("{name}", urllib.parse.quote(job[1].decode(), safe=""))
        for part in [one[1:-1] for one in out.split("/") if one.startswith("{")]:
            odd = [one for one in ODD_TEXTS if len(one) < 1000]
            text = self.rng.choice(NAMES[part] if self.rng.random() < 0.85 else odd)
            text = urllib.parse.quote(text, safe="", errors="surrogatepass")
            if self.rng.random() < 0.03:
                text = self.rng.choice(ODD_PARTS)
            out = out.replace("{" + part + "}", text)
        return out

    def query_of(self, operation):
        pairs = []
        for one in operation["parameters"]:
            if one["in"] == "query" and self.rng.random() < 0.3:
                value = self.right(one["schema"], one["name"]) if self.rng.random() < 0.85 else self.any_json(0)
                for item in value if isinstance(value, list) else [value]:
                    pairs.append((one["name"], str(item).lower() if isinstance(item, bool) else str(item)))
        if self.rng.random() < 0.04:
            pairs.append((self.rng.choice(["what", "", "wait", "\0", "a" * 40_000]), self.rng.choice(ODD_TEXTS)))
        text = "&".join("=".join(urllib.parse.quote(one, errors="surrogatepass") for one in pair) for pair in pairs)
        if self.rng.random() < 0.02:
            text += self.rng.choice(["&&", "&=", "%", "&a=%ff", "?", "&page_size"])
        return "?" + text[:MOST_QUERY] if text else ""

    def message(self):
        """The bytes of a protobuf message, or nearly: some fields with low numbers, each a number or a text."""
        rng, out = self.rng, b""
        for _ in range(rng.choice([0, 1, 1, 2, 5])):
            field = rng.choice([1, 1, 2, 3, 4, 7, 15, 200])
            text = rng.choice([b"t-1", b"nightly", b"\n\x03t-1", b"\x08\x01", b"\xff\xfe", b"", b"a" * 100, rng.randbytes(rng.randrange(40))])
            number = rng.choice([0, 1, 7, 127])
            out += varint(field << 3 | 2) + varint(len(text)) + text if rng.random() < 0.7 else varint(field << 3) + varint(number)
        return out[:rng.randrange(len(out) + 1)] if rng.random() < 0.1 else out + (rng.randbytes(9) if rng.random() < 0.1 else b"")

    def body_of(self, schema):
        """(JSON or None, bytes)"""
        rng, value = self.rng, self.right(schema)
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
            value = self.bend(value)
        raw = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
        kind = rng.random()
        if kind < 0.85:
            return value, raw
        at = rng.randrange(len(raw) + 1)
        if kind < 0.88:
            deep = rng.choice([60, 70, 10_000, 300_000])
            nested = b"[" * deep + b"]" * deep
            return None, rng.choice([nested, b'{"a":' * deep + b"1" + b"}" * deep, raw[:-1] + b',"input":' + nested + b"}", b"[" * deep])
        if kind < 0.91:
            return None, raw[:at] + rng.choice(ODD_BYTES) + raw[at:]
        if kind < 0.94:
            return None, raw[:at]
        if kind < 0.96:
            return None, raw + rng.choice([b" ", b"{}", b"\0", b",", b"\n---\n" + raw])
        if kind < 0.98:
            return None, rng.choice(ODD_BODIES)
        return None, raw[:-1] + b',"reason":"' + b"r" * rng.choice([1_001, 300_000, 3 << 20]) + b'"}'
