#!/usr/bin/env python3
"""What an operator does on the command line, to a real node: every verb mends what it is for, says in the history who did it and why,
and is refused with a clear sentence, nothing changed, where it does not fit."""

import json
import os
import pty
import shlex
import subprocess

import harness
from desk_service import desk_service
from harness import expect, fairlead_json, wait_until
from operator_desk import commands, desk, operator_events, step


def retry(at):
    shown = at.parked("typo", amount=-5, status=None)
    expect(commands(shown)[:2] == ["fairlead task retry typo charge", "fairlead task retry typo charge --input JSON"], f"offered: {commands(shown)}")
    text = at.task("show", "typo").stdout
    expect("step charge failed" in text and "charge of typo is refused" in text, f"the text does not say why: {text}")
    expect("What helps:\n  fairlead task retry typo charge\n" in text, f"the text does not say what helps: {text}")
    at.refused(2, ["not JSON"], "retry", "typo", "charge", "--input", '{"amount": 5', task="typo")
    at.refused(3, ["payment"], "retry", "typo", "payment", task="typo")
    at.refused(1, ["reserve"], "retry", "typo", "reserve", task="typo")
    at.done("retry", "typo", "charge", "--input", '{"order": "typo", "amount": 50}', "--by", "ana", "--reason", "a minus too many")
    shown = at.until_state("typo", "completed")
    expect(operator_events(shown) == [("operator_retry", "ana", "a minus too many")], f"the history says {operator_events(shown)}")
    first, last = at.service.seen("charge", "typo")[0], at.service.seen("charge", "typo")[-1]
    expect(last[2]["amount"] == 50 and last[3] != first[3], f"the edited input did not arrive under a key of its own: {first}, {last}")

    at.parked("mended")
    at.service.answer("charge", "mended", None)
    at.done("retry", "mended")
    at.until_state("mended", "completed")
    at.refused(1, ["mended", "completed"], "retry", "mended", task="mended")
    print("ok  retry, with and without another input", flush=True)


def settle(at):
    shown = at.parked("doubt", status=500)
    expect(step(shown, "charge")["doubtful"], f"the step is not in doubt: {step(shown, 'charge')}")
    expect(not any(" skip " in one or "--input" in one for one in commands(shown)), f"offered for a step in doubt: {commands(shown)}")
    at.refused(1, ["doubt", "settle"], "skip", "doubt", "charge", "--reason", "who cares", task="doubt")
    at.refused(1, ["doubt", "settle"], "retry", "doubt", "charge", "--input", "{}", task="doubt")
    at.refused(2, ["reason"], "settle", "doubt", "charge", "--never-happened", task="doubt")
    at.refused(2, ["outcome"], "settle", "doubt", "charge", "--reason", "x", task="doubt")
    at.refused(2, ["not JSON"], "settle", "doubt", "charge", "--completed", "R-17", "--reason", "x", task="doubt")
    at.refused(1, ["reserve"], "settle", "doubt", "reserve", "--never-happened", "--reason", "x", task="doubt")
    at.done("settle", "doubt", "charge", "--completed", '{"receipt": "R-17"}', "--reason", "the bank has it", "--by", "ana")
    shown = at.until_state("doubt", "completed")
    expect(("operator_settle", "ana", "the bank has it") in operator_events(shown), f"the history says {operator_events(shown)}")
    expect(at.service.seen("ship", "doubt")[0][2]["receipt"] == "R-17", "the settled output did not reach the next step")

    at.parked("never", status=500)
    at.service.answer("charge", "never", None)
    at.done("settle", "never", "charge", "--never-happened", "--reason", "the bank knows nothing of it")
    at.until_state("never", "completed")
    print("ok  settle, both ways", flush=True)


def skip(at):
    at.parked("gift")
    at.refused(2, ["reason"], "skip", "gift", "charge", task="gift")
    at.refused(2, ["step"], "skip", "gift", "--reason", "x", task="gift")
    at.refused(1, ["reserve"], "skip", "gift", "reserve", "--reason", "x", task="gift")
    at.done("skip", "gift", "charge", "--reason", "it is a gift")
    shown = at.until_state("gift", "completed")
    expect(step(shown, "charge")["state"] == "skipped" and step(shown, "charge")["output"] is None, f"the step is {step(shown, 'charge')}")
    expect(at.service.seen("ship", "gift")[0][2]["receipt"] == "none", "the output of the skipped step is not null")
    print("ok  skip", flush=True)


