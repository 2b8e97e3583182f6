#!/usr/bin/env python3
"""Seats in workshops: POST /seats takes one, POST /seats/release gives it back, GET /seats lists who has one."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

seats = {}  # by booking
answers = {}  # by idempotency key: a request that comes again gets the same answer and takes no second seat


class Seats(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {"taken": len(seats), "bookings": sorted(seats)})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        if key not in answers:
            if self.path == "/seats":
                seats[asked["booking"]] = asked["workshop"]
                answers[key] = {"seat": len(seats)}
            else:
                seats.pop(asked["booking"], None)
                answers[key] = {}
        self.answer(200, answers[key])

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--port", type=int, default=7201, help="where it listens, on this machine")
ThreadingHTTPServer(("127.0.0.1", options.parse_args().port), Seats).serve_forever()
