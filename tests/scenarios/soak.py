#!/usr/bin/env python3
"""Runs for as long as it is given what tries to break Fairlead, and adds what came of it, by commit, to docs/reliability.md.

In turns: seeds that the simulator has never run, of whole shards and of consensus alone, kills of a node, faults of a cluster and of its machines, cut
connections between its nodes, nodes that come and go, an API among right and wrong clients, power cuts, and changed bytes of a journal and of what replicas send each other. What is in progress when the time is over
still ends. Counts of a tree with changes that are not committed are printed and not recorded.

    tests/scenarios/soak.py [--minutes N] [--replicated | --api | --only TEST]
"""

import argparse
import datetime
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys
import time

import harness

SIMULATE = harness.ROOT / "build" / "release" / "bin" / "simulate"
FUZZ = harness.ROOT / "build" / "fuzz"
PAGE = harness.ROOT / "docs" / "reliability.md"
LOGS = harness.ROOT / "build" / "soak"
SKIPPED = 75
SEEDS = 20_000  # a turn
FUZZ_SECONDS = {"journal_fuzz": 600, "replica_fuzz": 300, "copy_fuzz": 60}
OF_THE_API = (("api_fuzz", "--seconds", "600"), ("api_idle",), ("work_faults", "--long"))
EVERYTHING = (("simulate",), ("consensus",), ("replicated",), ("kill_loop", "--kills", "50"), ("cluster_faults", "--faults", "40"), ("cluster_netns", "--cuts", "20"),
              ("replicated_faults", "--kills", "20", "--stops", "10", "--all", "5"), ("replicated_netns", "--cuts", "20"),
              ("replicated_copies", "--installs", "9"), ("replicated_lost_disks", "--disks", "6"), ("replicated_recovery", "--times", "3"),
              ("replicated_members", "--changes", "10"), ("replicated_damage", "--flips", "8"),
              ("replicated_hosts", "--clocks", "6", "--full", "3", "--stalled", "5"), ("replicated_rolls", "--rolls", "4"), ("replicated_upgrade",),
              ("replicated_shards", "--rounds", "3"), ("api_soak", "--seconds", "600", "--idle", "2000"), *OF_THE_API,
              ("power_cut", "--cuts", "1670", "--seconds", "60"), *((each,) for each in FUZZ_SECONDS))
COUNTS = ("seeds", "failed seeds", "consensus seeds", "replicated seeds", "kills", "cluster kills", "cluster stops", "cluster cuts", "leader kills",
          "replica stops", "all killed", "replica cuts", "copies", "lost disks", "changes of nodes", "recoveries", "host faults", "rolls", "power cuts",
          "fuzz inputs", "worker faults", "API seconds", "API requests", "orders", "failed runs")
NEXT_SEED = re.compile(r"(The next fresh seed is )([\d,]+)(\.)")
ROW = re.compile(r"^\| `([0-9a-f]+)` \| ([\d-]+) \|((?: [\d,]+ \|){%d})$" % len(COUNTS), flags=re.M)
EMPTY_TABLE = re.compile(r"^\| Commit \|.*\n\|[-| ]+\|\n", flags=re.M)


# ---- the page ----

def next_seed(page):
    """The first seed that no recorded run has used."""
    return int(NEXT_SEED.search(page)[2].replace(",", ""))


def recorded(page, commit, day, counts, seed):
    """The page with `counts` added to the row of `commit`, and `seed` as the next fresh one. Newest commits stand first."""
    page = NEXT_SEED.sub(lambda found: f"{found[1]}{max(seed, next_seed(page)):,}{found[3]}", page)
    known = next((row for row in ROW.finditer(page) if row[1] == commit), None)
    before = [int(cell.replace(",", "")) for cell in known[3].strip(" |").split("|")] if known else [0] * len(COUNTS)
    cells = " | ".join(f"{was + counts.get(name, 0):,}" for was, name in zip(before, COUNTS))
    row = f"| `{commit}` | {day} | {cells} |"
    if known:
        return page[:known.start()] + row + page[known.end():]
    table = EMPTY_TABLE.search(page)
    return page[:table.end()] + row + "\n" + page[table.end():]


# ---- what is run ----

def sums_of(said):
    """What the last lines of a simulator run or a scenario say was done."""
    patterns = {"seeds": r"^(\d+) seeds, \d+ failed", "failed seeds": r"^\d+ seeds(?: with replicas)?, (\d+) failed",
                "consensus seeds": r"^(\d+) seeds of consensus, \d+ failed",
                "replicated seeds": r"^(\d+) seeds with replicas, \d+ failed", "kills": r"^kills (\d+) counted",
                "cluster kills": r"^(\d+) kills and \d+ stops", "cluster stops": r"^\d+ kills and (\d+) stops",
                "cluster cuts": r"^([\d.]+ s cut), whole again", "replica cuts": r"^(replicas cut for [\d.]+ s)",
                "leader kills": r"^(\d+) kills of the leader,", "replica stops": r"^\d+ kills of the leader, (\d+) stops,",
                "all killed": r"(\d+) times all at once$", "copies": r"^(\d+) copies of the state were put in place",
                "lost disks": r"^(\d+) disks were lost", "changes of nodes": r"^(\d+) changes of nodes",
                "recoveries": r"^(\d+) times the majority of the disks was lost",
                "host faults": r"^(\d+) clocks were set, (\d+) disks were full, (\d+) disks did not answer",
                "rolls": r"^(\d+) times all nodes were started again", "power cuts": r"^(\d+) disks, \d+ of them",
                "fuzz inputs": r"^Done (\d+) runs in",
                "worker faults": r"^(\d+) faults of workers and nodes",
                "API seconds": r"^the API was soaked for (\d+) s: \d+ requests",
                "API requests": r"(?:^the API was soaked for \d+ s: (\d+) requests|^ok  (\d+) requests \()",
                "orders": r"(?:orders acknowledged (\d+), requests|^(\d+) orders acknowledged, \d+ requests)"}
    sums = {}
    for name, pattern in patterns.items():
        found = re.findall(pattern, said, flags=re.M)
        if name.endswith(" cuts") and name != "power cuts":
            sums[name] = len(found)
        else:
            sums[name] = sum(int(part) for one in found for part in (one if isinstance(one, tuple) else (one,)) if part)
    return sums


