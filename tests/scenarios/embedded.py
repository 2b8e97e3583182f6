#!/usr/bin/env python3
"""Installs the package to a scratch prefix, copies the example project out of the tree, builds it there and runs it: it sees nothing of the
tree. Then the same program as a service: the installed console sees its node, and SIGTERM drains it."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import harness
from harness import expect, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["FAIRLEAD_BUILD"])
CMAKE = os.environ.get("FAIRLEAD_CMAKE", "cmake")
CXX = os.environ.get("FAIRLEAD_CXX", "c++")


def done(*command, seconds=600, **more):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds, **more)
    expect(ended.returncode == 0, f"`{' '.join(map(str, command))}` ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def exported_symbols(library):
    """Names of C++ functions and data that a program could link to, demangled."""
    out = done("nm", "-DC", "--defined-only", library)
    return [line.split(maxsplit=2)[2] for line in out.splitlines() if len(line.split(maxsplit=2)) == 3]


def installed(folder):
    prefix = folder / "prefix"
    done(CMAKE, "--install", BUILD, "--prefix", prefix, "--strip")
    library = next(prefix.rglob("libfairlead.so"))
    headers = sorted(path for path in (prefix / "include").rglob("*.h*"))
    expect(len(headers) > 10, f"only {len(headers)} headers were installed")
    for header in headers:
        text = header.read_text(encoding="utf-8")
        for inner in ("caf/", "lmdb.h", "spdlog", "yaml-cpp", "curl/", "nlohmann", '"messages/', '"actors/', '"app/', '"store/'):
            expect(f"#include <{inner}" not in text and f"#include {inner}" not in text, f"{header.name} includes {inner}")
    leaked = [name for name in exported_symbols(library) if name.startswith(("caf::", "fairlead::app::", "fairlead::core::", "fairlead::store::", "YAML::"))]
    expect(not leaked, f"the library shows {leaked[:5]}")
    print("ok  the package is installed, and shows nothing of what it is made of", flush=True)
    return prefix


def built(folder, prefix):
    source = folder / "project"
    shutil.copytree(ROOT / "docs" / "examples" / "embedded", source)
    done(CMAKE, "-S", source, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    done(CMAKE, "--build", folder / "build")
    program = folder / "build" / "embedded"
    expect(str(ROOT) not in done("readelf", "-d", program), "the program refers to the tree")
    print("ok  the example builds against the installed package alone", flush=True)
    return program


def clients_compile(folder, prefix):
    """The examples that stand outside of any project, as somebody copies them."""
    examples = sorted((ROOT / "docs" / "examples").glob("*.cpp"))
    expect(examples, "there is no example to compile")
    for example in examples:
        source = folder / example.name
        shutil.copy(example, source)
        done(CXX, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", prefix / "include", source)
    print(f"ok  {len(examples)} more example compiles against the installed package alone", flush=True)


def serves(folder, prefix, program):
    running = subprocess.Popen(harness.until_parent_ends([str(program), str(folder / "service"), "--serve"]), stdout=subprocess.PIPE, text=True)
    try:
        first = running.stdout.readline().strip()
        expect(first.startswith("listening on "), f"it began with '{first}'")
        address = first.removeprefix("listening on ")
        ended = running.stdout.readline().strip()
        expect(ended.endswith(" TASK_STATE_COMPLETED"), f"its order ended with '{ended}'")
        listed = done(prefix / "bin" / "fairlead", "task", "list", "--node", address)
        expect(ended.split()[0] in listed, f"the console does not see the order: {listed}")
        described = done(prefix / "bin" / "fairlead", "workflow", "show", "order", "--node", address)
        expect("types     charge: shop.v1.ChargeRequest -> shop.v1.ChargeReply" in described, f"its types are not shown: {described}")
        running.send_signal(signal.SIGTERM)
        expect(running.wait(30) == 0, f"after SIGTERM it ended with {running.returncode}")
        expect(running.stdout.read().strip() == "ended", "it did not come to its own end")
    finally:
        running.kill()
    print("ok  as a service it is seen by the console, and ends in order on SIGTERM", flush=True)


def run():
    with tempfile.TemporaryDirectory(prefix="fairlead-embedded-") as scratch:
        folder = pathlib.Path(scratch)
        prefix = installed(folder)
        clients_compile(folder, prefix)
        program = built(folder, prefix)
        out = done(program, folder / "once", cwd=folder, env={"PATH": "/usr/bin:/bin"}, seconds=60)
        expect(out.splitlines()[-1].endswith(" TASK_STATE_COMPLETED"), f"its order ended with '{out}'")
        print("ok  its order is completed by its own agents", flush=True)
        serves(folder, prefix, program)


if __name__ == "__main__":
    sys.exit(harness.main(run))
