#!/usr/bin/env python3
"""Holds config/schemas/workflow.schema.json against the program: what one of them knows, the other knows.

- every workflow of the repository fits the schema
- the keys, the words and the defaults of the schema are those of the program and of docs/workflows.md
- files that are spoilt in one place are refused by both, or by neither; what needs more than a schema, such as a cycle, is left to the program
- files that are made at random and sound are accepted by both
- what `workflow new` writes is sound, and nothing is overwritten

    FAIRLEAD_BIN=… workflow_schema_test.py [--seed N]
"""

import argparse
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError:
    # Debian's packages, which another interpreter than Debian's does not look for.
    sys.path.append("/usr/lib/python3/dist-packages")
    import jsonschema
    import yaml

from workflow_schema_files import UNKNOWN, file_with_every_key, maker, spoilt

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("FAIRLEAD_BIN", "fairlead")
SCHEMA_FILE = ROOT / "config" / "schemas" / "workflow.schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
FITS = jsonschema.Draft7Validator(SCHEMA)
MOST_FILES = 200  # of one run of the program

blamed = []


def blame(sentence):
    blamed.append(sentence)
    print(sentence, file=sys.stderr)


class loader(yaml.SafeLoader):
    """YAML 1.2, as the program and editors read it: `on` is a text, and so is a time."""


