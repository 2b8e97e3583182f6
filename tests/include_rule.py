#!/usr/bin/env python3
"""Holds the tree against its rooms: who may include what, how many files a room may have, how long a file may be.

    include_rule.py ROOT          checks the tree; prints each violation as file:line: what, exit code 1 when there are any
    include_rule.py --self-test   checks this program on planted violations

A folder of the product with sources in it is a room. Its CMakeLists.txt says in one sentence what the room is for, and below that which rooms
it may include (fairlead_room, .cmake/rules.cmake). docs/architecture.md lists the rooms with their sentences, from the ground up.
The tree's run begins with the self-test, so that a rule that catches nothing fails as well.
"""

import pathlib
import re
import sys
import tempfile

PRODUCT = ("messages", "store", "actors", "app")
SOURCES = (".hpp", ".cpp", ".proto")
MAX_LINES = 500
MAX_FILES = 25
MAX_FILES_OF_A_CLASS = 4
PICTURE = "docs/architecture.md"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ROOM = re.compile(r"^((?:# [^\n]*\n)*)fairlead_room\(([^)]*)\)", re.M)
MEMBER = re.compile(r"^(?![ \t]|return\b)(?:[\w:<>,&*\s\[\]]+?[\s&*])?((?:\w+::)+)~?\w+\(")
ROW = re.compile(r"^\| `([\w/]+)` \| (.*?) \|$", re.M)

# Which folders the rooms of a folder may use at all. The longest matching beginning counts.
LAYERS = {
    "messages": ("messages",),
    "store": ("store", "messages"),
    "actors/core": ("actors/core", "messages"),
    "actors/agents": ("actors/agents", "actors/system", "actors/core", "messages"),
    "actors": ("actors", "store", "messages"),
    "app": ("app", "actors", "store", "messages"),
}

# Folders that are no rooms of their own, and whose they are.
PART_OF = {"app/library/include/fairlead": "app/library",  # headers as users include them
           "app/api/openapi": "app/api"}  # the pieces of a document that is served

# Rooms with more files than others, and why.
LARGE_ROOMS = {
    "tests/scenarios": "not yet divided",
}

# Classes in more files than others, and why.
LARGE_CLASSES = {
    "task_machine": "one decision with many cases; task.hpp says which file has which",
    "job_machine": "one decision with many cases",
}

# Libraries that only some places may see: what an include begins with, the places, and what to call it.
LIBRARIES = (
    ("lmdb.h", ("store/lmdb/env.", "store/lmdb/copy.", "store/lmdb/copy_paced.", "tests/"), "LMDB belongs to store/lmdb/env.*, copy.* and copy_paced.*"),
    ("xxh", ("store/", "actors/core/cluster/routing.", "actors/core/cron/", "actors/core/job/", "actors/agents/", "app/crontab/", "tests/"), "xxHash belongs to store/, to routing, cron and the agents"),
    ("curl/", ("actors/agents/http/", "tests/"), "libcurl belongs to actors/agents/http"),
    ("cctz/", ("actors/core/cron/", "actors/core/job/", "actors/system/", "tests/"), "cctz belongs to actors/core"),
    ("jq.h", ("app/expressions/", "tests/"), "libjq belongs to the worker in app/expressions"),
    ("jv.h", ("app/expressions/", "tests/"), "libjq belongs to the worker in app/expressions"),
    ("spdlog/", ("app/", "tests/"), "spdlog belongs to app/"),
    ("CLI/", ("app/", "tests/"), "CLI11 belongs to app/"),
    ("yaml-cpp/", ("app/yaml/", "tests/"), "yaml-cpp belongs to app/yaml"),
    ("nlohmann/", ("app/", "tests/"), "nlohmann_json belongs to app/"),
    ("microhttpd", ("app/metrics/", "app/door/", "tests/"), "libmicrohttpd belongs to app/metrics and app/door"),
    ("prometheus/", ("app/metrics/", "tests/"), "prometheus-cpp belongs to app/metrics"),
    ("openssl/", ("messages/tickets.", "app/access/token.", "app/certificates/", "actors/agents/http/transfer/", "tests/"),
     "OpenSSL belongs to tickets, to tokens, to app/certificates and to the transfers of http agents"),
    ("gnutls/", ("app/door/tls", "tests/"), "GnuTLS belongs to app/door/tls, because libmicrohttpd speaks by it"),
    ("histedit.h", ("app/console/reader.",), "libedit belongs to the console's reader"),
)

