#!/usr/bin/env python3
"""Plants mistakes in pieces of an OpenAPI document and in answers, each of which join.py or the checker of openapi.py has to find."""

import pathlib
import sys
import tempfile

import openapi
from harness import expect, scenario_failed

HEAD = """openapi: 3.1.0
info: { title: t }
every_operation: { responses: { "400": { $ref: "#/components/responses/Bad" } } }
every_answer: { headers: { X: { $ref: "#/components/headers/X" } } }
components:
  headers: { X: { schema: { type: string } } }
  responses: { Bad: { description: "`bad`" } }
"""
PATHS = """paths:
  /a:
    get:
      operationId: show_a
      responses: { "200": { description: a, content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } } }
"""
SCHEMAS = """components:
  schemas:
    A: { type: object, properties: { a: { type: string }, b: { type: integer } }, x-optional: [b] }
"""
MISTAKES = {
    "in another piece already": (PATHS + SCHEMAS, "paths: { /a: {} }"),
    "leads nowhere": (PATHS, ""),
    "nothing refers to": (PATHS + SCHEMAS + "    B: { type: string }\n", ""),
    "is given twice": (PATHS + SCHEMAS + "    A: { type: string }\n", ""),
    "has no value": (PATHS + SCHEMAS.replace("type: string", "description: one, two"), ""),
    "is optional, and no property": (PATHS + SCHEMAS.replace("[b]", "[c]"), ""),
    "or given twice": (PATHS + PATHS.replace("paths:\n", "").replace("/a", "/b") + SCHEMAS, ""),
}
HEADERS = {"X-Request-Id": "a", "Fairlead-Version": "1"}
VERSION = {"version": "1", "node": "n", "api": "v1"}
STATE = {"id": "a", "state": "failed", "parked": False, "reason": ""}
RIGHT = [("GET", "/v1/version", 200, HEADERS, VERSION), ("HEAD", "/v1/version", 200, HEADERS, None),
         ("POST", "/v1/tasks:states", 200, HEADERS, {"items": [STATE, {**STATE, "state": None}]}, {"ids": ["a", "b"]}),
         ("GET", "/v1/jobs/a?coming=2", 304, {**HEADERS, "ETag": '"1-ab"'}, None), ("OPTIONS", "/v1/tasks/a%2Fb", 204, {"Allow": "GET"}, None)]
WRONG = [("GET", "/v1/version", 200, HEADERS, {**VERSION, "more": 1}), ("GET", "/v1/version", 200, HEADERS, {"version": "1", "node": "n"}),
         ("GET", "/v1/version", 200, HEADERS, {**VERSION, "node": 7}), ("GET", "/v1/version", 200, {}, VERSION),
         ("GET", "/v1/version", 418, HEADERS, {}), ("GET", "/v1/nothing", 200, HEADERS, {}), ("PATCH", "/v1/tasks", 200, HEADERS, {}),
         ("POST", "/v1/tasks:states", 200, HEADERS, {"items": [{**STATE, "state": "odd"}]}, {"ids": ["a"]}),
         ("POST", "/v1/tasks:states", 200, HEADERS, {"items": []}, {"ids": ["a"], "more": 1}),
         ("GET", "/v1/jobs/a", 304, {**HEADERS, "ETag": "1"}, None), ("GET", "/v1/jobs/a", 304, HEADERS, None)]


def joined(pieces):
    """None: it was joined; else why not."""
    join = openapi.join()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"head": HEAD, **pieces}.items():
            (pathlib.Path(folder) / f"{name}.yaml").write_text(text or "{}", encoding="utf-8")
        try:
            document = join.load("1", pathlib.Path(folder))
        except join.refused as why:
            return str(why)
    schema = document["components"]["schemas"]["A"]
    expect(schema["required"] == ["a"] and schema["additionalProperties"] is False and "x-optional" not in schema, f"{schema}")
    expect(set(document["paths"]["/a"]["get"]["responses"]) == {"200", "400"}, f"{document['paths']}")
    return None


def refuses(answer):
    try:
        openapi.judge(*answer)
    except scenario_failed:
        return True
    return False


def run():
    expect(joined({"one": PATHS, "two": SCHEMAS}) is None, "sound pieces are not joined")
    for words, (one, two) in MISTAKES.items():
        why = joined({"one": one, "two": two})
        expect(why is not None and words in why, f"'{words}' was to be said, and this was: {why}")
    for answer in RIGHT:
        expect(not refuses(answer), f"a right answer is refused: {answer}")
    for answer in WRONG:
        expect(refuses(answer), f"a wrong answer is taken: {answer}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(run())
    except scenario_failed as failure:
        sys.exit(f"FAILED: {failure}")
