"""The audit catches every kind of violation when one is planted in an otherwise right run, and nothing else."""

import copy
import unittest

import audit

CALLS = {"reserve": ("inventory", "/reservations", "reserve"), "charge": ("payment", "/charges", "charge"),
         "ship": ("shipping", "/shipments", "dispatch")}
UNDOS = {"reserve": ("inventory", "/reservations/release", "release"), "charge": ("payment", "/charges/refund", "refund"),
         "ship": ("shipping", "/shipments/recall", "recall")}
NOON = 1_774_700_000 * 10**9  # 2026-03-28, some hours before the leases of these runs end


class run:
    """Builds the records and the history of a run by hand."""

    def __init__(self):
        self.records = []
        self.history = []
        self.clock_ = 0

    def request(self, order, step, key=None, attempt="1", effect=True, undo=False, amount=500, address="Reims", operation=None,
                complete_by="2026-03-29T01:00:00.000Z"):
        service, path, name = (UNDOS if undo else CALLS)[step]
        direction = "undo" if undo else "perform"
        body = {"reserve": '"items":["tea"]', "charge": f'"amount_cents":{amount}', "ship": f'"address":"{address}"'}[step]
        key = f"{order}/{step}/{direction}/1" if key is None else key
        self._add("arrival", service, path=path, method="POST", key=key, attempt=attempt, complete_by=complete_by,
                  body=f'{{"order":"{order}",{body}}}')
        if effect:
            self._add("effect_end", service, operation=operation or name, step=step, direction=direction, order=order, key=key,
                      amount_cents=amount if step == "charge" else 0, count=1)
        self._add("answer", service, status=200, replay=not effect)

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
        self.clock_ += 1
        self.records.append({"record": kind, "service": service, "request": f"1-{self.clock_}", "mono_ns": self.clock_, "at_ns": NOON + self.clock_, **fields})


def right_run():
    r = run()
    r.completed("a")
    r.completed("b")
    return r


class audit_test(unittest.TestCase):
    def broken(self, r):
        result = audit.judge(copy.deepcopy(r.records), r.history)
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
        r.request("a", "ship", attempt="2", effect=False, complete_by="2026-03-28T01:00:00.000Z")
        self.assertEqual(self.broken(r), {"lease"})

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
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge")
        r.request("c", "charge", undo=True)
        r.request("c", "reserve", undo=True)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), set())

    def test_an_undone_order_with_an_effect_left(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge")
        r.request("c", "reserve", undo=True)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"undone"})

    def test_an_undone_order_that_got_less_back_than_it_paid(self):
        r = right_run()
        r.submit("c")
        r.request("c", "reserve")
        r.request("c", "charge")
        r.request("c", "charge", undo=True, amount=400)
        r.request("c", "reserve", undo=True)
        r.end("c", "undone")
        self.assertEqual(self.broken(r), {"undone"})

    def test_a_completed_order_whose_charge_was_undone(self):
        r = right_run()
        r.request("a", "charge", undo=True)
        self.assertEqual(self.broken(r), {"incomplete"})

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