loader.yaml_implicit_resolvers = {}
for tag, form, first in (("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"), ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
                         ("int", r"-?(0|[1-9][0-9]*)", "-0123456789"),
                         ("float", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", "-0123456789")):
    loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^({form})$"), first)


def read(text):
    return yaml.load(text, Loader=loader)


def fits(document):
    """What the schema says: an empty text, or its first complaint."""
    wrong = jsonschema.exceptions.best_match(FITS.iter_errors(document))
    return "" if wrong is None else f"{'.'.join(map(str, wrong.absolute_path))}: {wrong.message[:200]}"


def run(*words, folder=None):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder, check=False)


def check(documents):
    """What the program says of each: the list of its problems, as `workflow check --json` has them."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(0, len(documents), MOST_FILES):
            names = {}
            for number, document in enumerate(documents[begin:begin + MOST_FILES]):
                file = pathlib.Path(folder) / f"{number}.yaml"
                # JSON is YAML.
                file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
                names[str(file)] = []
            checked = run("workflow", "check", *names, "--json")
            for problem in json.loads(checked.stdout)["problems"]:
                names[problem["file"]].append(problem)
            found.extend(names.values())
    return found


def told(problems):
    return "; ".join(f"{one['where']}: {one['sentence']}" for one in problems) or "sound"


# What a schema can say. Whatever else the program finds needs a look at several places, or at an expression.
STRUCTURAL = re.compile(r"this key is not known here|this key is missing|^expected (text|a map|a list|true or false|a duration such as|a whole number|a number from"
                        r"|a single value|none or a map|an expression that gives a list|a JSON Schema|a list of rules|the name of a step|the code of a fault|a schema|a duration such as 10m)"
                        r"|^expected \w+(, \w+)* or \w+, found|^the text is empty|no effect here|exclude one another|only a step that waits|has nothing to undo"
                        r"|is not a valid|a workflow needs at least one step|needs a timeout|is not the code of a fault|is not a keyword|is not supported"
                        r"|the agent is missing|has no agent$|the call of the agent is missing|is given twice|^the workflow has on_failure: undo, so each step needs"
                        r"|has no call that undoes it|cannot be a step of the end|does not cool off|a step of the end (cannot be|is never undone|that fails raises|waits for all)|for_each needs a call or a sub-workflow|a step with for_each (is not repeated|cannot be a step of the end)|each item would be a pivot|and a pivot is never undone|^a pivot is never undone")


def compare(cases, what):
    """cases: (name, document). Neither may call wrong what the other takes, as far as a schema can say it."""
    for (name, document), problems in zip(cases, check([document for _, document in cases])):
        wrong = fits(document)
        structural = [one for one in problems if STRUCTURAL.search(one["sentence"])]
        if wrong and not problems:
            blame(f"{what}, {name}: the schema refuses what the program takes: {wrong}")
        elif structural and not wrong:
            blame(f"{what}, {name}: the schema takes what the program refuses: {told(structural)}")


# ---- files ----

def workflows():
    """(name, document) of each workflow in the repository, also those inside of pages."""
    for file in sorted([*ROOT.glob("config/**/*.yaml"), *ROOT.glob("docs/examples/**/*.yaml"), *ROOT.glob("tests/scenarios/*.yaml")]):
        text = file.read_text(encoding="utf-8")
        if re.search(r"^workflow:", text, flags=re.M) and re.search(r"^steps:", text, flags=re.M):
            yield str(file.relative_to(ROOT)), read(text)
    for page in sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")]):
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S):
            if re.match(r"workflow:", block):
                yield page.name, read(block)


def check_examples(examples):
    if len(examples) < 12:
        blame(f"only {len(examples)} workflows were found: the repository or this test is wrong")
    for name, document in examples:
        if wrong := fits(document):
            blame(f"{name} does not fit the schema: {wrong}")


# ---- keys, words, defaults ----

KINDS = {"call": {"agent": "x", "call": "y"}, "wait": {"wait": "10m"}, "signal": {"signal": "go", "timeout": "1h"}, "value": {"with": 1}, "workflow": {"workflow": "other"}}
# A value for each key of a step that is right beside any other key.
SAMPLES = {"needs": "before", "join": "any", "finally": True, "when": "${ .input.a }", "agent": "x", "call": "y", "wait": "10m", "signal": "go", "workflow": "other", "with": {"a": 1},
           "input_type": "a.B", "output_type": "a.B", "timeout": "5s", "on_timeout": "continue", "heartbeat": "1s", "labels": {"zone": "eu"},
           "retry_for": "1h", "attempts": 3, "backoff": {"first": "1s"}, "retry": [{"on": "busy"}], "in_doubt": "park", "on_failure": "park",
           "cool_off": "1m", "callback": {"timeout": "1d"}, "repeat": {"until": "${ .input.a }"}, "for_each": "${ .input.list }", "pivot": True, "undo": "none"}


def workflow_of(step, **more):
    return {"workflow": "w", **more, "steps": {"before": {"with": 1}, "a": step}}


def resolved(schema):
    """With the definition that it names, as editors see it."""
    if "$ref" not in schema:
        return schema
    found = SCHEMA
    for word in schema["$ref"].removeprefix("#/").split("/"):
        found = found[word]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


STEP = SCHEMA["definitions"]["step"]["properties"]
ROOT_KEYS = SCHEMA["properties"]


def sections():
    """Of each map with keys of its own: its name, its keys in the schema, and a document in which it has one more key."""
    def with_key(base, key):
        return {**base, UNKNOWN: 1} if key is None else {**base, key: {**base[key], UNKNOWN: 1}}

    call = KINDS["call"]
    yield "the workflow", ROOT_KEYS, {**workflow_of(call), UNKNOWN: 1}
    for name, value in (("backoff", {}), ("callback", {"timeout": "1d"}), ("repeat", {"until": "${ .input.a }"}), ("for_each", {"items": "${ .input.list }"}), ("undo", {"call": "z"})):
        section = resolved(STEP[name])
        keys = resolved(section["anyOf"][1])["properties"] if "anyOf" in section else section["properties"]
        yield name, keys, workflow_of(with_key({**call, name: value}, name))
    yield "a rule of retry", resolved(STEP["retry"]["items"])["properties"], workflow_of({**call, "retry": [{"on": "busy", UNKNOWN: 1}]})


def known_keys(problems):
    """As the program lists them where it meets a key that is like none."""
    for one in problems:
        if listed := re.match(r"known keys: (.*)", one["remedy"]):
            return set(re.findall(r"[\w$-]+", listed[1])) - {"or", "and"}
    return set()


@functools.lru_cache(maxsize=None)
def later_keys():
    """Keys of a step that the schema has and the program names as those of a later release."""
    keys = list(STEP)
    found = check([workflow_of({**KINDS["call"], key: SAMPLES.get(key)}) for key in keys])
    return frozenset(key for key, problems in zip(keys, found) if any("not supported yet" in one["sentence"] for one in problems))


def check_keys():
    names, keys, documents = zip(*sections())
    for name, of_schema, problems in zip(names, keys, check(list(documents))):
        if known_keys(problems) != set(of_schema):
            blame(f"the keys of {name} are {sorted(known_keys(problems))} for the program, and {sorted(of_schema)} in the schema")
    steps = check([workflow_of({**step, UNKNOWN: 1}) for step in KINDS.values()])
    known = set().union(*map(known_keys, steps))
    if known != set(STEP) - later_keys():
        blame(f"the keys of a step are {sorted(known)} for the program, and {sorted(STEP)} in the schema")
    if set(SAMPLES) != set(STEP):
        blame(f"this test and the schema differ by the keys {sorted(set(STEP) ^ set(SAMPLES))} of a step")
        return
    cases = [(f"{key} of a step of the kind {kind}", workflow_of({**step, key: SAMPLES[key]})) for kind, step in KINDS.items() for key in STEP if key not in later_keys()]
    if "finally" not in later_keys():
        cases += [(f"{key} of a step of the end", workflow_of({**KINDS["call"], "finally": True, key: SAMPLES[key]})) for key in STEP]
        last = {**KINDS["call"], "finally": True}
        cases += [(f"join: {join} at the end", {"workflow": "w", "steps": {"a": last, "b": last, "c": {**last, "needs": ["a", "b"], "join": join}, "d": {}}}) for join in ("all", "any", 2)]
    each = {**KINDS["call"], "for_each": [1, 2]}
    cases += [(f"{key} of a step with for_each", workflow_of({**each, key: SAMPLES[key]})) for key in STEP]
    cases += [(f"for_each, {name}", workflow_of({**each, **more}, **outside)) for name, more, outside in
              (("which cools off", {"on_failure": "cool_off", "cool_off": "1m"}, {}), ("whose workflow cools off", {}, {"on_failure": "cool_off", "cool_off": "1m"}),
               ("which is no pivot", {"pivot": False}, {}), ("of too many at once", {"for_each": {"items": [1], "at_once": 1001}}, {}),
               ("of too long a list", {"for_each": [1] * 10_001}, {}), ("of a text", {"for_each": "parcels"}, {}))]
    cases += [(f"{kind} with the undo of a call", workflow_of({**step, "undo": {"call": "z"}})) for kind, step in KINDS.items()]
    compare(cases, "keys")
    # A sound step of each kind with each key that it may have is taken: or the comparison above would say nothing.
    taken = sum(1 for problems in check([document for _, document in cases]) if not problems)
    if taken < 25:
        blame(f"only {taken} of {len(cases)} steps with one more key are sound: this test is wrong")


def words_of(problems):
    for one in problems:
        if listed := re.match(r"expected (\w+(?:, \w+)* or \w+), found", one["sentence"]):
            return re.split(r", | or ", listed[1])
    return None


def check_words():
    cases = [("on_failure", ROOT_KEYS, lambda word: workflow_of(KINDS["call"], on_failure=word)), ("end", ROOT_KEYS, lambda word: workflow_of(KINDS["call"], end=word))]
    cases += [(key, STEP, lambda word, key=key: workflow_of({**KINDS["signal" if key == "on_timeout" else "call"], key: word})) for key in ("on_timeout", "in_doubt", "on_failure")]
    cases += [("finally", STEP, lambda word: workflow_of({**KINDS["call"], "finally": word}))] if "finally" not in later_keys() else []
    for (key, where, _), problems in zip(cases, check([make(UNKNOWN) for _, _, make in cases])):
        words = ["true" if word is True else word for word in where[key]["enum"]]
        if words_of(problems) is None or set(words_of(problems)) != set(words):
            blame(f"the words of {key} are {words_of(problems)} for the program, and {words} in the schema")
    if listed := [key for keys in (ROOT_KEYS, STEP) for key, value in keys.items() if "enum" in value and key not in {key for key, _, _ in cases} | later_keys()]:
        blame(f"this test does not know the words of {listed}")


def documented(which):
    """{key: default} of the tables of docs/workflows.md that begin with Key; None: the table gives none that could be written."""
    text = (ROOT / "docs" / "workflows.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| Key \| Default \|.*?\n\|[-| ]+\n((?:\|.*\n)+)", text, flags=re.M)[which]
    found = {}
    for row in table.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        default = re.match(r"`([^`]+)`(?=$|[;,])", cells[1])
        for key in re.findall(r"`([^`]+)`", cells[0]):
            found[key] = read(default[1]) if default and not default[1].startswith("undo.") else None
    return found


def in_schema(keys, key):
    first, _, rest = key.partition(".")
    if first not in keys:
        return None
    found = resolved(keys[first])
    if not rest:
        return found
    found = resolved(found["items"]) if "items" in found else resolved(found["anyOf"][1]) if "anyOf" in found else found
    return in_schema(found["properties"], rest)


def all_keys(keys, prefix=""):
    for key, value in keys.items():
        yield prefix + key
        value = resolved(value)
        inner = resolved(value["items"]) if "items" in value else resolved(value["anyOf"][1]) if "anyOf" in value else value
        if not prefix and key != "input":
            yield from all_keys(inner.get("properties", {}), f"{key}.")


def check_pages():
    for which, keys in ((0, ROOT_KEYS), (1, STEP)):
        told_there = documented(which)
        missing = set(all_keys(keys)) - set(told_there) - later_keys()
        if missing:
            blame(f"docs/workflows.md has no row of {sorted(missing)}")
        for key, default in told_there.items():
            found = in_schema(keys, key)
            if found is None:
                blame(f"docs/workflows.md has the key {key}, and the schema has not")
            elif default is not None and found.get("default") != default:
                blame(f"the default of {key} is {default} in docs/workflows.md, and {found.get('default')} in the schema")
    for name, section in (("workflow", ROOT_KEYS), ("step", STEP)):
        for key, value in section.items():
            if not value.get("description"):
                blame(f"the key {key} of a {name} has no description in the schema")


def check_input_keywords():
    """Of the schema that `input` holds. Draft 7 has a sample of most keywords in its own description."""
    samples = {"type": "string", "properties": {"a": True}, "required": ["a"], "additionalProperties": False, "items": {"type": "string"}, "contains": {"type": "string"}, "enum": [1],
               "const": 1, "anyOf": [True], "oneOf": [True], "allOf": [True], "not": {"type": "string"}, "if": True, "then": True, "else": True, "dependencies": {"a": ["b"]},
               "$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}, "definitions": {"a": True}, "multipleOf": 2, "uniqueItems": True, "title": "a", "description": "a", "$comment": "a",
               "format": "date", "default": 1, "examples": [1], "$schema": "http://json-schema.org/draft-07/schema#"}
    others = {"pattern": "a", "patternProperties": {"a": True}, "propertyNames": True, "additionalItems": True, "prefixItems": [True], "dependentRequired": {"a": ["b"]},
              "unevaluatedProperties": False, "$id": "a", "id": "a", "readOnly": True, "contentMediaType": "a", "contentEncoding": "a", UNKNOWN: 1}
    known = SCHEMA["definitions"]["schema_map"]["properties"]
    of_draft = set(jsonschema.Draft7Validator.META_SCHEMA["properties"])
    if unknown := of_draft - set(known) - set(others):
        blame(f"this test does not know the keywords {sorted(unknown)}")

    def spoken_of(keyword, value):
        beside = {"$ref": {"$defs": samples["$defs"]}, "then": {"if": True}, "else": {"if": True}}.get(keyword, {})
        return workflow_of(KINDS["call"], input={keyword: value, **beside})

    cases = [(keyword, spoken_of(keyword, samples.get(keyword, 1))) for keyword in known]
    for (keyword, document), problems in zip(cases, check([document for _, document in cases])):
        if problems or fits(document):
            blame(f"the keyword {keyword} of an input: {told(problems)} for the program, {fits(document) or 'sound'} by the schema")
    wrong = {**others, **{keyword: {"zz": 1} if keyword not in ("additionalProperties", "items", "contains", "not", "if", "then", "else", "properties", "dependencies", "$defs", "definitions")
                          else "text" for keyword in known if keyword not in ("const", "default")}}
    cases = [(keyword, spoken_of(keyword, value)) for keyword, value in wrong.items()]
    for (keyword, document), problems in zip(cases, check([document for _, document in cases])):
        if not problems or not fits(document):
            blame(f"{document['input']} as an input: {told(problems)} for the program, {fits(document) or 'sound'} by the schema")


# ---- other files ----


def check_spoilt(examples, chance, most):
    full = file_with_every_key(later_keys())
    if problems := check([full])[0]:
        blame(f"the file with every key is refused: {told(problems)}")
    cases = [(f"{name}, {what}", document) for name, whole in examples for what, document in spoilt(whole)]
    chance.shuffle(cases)
    cases = [(f"full, {what}", document) for what, document in spoilt(full)] + cases[:most]
    compare(cases, "spoilt")
    print(f"{len(cases)} spoilt files compared")


def check_made(chance, count):
    made = [maker(chance, later_keys()).workflow() for _ in range(count)]
    for document, problems in zip(made, check(made)):
        if problems:
            blame(f"the program refuses a file made at random: {told(problems)}: {json.dumps(document)}")
        if wrong := fits(document):
            blame(f"the schema refuses a file made at random: {wrong}: {json.dumps(document)}")
    return [(f"made {number}", document) for number, document in enumerate(made)]


# ---- the commands ----

def check_commands():
    printed = run("workflow", "schema")
    if printed.returncode != 0 or printed.stdout != SCHEMA_FILE.read_text(encoding="utf-8"):
        blame(f"`workflow schema` does not print {SCHEMA_FILE.name}: {printed.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kinds = re.search(r"order\|poll\|approval\|list", run("workflow", "new", "--help").stdout)
        for kind in kinds[0].split("|") if kinds else ["order"]:
            made = run("workflow", "new", f"my_{kind}", "--kind", kind, folder=folder)
            file = folder / f"my_{kind}.yaml"
            if made.returncode != 0 or not file.exists():
                blame(f"`workflow new --kind {kind}` gives {made.returncode}: {made.stdout}{made.stderr}")
                continue
            text = file.read_text(encoding="utf-8")
            if not text.startswith("# yaml-language-server: $schema=workflow.schema.json\n"):
                blame(f"the {kind} of `workflow new` does not name the schema in its first line")
            checked = run("workflow", "check", file)
            if checked.returncode != 0 or f"workflow my_{kind} with" not in checked.stdout:
                blame(f"the {kind} of `workflow new` is refused: {checked.stdout}{checked.stderr}")
            if wrong := fits(read(text)):
                blame(f"the {kind} of `workflow new` does not fit the schema: {wrong}")
            if max(map(len, text.splitlines())) > 140:
                blame(f"the {kind} of `workflow new` has lines of more than 140 characters")
        check_refusals_of_new(folder)
        check_names_of_sub_workflows(folder)


def check_names_of_sub_workflows(folder):
    """Which workflows are deployed is not known without a node, so only a name that is nearly that of another file deserves a warning."""
    shipment = folder / "shipment.yaml"
    shipment.write_text("workflow: shipment\nsteps: { pack: {} }\n", encoding="utf-8")
    for name, warned in (("shipment", False), ("shipmnet", True), ("letter", False), ("sale", False)):
        sale = folder / "sale.yaml"
        sale.write_text(f"workflow: sale\nsteps:\n  ship: {{ workflow: {name} }}\n", encoding="utf-8")
        for files in ((sale, shipment), (shipment, sale), (sale,)):
            checked = run("workflow", "check", *files, "--json")
            warnings = json.loads(checked.stdout)["warnings"]
            wanted = [f"none of these files is workflow {name}, but one of them is workflow shipment"] if warned and len(files) == 2 else []
            if checked.returncode != 0 or [one["sentence"] for one in warnings] != wanted:
                blame(f"`workflow check` of {len(files)} files, one of which names {name}, gives {checked.returncode}: {checked.stdout}{checked.stderr}")


def check_refusals_of_new(folder):
    file = folder / "mine.yaml"
    file.write_text("mine", encoding="utf-8")

    def refused(code, sentence, *words):
        out = run("workflow", "new", *words, folder=folder)
        if out.returncode != code or sentence not in out.stderr:
            blame(f"`workflow new {' '.join(words)}` gives {out.returncode}: {out.stderr}, and {code} with `{sentence}` was expected")

    refused(4, "The file mine.yaml is there already", "mine")
    refused(4, "The file mine.yaml is there already", "order", "--file", "mine.yaml")
    refused(2, '"Mine" is not a valid name of a workflow', "Mine")
    refused(2, "is a folder", "mine", "--file", str(folder))
    refused(2, "--kind", "other", "--kind", "nothing")
    if file.read_text(encoding="utf-8") != "mine":
        blame("`workflow new` has overwritten a file")
    replaced = run("workflow", "new", "mine", "--force", "--json", folder=folder)
    if replaced.returncode != 0 or json.loads(replaced.stdout) != {"workflow": "mine", "file": "mine.yaml"} or "workflow: mine\n" not in file.read_text(encoding="utf-8"):
        blame(f"`workflow new --force` gives {replaced.returncode}: {replaced.stdout}{replaced.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of what is made at random")
    parser.add_argument("--made", type=int, default=300, help="how many files are made at random")
    parser.add_argument("--spoilt", type=int, default=1500, help="how many spoilt files are compared, apart from those of the file with every key")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    examples = list(workflows())
    check_examples(examples)
    check_keys()
    check_words()
    check_pages()
    check_input_keywords()
    made = check_made(chance, options.made)
    check_spoilt([*examples, *made[:40]], chance, options.spoilt)
    check_commands()
    if blamed:
        sys.exit(f"{len(blamed)} complaints")
    print(f"the schema fits the program: {len(examples)} workflows of the repository, {options.made} made at random")


if __name__ == "__main__":
    main()
