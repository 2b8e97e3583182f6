#!/usr/bin/env python3
"""Bad input of every kind gets a clear error: the right exit code, and a sentence that names the thing. Nothing that was taken is lost."""

import json

import harness
import node_file
from harness import expect, fairlead, fairlead_json, wait_until

BIG = 123456789012345678901
ODD = 2**53 + 1  # the first whole number that a double cannot hold
STEP = "    agent: payment\n    call: charge\n"
CHARGE = '{ order: "${ .task.id }", amount_cents: "${ .input.amount_cents }" }'

# file contents, what the sentence must name
BAD_WORKFLOWS = {
    "a cycle": (f"workflow: w\nsteps:\n  one:\n    needs: [two]\n{STEP}  two:\n    needs: [one]\n{STEP}", ["one", "two"]),
    "an unknown need": (f"workflow: w\nsteps:\n  one:\n    needs: [nowhere]\n{STEP}", ["nowhere", ":4:"]),
    "a bad duration": (f"workflow: w\nsteps:\n  one:\n{STEP}    timeout: soon\n", ["timeout", ":6:"]),
    "an expression that does not parse": (f"workflow: w\nsteps:\n  one:\n{STEP}    with: {{ a: \"${{ .input. | }}\" }}\n", [".input. |", ":6:"]),
    "an expression of another world": (f"workflow: w\nsteps:\n  one:\n{STEP}    with: {{ a: \"${{ env.HOME }}\" }}\n", ["env", ":6:"]),
    "a property that the input cannot have": (f"workflow: w\ninput: {{ properties: {{ amount: {{}} }}, additionalProperties: false }}\nsteps:\n  one:\n{STEP}    with: {{ a: \"${{ .input.amuont }}\" }}\n", ["did you mean amount", ":7:"]),
    "a step that can never run": (f"workflow: w\nsteps:\n  one:\n    when: \"${{ false }}\"\n{STEP}", ["never run", ":4:"]),
    "an unknown key": (f"workflow: w\nsteps:\n  one:\n{STEP}    tiemout: 5s\n", ["tiemout", ":6:"]),
    "a wrong type": (f"workflow: w\nsteps:\n  one:\n{STEP}    attempts: many\n", ["attempts", ":6:"]),
    "no steps": ("workflow: w\n", ["steps"]),
    "YAML that is not YAML": ("workflow: [w\nsteps: {", [".yaml:"]),
    "bytes that are not text": (b"workflow: \xff\xfe\n", [".yaml:"]),
    "an empty file": ("", [".yaml"]),
}

BAD_NODE_FILES = {
    "YAML that is not YAML": ("node: {name: [", [".yaml:"]),
    "an unknown key": ("node: {name: n}\nstore: {path: s}\nlimtis: {}\n", ["limtis", ":3:"]),
    "a wrong type": ("node: {name: n}\nstore: {path: s}\nlimits: {running_tasks: lots}\n", ["running_tasks", ":3:"]),
    "a bad address": ("node: {name: n, listen: nowhere}\nstore: {path: s}\n", ["listen", ":1:"]),
    "no store": ("node: {name: n}\n", ["store"]),
    "an address that others can reach": ("node: {name: n, listen: '0.0.0.0:7100'}\nstore: {path: s}\n", ["listen", "trusted_network"]),
}

# expression, what the parked task's reason must name
BAD_AT_RUN_TIME = {
    "a path that is not there": (".input.nothing.there", [".input.nothing"]),
    "an error inside jq": (".input.text + 1", [".input.text + 1"]),
    "an expression that never ends": ("[.input.text | until(false; .)]", ["until(false; .)"]),
    "an expression that eats memory": ('.input.text * 100000000000 | length', ['* 100000000000']),
    "two results": (".input.text, .input.text", [".input.text, .input.text"]),
    "an integer that jq would round": (".input.odd + 1", [".input.odd", str(ODD)]),
}


WRONG = []  # what was not refused as it should be; all of it is gone through before the scenario fails


def refused(done, code, words, what):
    text = (done.stdout + done.stderr).strip()
    found = [f"exit code {done.returncode} instead of {code}"] if done.returncode != code else []
    found += [f"the message does not name {word!r}" for word in words if word not in text]
    if not text or "terminate called" in text:
        found.append("there is no sentence")
    report(what, found, text)


