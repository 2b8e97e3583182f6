#!/usr/bin/env python3
"""`fairlead dev` as somebody who writes workflows uses it: it follows their files, its agents do as they are told, and nothing is left behind."""

import json
import os
import queue
import signal
import socket
import subprocess
import threading
import time
import urllib.request

import harness
from harness import expect, fairlead, free_ports, wait_until
from place import place
from workers import worker

FLOW = """\
workflow: order
on_failure: undo
steps:
  reserve: { agent: stock, call: reserve, undo: { call: release } }
  charge: { needs: [reserve], agent: payment, call: charge, with: { id: "${ .task.id }", $script: "${ .input.script? }" }, undo: none, attempts: 3, backoff: { first: 10ms } }
"""


class dev:
    """A running `fairlead dev` and the lines it has said."""

    def __init__(self, box, *arguments, temporary):
        self.lines = []
        fresh = queue.Queue()
        self.process = box.start([harness.BINARY, "dev", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**os.environ, "TMPDIR": str(temporary)})

        def read():
            for line in self.process.stdout:
                self.lines.append(line.rstrip("\n"))
            fresh.put(None)

        threading.Thread(target=read, daemon=True).start()

    def says(self, text, after=0, seconds=20):
        """The number of the line behind the one that holds `text`."""
        def found():
            return next((i + 1 for i in range(after, len(self.lines)) if text in self.lines[i]), None)
        try:
            return wait_until(found, seconds, text)
        except harness.scenario_failed:
            raise harness.scenario_failed(f"`fairlead dev` never said '{text}': " + " / ".join(self.lines[after:])) from None

    def end(self, number=signal.SIGINT):
        began = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(timeout=10)
        return code, time.monotonic() - began


def refusals(folder):
    for arguments, says in ((("--script", "a.b=fial"), "at character 1: 'fial' is not an action"), (("--script", "a=echo"), "'a' does not name a call"),
                            (("--node", "0.0.0.0:0"), "not a loopback address"), (("--api", "0.0.0.0:0"), "not a loopback address"),
                            (("--agents", "none.yaml"), "none.yaml"),
                            (("--scripts", folder / "bad"), "bad:1:6: a.b"), ((folder / "nothing",), "neither a folder nor a file")):
        done = fairlead("dev", *(["--port", "0"] if "--node" not in arguments else []), folder, *arguments)
        expect(done.returncode in (2, 3) and says in done.stderr, f"{arguments} ended with {done.returncode}: {done.stderr}")
    print("ok  what it cannot do is refused by name", flush=True)


def run():
    with harness.sandbox("dev") as box:
        folder, temporary = box.folder / "flows", box.folder / "tmp"
        folder.mkdir()
        temporary.mkdir()
        (box.folder / "bad").write_text("a.b: fial\n", encoding="utf-8")
        (folder / "bad").write_text("a.b: fial\n", encoding="utf-8")
        flow = folder / "order.yaml"
        flow.write_text(FLOW, encoding="utf-8")
        refusals(folder)

        one = dev(box, folder, "--port", "0", "--script", "stock.reserve=fail:transient:busy,echo", temporary=temporary)
        one.says("order.yaml: deployed (workflow order, version ")
        one.says("Ctrl-C ends this")
        address = next(line.split(" ready on ")[1].split(";")[0] for line in one.lines if " ready on " in line)
        expect(any(temporary.iterdir()), "its store is somewhere else")

        def submit(task, value, code, workflow="order"):
            done = fairlead("submit", workflow, "--id", task, "--input", json.dumps(value), "--wait", node=address)
            expect(done.returncode == code, f"{task} ended with {done.returncode}: {done.stdout}{done.stderr}")

        submit("good", {}, 0)
        one.says("good  reserve  pending -> running, attempt 2")
        one.says("good  charge  running -> completed")
        one.says("good  running -> completed")
        submit("poor", {"script": "fail:transient,fail:permanent:no_funds"}, 1)
        one.says("no_funds")
        one.says("poor  undoing -> undone")
        print("ok  agents do as scripts and inputs tell them, and every transition is shown", flush=True)

        at = len(one.lines)
        following = folder / "next.tmp"
        following.write_text(FLOW.replace("call: charge", "call: pay").replace("agent: stock", "agent: shelf"), encoding="utf-8")
        following.rename(flow)  # as editors do
        at = one.says("order.yaml: deployed", at)
        submit("edited", {}, 0)
        flow.write_text(FLOW + "colour: red\n", encoding="utf-8")
        at = one.says("order.yaml:6:1: colour: this key is not known here", at)
        at = one.says("order.yaml: not deployed, one problem", at)
        second = folder / "second.yaml"
        second.write_text("workflow: second\nsteps: { a: { agent: quite, call: new, undo: none } }\n", encoding="utf-8")
        at = one.says("second.yaml: deployed", at)
        submit("second", {}, 0, "second")
        second.unlink()
        at = one.says("second.yaml: deleted; workflow second keeps the version that was deployed before", at)
        print("ok  it follows its files through edits, mistakes and deletion, and has agents for what is new", flush=True)

        fairlead("submit", "order", "--id", "asleep", "--input", '{"script": "sleep:1h"}', node=address)
        one.says("asleep  charge  pending -> running")
        code, took = one.end()
        expect(code == 0, f"it ended with {code}: {one.lines[-5:]}")
        expect(took < 1.5, f"it took {took:.1f} s to end")
        expect(not list(temporary.iterdir()), f"it left {list(temporary.iterdir())} behind")
        print(f"ok  it ended {took:.1f} s after Ctrl-C, with a step asleep, and left nothing behind", flush=True)

        kept = box.folder / "kept"
        for start in range(2):
            one = dev(box, flow.parent, "--port", "0", "--keep", kept, temporary=temporary)
            one.says("Ctrl-C ends this")
            address = next(line.split(" ready on ")[1].split(";")[0] for line in one.lines if " ready on " in line)
            if start == 0:
                flow.write_text(FLOW, encoding="utf-8")
                one.says("order.yaml: deployed")
                submit("kept", {}, 0)
            shown = fairlead("task", "show", "kept", node=address)
            expect(shown.returncode == 0, f"the kept task is gone: {shown.stderr}")
            code, _ = one.end(signal.SIGTERM)
            expect(code == 0, f"it ended with {code}")
        print("ok  a store that is kept is gone on from", flush=True)
        sub_workflows_first(box, temporary)
        beside_its_node(box, flow, temporary)
        gives_way_to_workers(box, temporary)


