#!/usr/bin/env python3
"""Passes on what ctest prints, and says before its summary how much of the time budget of `.ci/run` was used.

    ctest … | tests/time_budget.py BUILD_TREE SECONDS_BEFORE

The time of a group of tests is the time during which at least one of them ran. Groups that run side by side both count it.
"""

import json
import re
import subprocess
import sys
import time

MINUTES = {"build": 14, "unit tests": 5, "simulator": 4, "scenarios": 12}
RESERVE = 5
ENDED = re.compile(r"Test +#\d+: (\S+) .*?([\d.]+) sec\s*$")
SUMMARY = re.compile(r"^\d+% tests passed")


def group_of(name, labels):
    return "scenarios" if "e2e" in labels else "simulator" if name.startswith("simulation") else "unit tests"


def groups_of(tests):
    """{name: group}, of what `ctest --show-only=json-v1` says."""
    found = {}
    for test in tests["tests"]:
        labels = next((one["value"] for one in test.get("properties", []) if one["name"] == "LABELS"), [])
        found[test["name"]] = group_of(test["name"], labels)
    return found


def covered(spans):
    """Seconds in at least one of the (begin, end)."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def table(used):
    """`used`: seconds by group."""
    lines = ["Time used of the budget of .ci/run (minutes):"]
    for group, minutes in MINUTES.items():
        over = "  OVER" if used[group] > 60 * minutes else ""
        lines.append(f"  {group:<12}{used[group] / 60:5.1f} of {minutes:2d}{over}")
    whole, limit = sum(used.values()), sum(MINUTES.values()) + RESERVE
    return "\n".join([*lines, f"  {'all':<12}{whole / 60:5.1f} of {limit:2d}, of which {RESERVE} in reserve{'  OVER' if whole > 60 * limit else ''}", ""])


def main():
    tree, before = sys.argv[1], float(sys.argv[2])
    listed = subprocess.run(["ctest", "--test-dir", tree, "--show-only=json-v1"], capture_output=True, text=True)
    groups = groups_of(json.loads(listed.stdout)) if listed.returncode == 0 else {}
    spans = {group: [] for group in MINUTES}
    for line in sys.stdin:
        if ended := ENDED.search(line):
            now = time.monotonic()
            spans[groups.get(ended[1], "unit tests")].append((now - float(ended[2]), now))
        elif SUMMARY.match(line):
            print(table({group: covered(of) for group, of in spans.items()} | {"build": before}), flush=True)
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()