def report(what, found, text):
    """`found`: what is wrong, nothing when all is well."""
    shown = text.splitlines()[0][:200] if text else ""
    if found:
        WRONG.append(what)
        print(f"WRONG  {what}: {'; '.join(found)}: {text[-500:]}", flush=True)
    else:
        print(f"ok  {what}: {shown}", flush=True)


def files(box):
    for what, (text, words) in BAD_WORKFLOWS.items():
        path = box.folder / "workflow.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        refused(fairlead("workflow", "check", path), 2, ["workflow.yaml", *words], f"workflow check, {what}")
    for what, (text, words) in BAD_NODE_FILES.items():
        path = box.folder / "bad_node.yaml"
        path.write_text(text)
        refused(fairlead("config", "check", path), 2, ["bad_node.yaml", *words], f"config check, {what}")
        refused(fairlead("node", "--config", path), 2, ["bad_node.yaml", *words], f"node, {what}")
    missing = box.folder / "not_there.yaml"
    for command in (("node", "--config"), ("config", "check"), ("workflow", "check")):
        done = fairlead(*command, missing)
        refused(done, 2 if done.returncode == 2 else 3, ["not_there.yaml"], f"{' '.join(command)}, a file that is not there")
    nothing_there, = harness.free_ports(1)
    refused(fairlead("status", node=f"127.0.0.1:{nothing_there}"), 5, [str(nothing_there)], "status, nobody answers")
    refused(fairlead("status", node="nonsense"), 2, ["nonsense"], "status, an address that is none")
    refused(fairlead("node", "--config", missing, "drain", "b"), 2, ["--config"], "node drain, a node file beside it")
    refused(fairlead("sumbit"), 2, ["sumbit"], "a command that is none")


def submissions(box, node):
    def submit(*arguments, **options):
        return fairlead("submit", *arguments, node=node.address, **options)

    good = json.dumps({"items": [], "amount_cents": 5, "address": {}})
    refused(submit("odrer", "--input", good), 3, ["odrer"], "submit, an unknown workflow")
    refused(submit("order", "--input", "{not json"), 2, ["JSON"], "submit, input that is not JSON")
    refused(submit("order", "--input", "@" + str(box.folder / "no_input.json")), 2, ["no_input.json"], "submit, an input file that is not there")
    large = box.folder / "large.json"
    large.write_text(json.dumps({"text": "x" * (256 * 1024)}))
    refused(submit("order", "--input", f"@{large}"), 2, ["256 KiB"], "submit, input over 256 KiB")
    refused(submit("order", "--id", "a b", "--input", good), 2, ["a b"], "submit, an id that is none")
    refused(fairlead("task", "show", "nobody", node=node.address), 3, ["nobody"], "task show, an unknown id")

    expect(submit("order", "--id", "twice", "--input", good).returncode == 0, "a good order was refused")
    expect(submit("order", "--id", "twice", "--input", good).returncode == 0, "the same order again was refused")
    other = json.dumps({"items": [], "amount_cents": 6, "address": {}})
    refused(submit("order", "--id", "twice", "--input", other), 4, ["twice"], "submit, an id that exists with other content")

    batch = box.folder / "batch.jsonl"
    batch.write_text(json.dumps({"id": "line-1", "input": json.loads(good)}) + "\n{oops\n")
    refused(submit("order", "--batch", batch), 1, ["   2  ", "not JSON"], "submit --batch, a line that is not JSON")
    refused(submit("order", "--batch", box.folder / "no_batch.jsonl"), 2, ["no_batch.jsonl"], "submit --batch, a file that is not there")
    harness.write_batch(batch, [{"id": "line-1", "input": json.loads(good)}, {"id": "twice", "input": json.loads(other)}])
    done = submit("order", "--batch", batch, "--json", "--quiet")
    expect(done.returncode == 1, f"a batch with a conflict ended with {done.returncode}")
    answer = json.loads(done.stdout)
    expect((answer["submitted"] + answer["already"], answer["refused"]) == (1, 1), f"one of two should have been taken: {answer}")
    expect(answer["refusals"][0]["line"] == 2 and answer["refusals"][0]["id"] == "twice", f"the refusal names another line: {answer}")
    print("ok  submit --batch, one line in conflict: the other is taken", flush=True)


