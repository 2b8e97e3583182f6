#!/usr/bin/env python3
"""Jobs over a cluster: each lives in the one shard that its name chooses, whichever node it was deployed through, and fires once at each of its times
though four nodes run, also when the node of its shard is killed for several of them and started again."""

import json
import math
import re
import time

import cluster_nodes
import faked_clock
import harness
import launches
from cluster_nodes import NAMES, SHARDS
from harness import expect, fairlead, wait_until

EVERY = 2  # seconds
JOBS = 2   # deployed through each node


def deployed(box, whole):
    (workflow := box.folder / "charge.yaml").write_text(launches.WORKFLOW)
    whole.deploy(workflow)
    names = []
    for node in NAMES:
        mine = [f"{node}/{number}" for number in range(JOBS)]
        (file := box.folder / f"jobs-{node}.yaml").write_text("---\n".join(
            f'job: {name}\nschedule: "*/{EVERY} * * * * *"\nworkflow: charge\ninput: {{ launch: "${{ .launch.id }}" }}\noverlap: allow\ncatch_up: all\n'
            for name in mine))
        done = fairlead("job", "deploy", file, node=whole.nodes[node].address)
        expect(done.returncode == 0, f"job deploy through {node}: {done.stdout}{done.stderr}")
        names += mine
    for node in NAMES:
        expect(sorted(launches.jobs(whole.nodes[node].address)) == sorted(names), f"{node} does not list the jobs that were deployed through all nodes")
    return names


def fired(book, names, since=""):
    """Those that have had an effect for a time later than a moment."""
    moments = (order.split("@") for order in book.look().effects)
    return {name for name, moment in moments if name in names and moment > since}


def homes(whole, names):
    """The jobs of each shard's node, by what it says that it launches. Nobody says it of another's."""
    out = {host: {name for name in names if f" task {name}@" in whole.nodes[host].log.read_text(encoding="utf-8")} for host in SHARDS}
    one, other = out.values()
    expect(not one & other and one | other == set(names), f"launched by the nodes of the shards: {out}")
    for host, mine in out.items():
        # The page is kept for a second.
        page = rf'^fairlead_jobs\{{shard="\d+"\}} {len(mine)}$'
        wait_until(lambda: re.search(page, whole.figures(host), re.M), 10, f"{host} counts {len(mine)} jobs, those that it launches: {sorted(mine)}", every=0.1)
    expect(one and other, f"all {len(names)} jobs live in one shard: nothing is said about the other")
    return out


def without(whole, book, homes, host):
    """Its node is killed as a time has come, and away for two more; the jobs of the other shard go on."""
    mine, others = homes[host], set().union(*(jobs for name, jobs in homes.items() if name != host))
    before = set(book.look().arrivals)
    wait_until(lambda: any(order.split("@")[0] in mine for order in book.look().arrivals.keys() - before), 30, f"a job of {host} fires", every=0.003)
    whole.nodes[host].kill()
    away = faked_clock.utc(time.time() + EVERY)
    wait_until(lambda: fired(book, others, away) == others, 30, f"the jobs of the other shard fire twice without {host}", every=0.05)
    expect(not fired(book, mine, away), f"jobs fired whose shard is away: {fired(book, mine, away)}")
    listed_without(whole, mine, others)
    back = faked_clock.utc(time.time())
    whole.nodes[host].start(30)
    wait_until(lambda: fired(book, mine | others, back) == mine | others, 30, f"all jobs fire once {host} is back", every=0.05)


def listed_without(whole, mine, others):
    """Lists go on, say what they lack, and do not pass for whole."""
    for words, key in ((("job", "list"), "jobs"), (("task", "list"), "tasks"), (("alert", "list"), "alerts")):
        done = fairlead(*words, "--json", node=whole.address)
        listed = json.loads(done.stdout)
        expect(done.returncode == 5 and len(listed["missing"]) == 1 and "cannot be reached" in listed["missing"][0],
               f"{' '.join(words)} without a shard ended with {done.returncode}: {listed['missing']} {done.stderr}")
        expect("the list is not complete" in done.stderr.lower(), f"{' '.join(words)} does not say what it lacks: {done.stderr}")
        if key != "alerts":
            names = {one["job"] if key == "jobs" else one["id"].split("@")[0] for one in listed[key]}
            expect(names and not names & mine and names <= others, f"{' '.join(words)} without a shard lists {names}")
    names = fairlead("job", "list", "-q", node=whole.address)
    expect(names.returncode == 5 and set(names.stdout.splitlines()) == others, f"job list -q without a shard: {names.stdout}{names.stderr}")


def judge(whole, book, names):
    """Each even second, from the first after its deployment on, up to one that all have reached."""
    last = math.floor(time.time()) // EVERY * EVERY
    total = 0
    shown = {name: json.loads(fairlead("job", "show", name, "--json", node=whole.address).stdout) for name in names}
    for name in names:
        first = math.floor(faked_clock.unix(shown[name]["created_at"])) // EVERY * EVERY + EVERY
        wanted = [faked_clock.utc(second) for second in range(first, last + 1, EVERY)]

        def ended():
            """The records up to the last time that is judged, once that is there and its task has ended."""
            records = [one for one in launches.history(whole.address, name) if launches.moment_of(one["nominal"]) <= wanted[-1]]
            open_ones = any(one["state"] in ("waiting", "started") for one in records)
            return records if not open_ones and records and launches.moment_of(records[-1]["nominal"]) == wanted[-1] else None
        records = wait_until(ended, 30, f"{name} has carried out what was due at {wanted[-1]}", every=0.1)
        book.look()
        launches.judge_job(name, records, wanted, [])
        total += len(wanted)
        for moment in wanted:
            order = launches.name_of(name, moment)
            expect(len(book.effects[order]) == 1 and len(book.keys[order]) == 1, f"{order} had the effects {book.effects[order]}")
        beyond = [order for order in book.arrivals if order.startswith(f"{name}@") and order.split("@")[1] <= wanted[-1] and order.split("@")[1] not in wanted]
        expect(not beyond, f"{name} was launched at other times too: {beyond}")
    return total


def run():
    with harness.sandbox("cron_cluster") as box:
        services = harness.services(box)
        book = launches.ledger(services)
        whole = cluster_nodes.cluster(box, services.ports.values())
        whole.start(60)
        names = deployed(box, whole)
        wait_until(lambda: fired(book, names) == set(names), 30, "every job fires", every=0.1)
        lives = homes(whole, names)
        without(whole, book, lives, SHARDS[0])
        total = judge(whole, book, names)
        whole.end()
        for store in whole.stores():
            checked = fairlead("store", "check", store)
            expect(checked.returncode == 0, f"store check {store}: {checked.stdout}{checked.stderr}")
        parts = " and ".join(f"{len(mine)} of {host}" for host, mine in lives.items())
        print(f"ok  {len(names)} jobs, {parts}, {total} times: each launched once, through a kill", flush=True)
    return 0


if __name__ == "__main__":
    harness.main(run)