# Headers behind which nobody may meet CAF.
NO_CAF = ("actors/client/client.hpp", "actors/protocol/ports.hpp", "actors/scheduler/scheduler.hpp", "actors/supervisor/supervisor.hpp",
          "actors/agent_host/host.hpp", "actors/shard/archiver.hpp", "actors/agents/backend.hpp", "actors/agents/native.hpp",
          "actors/core/task/task.hpp")

# What makes a decision depend on more than its arguments.
IMPURE = ("chrono_clock", "random", "iostream", "fstream", "thread", "mutex", "ctime", "unistd.h", "filesystem")


class Room:
    def __init__(self, path, line, purpose, words):
        self.path, self.line, self.purpose = path, line, purpose
        self.lists = {"": [], "USES": [], "CAF": [], "WITHOUT": []}
        current = ""
        for word in words:
            if word in self.lists:
                current = word
            else:
                self.lists[current].append(word)
        self.uses, self.caf = self.lists["USES"], self.lists["CAF"]
        self.used, self.saw_caf = set(), set()

    @property
    def place(self):
        return f"{self.path}/CMakeLists.txt:{self.line}"


def longest(prefixes, path):
    return max((p for p in prefixes if path == p or path.startswith(p + "/")), key=len, default=None)


def folder_of(path):
    folder = path.rpartition("/")[0]
    return PART_OF.get(folder, folder)


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def read_rooms(root, problems):
    rooms = {}
    for folder in PRODUCT:
        for cmake in sorted((root / folder).rglob("CMakeLists.txt")):
            path, text = cmake.parent.relative_to(root).as_posix(), cmake.read_text(encoding="utf-8")
            for found in ROOM.finditer(text):
                line = text.count("\n", 0, found.start(2)) + 1
                comment = " ".join(part[2:] for part in found.group(1).splitlines())
                room = Room(path, line, comment, found.group(2).split())
                if not re.fullmatch(r"[A-Z`].*\.", comment):
                    problems.append(f"{room.place}: above the call one sentence says what the room is for")
                if path in rooms:
                    problems.append(f"{room.place}: the folder is a room already")
                rooms[path] = room
    return rooms


def check_uses(rooms, problems):
    for room in rooms.values():
        allowed = LAYERS[longest(LAYERS, room.path)]
        for other in room.uses:
            if other not in rooms:
                problems.append(f"{room.place}: {other} is no room")
            elif not longest(allowed, other):
                problems.append(f"{room.place}: rooms here must not use {other}, only {', '.join(allowed)}")
            elif other not in room.used:
                problems.append(f"{room.place}: nothing here includes {other}")
        for file in room.caf:
            if file not in room.saw_caf:
                problems.append(f"{room.place}: {file} does not include CAF")
    # Rooms that are left when those that use none of the others are taken away, again and again.
    left = {path: {u for u in room.uses if u in rooms} for path, room in rooms.items()}
    while free := [path for path, uses in left.items() if not uses & left.keys()]:
        for path in free:
            del left[path]
    for path in sorted(left):
        problems.append(f"{rooms[path].place}: it uses itself by way of {', '.join(sorted(left[path] & left.keys()))}")


def check_include(root, rooms, path, number, quote, name):
    folder = folder_of(path)
    room = rooms.get(folder)
    if quote == "<":
        if name.split("/")[0] in PRODUCT:
            return f"<{name}> is ours and belongs in quotes"
        if name.startswith("caf/") and folder.split("/")[0] in PRODUCT:
            file = path.rpartition("/")[2]
            if not room or file not in room.caf:
                return f"<{name}>: the room does not name this file among those that may include CAF"
            room.saw_caf.add(file)
        return None
    if ".." in name.split("/") or "/" not in name:
        return f'"{name}" is not written from the top of the tree'
    if not name.endswith(".pb.h") and not (root / name).is_file():
        return f'"{name}" is not a file of this tree'
    other = folder_of(name)
    if room:
        if other != folder and other not in room.uses:
            return f'"{name}": the room {folder} does not say that it uses {other}'
        room.used.add(other)
    elif path.startswith("docs/") and not name.startswith(("docs/", "actors/client/", "messages/")):
        return f'"{name}" is not for users'
    return None


