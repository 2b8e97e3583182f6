#!/usr/bin/env python3
"""What the OpenAPI document says, the scenarios have seen: each success status of each operation, and each refusal that a request can bring
about. It reads what these scenarios have written, and runs after them.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_seen.py api api_operators api_many api_access api_audit api_certificates api_refusals api_cli signals callbacks work
"""

import json
import sys

import harness
import openapi
from harness import expect

# A node that is ill or busy is not asked everything; these are seen.
OF_ILL_NODES = {("show_task", 503)}
# Nobody is asked for a token there, or any token will do; and they belong to no namespace.
OPEN = {("show_version", 401), ("show_version", 403), ("show_problem", 401), ("show_problem", 403), ("show_me", 403), ("show_version", 404), ("show_me", 404),
        ("show_version", 429), ("show_problem", 429),
        *((one, status) for one in ("answer_callback", "fail_callback") for status in (401, 429))}
RARE = {
    ("put_job", 409): "a workflow that was written by a later release",
    ("show_tree", 409): "a node of the cluster that is away",
    ("act_on_operation", 202): "a shard that is away at once after the action",
}


def wanted(document):
    for operation in document.operations.values():
        for status in map(int, operation["responses"]):
            here = (operation["operationId"], status)
            if here in OF_ILL_NODES or not (status >= 500 or status == 408 or here in RARE or here in OPEN):
                yield here


def run():
    seen = set()
    for scenario in sys.argv[1:]:
        file = openapi.SEEN / f"{scenario}.json"
        expect(file.exists(), f"there is no {file}: run the scenario {scenario} first")
        seen |= {tuple(one) for one in json.loads(file.read_text(encoding="utf-8"))}
    all_of_them = set(wanted(openapi.document()))
    missing = sorted(all_of_them - seen)
    expect(not missing, f"{len(missing)} of {len(all_of_them)} statuses of the OpenAPI document were never seen: "
           + ", ".join(f"{operation} {status}" for operation, status in missing))
    done = sorted(one for one in RARE if one in seen)
    expect(not done, f"these are not rare: {done}")
    print(f"ok  {len(all_of_them)} statuses of {len({one[0] for one in all_of_them})} operations were seen", flush=True)
    return 0


if __name__ == "__main__":
    harness.main(run)
