#!/usr/bin/env python3
"""A node that is killed by `kill -9` in the middle of a step leaves no process of its commands behind, whatever they did to get away; the
next node carries the step on, under the same key."""

import os
import pathlib
import sys

from harness import expect, fairlead, fairlead_json, free_ports, main, node, sandbox, wait_until

# Each writes its number into the file `pids`, ignores what can be ignored, and waits for ever.
STUBBORN = "trap '' TERM HUP INT; echo $$ >> pids; while :; do sleep 1000; done"
COMMAND = f"""#!/bin/sh
[ -n "$1" ] || echo "$FAIRLEAD_KEY" >> keys
[ -e done ] && exec echo '"carried on"'
[ -n "$1" ] || {{ ( ( setsid "$0" away & ) & ); setsid "$0" away & }}
{STUBBORN}
"""


def lives(pid):
    """A process that only waits for its end to be noticed does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def run():
    with sandbox("exec_node_death") as box:
        (command := box.folder / "work.sh").write_text(COMMAND)
        command.chmod(0o755)
        port, = free_ports(1)
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
agents:
  work: {{ kind: exec, directory: {box.folder}, calls: {{ do: {{ command: [{command}] }} }} }}
""")
        (workflow := box.folder / "w.yaml").write_text(
            "workflow: w\ntimeout: 10m\non_failure: park\nsteps:\n  a: { agent: work, call: do, timeout: 5m, attempts: 5 }\n")
        one = node(box, config, f"127.0.0.1:{port}")
        one.start()
        expect(fairlead("workflow", "deploy", workflow, node=one.address).returncode == 0, "the workflow is deployed")
        expect(fairlead("submit", "w", "--id", "t", "--input", "{}", node=one.address).returncode == 0, "the task is submitted")
        pids = box.folder / "pids"
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 3, 20, "the command and its two runaways have begun")
        started = pids.read_text().split()
        expect(all(map(lives, started)), "all three run while the node does")
        one.kill()
        wait_until(lambda: not any(map(lives, started)), 2, f"nothing of {started} outlives the node")
        (box.folder / "done").touch()
        one.start()
        task = wait_until(lambda: (found := fairlead_json("task", "show", "t", node=one.address))["state"] == "completed" and found, 60,
                          "the next node carries the step on")
        keys = (box.folder / "keys").read_text().split()
        expect(len(keys) >= 2 and len(set(keys)) == 1, f"each attempt has the same key: {keys}")
        expect("carried on" in str(task), f"the output of the second attempt counts: {task}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    main(run)