def exact_integers(node, services):
    text = f'{{"items":[{{"sku":"a","quantity":{BIG}}}],"amount_cents":{ODD},"address":{{"exact":[1.10,1e2,-0]}}}}'
    done = fairlead("submit", "order", "--id", "exact", "--input", text, "--wait", node=node.address)
    expect(done.returncode == 0, f"the order with great integers did not complete: {done.stderr.strip()}")
    bodies = {record["service"]: record["body"] for record in services.records() if record["record"] == "arrival" and '"exact"' in record["body"]}
    for service, exact in (("inventory", str(BIG)), ("payment", str(ODD)), ("shipping", "[1.10,1e2,-0]")):
        expect(exact in bodies.get(service, "").replace(" ", ""), f"{service} did not get {exact} but {bodies.get(service)}")
    print("ok  integers beyond 2^53 and the spelling of numbers arrive exactly", flush=True)


def run_time_failures(box, node):
    """Each of them parks its task, naming step and expression, and holds up nobody else."""
    for number, (what, (expression, words)) in enumerate(BAD_AT_RUN_TIME.items()):
        name = f"bad_{number}"
        path = box.folder / f"{name}.yaml"
        path.write_text(f"workflow: {name}\nsteps:\n  fine:\n{STEP}    with: {CHARGE}\n"
                        f"  broken:\n    needs: [fine]\n{STEP}    with:\n      order: >-\n        ${{ {expression} }}\n      amount_cents: 1\n")
        done = fairlead("workflow", "deploy", path, node=node.address)
        expect(done.returncode == 0, f"{what}: deploy was refused: {done.stdout}{done.stderr}")
        text = json.dumps({"text": "x", "odd": ODD, "amount_cents": 5})
        done = fairlead("submit", name, "--id", name, "--input", text, node=node.address)
        expect(done.returncode == 0, f"{what}: submit was refused: {done.stderr}")
    for number, (what, (expression, words)) in enumerate(BAD_AT_RUN_TIME.items()):
        name = f"bad_{number}"
        shown = wait_until(lambda: parked(node, name), 30, f"the task of a workflow with {what} is parked", every=0.1)
        found = [f"the reason does not name {word!r}" for word in ("broken", *words) if word not in shown["reason"]]
        states = {step["path"]: step["state"] for step in shown["steps"]}
        if states["fine"] != "completed":
            found.append(f"the step before should be completed: {states}")
        report(f"run time, {what}", found, shown["reason"])
    expect(len(node.tasks("--parked")) == len(BAD_AT_RUN_TIME), "not exactly the bad tasks are listed as parked")


def parked(node, name):
    shown = fairlead_json("task", "show", name, node=node.address)
    expect(shown["state"] != "completed", f"{name} completed")
    return shown if shown["parked"] else None


def run():
    with harness.sandbox("bad_input") as box:
        files(box)
        services = harness.services(box, max_seconds=300)
        port, = harness.free_ports(1)
        config = node_file.derive(harness.ROOT / "config" / "single.yaml", box.folder / "node.yaml",
                                  ports={7100: port, **dict(zip((7101, 7102, 7103), services.ports.values()))},
                                  settings={"store.path": box.folder / "store"})
        node = harness.node(box, config, f"127.0.0.1:{port}")
        node.start()
        order = harness.ROOT / "config" / "workflows" / "order.yaml"
        done = fairlead("workflow", "deploy", order, node=node.address)
        expect(done.returncode == 0, f"deploy: {done.stderr}")
        bad = box.folder / "workflow.yaml"
        bad.write_text(BAD_WORKFLOWS["a cycle"][0])
        refused(fairlead("workflow", "deploy", bad, node=node.address), 2, ["workflow.yaml"], "workflow deploy, a cycle")
        bad.write_text(f"workflow: w\nsteps:\n  one:\n{STEP.replace('charge', 'chrage')}    with: {CHARGE}\n")
        refused(fairlead("workflow", "check", bad, "--agents", config), 2, ["chrage", ":5:"], "workflow check --agents, an unknown call")
        submissions(box, node)
        exact_integers(node, services)
        run_time_failures(box, node)
        code, _ = node.end()
        expect(code == 0, f"the node ended with {code}")
        checked = fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
        expect(not WRONG, f"{len(WRONG)} kinds of bad input are not refused as they should be: {'; '.join(WRONG)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
