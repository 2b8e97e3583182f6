#!/usr/bin/env python3
"""Changes a document in ways that break a client, and in ways that do not: openapi_grows.py has to tell them apart."""

import copy
import sys

import openapi
import openapi_grows
from harness import expect, scenario_failed

DOCUMENT = {
    "paths": {"/a/{id}": {"put": {
        "operationId": "put_a",
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string", "maxLength": 9}},
                       {"name": "wait", "in": "query", "schema": {"type": "string", "pattern": "^[0-9]+s$"}}],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sent"}}}},
        "responses": {"200": {"headers": {"ETag": {"required": True, "schema": {"type": "string"}}},
                              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Read"}}}},
                      "404": {"content": {}}}}}},
    "components": {"schemas": {
        "Sent": {"type": "object", "required": ["what"], "additionalProperties": False,
                 "properties": {"what": {"enum": ["one", "two"]}, "labels": {"type": "array", "items": {"type": ["string", "integer"]}},
                                "more": {"oneOf": [{"type": "string"}, {"type": "integer", "maximum": 7}]}}},
        "Read": {"type": "object", "required": ["state", "at"], "additionalProperties": False,
                 "properties": {"state": {"enum": ["fine", "odd"]}, "at": {"type": "string"}, "note": {"type": ["string", "null"]}}}}},
}
PUT, SENT, READ = ("paths", "/a/{id}", "put"), ("components", "schemas", "Sent"), ("components", "schemas", "Read")
GONE = object()
# (where, what is put there, a word of the complaint)
BREAKS = [
    (("paths", "/a/{id}"), GONE, "is gone"), (PUT, GONE, "is gone"), ((*PUT, "operationId"), "put_b", "operationId"),
    ((*PUT, "parameters", 1), GONE, "parameter wait is gone"), ((*PUT, "parameters", 1, "required"), True, "wait is required now"),
    ((*PUT, "parameters", 0, "schema", "maxLength"), 8, "maxLength"), ((*PUT, "parameters", 1, "schema", "pattern"), "^x$", "pattern"),
    ((*PUT, "parameters", 1, "schema", "type"), "integer", "type was string"), ((*PUT, "requestBody", "required"), True, "a body is required"),
    ((*PUT, "responses", "404"), GONE, "status 404 is gone"), ((*PUT, "responses", "200", "headers", "ETag"), GONE, "header ETag"),
    ((*PUT, "responses", "200", "headers", "ETag", "required"), False, "header ETag"),
    ((*PUT, "responses", "200", "content", "application/json"), GONE, "application/json is gone"),
    ((*SENT, "required"), ["what", "labels"], "labels: the field is required now"), ((*SENT, "properties", "labels"), GONE, "labels: the field is gone"),
    ((*SENT, "properties", "what", "enum"), ["one"], "'two' is gone"), ((*SENT, "properties", "labels", "items", "type"), "string", "type was"),
    ((*SENT, "properties", "more", "oneOf", 0), GONE, "oneOf/0"), ((*SENT, "properties", "more", "oneOf", 1, "maximum"), 6, "oneOf/1"),
    ((*SENT, "properties", "labels", "enum"), [["a"]], "any word was taken"),
    ((*READ, "properties", "at"), GONE, "at: the field is gone"), ((*READ, "required"), ["state"], "at: the field may be missing now"),
    ((*READ, "properties", "at", "type"), ["string", "null"], "type was string"), ((*READ, "properties", "state", "enum"), ["fine"], "'odd' is gone"),
]
GROWS = [
    (("paths", "/b"), {"get": {"operationId": "show_b", "responses": {"200": {}}}}), ((*PUT, "responses", "429"), {}),
    ((*PUT, "parameters", 2), {"name": "more", "in": "query", "schema": {}}), ((*PUT, "parameters", 0, "schema", "maxLength"), 10),
    ((*SENT, "properties", "new"), {"type": "string"}), ((*SENT, "properties", "what", "enum"), ["one", "two", "three"]), ((*SENT, "required"), []),
    ((*SENT, "properties", "more", "oneOf", 2), {"type": "null"}), ((*SENT, "properties", "labels", "items", "type"), ["string", "integer", "null"]),
    ((*READ, "properties", "new"), {"type": "string"}), ((*READ, "required"), ["at", "state", "note"]), ((*READ, "properties", "note", "type"), "string"),
    ((*READ, "properties", "state", "enum"), ["odd", "fine", "new"]),
]
EXAMPLES = [((*READ, "examples"), [{"state": "fine", "at": "now", "note": None}], True), ((*READ, "examples"), [{"state": "fine"}], False),
            ((*PUT, "parameters", 1, "example"), "3s", True), ((*PUT, "parameters", 1, "example"), "3", False),
            ((*PUT, "responses", "200", "content", "application/json", "examples"), {"a": {"value": {"state": "bad", "at": "now"}}}, False),
            ((*READ, "properties", "example"), {"type": "string"}, True)]


def changed(where, what):
    out = copy.deepcopy(DOCUMENT)
    at = out
    for key in where[:-1]:
        at = at[key]
    if what is GONE:
        del at[where[-1]]
    elif isinstance(at, list) and where[-1] == len(at):
        at.append(what)
    else:
        at[where[-1]] = what
    return openapi.document(out)


def run():
    old = openapi.document(copy.deepcopy(DOCUMENT))
    expect(not list(openapi_grows.losses(old, old)), "a document differs from itself")
    for where, what, words in BREAKS:
        said = list(openapi_grows.losses(old, changed(where, what)))
        expect(any(words in one for one in said), f"{where}: '{words}' was to be said, and this was: {said}")
    for where, what in GROWS:
        said = list(openapi_grows.losses(old, changed(where, what)))
        expect(not said, f"{where} may grow, and this was said: {said}")
    for where, what, sound in EXAMPLES:
        said = list(openapi_grows.wrong_examples(changed(where, what)))
        expect(sound == (not said), f"the example at {where}: {said}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(run())
    except scenario_failed as failure:
        sys.exit(f"FAILED: {failure}")
