#!/usr/bin/env python3
"""What `./dev soak` writes into docs/reliability.md: counts add up by commit, and no seed is used twice."""

import itertools
import unittest

import soak

PAGE = """The next fresh seed is 20,000,000.

| Commit | Last run | Seeds |
|---|---|---|

The end.
"""


def rows_of(page):
    return [row[0] for row in soak.ROW.finditer(page)]


class writing_the_page(unittest.TestCase):
    def test_a_commit_that_is_new_stands_first(self):
        page = soak.recorded(PAGE, "aaaaaaaaa", "2026-11-22", {"seeds": 20000}, 20020000)
        page = soak.recorded(page, "bbbbbbbbb", "2026-11-23", {"kills": 50, "orders": 1234}, 20020000)
        self.assertEqual(rows_of(page), ["| `bbbbbbbbb` | 2026-11-23 | 0 | 0 | 0 | 0 | 50 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1,234 | 0 |",
                                         "| `aaaaaaaaa` | 2026-11-22 | 20,000 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |"])
        self.assertTrue(page.endswith("The end.\n"))

    def test_counts_of_a_known_commit_are_added(self):
        page = PAGE
        for _ in range(3):
            page = soak.recorded(page, "aaaaaaaaa", "2026-11-22", {"seeds": 20000, "failed seeds": 1, "failed runs": 1}, 20020000)
        self.assertEqual(rows_of(page), ["| `aaaaaaaaa` | 2026-11-22 | 60,000 | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 3 |"])

    def test_the_next_run_begins_behind_the_seeds_of_the_last(self):
        page = soak.recorded(PAGE, "aaaaaaaaa", "2026-11-22", {}, 20020000)
        self.assertEqual(soak.next_seed(page), 20020000)
        self.assertEqual(soak.next_seed(soak.recorded(page, "bbbbbbbbb", "2026-11-22", {}, 20000000)), 20020000, "it never goes back")

    def test_the_page_of_this_tree_can_be_written(self):
        page = soak.PAGE.read_text(encoding="utf-8")
        known = len(rows_of(page))
        written = soak.recorded(page, "f" * 9, "2026-11-22", {"seeds": 1}, soak.next_seed(page) + 1)
        self.assertEqual(len(rows_of(written)), known + 1)
        heading = next(line for line in written.splitlines() if line.startswith("| Commit |"))
        self.assertEqual(rows_of(written)[0].count("|"), heading.count("|"))


class counting(unittest.TestCase):
    def counted(self, said):
        return {name: count for name, count in soak.sums_of(said).items() if count}

    def test_what_the_simulator_says(self):
        self.assertEqual(self.counted("seed 7: key: t1 seeds, 3 failed\n20000 seeds, 2 failed\n"), {"seeds": 20000, "failed seeds": 2})

    def test_what_the_simulator_says_of_consensus(self):
        self.assertEqual(self.counted("kills 10  leaders 7  \n20000 seeds of consensus, 0 failed\n"), {"consensus seeds": 20000})

    def test_what_the_kill_loop_says(self):
        said = "10 kills, 450 orders acknowledged, 30 shipped, 2 refused, 9 s\nkills 50 counted, 20 during starts; steps running\n" \
               "orders acknowledged 2500, requests 9000; node back"
        self.assertEqual(self.counted(said), {"kills": 50, "orders": 2500})

    def test_what_the_faults_of_a_cluster_say(self):
        said = "10 faults, 300 orders acknowledged, 30 shipped\n22 kills and 18 stops of 1 to 8 s (shard-a 3), 2 at a time\n" \
               "1500 orders acknowledged, 6000 requests; 90 s in all\n"
        self.assertEqual(self.counted(said), {"cluster kills": 22, "cluster stops": 18, "orders": 1500})

    def test_what_the_faults_of_machines_and_the_changes_of_nodes_say(self):
        said = "the clock of n1 was set to -2.3 s\n6 clocks were set, 3 disks were full, 5 disks did not answer\n4 times all nodes were started again, one\n22 changes of nodes\n" \
               "3 times the majority of the disks was lost\n900 orders acknowledged, 3000 requests\n"
        self.assertEqual(self.counted(said), {"host faults": 14, "rolls": 4, "changes of nodes": 22, "recoveries": 3, "orders": 900})

    def test_what_the_cut_connections_say(self):
        said = "a cut one way was noticed after 1.00 s and 1.20 s\n0.7 s cut, whole again after 0.2 s: shard-a alone\n3.9 s cut, whole again after 1.1 s: x\n"
        self.assertEqual(self.counted(said), {"cluster cuts": 2})

    def test_what_the_faults_of_replicas_say(self):
        said = "10 faults, 300 orders acknowledged, 30 shipped\na node led again after the leader was killed: median 0.45 s, worst 0.62 s\n" \
               "20 kills of the leader, 30 stops, 5 times all at once\n1500 orders acknowledged, 6000 requests; 60 Schedulers began; 90 s in all\n"
        self.assertEqual(self.counted(said), {"leader kills": 20, "replica stops": 30, "all killed": 5, "orders": 1500})

    def test_what_the_cuts_between_replicas_say(self):
        said = "replicas cut for 0.7 s, whole again after 0.2 s: all apart\nreplicas cut for 3.9 s, whole again after 1.1 s: x\n" \
               "2 cuts, 4 Schedulers began\n650 orders acknowledged, 2354 requests; 40 s in all\n"
        self.assertEqual(self.counted(said), {"replica cuts": 2, "orders": 650})

    def test_what_copies_of_the_state_say(self):
        said = "n2 follows again 3.7 s after its start; it had ended at None\n4 copies of the state were put in place\n650 orders acknowledged, 2354 requests\n"
        self.assertEqual(self.counted(said), {"copies": 4, "orders": 650})

    def test_what_lost_disks_say(self):
        said = "n3 has lost its disk, and votes again 12.2 s after its start\n6 disks were lost; at most 17.1 s\n650 orders acknowledged, 2354 requests\n"
        self.assertEqual(self.counted(said), {"lost disks": 6, "orders": 650})

    def test_what_seeds_with_replicas_say(self):
        self.assertEqual(self.counted("33 of 38 failpoints struck, 123 events\n20000 seeds with replicas, 1 failed\n"),
                         {"replicated seeds": 20000, "failed seeds": 1})

    def test_what_the_power_cuts_say(self):
        self.assertEqual(self.counted("200 disks, 35 of them from cuts of a start, 176 with acknowledged orders; 46 s in all\n"), {"power cuts": 200})

    def test_what_the_fuzz_target_says(self):
        self.assertEqual(self.counted("#4096 pulse cov: 3\nDone 51234 runs in 301 second(s)\n"), {"fuzz inputs": 51234})

    def test_what_the_faults_of_workers_say(self):
        self.assertEqual(self.counted("90 faults of workers and nodes: {'worker: kill': 20, 'kill a door': 70}, 5 connections cut\n"), {"worker faults": 90})

    def test_what_the_soak_and_the_dice_of_the_api_say(self):
        said = "killed; 2481 acknowledged tasks are there\nbatches 80  dice 1959\nthe API was soaked for 3612 s: 812652 requests\n"
        self.assertEqual(self.counted(said), {"API seconds": 3612, "API requests": 812652})
        self.assertEqual(self.counted("ok  5000 requests (200: 3000, 404: 2000), +3 MB\n"), {"API requests": 5000})