def chosen(replicated=False, api=False, only=()):
    """(name, options…) of each test of a round."""
    if only:
        return [one for one in EVERYTHING if one[0] in only]
    if replicated:
        return [one for one in EVERYTHING if one[0].startswith("replica") or one[0] in ("consensus", "copy_fuzz")]
    if api:
        return [("api_soak", "--seconds", "3600", "--idle", "5000"), *OF_THE_API]
    return [one for one in EVERYTHING if one not in OF_THE_API[:2]]


def turns(seed, which):
    """(name, command, the next fresh seed when it is through), for ever. `which`: see `chosen`."""
    # Tests of the simulator use the same seeds in one round.
    first = next((name for name, *_ in which if name in ("simulate", "consensus", "replicated")), None)
    for name, *options in itertools.cycle(which):
        if name == first:
            seed += SEEDS
        if name == "simulate":
            yield name, [str(SIMULATE), "--seeds", str(SEEDS), "--from", str(seed - SEEDS)], seed
        elif name in ("consensus", "replicated"):
            yield name, [str(SIMULATE), "--" + name, "--seeds", str(SEEDS), "--from", str(seed - SEEDS)], seed
        elif name in FUZZ_SECONDS:
            corpus = FUZZ / "corpus" / name.removesuffix("_fuzz")
            corpus.mkdir(parents=True, exist_ok=True)
            yield name, [str(FUZZ / "bin" / name), f"-max_total_time={FUZZ_SECONDS[name]}", f"-artifact_prefix={LOGS}/", str(corpus)], seed
        else:
            folder = "power_cut" if name == "power_cut" else "scenarios"
            yield name, [sys.executable, "-B", str(harness.ROOT / "tests" / folder / (name + ".py")), *options], seed


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True, cwd=harness.ROOT).stdout.strip()


def commit_of_tree():
    """None: there are changes besides the page that this program writes."""
    changed = [line for line in git("status", "--porcelain").splitlines() if not line.endswith(str(PAGE.relative_to(harness.ROOT)))]
    return None if changed else git("rev-parse", "--short=9", "HEAD")


def one_turn(name, command, log):
    """Its exit code and what it said; the log is kept where it failed."""
    began = time.monotonic()
    with open(log, "w", encoding="utf-8") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=harness.ROOT).returncode
    said = log.read_text(encoding="utf-8", errors="replace")
    how = "skipped" if code == SKIPPED else "ok" if code == 0 else f"FAILED ({code}), see {log.relative_to(harness.ROOT)}"
    print(f"{' '.join([name, *command[3 if command[0] == sys.executable else 1:]])}: {how}, {time.monotonic() - began:.0f} s", flush=True)
    if code in (0, SKIPPED):
        log.unlink()
    return code, said


def asked():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--replicated", action="store_true", help="only what is of shards on several nodes")
    parser.add_argument("--api", action="store_true", help="only what is of the API")
    parser.add_argument("--only", action="append", default=[], metavar="TEST", help="only this one, such as work_faults; may be given several times")
    options = parser.parse_args()
    names = [name for name, *_ in EVERYTHING]
    for name in options.only:
        if name not in names:
            parser.error(f"--only {name}: there is no such test; there are {', '.join(names)}")
    return options


def run(options):
    commit, failed, sums = commit_of_tree(), 0, dict.fromkeys(COUNTS, 0)
    if commit is None:
        print("this tree has changes that are not committed: the counts are not recorded", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("FAIRLEAD_BIN", str(harness.BINARY))
    which = chosen(options.replicated, options.api, options.only)
    end = time.monotonic() + 60 * options.minutes
    for number, (name, command, seed) in enumerate(turns(next_seed(PAGE.read_text(encoding="utf-8")), which)):
        code, said = one_turn(name, command, LOGS / f"{datetime.datetime.now():%Y%m%d-%H%M%S}-{number}-{name}.log")
        counts = sums_of(said) | {"failed runs": int(code not in (0, SKIPPED))}
        failed += counts["failed runs"]
        for each, value in counts.items():
            sums[each] += value
        if commit is not None:
            # After each turn: who stops it in between loses nothing.
            page = recorded(PAGE.read_text(encoding="utf-8"), commit, f"{datetime.date.today()}", counts, seed)
            PAGE.write_text(page, encoding="utf-8")
        if time.monotonic() >= end:
            break
    print(", ".join(f"{each} {value:,}" for each, value in sums.items()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    # What is asked for is looked at first: `--help` needs no build.
    harness.main(functools.partial(run, asked()))
