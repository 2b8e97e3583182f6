#!/usr/bin/env python3
"""Joins the pieces of the OpenAPI document of the API, which are the YAML files beside this program, to one document.

    join.py                                 prints the document as JSON
    join.py --release 0.1.0 --json OUT      writes it with this release in info.version
    join.py --release 0.1.0 --cpp OUT       writes a C++ source whose function openapi_json() returns it

It refuses a name that two pieces have, a $ref that leads nowhere, a component that nothing refers to, an operationId that is given twice.
What holds for all is written once in the pieces, and everywhere in the document: `every_operation` has parameters and answers of every operation,
`every_answer` headers of every answer. An object of a schema has all of its `properties` (but those of `x-optional`), and no others, where
it does not say anything else.
"""

import argparse
import json
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    # Debian's packages, which another interpreter than Debian's does not look for.
    sys.path.append("/usr/lib/python3/dist-packages")
    import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
METHODS = ("get", "put", "post", "delete", "patch")
LITERAL_BYTES = 4_000  # of a line of the source


class refused(Exception):
    """The sentence is for whoever wrote a piece."""


class loader(yaml.SafeLoader):
    """A key that is given twice is refused, and one without a value: a comma in a text that has no quotes makes such keys."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, value in node.value:
            name = self.construct_object(key, deep=deep)
            line = f"{node.start_mark.name}, line {key.start_mark.line + 1}: '{name}'"
            if name in seen:
                raise refused(f"{line} is given twice")
            if value.tag == "tag:yaml.org,2002:null":
                raise refused(f"{line} has no value")
            seen.add(name)
        return super().construct_mapping(node, deep)


def read_pieces(folder=FOLDER):
    """The head first, so that the document begins with it."""
    out = []
    for path in sorted(folder.glob("*.yaml"), key=lambda one: (one.name != "head.yaml", one.name)):
        with open(path, encoding="utf-8") as file:
            made = loader(file)
            made.name = path.name
            out.append((path.name, made.get_single_data()))
    return out


def merge(into, piece, where, name):
    """Objects of the top, of paths and of components are parts of one; anything else belongs to one piece."""
    for key, value in piece.items():
        at = f"{where}/{key}"
        if at in ("/paths", "/components") or where == "/components":
            merge(into.setdefault(key, {}), value, at, name)
        elif key in into:
            raise refused(f"{name}: '{at}' is in another piece already")
        else:
            into[key] = value


def operations(document):
    """(path, method, operation) of each."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def write_out(document):
    """What is written once becomes part of each operation and answer."""
    of_all = document.pop("every_operation")
    everywhere, parameters = of_all["responses"], of_all.get("parameters", [])
    headers = document.pop("every_answer")["headers"]
    seen = set()
    for path, method, operation in operations(document):
        given = operation.get("operationId", "")
        if not re.fullmatch(r"[a-z][a-z_]*", given) or given in seen:
            raise refused(f"{method.upper()} {path}: the operationId '{given}' is none, or given twice")
        seen.add(given)
        if parameters:
            operation["parameters"] = operation.get("parameters", []) + parameters
        own = operation["responses"]
        operation["responses"] = dict(sorted({**everywhere, **own}.items()))
    for _, _, operation in operations(document):
        for answer in operation["responses"].values():
            if "$ref" not in answer:
                answer["headers"] = {**headers, **answer.get("headers", {})}
    for answer in document["components"]["responses"].values():
        answer["headers"] = {**headers, **answer.get("headers", {})}
    for schema in document["components"].get("schemas", {}).values():
        close_objects(schema)


def close_objects(schema):
    if isinstance(schema, list):
        for one in schema:
            close_objects(one)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        optional = schema.pop("x-optional", [])
        for name in optional:
            if name not in schema["properties"]:
                raise refused(f"'{name}' is optional, and no property")
        schema.setdefault("required", [name for name in schema["properties"] if name not in optional])
        schema.setdefault("additionalProperties", False)
    for key, value in schema.items():
        if key == "properties":
            for one in value.values():
                close_objects(one)
        else:
            close_objects(value)


def references(part):
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for one in part:
            yield from references(one)


def resolve(document, reference):
    """None: it leads nowhere."""
    at = document
    if not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        at = at.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
    return at


def check(document):
    # `security` names its schemes without a $ref.
    used = {f"#/components/securitySchemes/{name}" for one in document.get("security", []) for name in one}
    waiting = list(references(document["paths"]))
    while waiting:
        one = waiting.pop()
        if one in used:
            continue
        used.add(one)
        target = resolve(document, one)
        if target is None:
            raise refused(f"the $ref {one} leads nowhere")
        waiting += references(target)
    for kind, all_of_kind in document["components"].items():
        for name in all_of_kind:
            if f"#/components/{kind}/{name}" not in used:
                raise refused(f"nothing refers to components/{kind}/{name}")


def load(release="", folder=FOLDER, with_sections=False):
    """`with_sections`: operations have their x-section, which is for page.py alone."""
    document = {}
    for name, piece in read_pieces(folder):
        merge(document, piece, "", name)
    if not with_sections:
        for _, _, operation in operations(document):
            operation.pop("x-section", None)
    write_out(document)
    check(document)
    document["info"]["version"] = release or "0"
    return document


def to_json(document):
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def literals(text):
    """As C++ literals; a piece ends between two characters."""
    piece, size = [], 0
    for one in text:
        piece.append(one)
        size += len(one.encode())
        if size >= LITERAL_BYTES:
            yield literal(piece)
            piece, size = [], 0
    yield literal(piece)


def literal(piece):
    return '"' + "".join(piece).replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").replace("\n", "\\n") + '"'


def to_cpp(text):
    lines = "\n".join(f"      {one}" for one in literals(text))
    return f"""// Made by app/api/openapi/join.py.
#include "app/api/openapi.hpp"

namespace fairlead::app::api {{

std::string_view openapi_json() {{
  static constexpr std::string_view all =
{lines};
  return all;
}}

}}  // namespace fairlead::app::api
"""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--release", default="", help="of the program, for info.version")
    options.add_argument("--json", help="write the document to this file")
    options.add_argument("--cpp", help="write a C++ source with the document to this file")
    given = options.parse_args()
    try:
        text = to_json(load(given.release))
    except (refused, yaml.YAMLError) as why:
        sys.exit(f"join.py: {why}")
    if given.cpp:
        pathlib.Path(given.cpp).write_text(to_cpp(text), encoding="utf-8")
    if given.json:
        pathlib.Path(given.json).write_text(text, encoding="utf-8")
    if not given.cpp and not given.json:
        print(text)


if __name__ == "__main__":
    main()
