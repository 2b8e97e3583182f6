#!/usr/bin/env python3
"""Holds every source file against the house: which folder may include what, and how long a file may be.

    include_rule.py ROOT          checks the tree; prints each violation as file:line: what, exit code 1 when there are any
    include_rule.py --self-test   checks this program on planted violations

The tree's run begins with the self-test, so that a rule that catches nothing fails as well.
"""

import pathlib
import re
import sys
import tempfile

FOLDERS = ("messages", "store", "actors", "app")
MAX_LINES = 500
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Who may include which of our own folders. The longest matching prefix of a file's path counts.
OWN = {
    "messages/": ("messages/",),
    "store/": ("store/", "messages/"),
    "actors/core/": ("actors/core/", "messages/"),
    "actors/agents/": ("actors/agents/", "actors/core/", "store/", "messages/"),
    "actors/": ("actors/", "store/", "messages/"),
    "app/": ("app/", "actors/", "store/", "messages/"),
    "tests/": ("tests/", "app/", "actors/", "store/", "messages/"),
    "docs/": ("docs/", "actors/", "messages/"),
}

# Libraries that only some places may see: what an include begins with, the places, and what to call it.
LIBRARIES = (
    ("lmdb.h", ("store/lmdb/env.", "tests/"), "LMDB belongs to store/lmdb/env.*"),
    ("xxh", ("store/", "actors/core/cluster/routing.", "actors/core/cron_", "actors/core/job/job", "actors/agents/", "app/crontab_", "tests/"), "xxHash belongs to store/, to routing, cron and the agents"),
    ("curl/", ("actors/agents/", "tests/"), "libcurl belongs to the agents"),
    ("simdjson", ("actors/core/", "actors/agents/", "tests/"), "simdjson belongs to actors/core and the agents"),
    ("cctz/", ("actors/core/", "actors/system/time_zones.", "tests/"), "cctz belongs to actors/core"),
    ("jq.h", ("app/", "tests/"), "libjq belongs to the worker in app/"),
    ("jv.h", ("app/", "tests/"), "libjq belongs to the worker in app/"),
    ("spdlog/", ("app/", "tests/"), "spdlog belongs to app/"),
    ("CLI/", ("app/", "tests/"), "CLI11 belongs to app/"),
    ("yaml-cpp/", ("app/", "tests/"), "yaml-cpp belongs to app/"),
    ("histedit.h", ("app/console/reader.",), "libedit belongs to the console's reader"),
)

# CAF is for the shells in actors/ itself, the node that starts it, and its tests; not for what a client includes.
CAF_PLACES = re.compile(r"^(actors/[^/]+\.(hpp|cpp)|app/node/runtime\.cpp|app/node/setup\.(hpp|cpp)|tests/bench/bench_node\.cpp|app/console/actor\.cpp|tests/actors/.*)$")
NO_CAF = ("actors/client/client.hpp", "actors/protocol/ports.hpp", "actors/scheduler/scheduler.hpp", "actors/supervisor/supervisor.hpp", "actors/agent_host/host.hpp",
          "actors/shard/archiver.hpp", "actors/agents/backend.hpp", "actors/agents/native.hpp", "actors/core/task/task.hpp")

# What makes a decision depend on more than its arguments.
IMPURE = ("chrono_clock", "random", "iostream", "fstream", "thread", "mutex", "ctime", "unistd.h", "filesystem")


def longest(prefixes, path):
    found = [p for p in prefixes if path.startswith(p)]
    return max(found, key=len) if found else None


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def is_caf(name):
    return name.startswith("caf/")


def check_file(root, path, text):
    own = OWN[longest(OWN, path)]
    for number, quote, name in includes_of(text):
        ours = quote == '"'
        if ours and (".." in name.split("/") or "/" not in name):
            yield number, f'"{name}" is not written from the top of the tree'
        elif ours and not name.endswith(".pb.h") and not (root / name).is_file():
            yield number, f'"{name}" is not a file of this tree'
        elif ours and not name.startswith(own):
            yield number, f'"{name}" must not be included here, only {", ".join(own)}'
        elif not ours and name.split("/")[0] in FOLDERS:
            yield number, f"<{name}> is ours and belongs in quotes"
        for begin, places, rule in LIBRARIES:
            if name.startswith(begin) and not path.startswith(places):
                yield number, f"<{name}>: {rule}"
        if is_caf(name) and not CAF_PLACES.match(path):
            yield number, f"<{name}>: CAF belongs to the shells in actors/ and to app/node/runtime.cpp"
        if path.startswith("actors/core/") and name in IMPURE:
            yield number, f"<{name}>: no clock, randomness, thread or I/O in actors/core"
    lines = text.count("\n")
    if lines > MAX_LINES:
        yield lines, f"the file has {lines} lines, at most {MAX_LINES} are allowed"