def check_file(root, rooms, path, text):
    for number, quote, name in includes_of(text):
        problem = check_include(root, rooms, path, number, quote, name)
        if problem:
            yield number, problem
        for begin, places, rule in LIBRARIES:
            if name.startswith(begin) and not path.startswith(places):
                yield number, f"<{name}>: {rule}"
        if path.startswith("actors/core/") and name in IMPURE:
            yield number, f"<{name}>: no clock, randomness, thread or I/O in actors/core"
    lines = text.count("\n")
    if lines > MAX_LINES:
        yield lines, f"the file has {lines} lines, at most {MAX_LINES} are allowed"


def check_sizes(rooms, texts, problems):
    counts, classes = {}, {}
    for path, text in texts.items():
        folder = folder_of(path)
        counts[folder] = counts.get(folder, 0) + 1
        if folder.split("/")[0] not in PRODUCT:
            continue
        if folder not in rooms:
            problems.append(f"{path}:1: the folder is no room: its CMakeLists.txt calls no fairlead_room")
        if path.endswith(".cpp"):
            for name in {found.group(1).rstrip(":") for line in text.splitlines() if (found := MEMBER.match(line))}:
                classes.setdefault((folder, name), []).append(path)
    for folder, count in counts.items():
        if count > MAX_FILES and folder not in LARGE_ROOMS:
            problems.append(f"{folder}:1: the room has {count} files, at most {MAX_FILES} are allowed")
    for (folder, name), files in classes.items():
        if len(files) > MAX_FILES_OF_A_CLASS and name not in LARGE_CLASSES:
            problems.append(f"{folder}:1: the class {name} stands in {len(files)} files: it is more than one class")


def check_picture(root, rooms, problems):
    page = root / PICTURE
    table = page.read_text(encoding="utf-8").partition("| Room |")[2].partition("\n\n")[0] if page.is_file() else ""
    rows = ROW.findall(table)
    shown = {path: purpose for path, purpose in rows}
    seen = set()
    for path, purpose in rows:
        if path not in rooms:
            problems.append(f"{PICTURE}:1: {path} is no room")
        elif purpose != rooms[path].purpose:
            problems.append(f"{PICTURE}:1: {path} says of itself: {rooms[path].purpose}")
        else:
            seen.add(path)
            for other in rooms[path].uses:
                if other not in seen:
                    problems.append(f"{PICTURE}:1: {path} uses {other}, which must stand above it")
    for path in rooms:
        if path not in shown:
            problems.append(f"{PICTURE}:1: the room {path} is missing")


def caf_behind(root, header, seen):
    """The chain of our own headers from `header` to CAF, or None."""
    if header in seen or not (root / header).is_file():
        return None
    seen.add(header)
    for number, quote, name in includes_of((root / header).read_text(encoding="utf-8")):
        if name.startswith("caf/"):
            return [f"{header}:{number}", name]
        if quote == '"':
            deeper = caf_behind(root, name, seen)
            if deeper:
                return [f"{header}:{number}"] + deeper
    return None


def check_tree(root):
    problems = []
    rooms = read_rooms(root, problems)
    files = [p for folder in (*PRODUCT, "tests", "docs") for p in sorted((root / folder).rglob("*")) if p.suffix in (*SOURCES, ".py")]
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files}
    for path, text in texts.items():
        problems += [f"{path}:{number}: {what}" for number, what in check_file(root, rooms, path, text)]
        if path.endswith(".proto") and path.startswith(("store/", "actors/", "app/")):
            problems.append(f"{path}:1: Protobuf files stand in messages/")
    check_uses(rooms, problems)
    check_sizes(rooms, texts, problems)
    check_picture(root, rooms, problems)
    for header in [*NO_CAF, *(path for path in texts if path.startswith("messages/") and path.endswith(".hpp"))]:
        chain = caf_behind(root, header, set())
        if chain:
            problems.append(f"{chain[0]}: {header} shows CAF ({' -> '.join(chain)})")
    return problems, len(files)


def cmake(purpose, call):
    return f"# {purpose}\nfairlead_room({call})\n"


