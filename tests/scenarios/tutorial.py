#!/usr/bin/env python3
"""The tutorial, command by command as docs/tutorial.md prints it: each block in one shell, with ports of our own."""

import os
import re
import shutil
import subprocess

from harness import BINARY, ROOT, expect, free_ports, main, sandbox


def script_of(page):
    lines = ["set -mu", "trap 'kill -9 $(jobs -p) 2> /dev/null' EXIT", "trap 'exit 1' TERM"]
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, flags=re.S | re.M)
    expect(len(blocks) >= 8, f"the tutorial has {len(blocks)} blocks of commands only: this test reads it wrongly")
    for block in blocks:
        if "./dev build" in block:
            continue
        for line in block.splitlines():
            if line == "fairlead task show carla":
                lines.append("until fairlead task show carla | grep -q connection_refused; do sleep 0.1; done")
            lines.append(f"echo '$ {line.replace(chr(39), '')}'")
            lines.append(line)
            if line.startswith("kill "):
                # An interactive shell tells of ended jobs by its next prompt, and then forgets them.
                lines.append("sleep 0.3; jobs > /dev/null; jobs > /dev/null")
    return "\n".join(lines) + "\n"


def run():
    with sandbox("tutorial") as box:
        ports = dict(zip(("7100", "7190", "7201", "7202"), map(str, free_ports(4))))
        files = box.folder / "docs" / "examples" / "tutorial"
        shutil.copytree(ROOT / "docs" / "examples" / "tutorial", files)

        def of_here(text):
            return re.sub("|".join(ports), lambda found: ports[found[0]], text)
        for one in files.iterdir():
            one.write_text(of_here(one.read_text()))
        binaries = box.folder / "bin"
        binaries.mkdir()
        (binaries / "fairlead").symlink_to(BINARY)
        environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", FAIRLEAD_NODE=f"127.0.0.1:{ports['7100']}")
        # Into files: what runs in the background holds the same ends.
        with open(box.folder / "told", "w+") as out, open(box.folder / "errors", "w+") as errors:
            shell = subprocess.Popen(["bash", "-c", script_of(of_here((ROOT / "docs" / "tutorial.md").read_text()))], cwd=box.folder,
                                     env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
            try:
                shell.wait(timeout=100)
            except subprocess.TimeoutExpired:
                shell.terminate()
                shell.wait()
        told = (box.folder / "told").read_text()
        errors = (box.folder / "errors").read_text()
        try:
            expect("Task anna is completed." in told, "the first booking does not complete")
            expect('"id":"dora","created":true' in told and '"state":"completed"' in told, "the booking over HTTP does not complete")
            expect("Task bert is undone: step payment failed (http_402)" in told, "the declined card is not told")
            shown = told.split("$ fairlead task show bert", 1)[1].split("\n$ ", 1)[0]
            expect(re.search(r"^seat +undone", shown, flags=re.M), "the seat of the declined booking is not given back")
            shown = told.split("$ fairlead task show carla", 1)[1].split("\n$ ", 1)[0]
            expect("connection_refused" in shown, "the service that is away is not told")
            expect("Task carla is completed." in told, "the booking does not survive the kill of the node")
            history = told.split("$ fairlead job history", 1)[1].split("\n$ ", 1)[0]
            expect("nightly-tally@" in history, "the job has no launch")
            expect(not re.search(r"^fairlead: ", errors, flags=re.M), "a command of the tutorial fails")
        except Exception:
            print(told, errors)
            raise


main(run)
