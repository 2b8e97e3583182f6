#!/usr/bin/env python3
"""A client of a released API goes on with every later one: the OpenAPI document only grows. Compares the document of this tree with each that is
kept in tests/data/openapi, and holds the examples of the document against its schemas. Needs no node.

    openapi_grows.py                 compares with the document of each release that has an API
    openapi_grows.py --make VERSION  keeps the document of this tree as that of the release

Paths, methods, parameters, statuses, fields and words may be added. What a client may send stays right, and what it reads stays there.
"""

import argparse
import json
import pathlib
import sys

import openapi

KEPT = pathlib.Path(__file__).resolve().parents[1] / "data" / "openapi"
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
CHOICES = ("oneOf", "anyOf", "allOf")


def types_of(schema):
    """None: any."""
    given = schema.get("type")
    if given is None:
        return None
    types = {given} if isinstance(given, str) else set(given)
    return types | {"integer"} if "number" in types else types


def words_of(schema):
    """None: any."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def losses_of_types(old, new, at, sent):
    before, after = (old, new) if sent else (new, old)
    allowed, given = types_of(after), types_of(before)
    if allowed is not None and (given is None or not given <= allowed):
        yield f"{at}: the type was {old.get('type', 'any')}, and is {new.get('type', 'any')}"


def losses_of_words(old, new, at, sent):
    was, now = words_of(old), words_of(new)
    if was is None:
        if now is not None and sent:
            yield f"{at}: any word was taken, and now only {now}"
    elif now is not None:
        yield from (f"{at}: the word {one!r} is gone" for one in was if one not in now)


def losses_of_limits(old, new, at):
    """Of what a client sends."""
    for key, tighter in [(key, lambda a, b: b < a) for key in MOST] + [(key, lambda a, b: b > a) for key in LEAST]:
        if key in new and (key not in old or tighter(old[key], new[key])):
            yield f"{at}: {key} was {old.get(key, 'none')}, and is {new[key]}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{at}: the pattern was {old.get('pattern', 'none')}, and is {new['pattern']}"


def losses_of_fields(old, new, at, sent):
    was, now = old.get("properties", {}), new.get("properties", {})
    yield from (f"{at}/{name}: the field is gone" for name in was if name not in now)
    for name in was.keys() & now.keys():
        yield from losses_of_schema(was[name], now[name], f"{at}/{name}", sent)
    more, fewer = (new, old) if sent else (old, new)
    word = "is required now" if sent else "may be missing now"
    yield from (f"{at}/{name}: the field {word}" for name in more.get("required", []) if name not in fewer.get("required", []) and (sent or name in now))
    if sent and new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{at}: other fields are refused now"


def losses_of_schema(old, new, at, sent):
    """`sent`: by the client, else read by it."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    yield from losses_of_types(old, new, at, sent)
    yield from losses_of_words(old, new, at, sent)
    if sent:
        yield from losses_of_limits(old, new, at)
    if "properties" in old or "properties" in new:
        yield from losses_of_fields(old, new, at, sent)
    for key in ("items", "additionalProperties"):
        yield from losses_of_schema(old.get(key), new.get(key), f"{at}/{key}", sent)
    for key in CHOICES:
        for number, one in enumerate(old.get(key, [])):
            # Choices may change their places.
            tries = [list(losses_of_schema(one, other, f"{at}/{key}/{number}", sent)) for other in new.get(key, [])]
            if not tries:
                yield f"{at}: {key} is gone"
            elif all(tries):
                yield from min(tries, key=len)


def losses_of_content(old, new, at, sent):
    for media, was in old.items():
        if media not in new:
            yield f"{at}: {media} is gone"
            continue
        yield from losses_of_schema(was.get("schema"), new[media].get("schema"), at, sent)
        for event, schema in was.get("x-events", {}).items():
            if event not in new[media].get("x-events", {}):
                yield f"{at}: the event {event} is gone"
            else:
                yield from losses_of_schema(schema, new[media]["x-events"][event], f"{at} {event}", sent)


