"""A small HTTP/1.1 keep-alive server over asyncio: one handler coroutine a request, one request at a time on a connection."""

import asyncio
import dataclasses
import socket

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 4 * 1024 * 1024

REASONS = {200: "OK", 400: "Bad Request", 402: "Payment Required", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
           411: "Length Required", 413: "Content Too Large", 422: "Unprocessable Content", 503: "Service Unavailable"}


@dataclasses.dataclass
class request:
    method: str
    path: str
    headers: dict  # names in lower case
    body: bytes


class bad_request(Exception):
    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


def response_bytes(status, body, close=False):
    head = (f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n" + ("Connection: close\r\n" if close else "") + "\r\n")
    return head.encode() + body


class connection(asyncio.Protocol):
    """`handler(request, connection)` is a coroutine that ends with `answer` or `drop`."""

    def __init__(self, handler):
        self.handler_ = handler
        self.transport_ = None
        self.buffer_ = b""
        self.task_ = None
        self.on_lost = None  # called when the client goes away while its request is being worked on

    def connection_made(self, transport):
        self.transport_ = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        self.buffer_ += data
        if self.task_ is None:
            self._next()

    def connection_lost(self, _error):
        self.transport_ = None
        if self.on_lost is not None:
            self.on_lost()

    def open(self):
        return self.transport_ is not None and not self.transport_.is_closing()

    def answer(self, status, body, close=False):
        if self.open():
            self.transport_.write(response_bytes(status, body, close))
            if close:
                self.transport_.close()

    def drop(self):
        if self.transport_ is not None:
            self.transport_.abort()

    def _next(self):
        try:
            parsed = self._take_request()
        except bad_request as error:
            self.answer(error.status, f'{{"error":"{error}"}}'.encode(), close=True)
            return
        if parsed is not None:
            self.task_ = asyncio.get_running_loop().create_task(self.handler_(parsed, self))
            self.task_.add_done_callback(self._handled)

    def _handled(self, task):
        self.task_ = None
        self.on_lost = None
        if task.cancelled():
            return
        if task.exception() is not None:
            self.drop()
            raise task.exception()
        if self.open() and self.buffer_:
            self._next()

    def _take_request(self):
        end = self.buffer_.find(b"\r\n\r\n")
        if end < 0:
            if len(self.buffer_) > MAX_HEAD_BYTES:
                raise bad_request(413, "the request's head is too long")
            return None
        lines = self.buffer_[:end].decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise bad_request(400, "the request line is not HTTP/1.1")
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise bad_request(400, "a header has no colon")
            headers[name.strip().lower()] = value.strip()
        if "transfer-encoding" in headers:
            raise bad_request(411, "a body needs a Content-Length")
        length = headers.get("content-length", "0")
        if not length.isdigit():
            raise bad_request(400, "Content-Length is not a number")
        if int(length) > MAX_BODY_BYTES:
            raise bad_request(413, "the body is too long")
        begin = end + 4
        if len(self.buffer_) < begin + int(length):
            if headers.get("expect", "").lower() == "100-continue" and len(self.buffer_) == begin:
                self.transport_.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        body = self.buffer_[begin:begin + int(length)]
        self.buffer_ = self.buffer_[begin + int(length):]
        return request(parts[0], parts[1], headers, body)
