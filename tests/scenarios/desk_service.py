"""A service whose answers a scenario decides, call by call: what an operator meets is made to happen and then mended."""

import http.server
import json
import sys
import threading

import harness


class quiet_server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # Many steps at once fit: connections that are turned away come again after seconds.
    request_queue_size = 512

    def handle_error(self, request, client_address):
        """A client that goes away before it has its answer is nothing to tell of."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class desk_service:
    """POST /CALL with {"order": ID, …} is answered with a receipt, unless `answer` says otherwise for that call and order."""

    def __init__(self, answer_bytes=0):
        """`answer_bytes`: how much a receipt has besides what it says."""
        self.arrivals = []  # (call, order, body, idempotency key)
        self.answer_bytes_ = answer_bytes
        self.lock_ = threading.Lock()
        self.statuses_ = {}
        self.gates_ = {}
        service = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = service.take_(self.path.strip("/"), body, self.headers["Idempotency-Key"])
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server_ = quiet_server(("127.0.0.1", 0), handler)
        self.port = self.server_.server_address[1]
        self.ports = dict.fromkeys(harness.operations.SERVICES, self.port)  # it stands for all of them
        threading.Thread(target=self.server_.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for gate in self.gates_.values():
            gate.set()
        self.server_.shutdown()
        self.server_.server_close()

    def answer(self, call, order, status):
        """From now on; None: as it should be. 422 is refused for good, 500 leaves it in doubt."""
        with self.lock_:
            self.statuses_[call, order] = status

    def hold(self, call, order):
        """That call is not answered until the returned event is set."""
        gate = threading.Event()
        with self.lock_:
            self.gates_[call, order] = gate
        return gate

    def seen(self, call, order):
        """The arrivals of that call."""
        with self.lock_:
            return [arrival for arrival in self.arrivals if arrival[:2] == (call, order)]

    def calls(self, order):
        with self.lock_:
            return [arrival[0] for arrival in self.arrivals if arrival[1] == order]

    def take_(self, call, body, key):
        order = body.get("order")
        with self.lock_:
            self.arrivals.append((call, order, body, key))
            status = self.statuses_.get((call, order))
            gate = self.gates_.get((call, order))
        if gate is not None:
            gate.wait(60)
        if status is None and body.get("amount", 0) < 0:
            status = 422
        if status is not None:
            return status, {"error": f"{call} of {order} is refused"}
        return 200, {"receipt": f"{call}-{order}", **({"paper": "x" * self.answer_bytes_} if self.answer_bytes_ else {})}