class taking_turns(unittest.TestCase):
    def test_each_test_has_its_turn_and_seeds_go_on(self):
        first = list(itertools.islice(soak.turns(100, soak.chosen()), 26))
        self.assertEqual([name for name, _, _ in first],
                         ["simulate", "consensus", "replicated", "kill_loop", "cluster_faults", "cluster_netns", "replicated_faults",
                          "replicated_netns", "replicated_copies", "replicated_lost_disks", "replicated_recovery", "replicated_members",
                          "replicated_damage", "replicated_hosts", "replicated_rolls", "replicated_upgrade", "replicated_shards", "api_soak", "work_faults", "power_cut", "journal_fuzz",
                          "replica_fuzz", "copy_fuzz", "simulate", "consensus", "replicated"])
        self.assertEqual([after for _, _, after in first], [100 + soak.SEEDS] * 23 + [100 + 2 * soak.SEEDS] * 3)
        self.assertEqual([first[number][1][-1] for number in (0, 1, 2, 23, 24, 25)],
                         [*["100"] * 3, *[str(100 + soak.SEEDS)] * 3])

    def test_of_the_api_only(self):
        first = list(itertools.islice(soak.turns(100, soak.chosen(api=True)), 5))
        self.assertEqual([name for name, _, _ in first], ["api_soak", "api_fuzz", "api_idle", "work_faults", "api_soak"])
        self.assertEqual({after for _, _, after in first}, {100}, "no seed of the simulator is used")

    def test_of_those_that_are_named_only(self):
        first = list(itertools.islice(soak.turns(100, soak.chosen(only=["work_faults", "replicated"])), 3))
        self.assertEqual([name for name, _, _ in first], ["replicated", "work_faults", "replicated"])
        self.assertEqual([after for _, _, after in first], [100 + soak.SEEDS, 100 + soak.SEEDS, 100 + 2 * soak.SEEDS])

    def test_of_shards_on_several_nodes_only(self):
        first = list(itertools.islice(soak.turns(100, soak.chosen(replicated=True)), 17))
        self.assertEqual([name for name, _, _ in first],
                         ["consensus", "replicated", "replicated_faults", "replicated_netns", "replicated_copies", "replicated_lost_disks",
                          "replicated_recovery", "replicated_members", "replicated_damage", "replicated_hosts", "replicated_rolls", "replicated_upgrade",
                          "replicated_shards", "replica_fuzz", "copy_fuzz", "consensus", "replicated"])
        self.assertEqual([first[number][1][-1] for number in (0, 1, 15, 16)], [*["100"] * 2, *[str(100 + soak.SEEDS)] * 2])
        self.assertEqual(first[-1][2], 100 + 2 * soak.SEEDS)


if __name__ == "__main__":
    unittest.main()