def undo(at):
    at.submit("regret")
    at.until_state("regret", "completed")
    at.done("undo", "regret", "--by", "ana", "--reason", "wrong address")
    shown = at.until_state("regret", "undone")
    expect(at.service.calls("regret")[-2:] == ["refund", "release"], f"undone in another order: {at.service.calls('regret')}")
    expect(operator_events(shown) == [("operator_undo", "ana", "wrong address")], f"the history says {operator_events(shown)}")
    at.refused(1, ["regret", "undone"], "undo", "regret", task="regret")

    at.submit("gone", workflow="one_way")
    at.until_state("gone", "completed")
    for verb in ("undo", "cancel"):
        at.refused(1, ["gone"] + (["pivot", "ship"] if verb == "undo" else []), verb, "gone", task="gone")

    at.service.answer("refund", "stuck", 422)
    at.parked("stuck")
    at.service.answer("charge", "stuck", None)
    at.done("retry", "stuck")
    at.until_state("stuck", "completed")
    at.done("undo", "stuck")
    shown = at.until_parked("stuck")
    expect(commands(shown) == ["fairlead task retry stuck charge", "fairlead task skip stuck charge --reason TEXT",
                                "fairlead task terminate stuck --reason TEXT"], f"offered: {commands(shown)}")
    expect(step(shown, "charge")["undo"]["made"] == 1, f"undo attempts: {step(shown, 'charge')}")
    at.refused(1, ["stuck"], "undo", "stuck", task="stuck")
    at.service.answer("refund", "stuck", None)
    at.done(*shlex.split(commands(shown)[0])[2:])  # as it is shown
    at.until_state("stuck", "undone")

    at.service.answer("refund", "lost", 422)
    at.submit("lost")
    at.until_state("lost", "completed")
    at.done("undo", "lost")
    at.until_parked("lost")
    at.done("skip", "lost", "charge", "--reason", "written off")
    at.until_state("lost", "undone")
    expect(at.service.calls("lost")[-1] == "release", "the other undo was not made")
    print("ok  undo, also of what is completed, and of what cannot be", flush=True)


def cancel_and_pause(at):
    gate = at.service.hold("charge", "called_off")
    at.submit("called_off")
    wait_until(lambda: at.service.seen("charge", "called_off"), 10, "the charge arrives")
    at.refused(1, ["charge"], "skip", "called_off", "charge", "--reason", "x", task="called_off")
    at.done("cancel", "called_off", "--by", "ana", "--reason", "called off")
    gate.set()
    at.until_state("called_off", "undone")
    expect(at.service.calls("called_off") == ["reserve", "charge", "refund", "release"], f"calls: {at.service.calls('called_off')}")

    gate = at.service.hold("charge", "lunch")
    at.submit("lunch")
    wait_until(lambda: at.service.seen("charge", "lunch"), 10, "the charge arrives")
    at.refused(1, ["lunch", "not paused"], "resume", "lunch", task="lunch")
    at.done("pause", "lunch", "--reason", "lunch")
    gate.set()
    shown = at.until("lunch", "has its charge", lambda shown: step(shown, "charge")["state"] == "completed")
    expect(shown["paused"] and not at.service.seen("ship", "lunch"), "a paused task goes on")
    expect(commands(shown) == ["fairlead task resume lunch"], f"offered: {commands(shown)}")
    at.refused(1, ["lunch", "paused"], "pause", "lunch", task="lunch")
    at.done("resume", "lunch")
    at.until_state("lunch", "completed")
    print("ok  cancel, pause and resume", flush=True)


def answered(at, answer, *words):
    """Runs a command on a terminal and answers its question; (exit code, what was shown)."""
    main, other = pty.openpty()
    process = subprocess.Popen([str(harness.BINARY), "task", *words, "--node", at.node.address], stdin=other, stdout=other, stderr=other)
    os.close(other)
    shown = b""
    try:
        while b"type yes" not in shown:
            shown += os.read(main, 4096)
        os.write(main, answer.encode() + b"\n")
        while True:
            shown += os.read(main, 4096)
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(main)
    return process.wait(timeout=30), shown.decode(errors="replace")


