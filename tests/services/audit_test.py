"""The audit catches every kind of violation when one is planted in an otherwise right run, and nothing else."""

import copy
import datetime
import unittest

import audit

CALLS = {"reserve": ("inventory", "/reservations", "reserve"), "charge": ("payment", "/charges", "charge"),
         "ship": ("shipping", "/shipments", "dispatch")}
UNDOS = {"reserve": ("inventory", "/reservations/release", "release"), "charge": ("payment", "/charges/refund", "refund"),
         "ship": ("shipping", "/shipments/recall", "recall")}
NOON = 1_774_700_000 * 10**9
TICK = 10**7  # from one record to the next
LEASE = 5 * 10**9
DERIVED = object()


class run:
    """Builds the records and the history of a run by hand."""

    def __init__(self):
        self.records = []
        self.history = []
        self.clock_ = 0

    def request(self, order, step, key=None, attempt="1", effect=True, undo=False, amount=500, address="Reims", operation=None,
                complete_by=DERIVED, handed_over=None, perform_key=DERIVED, in_doubt="false"):
        """`handed_over`: a moment of now(); just before its arrival when nothing is said."""
        service, path, name = (UNDOS if undo else CALLS)[step]
        direction = "undo" if undo else "perform"
        body = {"reserve": '"items":["tea"]', "charge": f'"amount_cents":{amount}', "ship": f'"address":"{address}"'}[step]
        key = f"{order}/{step}/{direction}/1" if key is None else key
        if complete_by is DERIVED:
            end = NOON + (self.now() + TICK - 10**6 if handed_over is None else handed_over) + LEASE
            complete_by = datetime.datetime.fromtimestamp(end // 10**6 / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds")
        if perform_key is DERIVED:
            perform_key = f"{order}/{step}/perform/1" if undo else None
        self._add("arrival", service, path=path, method="POST", key=key, attempt=attempt, complete_by=complete_by, perform_key=perform_key,
                  in_doubt=in_doubt if undo else None, body=f'{{"order":"{order}",{body}}}')
        if effect:
            self._add("effect_end", service, operation=operation or name, step=step, direction=direction, order=order, key=key,
                      amount_cents=amount if step == "charge" else 0, count=1)
        self._add("answer", service, status=200, replay=not effect)

    def undo(self, order, step, **more):
        self.request(order, step, undo=True, **more)

    def refuse(self, order, step, **more):
        self.request(order, step, effect=False, **more)
        self.records[-1].update(status=422, refused="address_unknown", order=order)

    def now(self):
        return self.clock_

    def submit(self, order, amount=500):
        self.history.append({"event": "submitted", "id": order, "input": {"items": ["tea"], "amount_cents": amount, "address": "Reims"}})
        self.history.append({"event": "acknowledged", "id": order})

    def end(self, order, state="completed", parked=False):
        self.history.append({"event": "final", "id": order, "state": state, "parked": parked})

    def completed(self, order):
        self.submit(order)
        for step in CALLS:
            self.request(order, step)
        self.end(order)

    def _add(self, kind, service, **fields):
        self.clock_ += TICK
        self.records.append({"record": kind, "service": service, "request": f"1-{self.clock_ // TICK}", "mono_ns": self.clock_,
                             "at_ns": NOON + self.clock_, **fields})


def right_run():
    r = run()
    r.completed("a")
    r.completed("b")
    return r


def failing_run(undone=("charge", "reserve")):
    """A right run, and an order that was refused when it was to be shipped; `undone`: what was undone of it, in this order."""
    r = right_run()
    r.submit("c")
    r.request("c", "reserve")
    r.request("c", "charge")
    r.refuse("c", "ship")
    for step in undone:
        r.undo("c", step)
    return r


class audit_test(unittest.TestCase):
    def broken(self, r, woken=()):
        result = audit.judge(copy.deepcopy(r.records), r.history, woken)
        return {rule for rule, found in result.violations.items() if found}

    def test_a_right_run_holds(self):
        result = audit.judge(right_run().records, right_run().history)
        self.assertTrue(result.held(), audit.table(result))
        self.assertEqual((result.counts["completed"], result.counts["requests"], result.counts["keys"]), (2, 6, 6))

    def test_repeats_under_one_key_are_fine(self):
        r = run()
        r.submit("a")
        for step in CALLS:
            r.request("a", step)
            r.request("a", step, attempt="2", effect=False)
        r.end("a")
        self.assertEqual(self.broken(r), set())

    def test_a_parked_order_is_not_lost(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.end("c", "running", parked=True)
        self.assertEqual(self.broken(r), set())

    def test_an_unacknowledged_order_may_be_unknown(self):
        r = right_run()
        r.history.append({"event": "submitted", "id": "c", "input": {}})
        self.assertEqual(self.broken(r), set())

    def test_an_acknowledged_order_that_nobody_knows_is_lost(self):
        r = right_run()
        r.submit("c")
        self.assertEqual(self.broken(r), {"lost"})

    def test_an_acknowledged_order_that_never_ends_is_lost(self):
        r = right_run()
        r.submit("c")
        r.end("c", "running")
        self.assertEqual(self.broken(r), {"lost"})

    def test_two_effects_under_two_keys(self):
        r = right_run()
        r.request("a", "charge", key="another")
        self.assertEqual(self.broken(r), {"twice", "key"})

    def test_two_effects_under_one_key(self):
        r = right_run()
        r.request("a", "ship")
        self.assertEqual(self.broken(r), {"twice"})

    def test_completed_with_a_step_missing(self):
        for missing in CALLS:
            r = right_run()
            r.submit("c")
            for step in CALLS:
                if step != missing:
                    r.request("c", step)
            r.end("c")
            # Leaving out a step in the middle also breaks the sequence; leaving out the last does not.
            self.assertEqual(self.broken(r), {"incomplete"} if missing == "ship" else {"incomplete", "order"}, missing)

    def test_completed_with_a_step_that_arrived_without_effect(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge")
        r.request("c", "ship", effect=False)
        r.end("c")
        self.assertEqual(self.broken(r), {"incomplete"})

    def test_a_step_asked_for_too_early(self):
        r = run()
        r.submit("a")
        for step in ("charge", "reserve", "ship"):
            r.request("a", step)
        r.end("a")
        self.assertEqual(self.broken(r), {"order"})

    def test_a_step_asked_for_before_the_effect_of_the_one_before(self):
        r = run()
        r.submit("a")
        r.request("a", "reserve", effect=False)
        r.request("a", "charge", effect=False)
        r.request("a", "reserve")
        r.request("a", "charge")
        r.request("a", "ship")
        r.end("a")
        self.assertEqual(self.broken(r), {"order"})

    def test_another_key_for_the_same_step(self):
        r = right_run()
        r.request("a", "reserve", key="another", effect=False)
        self.assertEqual(self.broken(r), {"key"})

    def test_one_key_for_two_steps(self):
        r = run()
        r.submit("a")
        for step in CALLS:
            r.request("a", step, key="same")
        r.end("a")
        self.assertEqual(self.broken(r), {"key"})

    def test_one_key_for_two_orders(self):
        r = right_run()
        r.submit("c")
        for step in CALLS:
            r.request("c", step, key="a/reserve/perform/1" if step == "reserve" else None)
        r.end("c")
        self.assertEqual(self.broken(r), {"key"})

    def test_a_missing_key(self):
        r = right_run()
        r.request("a", "reserve", key="", effect=False)
        self.assertEqual(self.broken(r), {"key"})

    def test_a_key_with_another_content(self):
        r = right_run()
        r._add("answer", "payment", status=422, replay=False)
        self.assertEqual(self.broken(r), {"key"})

    def test_another_amount(self):
        r = run()
        r.submit("a", amount=500)
        r.request("a", "reserve")
        r.request("a", "charge", amount=501)
        r.request("a", "ship")
        r.end("a")
        self.assertEqual(self.broken(r), {"amount"})

    def test_another_address(self):
        r = run()
        r.submit("a")
        r.request("a", "reserve")
        r.request("a", "charge")
        r.request("a", "ship", address="Lyon")
        r.end("a")
        self.assertEqual(self.broken(r), {"amount"})

    def test_an_integer_that_was_rounded(self):
        r = run()
        r.submit("a", amount=9007199254740993)
        r.request("a", "reserve")
        r.request("a", "charge", amount=9007199254740992)
        r.request("a", "ship")
        r.end("a")
        self.assertEqual(self.broken(r), {"amount"})

    def test_an_attempt_that_falls(self):
        r = right_run()
        r.request("a", "ship", attempt="3", effect=False)
        r.request("a", "ship", attempt="2", effect=False)
        self.assertEqual(self.broken(r), {"attempt"})

    def test_a_missing_attempt(self):
        for attempt in (None, "", "one", "0"):
            r = right_run()
            r.request("a", "ship", attempt=attempt, effect=False)
            self.assertEqual(self.broken(r), {"attempt"}, attempt)

    def test_a_request_after_the_end_of_its_lease(self):
        r = right_run()
        r.request("a", "ship", attempt="2", effect=False, handed_over=r.now() - LEASE - 2 * 10**9)
        self.assertEqual(self.broken(r), {"lease"})

    def test_requests_of_a_frozen_node_that_wakes_up_but_no_more_than_it_has_agents(self):
        for requests, broken in ((audit.AGENTS_A_NODE, set()), (audit.AGENTS_A_NODE + 1, {"lease", "attempt"})):
            r = right_run()
            r.request("a", "ship", attempt="3", effect=False)
            woken = (NOON + r.now()) / 1e9
            for _ in range(requests):
                r.request("a", "ship", attempt="2", effect=False, handed_over=r.now() - LEASE - 2 * 10**9)
            self.assertEqual(self.broken(r, [woken]), broken)
            self.assertEqual(self.broken(r, [woken - 60]), {"lease", "attempt"}, "it went on a minute ago")

    def test_a_request_that_does_not_say_its_lease(self):
        r = right_run()
        r.request("a", "ship", attempt="2", effect=False, complete_by=None)
        self.assertEqual(self.broken(r), {"lease"})

    def test_an_order_that_nobody_submitted(self):
        r = right_run()
        r.request("z", "reserve")
        self.assertEqual(self.broken(r), {"stray"})

    def test_a_path_that_no_service_has(self):
        r = right_run()
        r._add("arrival", "payment", path="/charge", method="POST", key="k", attempt="1", body='{"order":"a"}')
        self.assertEqual(self.broken(r), {"stray"})

    def test_an_undone_order_holds_when_all_was_undone(self):
        r = failing_run()
        r.end("c", "undone")
        result = audit.judge(r.records, r.history)
        self.assertTrue(result.held(), audit.table(result))
        self.assertEqual((result.counts["undone"], result.counts["refused for good"], result.counts["undone with something left"]), (1, 1, 0))

    def test_an_undone_order_that_nobody_began_holds(self):
        r = right_run()
        r.submit("c")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), set())

    def test_an_undo_may_be_asked_for_again_and_find_nothing(self):
        r = failing_run(("charge",))
        r.undo("c", "charge", attempt="2", effect=False)
        r.undo("c", "reserve", effect=False)
        r.undo("c", "reserve", attempt="2")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), set())

    def test_what_was_in_doubt_may_be_undone_without_ever_having_arrived(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.undo("c", "charge", in_doubt="true", amount=0)
        r.undo("c", "reserve")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), set())

    def test_a_refusal_is_not_a_key_with_another_content(self):
        r = failing_run()
        r.refuse("c", "ship", attempt="1")
        r.end("c", "undone")
        self.assertNotIn("key", self.broken(r))

    def test_an_undone_order_with_an_effect_left(self):
        for left in ("charge", "reserve"):
            r = failing_run([step for step in ("charge", "reserve") if step != left])
            r.end("c", "undone")
            # With the charge left the goods were released too early as well.
            self.assertEqual(self.broken(r), {"undone", "reverse"} if left == "charge" else {"undone"})
            self.assertEqual(audit.judge(r.records, r.history).counts["undone with something left"], 1)

    def test_an_undone_order_that_got_another_amount_back_than_it_paid(self):
        for amount in (400, 600):
            r = failing_run(())
            r.undo("c", "charge", amount=amount)
            r.undo("c", "reserve")
            r.end("c", "undone")
            self.assertEqual(self.broken(r), {"undone"})

    def test_a_late_perform_that_has_an_effect_after_its_undo(self):
        r = failing_run(("charge",))
        r.request("c", "charge", handed_over=r.now() - 10**9)
        r.undo("c", "reserve")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"undone", "reverse"})

    def test_a_late_perform_without_an_effect_is_fine(self):
        r = failing_run()
        r.request("c", "charge", effect=False, handed_over=r.now() - 10**9)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), set())
        self.assertEqual(audit.judge(r.records, r.history).counts["arrived late"], 1)

    def test_a_perform_handed_over_after_the_first_undo(self):
        for state in ("undone", "undoing"):
            r = failing_run(("charge",))
            r.request("c", "charge", attempt="2", effect=False)
            r.undo("c", "reserve")
            r.end("c", state, parked=state == "undoing")
            self.assertEqual(self.broken(r), {"after"})

    def test_an_undone_order_that_was_shipped(self):
        r = right_run()
        r.submit("c")
        for step in CALLS:
            r.request("c", step)
        for step in ("ship", "charge", "reserve"):
            r.undo("c", step)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"shipped"})

    def test_goods_released_before_the_money_is_back(self):
        r = failing_run(("reserve", "charge"))
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"reverse"})

    def test_goods_released_when_the_refund_was_only_asked_for(self):
        r = failing_run(())
        r.undo("c", "charge", effect=False)
        r.undo("c", "reserve")
        r.undo("c", "charge", attempt="2")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"reverse"})

    def test_goods_released_before_the_undo_of_a_charge_in_doubt(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge", effect=False)
        r.undo("c", "reserve")
        r.undo("c", "charge", in_doubt="true", amount=0)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"reverse"})

    def test_goods_released_before_a_restore_that_left_the_charge_in_doubt(self):
        for again, broken in ((("charge", "reserve"), set()), (("reserve", "charge"), {"reverse"})):
            r = right_run()
            r.submit("c")
            r.request("c", "reserve")
            r.request("c", "charge", effect=False)
            r.undo("c", "reserve")
            for number, step in enumerate(again):
                more = {"in_doubt": "true", "amount": 0} if step == "charge" else {"effect": False}
                r.undo("c", step, attempt=str(1_001 + number), **more)
            r.end("c", "undone")
            self.assertEqual(self.broken(r), broken)

    def test_an_undo_under_the_key_of_its_perform(self):
        r = failing_run(("charge",))
        r.undo("c", "reserve", key="c/reserve/perform/1")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"key"})

    def test_an_undo_under_two_keys(self):
        r = failing_run()
        r.undo("c", "reserve", key="c/reserve/undo/2", attempt="2")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"key"})

    def test_an_undo_that_names_no_perform_or_another_one(self):
        for wrong in (None, "", "c/reserve/perform/2"):
            r = failing_run(("charge",))
            r.undo("c", "reserve", perform_key=wrong)
            r.end("c", "undone")
            self.assertEqual(self.broken(r), {"key"}, wrong)

    def test_an_undo_that_is_sure_of_what_was_never_done(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge", effect=False)
        r.undo("c", "charge", amount=0)
        r.undo("c", "reserve")
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"doubt"})

    def test_an_undo_that_does_not_say_whether_it_is_in_doubt(self):
        for wrong in (None, "", "maybe"):
            r = failing_run(("charge",))
            r.undo("c", "reserve", in_doubt=wrong)
            r.end("c", "undone")
            self.assertEqual(self.broken(r), {"doubt"}, wrong)

    def test_a_refused_order_that_completes(self):
        r = failing_run(())
        r.end("c", "completed")
        self.assertEqual(self.broken(r), {"incomplete"})

    def test_a_completed_order_whose_charge_was_undone(self):
        r = right_run()
        r.undo("a", "charge")
        self.assertEqual(self.broken(r), {"incomplete", "reverse"})

    def test_every_rule_is_broken_by_one_of_these_tests(self):
        caught = set()
        watch = audit_test(self._testMethodName)
        watch.broken = lambda r, woken=(): caught.update(audit_test.broken(self, r, woken)) or audit_test.broken(self, r, woken)
        for name in dir(self):
            if name.startswith("test_") and name != self._testMethodName:
                getattr(watch, name)()
        self.assertEqual(caught, {rule for rule, _ in audit.RULES})

    def test_a_new_generation_after_an_undo_may_have_a_new_key(self):
        r = run()
        r.submit("a")
        r.request("a", "reserve")
        r.request("a", "reserve", undo=True)
        r.request("a", "reserve", key="a/reserve/perform/2")
        r.request("a", "charge")
        r.request("a", "ship")
        r.end("a")
        self.assertEqual(self.broken(r), set())


if __name__ == "__main__":
    unittest.main()
