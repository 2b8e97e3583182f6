#!/usr/bin/env python3
"""The demo with orders that nobody here made up; skipped, with a notice, where there are none."""

import os
import pathlib
import sys

import demo
import harness

SKIPPED = 75


def main():
    data = pathlib.Path(os.environ.get("FAIRLEAD_DATA") or harness.ROOT.parent / "shared" / "data")
    path = data / "orders.jsonl"
    if not path.exists():
        print(f"skipped: there are no real orders at {path}; FAIRLEAD_DATA names the folder that has them")
        sys.exit(SKIPPED)
    folder = harness.BINARY.parent.parent / "scenarios" / "demo_of_real_orders"
    sys.argv = [sys.argv[0], "--orders", str(path), "--folder", str(folder)]
    harness.main(demo.run)


if __name__ == "__main__":
    main()
