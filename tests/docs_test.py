#!/usr/bin/env python3
"""Holds the documentation to the repository: links lead somewhere, pages are listed, named files, scenarios and tests exist, and tables of
words (states of a step, alerts, tables of the store, what the simulator has) are those of the source. docs_program_test.py holds it to the
program.
"""

import functools
import re
import sys

from docs_pages import FOLDERS, PAGES, ROOT, blame, options_in, prose_of, report, spans_of, text_of


# ---- links, files, tests ----

def anchors_of(page):
    """As the common renderers make them of headings."""
    titles = re.findall(r"^#+ +(.*)$", prose_of(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-") for title in titles}


def check_links():
    for page in PAGES:
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose_of(page)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                blame(page, f"the link {target} leads nowhere")
            elif anchor and anchor not in anchors_of(file):
                blame(page, f"the link {target} names no heading of {file.name}")


def check_index():
    """Every page stands in docs/README.md; decisions have an index of their own."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name != "README.md" and f"]({page.name})" not in text_of(ROOT / "docs" / "README.md"):
            blame(ROOT / "docs" / "README.md", f"{page.name} is not listed")
    for page in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md")):
        if f"]({page.name})" not in text_of(ROOT / "docs" / "adr" / "README.md"):
            blame(ROOT / "docs" / "adr" / "README.md", f"{page.name} is not listed")


def check_named_files():
    for page in PAGES:
        for span in spans_of(prose_of(page)):
            path = re.match(rf"((?:{'|'.join(FOLDERS)})/[\w./*-]*)(?::|$)", span)
            if path and not list(ROOT.glob(path[1].rstrip("/"))):
                blame(page, f"there is no {path[1]}")


def check_named_scenarios():
    """What guarantees.md calls a scenario is a file, and ctest runs it."""
    page = ROOT / "docs" / "guarantees.md"
    run_by_ctest = text_of(ROOT / "tests" / "scenarios" / "CMakeLists.txt")
    seen = 0
    for sentence in re.findall(r"scenarios? (`[^;.(]*)", prose_of(page)):
        for span in spans_of(sentence):
            if not re.fullmatch(r"[a-z_]+", span):
                continue
            seen += 1
            if not re.search(rf"fairlead_(scenario|scenario_of|nightly)\(([a-z_]+ )?{span} ", run_by_ctest):
                blame(page, f"there is no scenario {span}")
    if seen < 5:
        blame(page, f"only {seen} scenarios were recognised: the page or this check is wrong")


def check_named_tests():
    page = ROOT / "docs" / "guarantees.md"
    sources = "\n".join(text_of(file) for kind in ("test", "suite") for file in sorted((ROOT / "tests").rglob(f"*_{kind}.cpp")))
    seen = 0
    for span in spans_of(prose_of(page)):
        name = re.fullmatch(r"(?:(tests/\S+_(?:test|suite)\.cpp): )?([a-z0-9]+(?:_[a-z0-9]+){3,})", span)
        if not name or re.search(r"_(ms|bytes)$", name[2]) or name[2] in words_of_rules():
            continue
        seen += 1
        inside = text_of(ROOT / name[1]) if name[1] and (ROOT / name[1]).exists() else sources
        if not re.search(rf"\b{name[2]}\b", inside):
            blame(page, f"there is no test {span}")
    if seen < 10:
        blame(page, f"only {seen} tests were recognised: the page or this check is wrong")


# ---- tables of words ----

def first_cells(page, heading):
    """What stands in backticks in the first column of the tables below a heading of docs/PAGE."""
    section = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^## |\Z)", text_of(page), flags=re.S | re.M)
    rows = re.findall(r"^\| (.*?) \|", section[1], flags=re.M) if section else []
    return [span for row in rows for span in spans_of(row)]


@functools.cache
def words_of_rules():
    """The names of the rules by which the simulator's checker judges."""
    sources = "\n".join(text_of(file) for file in sorted((ROOT / "tests" / "simulation").rglob("*.cpp")))
    return frozenset(re.findall(r'broken\("(\w+)"', sources))


def compare(page, what, told, known):
    for word in sorted(set(known) - set(told)):
        blame(page, f"{what} {word} is missing")
    for word in sorted(set(told) - set(known)):
        blame(page, f"there is no {what} {word}")
    if not known:
        blame(page, f"no {what} was found in the source: this check is wrong")


def check_words():
    docs = ROOT / "docs"
    page = docs / "simulation.md"
    compare(page, "rule", first_cells(page, "The checker"), words_of_rules())
    failpoints = set(re.findall(r'"([a-z]+\.[a-z_]+)"', text_of(ROOT / "tests" / "simulation" / "world" / "failpoints.hpp")))
    told = {span for span in spans_of(prose_of(page)) if re.fullmatch(r"(commit|effect|evaluate|start|recover|cron|supervisor|courier|alert|archive|archiver|copy|agent)\.[a-z_]+", span)}
    compare(page, "failpoint", told, failpoints)
    faults = set(re.findall(r"bool (\w+) = false", text_of(ROOT / "actors" / "core" / "planted_faults.hpp")))
    compare(page, "planted fault", first_cells(page, "Planted faults"), faults)
    usage = text_of(ROOT / "tests" / "simulation" / "main.cpp")
    options = set(re.findall(r'name == "(--[a-z-]+)"', usage)) - {"--verbose"}
    compare(page, "option", {option for cell in first_cells(page, "Run it") for option in options_in(cell)}, options)

    for page in (docs / "guarantees.md", docs / "simulation.md"):
        for group in re.findall(r"simulator[^(;.]*\((`[^)]*)\)", prose_of(page)):
            for rule in set(spans_of(group)) - words_of_rules():
                blame(page, f"the simulator has no rule {rule}")

    kinds = set(re.findall(r'"(\w+)", v1::ALERT_KIND_', text_of(ROOT / "actors" / "core" / "alert_words.cpp")))
    states = set(re.findall(r'ALERT_STATE_\w+: return "(\w+)"', text_of(ROOT / "actors" / "core" / "alert_words.cpp")))
    page = docs / "operations.md"
    section = re.search(r"^## Alerts and parked tasks$(.*?)^### ", text_of(page), flags=re.S | re.M)[1]
    compare(page, "kind or state of alert", re.findall(r"^\| `(\w+)` \|", section, flags=re.M), kinds | states)

    events = set(re.findall(r'STATUS_KIND_\w+: return "(\w+)"', text_of(ROOT / "actors" / "replies" / "message.cpp")))
    compare(docs / "replies.md", "kind of status event", first_cells(docs / "replies.md", "What is told"), events)

    numbers = dict(re.findall(r"^  (\w+) = (\d+),", text_of(ROOT / "store" / "batch.hpp"), flags=re.M))
    tables = dict(re.findall(r"^\| (?P<n>\d+) \| `(\w+)` \|", text_of(docs / "storage.md"), flags=re.M))
    known = {f"{number} {name}" for name, number in numbers.items() if name not in ("put", "erase")}
    compare(docs / "storage.md", "table", {f"{number} {name}" for number, name in tables.items()}, known)

    # The transitions of steps and launches, by the tables of their machines: name, from, to.
    page = docs / "architecture.md"
    core = ROOT / "actors" / "core"
    tables = text_of(core / "task" / "transitions.hpp") + text_of(core / "job" / "transitions.hpp")
    drawn = {(name, source.replace("_", " "), target.replace("_", " "))
             for name, sources, target in re.findall(r'(?:step|launch)_transition \w+\{"(\w+)", any_of\((.*?)\), at::(\w+)\}', tables)
             for source in re.findall(r"at::(\w+)", sources)}
    if len(drawn) < 27:
        blame(page, f"only {len(drawn)} transitions were found in the source: this check is wrong")
    rows = re.findall(r"^\| (\w+) \| ([a-z ,]+) \| ([a-z ]+) \|", text_of(page), flags=re.M)
    told = {(name, source, target) for name, sources, target in rows for source in sources.split(", ")}
    compare(page, "transition", {" ".join(one) for one in told}, {" ".join(one) for one in drawn})
    chart = {(name, source.replace("_", " "), target.replace("_", " "))
             for source, target, names in re.findall(r"^  (\w+) --> (\w+): (.*)$", text_of(page), flags=re.M) for name in names.split(", ")}
    # What is recorded for the first time comes from nowhere.
    compare(page, "arrow", {" ".join(one) for one in chart}, {" ".join(one) for one in drawn if one[1] != "none"})


def main():
    check_links()
    check_index()
    check_named_files()
    check_named_scenarios()
    check_named_tests()
    check_words()
    return report("")


if __name__ == "__main__":
    sys.exit(main())
