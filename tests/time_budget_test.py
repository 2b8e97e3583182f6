#!/usr/bin/env python3
"""The time budget of `.ci/run`: what counts, and that ctest's summary stays the last thing that is printed."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import time_budget

SAID = """ 1/3 Test #1: store ............................   Passed    1.00 sec
 2/3 Test #2: kill_loop ........................***Failed   60.00 sec
 3/3 Test #3: simulation_planted ...............   Passed  900.00 sec

67% tests passed, 1 tests failed out of 3

Total Test time (real) = 961.00 sec
"""


class time_used(unittest.TestCase):
    def test_of_tests_side_by_side_counts_once(self):
        self.assertEqual(time_budget.covered([(0, 10), (5, 12), (20, 21), (6, 7)]), 13)
        self.assertEqual(time_budget.covered([]), 0)

    def test_by_group(self):
        scenario = {"name": "kill_loop", "properties": [{"name": "LABELS", "value": ["e2e"]}]}
        groups = time_budget.groups_of({"tests": [scenario, {"name": "simulation"}, {"name": "store", "properties": []}]})
        self.assertEqual(groups, {"kill_loop": "scenarios", "simulation": "simulator", "store": "unit tests"})

    def test_that_is_too_long_is_marked(self):
        said = time_budget.table({"build": 0, "unit tests": 60, "simulator": 241, "scenarios": 720})
        self.assertEqual([line.split()[0] for line in said.splitlines() if "OVER" in line], ["simulator"])
        self.assertIn("17.0 of 40, of which 5 in reserve", said)


class what_is_printed(unittest.TestCase):
    def test_the_budget_comes_before_the_summary_and_all_else_is_passed_on(self):
        program = pathlib.Path(time_budget.__file__)
        with tempfile.TemporaryDirectory() as nowhere:
            done = subprocess.run([sys.executable, "-B", str(program), nowhere, "840"], input=SAID, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        begin, _, end = done.stdout.partition("Time used of the budget")
        _, _, end = end.partition("in reserve\n\n")
        self.assertEqual(begin + end, SAID)
        self.assertTrue(end.startswith("67% tests passed"))


if __name__ == "__main__":
    unittest.main()
