#!/usr/bin/env python3
"""Makes the table of paths in docs/api.md from the pieces of the OpenAPI document.

    page.py            writes the table anew
    page.py --check    only says whether it is as it would be written; exit code 1 if not

A row has the `summary` of the operation. `x-section` of an operation is where its path is explained: `#list-tasks`, or `security.md#audit`.
Paths are grouped by tag, in the order of the tags.
"""

import argparse
import sys

import join

PAGE = join.FOLDER.parents[2] / "docs" / "api.md"
BEGIN = "<!-- The table of paths is made by app/api/openapi/page.py. -->"
END = "<!-- End of the table of paths. -->"
PAGED = {"page_size", "cursor"}
HEAD = ["| Method | Path | What it does | Parameters of the query, and fields of the body |", "|---|---|---|---|"]


def resolve(document, part):
    return join.resolve(document, part["$ref"]) if "$ref" in part else part


def code(name, schema):
    """A name, and the words that it may have."""
    words = schema.get("enum") or schema.get("items", {}).get("enum") or []
    return f"`{name}`" + (" (" + ", ".join(f"`{word}`" for word in words) + ")" if words else "")


def taken(document, item, operation):
    """What a request may have besides the parts of its path."""
    query = [resolve(document, one) for one in item.get("parameters", []) + operation.get("parameters", [])]
    query = [one for one in query if one["name"] != "namespace"]  # every path has it: the page says so once
    query = [one for one in query if one["in"] == "query"]
    out = [code(one["name"], one["schema"]) for one in query if one["name"] not in PAGED]
    if PAGED <= {one["name"] for one in query}:
        out.append("pages")
    content = resolve(document, operation.get("requestBody", {})).get("content", {})
    if any("yaml" in media for media in content):
        out.append("a file as the body")
    elif "application/json" in content:
        schema = resolve(document, content["application/json"]["schema"])
        out += [code(name, one) for name, one in schema.get("properties", {}).items()]
    return ", ".join(out)


def place_of(document, path, operation):
    tags = [one["name"] for one in document["tags"]]
    tag = operation["tags"][0]
    if tag not in tags:
        raise join.refused(f"{path}: head.yaml has no tag '{tag}'")
    # A tag's own path goes first: /v1/tasks before /v1/ended.
    own = path.startswith(f"/v1/{tag}") and path.removeprefix(f"/v1/{tag}")[:1] in ("", "/", ":")
    return tags.index(tag), not own, path


def table(document):
    rows = []
    for path, method, operation in join.operations(document):
        said = operation["summary"].removesuffix(".").replace("|", "\\|")
        if "x-section" in operation:
            said = f"[{said}]({operation['x-section']})"
        cells = [f"`{method.upper()}`", f"`{path}`", said, taken(document, document["paths"][path], operation)]
        rows.append((place_of(document, path, operation), join.METHODS.index(method), "| " + " | ".join(cells) + " |"))
    return HEAD + [row for _, _, row in sorted(rows)]


def with_table(text, document):
    """The page with the table as it should be."""
    before, begin, rest = text.partition(BEGIN + "\n")
    _, end, behind = rest.partition(END + "\n")
    if not begin or not end:
        raise join.refused(f"docs/api.md lacks a line: '{BEGIN}' or '{END}'")
    return before + begin + "\n" + "\n".join(table(document)) + "\n\n" + end + behind


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true", help="write nothing")
    given = options.parse_args()
    try:
        is_now = PAGE.read_text(encoding="utf-8")
        wanted = with_table(is_now, join.load(with_sections=True))
    except (join.refused, join.yaml.YAMLError) as why:
        sys.exit(f"page.py: {why}")
    if is_now == wanted:
        return
    if given.check:
        sys.exit("page.py: the table of paths in docs/api.md is not that of the OpenAPI document. Run: python3 app/api/openapi/page.py")
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