def caf_behind(root, header, seen):
    """The chain of our own headers from `header` to CAF, or None."""
    if header in seen or not (root / header).is_file():
        return None
    seen.add(header)
    for number, quote, name in includes_of((root / header).read_text(encoding="utf-8")):
        if is_caf(name):
            return [f"{header}:{number}", name]
        if quote == '"':
            deeper = caf_behind(root, name, seen)
            if deeper:
                return [f"{header}:{number}"] + deeper
    return None


def check_tree(root):
    problems = []
    files = [p for folder in (*FOLDERS, "tests", "docs") for p in (root / folder).rglob("*") if p.suffix in (".hpp", ".cpp", ".py", ".proto")]
    for file in sorted(files):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        if file.suffix in (".hpp", ".cpp"):
            problems += [f"{path}:{number}: {what}" for number, what in check_file(root, path, text)]
        elif text.count("\n") > MAX_LINES:
            problems.append(f"{path}:{text.count(chr(10))}: the file has more than {MAX_LINES} lines")
    clean = list(NO_CAF) + [p.relative_to(root).as_posix() for p in (root / "messages").glob("*.hpp")]
    for header in clean:
        chain = caf_behind(root, header, set())
        if chain:
            problems.append(f"{chain[0]}: {header} shows CAF ({' -> '.join(chain)})")
    return problems, len(files)


PLANTED = {
    "messages/a.hpp": ('#include "store/b.hpp"\n', "messages/a.hpp:1"),
    "messages/c.hpp": ("// a\n#include <caf/all.hpp>\n", "messages/c.hpp:2"),
    "store/b.hpp": ('#include "actors/core/task/task.hpp"\n', "store/b.hpp:1"),
    "store/lmdb/env.hpp": ("#include <lmdb.h>\n", None),
    "store/other.cpp": ("#include <lmdb.h>\n", "store/other.cpp:1"),
    "actors/core/task/task.hpp": ("#pragma once\n", None),
    "actors/core/clock.cpp": ("#include <thread>\n", "actors/core/clock.cpp:1"),
    "actors/core/peek.cpp": ('#include "store/b.hpp"\n', "actors/core/peek.cpp:1"),
    "actors/core/shell.cpp": ("#include <caf/all.hpp>\n", "actors/core/shell.cpp:1"),
    "actors/scheduler/actor.hpp": ("#include <caf/all.hpp>\n", None),
    "actors/client/client.hpp": ('#include "actors/scheduler/actor.hpp"\n', "actors/client/client.hpp:1"),
    "actors/log.cpp": ("#include <spdlog/spdlog.h>\n", "actors/log.cpp:1"),
    "actors/up.cpp": ('#include "app/node/node.hpp"\n', "actors/up.cpp:1"),
    "actors/near.cpp": ('#include "log.hpp"\n', "actors/near.cpp:1"),
    "actors/missing.cpp": ('#include "store/nowhere.hpp"\n', "actors/missing.cpp:1"),
    "actors/angle.cpp": ("#include <store/b.hpp>\n", "actors/angle.cpp:1"),
    "app/node/node.hpp": ("#pragma once\n", None),
    "app/node/runtime.cpp": ("#include <caf/all.hpp>\n#include <spdlog/spdlog.h>\n", None),
    "app/cli.cpp": ("#include <caf/all.hpp>\n", "app/cli.cpp:1"),
    "app/long.cpp": ("\n" * 501, "app/long.cpp:501"),
    "app/longest.cpp": ("\n" * 500, None),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, (text, _) in PLANTED.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        problems, _ = check_tree(root)
    found = {problem.split(": ")[0] for problem in problems}
    wanted = {where for _, where in PLANTED.values() if where}
    for where in sorted(wanted - found):
        print(f"self-test: the violation planted at {where} was not seen")
    for where in sorted(found - wanted):
        print(f"self-test: {where} was reported and is allowed")
    return found == wanted


def main(arguments):
    if not self_test():
        return 1
    if arguments == ["--self-test"]:
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    problems, files = check_tree(pathlib.Path(arguments[0]))
    for problem in problems:
        print(problem)
    if files == 0:
        print("there is nothing to check")
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