def filters(at):
    names = [f"many-{i}" for i in range(12)]
    for name in names:
        at.service.answer("charge", name, 422)
        at.submit(name, labels=["lot=a"])
    at.submit("fine", labels=["lot=a"])
    at.until_state("fine", "completed")
    for name in names:
        at.until_parked(name)
    at.refused(2, ["12 tasks", "--yes"], "retry", "--parked", "--label", "lot=a", task="many-0")
    at.refused(2, ["many-0", "filter"], "retry", "many-0", "--parked", task="many-0")
    at.refused(2, ["No task is given"], "cancel")
    at.refused(2, ["--workflow is empty"], "cancel", "--workflow", "", "--yes", task="many-0")
    at.refused(2, ["soon"], "cancel", "--older-than", "soon", "--yes", task="many-0")
    nothing = fairlead_json("task", "cancel", "--label", "lot=z", "--yes", node=at.node.address)
    expect((nothing["count"], nothing["done"]) == (0, 0), f"a filter without matches: {nothing}")

    code, shown = answered(at, "no", "skip", "charge", "--parked", "--label", "lot=a", "--reason", "x")
    expect(code == 1 and "12 tasks match" in shown and "and 7 more" in shown, f"after `no`: {code}, {shown}")
    expect(all(at.show(name)["parked"] for name in names), "something was done after `no`")
    code, shown = answered(at, "yes", "skip", "charge", "--parked", "--label", "lot=a", "--reason", "they are gifts")
    expect(code == 0 and "Done for 12 of 12 tasks." in shown, f"after `yes`: {code}, {shown}")
    for name in names:
        shown = at.until_state(name, "completed")
        expect(step(shown, "charge")["state"] == "skipped", f"{name}: {step(shown, 'charge')}")

    at.parked("late", labels=["lot=a"])
    answer = at.task("cancel", "--label", "lot=a", "--workflow", "desk", "--yes")
    expect(answer.returncode == 1 and "Done for 1 of 14 tasks, refused for 13." in answer.stdout, f"{answer.stdout}{answer.stderr}")
    expect(answer.stdout.count("is completed") == 1, f"one reason is shown more than once: {answer.stdout}")
    at.until_state("late", "undone")
    told = at.task("cancel", "--label", "lot=a", "--yes", "--json")
    expect(told.returncode == 1 and json.loads(told.stdout)["refused"] == 14, f"{told.stdout}{told.stderr}")

    gates = [at.service.hold("charge", f"slow-{i}") for i in range(3)]
    for i in range(3):
        at.submit(f"slow-{i}", labels=["lot=b"])
        wait_until(lambda: at.service.seen("charge", f"slow-{i}"), 10, "the charge arrives")
    at.done("pause", "--label", "lot=b", "--yes")
    for gate in gates:
        gate.set()
    at.submit("quick", labels=["lot=b"])
    at.until_state("quick", "completed")
    answer = at.done("resume", "--label", "lot=b", "--yes")
    expect("Done for 3 of 3 tasks." in answer.stdout, f"only what is paused should count: {answer.stdout}")
    for i in range(3):
        at.until_state(f"slow-{i}", "completed")
    print("ok  filters: counted, confirmed, summed up", flush=True)


def bad_input(at, box):
    at.parked("still")
    for verb, rest in (("retry", []), ("skip", ["charge", "--reason", "x"]), ("settle", ["charge", "--never-happened", "--reason", "x"]),
                       ("undo", []), ("cancel", []), ("pause", []), ("resume", [])):
        at.refused(3, ["unheard-of"], verb, "unheard-of", *rest)
        at.refused(2, ["a b"], verb, "a b", *rest)
    for verb in ("skip", "settle"):
        how = ["--never-happened"] if verb == "settle" else []
        at.refused(3, ["payment"], verb, "still", "payment", "--reason", "x", *how, task="still")
    missing = box.folder / "missing.json"
    at.refused(2, ["missing.json"], "retry", "still", "charge", "--input", f"@{missing}", task="still")
    broken = box.folder / "broken.json"
    broken.write_text('{"amount": }')
    at.refused(2, ["broken.json", "not JSON"], "retry", "still", "charge", "--input", f"@{broken}", task="still")
    at.refused(2, ["needs a step"], "retry", "still", "--input", "{}", task="still")
    large = box.folder / "large.json"
    large.write_text(json.dumps("x" * 262_144))
    at.refused(2, ["large.json", "256 KiB"], "retry", "still", "charge", "--input", f"@{large}", task="still")
    at.refused(2, ["longer than 1000"], "undo", "still", "--reason", "x" * 1_001, task="still")
    print("ok  bad input of every kind changes nothing", flush=True)


def waiting(at):
    at.submit("alone", workflow="nobody_home")
    shown = at.until("alone", "waits", lambda shown: shown["state"] == "running")
    expect(step(shown, "reserve")["waits_for"] == "waits for agent nobody: no instance is registered", f"{step(shown, 'reserve')}")
    expect(step(shown, "charge")["waits_for"] == "needs reserve", f"{step(shown, 'charge')}")

    def looked():
        done = at.task("doctor", "--json")
        expect(done.returncode == 0, f"the doctor finds something in a sound store: {done.stdout}{done.stderr}")
        found = json.loads(done.stdout)
        expect(found["found"] == 0, f"the doctor says {found}")
        return found["looked_at"] >= 1
    wait_until(looked, 20, "the doctor looks at the task once it is in the tables")
    at.done("cancel", "alone")
    at.until_state("alone", "undone")
    print("ok  what waits says for what, and the doctor finds nothing", flush=True)


def run():
    with harness.sandbox("operator_console") as box, desk_service() as service:
        at = desk(box, service)
        retry(at)
        settle(at)
        skip(at)
        undo(at)
        cancel_and_pause(at)
        filters(at)
        bad_input(at, box)
        waiting(at)
        code, _ = at.node.end()
        expect(code == 0, f"the node ended with {code}: {at.node.last_words()}")
        checked = harness.fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