PLANTED = {
    "messages/CMakeLists.txt": (cmake("What is sent.", "m CAF gone.cpp"), "messages/CMakeLists.txt:2"),
    "messages/c.hpp": ("// a\n#include <caf/all.hpp>\n", "messages/c.hpp:2"),
    "messages/up.hpp": ('#include "store/b.hpp"\n', "messages/up.hpp:1"),
    "store/CMakeLists.txt": (cmake("Stores.", "s USES messages actors/core/task nowhere"), "store/CMakeLists.txt:2"),
    "store/b.hpp": ('#include "messages/c.hpp"\n#include "actors/core/task/task.hpp"\n', None),
    "store/other.cpp": ("#include <lmdb.h>\n", "store/other.cpp:1"),
    "store/lmdb/CMakeLists.txt": (cmake("LMDB.", "s"), None),
    "store/lmdb/env.hpp": ("#include <lmdb.h>\n", None),
    "store/spare/a.cpp": ("\n", "store/spare/a.cpp:1"),
    "actors/core/task/CMakeLists.txt": (cmake("Tasks.", "c"), None),
    "actors/core/task/task.hpp": ("#pragma once\n", None),
    "actors/core/task/clock.cpp": ("#include <thread>\n", "actors/core/task/clock.cpp:1"),
    "actors/core/task/peek.cpp": ('#include "store/b.hpp"\n', "actors/core/task/peek.cpp:1"),
    "actors/scheduler/CMakeLists.txt": (cmake("Schedules.", "a USES actors/core/task CAF actor.hpp"), None),
    "actors/scheduler/actor.hpp": ('#include <caf/all.hpp>\n#include "actors/core/task/task.hpp"\n', None),
    "actors/scheduler/other.hpp": ("#include <caf/all.hpp>\n", "actors/scheduler/other.hpp:1"),
    "actors/client/CMakeLists.txt": (cmake("Clients.", "a USES actors/scheduler messages"), "actors/client/CMakeLists.txt:2"),
    "actors/client/client.hpp": ('#include "actors/scheduler/actor.hpp"\n', "actors/client/client.hpp:1"),
    "actors/client/log.cpp": ("#include <spdlog/spdlog.h>\n", "actors/client/log.cpp:1"),
    "actors/client/near.cpp": ('#include "log.hpp"\n', "actors/client/near.cpp:1"),
    "actors/client/missing.cpp": ('#include "actors/client/nowhere.hpp"\n', "actors/client/missing.cpp:1"),
    "actors/client/angle.cpp": ("#include <store/b.hpp>\n", "actors/client/angle.cpp:1"),
    "actors/round/CMakeLists.txt": (cmake("Left.", "a USES actors/about"), "actors/round/CMakeLists.txt:2"),
    "actors/round/a.hpp": ('#include "actors/about/b.hpp"\n', None),
    "actors/about/CMakeLists.txt": (cmake("Right.", "a USES actors/round"), "actors/about/CMakeLists.txt:2"),
    "actors/about/b.hpp": ('#include "actors/round/a.hpp"\n', None),
    "actors/mute/CMakeLists.txt": ("fairlead_room(a)\n", "actors/mute/CMakeLists.txt:1"),
    "actors/mute/a.proto": ("", "actors/mute/a.proto:1"),
    "app/CMakeLists.txt": (cmake("Program.", "p"), None),
    "app/long.cpp": ("\n" * 501, "app/long.cpp:501"),
    "app/longest.cpp": ("\n" * 500, None),
    "app/full/CMakeLists.txt": (cmake("Full.", "p"), None),
    **{f"app/full/a{i}.cpp": ("void crowd::work() {}\nvoid pair::work() {}\n" if i < 4 else "void crowd::work() {}\n" if i < 5 else "\n", None) for i in range(26)},
    "app/full": (None, "app/full:1"),
    "docs/user.cpp": ('#include "store/b.hpp"\n', "docs/user.cpp:1"),
    PICTURE: ("| Room | For |\n|---|---|\n| `messages` | What is sent. |\n| `store` | Something else. |\n", f"{PICTURE}:1"),
}

# What is said of places that have more than one violation.
PLANTED_SENTENCES = ("the class crowd stands in 5 files", "the room has 26 files", "rooms here must not use actors/core/task", "nowhere is no room",
                     "nothing here includes messages", "it uses itself by way of actors/round", "store says of itself: Stores.",
                     "the room app is missing", "gone.cpp does not include CAF")


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, (text, _) in PLANTED.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
        problems, _ = check_tree(root)
    found = {problem.split(": ")[0] for problem in problems}
    wanted = {where for _, where in PLANTED.values() if where}
    unsaid = [sentence for sentence in PLANTED_SENTENCES if not any(sentence in problem for problem in problems)]
    for where in sorted(wanted - found) + unsaid:
        print(f"self-test: the violation planted at {where} was not seen")
    for where in sorted(found - wanted):
        print(f"self-test: {where} was reported and is allowed")
    return found == wanted and not unsaid


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
