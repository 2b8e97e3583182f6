#!/usr/bin/env python3
"""The judge of launches finds what it is there to find: a miss, a surplus, a time that is both, a skip for another reason, an effect without its record."""

import types
import unittest

import faked_clock
import launches
from harness import scenario_failed

ONE, TWO, THREE, FOUR = (f"2026-03-29T01:0{minute}:00Z" for minute in range(4))


def record(moment, state="completed", **more):
    return {"id": f"j@{moment}", "nominal": moment, "last_nominal": None, "count": 1, "state": state, "skip": None, "reason": None, "task_state": None,
            "recorded_at": moment, "started_at": moment, **more}


def skip(moment, **more):
    return record(moment, "skipped", skip="superseded", reason="a later one is launched", **more)


class judging_a_job(unittest.TestCase):
    def judged(self, records, launched, skipped):
        return [one["nominal"] for one in launches.judge_job("j", records, launched, skipped)]

    def refused(self, word, records, launched, skipped):
        with self.assertRaisesRegex(scenario_failed, word):
            self.judged(records, launched, skipped)

    def test_what_was_written_down_holds(self):
        self.assertEqual(self.judged([record(ONE), skip(TWO), record(THREE)], [ONE, THREE], [TWO]), [ONE, THREE])
        self.assertEqual(self.judged([skip(ONE, last_nominal=THREE, count=3), record(FOUR)], [FOUR], [ONE, TWO, THREE]), [FOUR])

    def test_a_miss_fails(self):
        self.refused("not launched at " + TWO, [record(ONE)], [ONE, TWO], [])
        self.refused("no skip, or more than one, at " + TWO, [record(ONE)], [ONE], [TWO])

    def test_a_surplus_fails(self):
        self.refused("launched at " + TWO + " too", [record(ONE), record(TWO)], [ONE], [])
        self.refused("launched at " + ONE + " too", [record(ONE), record(ONE)], [ONE], [])
        self.refused("no skip, or more than one, at " + TWO, [record(ONE), skip(TWO)], [ONE], [])
        self.refused("no skip, or more than one, at " + TWO, [skip(TWO), skip(TWO)], [], [TWO])

    def test_a_time_that_is_both_fails(self):
        self.refused("no skip, or more than one", [record(ONE), skip(ONE)], [ONE], [])
        self.refused("launched at " + ONE + " too", [record(ONE), skip(ONE)], [], [ONE])

    def test_a_run_that_counts_wrong_fails(self):
        self.refused("3 times are said to be skipped", [skip(ONE, last_nominal=FOUR, count=3)], [], [ONE, TWO, THREE, FOUR])

    def test_another_reason_and_a_task_that_is_not_completed_fail(self):
        self.refused("another reason", [dict(skip(ONE), skip="overlap")], [], [ONE])
        self.refused("not every launch was completed", [record(ONE, "started")], [ONE], [])


class judging_effects(unittest.TestCase):
    @staticmethod
    def book(**of):
        return types.SimpleNamespace(look=lambda: None, effects={name: keys for name, keys in of.items() if keys},
                                     keys={name: set(keys) for name, keys in of.items()}, arrivals=dict.fromkeys(of, 0))

    def refused(self, word, book, wanted):
        with self.assertRaisesRegex(scenario_failed, word):
            launches.judge_effects(book, wanted)

    def test_each_once_holds(self):
        launches.judge_effects(self.book(a=["1"], b=["2"]), ["a", "b"])

    def test_a_miss_a_surplus_and_two_of_one_fail(self):
        self.refused("had no effect, the first: \\['b'\\]", self.book(a=["1"]), ["a", "b"])
        self.refused("should not be, the first: \\['b'\\]", self.book(a=["1"], b=[]), ["a"])
        self.refused("a had 2 effects", self.book(a=["1", "2"]), ["a"])

    def test_an_effect_before_its_record_fails(self):
        clock = types.SimpleNamespace(of=lambda real: faked_clock.unix(ONE) + real)
        launches.judge_order(types.SimpleNamespace(arrivals={f"j@{ONE}": 1}), clock, "j", [record(ONE)])
        for field in ("recorded_at", "started_at"):
            for value in (TWO, None):
                with self.assertRaisesRegex(scenario_failed, "before its " + field):
                    launches.judge_order(types.SimpleNamespace(arrivals={f"j@{ONE}": 1}), clock, "j", [record(ONE, **{field: value})])

    def test_a_queue_that_overlaps_or_goes_backwards_fails(self):
        def queue(one, two):
            return types.SimpleNamespace(arrivals={"j@1": one[0], "j@2": two[0], "k@0": 0}, ended={"j@1": one[1], "j@2": two[1]})
        launches.judge_queue(queue((1, 2), (2, 3)), "j")
        for times in (((1, 3), (2, 4)), ((3, 4), (1, 2))):
            with self.assertRaisesRegex(scenario_failed, "j@2 did not wait for j@1"):
                launches.judge_queue(queue(*times), "j")


if __name__ == "__main__":
    unittest.main()