def losses_of_parameters(old, new, at):
    def by_name(of):
        return {(one["name"], one["in"]): one for one in of.get("parameters", [])}
    was, now = by_name(old), by_name(new)
    for key, one in was.items():
        if key not in now:
            yield f"{at}: the parameter {key[0]} is gone"
        else:
            yield from losses_of_schema(one.get("schema"), now[key].get("schema"), f"{at} {key[0]}", True)
    yield from (f"{at}: the parameter {key[0]} is required now" for key, one in now.items()
                if one.get("required") and not was.get(key, {}).get("required"))


def losses_of_answer(old, new, at):
    headers = {name.lower(): one for name, one in new.get("headers", {}).items()}
    for name, one in old.get("headers", {}).items():
        found = headers.get(name.lower())
        if found is None or (one.get("required") and not found.get("required")):
            yield f"{at}: the header {name} is gone, or may be missing"
        else:
            yield from losses_of_schema(one.get("schema"), found.get("schema"), f"{at} {name}", False)
    yield from losses_of_content(old.get("content", {}), new.get("content", {}), at, False)


def losses(old, new):
    """What a client of the document `old` would miss in `new`, a sentence each. Both are openapi.document."""
    for (path, method), was in old.operations.items():
        at, now = f"{method.upper()} {path}", new.operations.get((path, method))
        if now is None:
            yield f"{at} is gone"
            continue
        if was["operationId"] != now["operationId"]:
            yield f"{at}: the operationId was {was['operationId']}, and is {now['operationId']}"
        yield from losses_of_parameters(was, now, at)
        body, taken = was.get("requestBody", {}), now.get("requestBody", {})
        if taken.get("required") and not body.get("required"):
            yield f"{at}: a body is required now"
        yield from losses_of_content(body.get("content", {}), taken.get("content", {}), f"{at} body", True)
        for status, answer in was["responses"].items():
            if status not in now["responses"]:
                yield f"{at}: the status {status} is gone"
            else:
                yield from losses_of_answer(answer, now["responses"][status], f"{at} {status}")


def examples_in(part, at=""):
    """(where, schema, example) of each schema, parameter, header and media type that has examples."""
    if isinstance(part, list):
        for number, one in enumerate(part):
            yield from examples_in(one, f"{at}/{number}")
        return
    if not isinstance(part, dict):
        return
    # Beside a key `schema` examples are of that schema; by name they are objects with a `value`.
    schema, given = part.get("schema", part), part.get("examples", [])
    values = given if isinstance(given, list) else [one["value"] for one in given.values()]
    yield from ((at, schema, one) for one in values + ([part["example"]] if "example" in part else []))
    for key, value in part.items():
        if key in ("example", "examples", "enum", "const", "default"):
            continue
        if key in ("properties", "patternProperties", "schemas", "x-events") and isinstance(value, dict):
            # Names that are no keys of a schema: a field may be called `example`.
            for name, one in value.items():
                yield from examples_in(one, f"{at}/{key}/{name}")
        else:
            yield from examples_in(value, f"{at}/{key}")


def wrong_examples(document):
    for at, schema, value in examples_in(document.resolve({key: document.parts[key] for key in ("paths", "components")})):
        yield from (f"{at}: the example is not as its schema says: {fault}" for fault in document.faults_of(schema, value))


def run():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--make", metavar="VERSION", help="keep the document of this tree")
    version = options.parse_args().make
    if version:
        KEPT.mkdir(exist_ok=True)
        text = json.dumps(openapi.join().load(version), ensure_ascii=False, indent=1, sort_keys=True)
        (KEPT / f"{version}.json").write_text(text + "\n", encoding="utf-8")
        return 0
    now = openapi.document()
    found = sorted(set(wrong_examples(now)))
    kept = sorted(KEPT.glob("*.json"))
    for file in kept:
        old = openapi.document(json.loads(file.read_text(encoding="utf-8")))
        found += [f"{file.stem}: {one}" for one in dict.fromkeys(losses(old, now))]
    for one in found:
        print(one)
    print(f"{len(kept)} releases, {len(list(examples_in(now.resolve(now.parts['components']))))} examples, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(run())
