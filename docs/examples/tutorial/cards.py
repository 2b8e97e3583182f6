#!/usr/bin/env python3
"""Charges on cards: POST /charges makes one, POST /charges/refund takes it back. The card "empty" is declined."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

answers = {}  # by idempotency key: a request that comes again gets the same answer and charges nothing


class Cards(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        if key not in answers:
            if asked.get("card") == "empty":
                answers[key] = (402, {"error": "the card is declined"})
            else:
                answers[key] = (200, {"charged_cents": asked.get("cents", 0)})
        self.answer(*answers[key])

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--port", type=int, default=7202, help="where it listens, on this machine")
ThreadingHTTPServer(("127.0.0.1", options.parse_args().port), Cards).serve_forever()
