"""The services keep the promises that the audit relies on."""

import concurrent.futures
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import journal
import operations

SERVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "service.py")


class running:
    """A service process of the test's own, ended with it."""

    def __init__(self, folder, *arguments, name="payment", port=0):
        self.path = os.path.join(folder, f"{name}.jsonl")
        self.process = subprocess.Popen([sys.executable, SERVICE, "--name", name, "--port", str(port), "--record", self.path, "--max-seconds",
                                         "60", "--with-parent", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline().split()
        self.port = int(ready[1]) if ready else None

    def post(self, path="/charges", key="k", body=None, attempt="1", perform_key=None):
        """(status, body), or None when the connection was dropped."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Fairlead-Attempt": attempt, **({"Idempotency-Key": key} if key else {}),
                   **({"Fairlead-Perform-Key": perform_key, "Fairlead-In-Doubt": "true"} if perform_key else {})}
        try:
            text = body if isinstance(body, (str, bytes)) else json.dumps(body or {"order": "a", "amount_cents": 5})
            connection.request("POST", path, text, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (http.client.HTTPException, ConnectionError):
            return None
        finally:
            connection.close()

    def undo(self, key="u", perform_key="k", attempt="1"):
        return self.post("/charges/refund", key=key, body={"order": "a"}, attempt=attempt, perform_key=perform_key)

    def records(self, kind=None):
        return [record for record in journal.read(self.path) if kind in (None, record["record"])]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


class service_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments, **options):
        one = running(self.folder, *arguments, **options)
        self.addCleanup(lambda: one.process.poll() is not None or one.end(signal.SIGKILL))
        return one

    def test_the_first_request_with_a_key_has_the_effect_and_the_others_its_answer(self):
        one = self.start()
        first, second = one.post(), one.post(attempt="2")
        self.assertEqual(first, second)
        self.assertEqual(first[0], 200)
        self.assertEqual(len(one.records("effect_end")), 1)
        self.assertEqual([record["attempt"] for record in one.records("arrival")], ["1", "2"])
        self.assertEqual([record["replay"] for record in one.records("answer")], [False, True])

    def test_requests_with_one_key_at_the_same_time_have_one_effect(self):
        one = self.start("--work-seconds", "0.2", "0.2")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: one.post(), range(8)))
        self.assertEqual(answers, [answers[0]] * 8)
        self.assertEqual(len(one.records("effect_end")), 1)

    def test_a_key_with_another_body_is_refused(self):
        one = self.start()
        one.post()
        self.assertEqual(one.post(body={"order": "a", "amount_cents": 6})[0], 422)
        self.assertEqual([record["status"] for record in one.records("answer")], [200, 422])
        self.assertEqual(len(one.records("effect_end")), 1)

    def test_bad_requests_are_recorded_and_have_no_effect(self):
        one = self.start()
        self.assertEqual(one.post(key=None)[0], 400)
        self.assertEqual(one.post(path="/nothing")[0], 404)
        self.assertEqual(one.post(body="{")[0], 400)
        self.assertEqual(one.post(body=b"\xff")[0], 400)
        self.assertEqual(one.post(body={"order": "a"})[0], 400)
        self.assertEqual(one.post(body={"order": "a", "amount_cents": 1.5})[0], 400)
        self.assertEqual(len(one.records("arrival")), 6)
        self.assertEqual(one.records("effect_end"), [])

    def test_integers_are_recorded_as_they_arrived(self):
        one = self.start()
        one.post(body='{"order": "a", "amount_cents": 123456789012345678901}')
        self.assertIn("123456789012345678901", one.records("arrival")[0]["body"])
        self.assertEqual(one.records("effect_end")[0]["amount_cents"], 123456789012345678901)

    def test_records_and_answers_outlive_a_kill(self):
        one = self.start()
        answer = one.post()
        one.end(signal.SIGKILL)
        with open(one.path, "ab") as file:
            file.write(b'{"record":"arrival","requ')  # a line that the crash cut short
        again = self.start(port=one.port)
        self.assertEqual(again.post(attempt="2"), answer)
        self.assertEqual(len(again.records("effect_end")), 1)
        self.assertEqual([record["request"] for record in again.records("arrival")], ["1-1", "2-1"])
        self.assertEqual(again.end(), 0)

    def test_injected_faults_come_at_their_rate_and_where_they_should(self):
        one = self.start("--unavailable", "0.2", "--drop-before", "0.2", "--drop-after", "0.2", "--seed", "7")
        outcomes = [one.post(key=f"k{i}", body={"order": f"o{i}", "amount_cents": 5}) for i in range(200)]
        effects = {record["order"] for record in one.records("effect_end")}
        dropped = {"before_work": 0, "after_work": 0}
        orders = {record["request"]: json.loads(record["body"])["order"] for record in one.records("arrival")}
        for record in one.records("answer"):
            order = orders[record["request"]]
            if "dropped" in record:
                dropped[record["dropped"]] += 1
                self.assertIsNone(outcomes[int(order[1:])])
                self.assertEqual(order in effects, record["dropped"] == "after_work")
            else:
                self.assertEqual(outcomes[int(order[1:])][0], record["status"])
                self.assertEqual(order in effects, record["status"] == 200)
        for share in (dropped["before_work"], dropped["after_work"], sum(o is not None and o[0] == 503 for o in outcomes)):
            self.assertTrue(20 <= share <= 60, share)

    def test_the_same_seed_gives_the_same_faults(self):
        fates = []
        for i in range(2):
            one = self.start("--unavailable", "0.5", "--seed", "3", name=("inventory", "payment")[i])
            path, body = (("/reservations", {"order": "a", "items": []}), ("/charges", {"order": "a", "amount_cents": 5}))[i]
            fates.append([one.post(path, key=f"k{n}", body=body)[0] for n in range(30)])
        self.assertEqual(fates[0], fates[1])
        self.assertEqual(set(fates[0]), {200, 503})

    def test_an_undo_takes_back_what_stands_and_succeeds_when_nothing_does(self):
        one = self.start()
        one.post(key="p", body={"order": "a", "amount_cents": 5})
        for key in ("u", "v"):
            self.assertEqual(one.post("/charges/refund", key=key, body={"order": "a"})[0], 200)
        self.assertEqual([record["amount_cents"] for record in one.records("effect_end")], [5, 5, 0])

    def test_an_undo_with_a_known_key_takes_nothing_back_again(self):
        one = self.start()
        one.post(key="p")
        first = one.undo(perform_key="p")
        one.post(key="q")  # a perform of a later generation
        self.assertEqual(one.undo(perform_key="p", attempt="2"), first)
        self.assertEqual([(record["direction"], record["count"]) for record in one.records("effect_end")],
                         [("perform", 1), ("undo", 1), ("perform", 1)])
        self.assertEqual([(record["perform_key"], record["in_doubt"]) for record in one.records("arrival")],
                         [(None, None), ("p", "true"), (None, None), ("p", "true")])

    def test_a_perform_that_comes_after_its_undo_has_no_effect_also_after_a_kill(self):
        one = self.start()
        self.assertEqual(one.undo()[0], 200)
        late = one.post()
        self.assertEqual(late, (409, {"error": "undone_before"}))
        one.end(signal.SIGKILL)
        again = self.start(port=one.port)
        self.assertEqual(again.post(attempt="2"), late)
        self.assertEqual([record["direction"] for record in again.records("effect_end")], ["undo"])
        self.assertEqual([record["late"] for record in again.records("answer") if record["status"] == 409], [True, True])
        self.assertEqual(again.post(key="another")[0], 200, "of the next generation")

    def test_a_perform_that_is_undone_while_it_is_worked_on_has_no_effect(self):
        one = self.start("--work-seconds", "0.5", "0.5")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            undo = pool.submit(one.undo)
            until = time.monotonic() + 10
            while not one.records("effect_begin") and time.monotonic() < until:
                time.sleep(0.01)
            perform = pool.submit(one.post)  # begins after the undo and ends after it
            self.assertEqual(undo.result()[0], 200)
            self.assertEqual(perform.result()[0], 409)
        self.assertEqual([(record["direction"], record["count"]) for record in one.records("effect_end")], [("undo", 0)])
        self.assertEqual([record["reason"] for record in one.records("no_effect")], ["undone_before"])

    def test_a_perform_that_was_done_before_its_undo_is_still_answered_as_it_was(self):
        one = self.start()
        first = one.post()
        one.undo()
        self.assertEqual(one.post(attempt="2"), first)
        self.assertEqual([record["direction"] for record in one.records("effect_end")], ["perform", "undo"])

    def test_the_same_share_of_orders_is_refused_for_good_each_time(self):
        refused = {order: operations.refused(order, 0.3, 7) for order in (f"o{n}" for n in range(60))}
        self.assertEqual({found.code for found in refused.values() if found}, {"card_declined", "address_unknown"})
        one = self.start("--refuse", "0.3", "--seed", "7")
        other = self.start("--refuse", "0.3", "--seed", "7", name="shipping")
        for order, refusal in refused.items():
            for _ in range(2):
                for who, step, path, more in ((one, "charge", "/charges", {"amount_cents": 5}), (other, "ship", "/shipments", {"address": {}})):
                    code = refusal.status if refusal is not None and refusal.step == step else 200
                    self.assertEqual(who.post(path, key=f"{order}/{step}", body={"order": order, **more})[0], code)
        for who, step in ((one, "charge"), (other, "ship")):
            wanted = {order for order, refusal in refused.items() if refusal is not None and refusal.step == step}
            self.assertEqual({record["order"] for record in who.records("effect_end")}, refused.keys() - wanted)
            self.assertEqual({record["order"] for record in who.records("answer") if "refused" in record}, wanted)

    def test_what_is_refused_can_be_undone(self):
        order = next(order for order in (f"o{n}" for n in range(100)) if operations.refused(order, 0.3, 7) == operations.REFUSALS[0])
        one = self.start("--refuse", "0.3", "--seed", "7")
        self.assertEqual(one.post(body={"order": order, "amount_cents": 5}), (402, {"error": "card_declined"}))
        self.assertEqual(one.post("/charges/refund", key="u", body={"order": order}, perform_key="k")[0], 200)

    def test_a_share_of_the_orders_is_refused_and_nobody_when_nothing_is_said(self):
        orders = [f"order-{n}" for n in range(2000)]
        share = sum(operations.refused(order, 0.08, 1) is not None for order in orders) / len(orders)
        self.assertTrue(0.06 < share < 0.10, share)
        self.assertFalse(any(operations.refused(order, 0.0, 1) for order in orders))
        self.assertNotEqual([operations.refused(order, 0.5, 1) for order in orders], [operations.refused(order, 0.5, 2) for order in orders])

    def test_a_client_that_goes_away_is_recorded(self):
        one = self.start("--work-seconds", "0.3", "0.3")
        connection = http.client.HTTPConnection("127.0.0.1", one.port)
        connection.request("POST", "/charges", '{"order": "a", "amount_cents": 5}', {"Idempotency-Key": "k"})
        connection.close()
        self.assertEqual(one.post()[0], 200)  # waits for the work that went on
        self.assertEqual(len(one.records("gone")), 1)
        self.assertEqual(len(one.records("effect_end")), 1)

    def test_a_port_in_use_is_refused_by_name(self):
        one = self.start()
        other = self.start(port=one.port, name="shipping")
        self.assertEqual(other.process.wait(timeout=10), 75)
        self.assertIn(str(one.port), other.process.stderr.read())

    def test_it_ends_by_itself(self):
        one = self.start("--max-seconds", "0.5")
        self.assertEqual(one.process.wait(timeout=10), 0)


if __name__ == "__main__":
    unittest.main()