def sub_workflows_first(box, temporary):
    """Of files that name each other's workflows none warns, whatever their names are."""
    folder = box.folder / "family"
    folder.mkdir()
    (folder / "a.yaml").write_text("workflow: parent\nsteps: { ship: { workflow: child } }\n", encoding="utf-8")
    (folder / "b.yaml").write_text("workflow: child\nsteps: { a: { agent: quite, call: new, undo: none } }\n", encoding="utf-8")
    tried = dev(box, folder, "--port", "0", temporary=temporary)
    tried.says("Ctrl-C ends this")
    tried.says("a.yaml: deployed", tried.says("b.yaml: deployed"))
    expect(not any("there is no workflow" in line for line in tried.lines), f"it warns of a file that comes next: {tried.lines}")
    tried.end()
    print("ok  sub-workflows are deployed before the workflows that name them", flush=True)


def put(url, body):
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="PUT")
    with urllib.request.urlopen(asked, timeout=40) as answer:
        return answer.status, json.load(answer)


def beside_its_node(box, flow, temporary):
    """The agents of a node file, while the node of that file runs: its store, ports and audit stay its own. The API is there."""
    one = place(box, "real", api="{ listen: '127.0.0.1:%d', socket: real.sock }" % free_ports(1)[0])
    one.node.start()
    other = box.folder / "other.yaml"
    other.write_text("workflow: other\nsteps: { a: { agent: quite, call: new, undo: none } }\n", encoding="utf-8")
    tried = dev(box, flow, other, "--port", "0", "--api", "127.0.0.1:0", "--agents", one.folder / "node.yaml", temporary=temporary)
    tried.says("Ctrl-C ends this")
    url = next(line.split("API is on ")[1].split(",")[0] for line in tried.lines if "API is on " in line)
    status, said = put(f"{url}/tasks/over-http?wait=20s", {"workflow": "other", "input": {}})
    expect(not any("agent payment: scripted" in line for line in tried.lines), f"it has no agents of the file: {tried.lines}")
    expect(status == 201 and said["state"] == "completed", f"{status}: {said}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        second = dev(box, flow, "--port", "0", "--api", f"127.0.0.1:{taken.getsockname()[1]}", temporary=temporary)
        expect(second.process.wait(timeout=20) != 0, "it took an address that another program has")
    tried.end()
    expect("over-http" not in fairlead("audit", node=one.node.address).stdout, "the request is in the audit of the node")
    expect(one.node.end()[0] == 0, f"the node has ended: {one.node.last_words()}")
    print("ok  the node whose agents it runs goes on beside it, and requests of the API are answered", flush=True)


MAIL = """\
workflow: mail
steps:
  notify: { agent: mail, call: send, undo: none }
  file: { needs: [notify], agent: mail, call: archive, undo: none }
"""


def gives_way_to_workers(box, temporary):
    """A script begins no step of an agent while workers of its name are there, and answers again after the last of them."""
    flow = box.folder / "mail.yaml"
    flow.write_text(MAIL, encoding="utf-8")
    tried = dev(box, flow, "--port", "0", "--api", "127.0.0.1:0", temporary=temporary)
    tried.says("Ctrl-C ends this")
    url = next(line.split("API is on ")[1].split(",")[0] for line in tried.lines if "API is on " in line)
    at = len(tried.lines)

    def submit(task):
        _, said = put(f"{url}/tasks/{task}?wait=20s", {"workflow": "mail", "input": {}})
        expect(said["state"] == "completed", f"the script has not answered: {said}")

    def ended():
        return sum(any(f"{task}  running -> completed" in line for line in tried.lines) for task in tasks)

    submit("before")
    first, second = (worker(int(url.split(":")[2].split("/")[0]), "mail", f"mail-{i}", capacity=8) for i in range(2))
    first.register()
    at = tried.says("agent mail: a worker has registered and does its work; the script steps aside", at)
    second.register()
    tasks = [f"mail-{i}" for i in range(20)]
    for task in tasks:
        put(f"{url}/tasks/{task}", {"workflow": "mail", "input": {}})
    first.work(len(tasks))
    second.end()
    time.sleep(0.5)  # its host has left by then
    expect(ended() == 0, f"the script has done steps beside a worker: {tried.lines[at:]}")
    first.end()
    at = tried.says("agent mail: its last worker has left; the script answers again", at)
    wait_until(lambda: ended() == len(tasks), 20, "the script does what the workers have left")
    submit("after")
    expect(sum(" worker " in line for line in tried.lines) == 2, f"it speaks of workers too often: {tried.lines}")
    tried.end()
    print("ok  a script steps aside for workers, and answers again after the last of them", flush=True)


if __name__ == "__main__":
    harness.main(run)
