#!/usr/bin/env python3
"""Submits a task and waits for its end, with the standard library alone.

    FAIRLEAD_API=http://127.0.0.1:7190 python3 client.py WORKFLOW ID [INPUT]

Ends with 0 when the task is completed. The id makes it safe to run again: the same id is one task.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

NODES = [node.rstrip("/") for node in os.environ.get("FAIRLEAD_API", "http://127.0.0.1:7190").split(",")]
TOKEN = os.environ.get("FAIRLEAD_TOKEN", "")


def api(method, path, body=None):
    """Sends the same request until there is an answer; the next node is asked when one is lost."""
    while True:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if TOKEN:
            headers["Authorization"] = f"Bearer {TOKEN}"
        pause = 1.0
        try:
            with urllib.request.urlopen(urllib.request.Request(NODES[0] + path, body, headers, method=method), timeout=70) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            if refused.code not in (429, 502, 503, 504):
                raise SystemExit(f"{refused.code} {refused.read().decode()}") from None
            pause = float(refused.headers.get("Retry-After") or 1)
        except (OSError, http.client.HTTPException, ValueError) as why:
            print(f"{NODES[0]}: {why}", file=sys.stderr)
            NODES.append(NODES.pop(0))
        time.sleep(pause)


def main(workflow, name, text="null"):
    path = "/v1/tasks/" + urllib.parse.quote(name, safe="") + "?wait=30s"
    body = json.dumps({"workflow": workflow, "input": json.loads(text)}).encode()
    task = api("PUT", path, body)
    while task.get("state") not in ("completed", "undone", "failed") and not task.get("parked"):
        task = api("PUT", path, body)
    print(name, task["state"], task["reason"])
    return 0 if task["state"] == "completed" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
