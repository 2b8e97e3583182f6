"""An append-only file of JSON lines that is on the disk before anything depends on it.

Every line is one record, an object with at least `record` (its kind), `at_ns` (wall clock) and `mono_ns` (the machine's monotonic
clock, the same for every process on it, so records of several services can be put in order). Lines that wait while the disk is
busy are written and synced together by one thread.
"""

import json
import os
import threading
import time

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def read(path):
    """All whole records of a file; a last line that a crash cut short is left out."""
    records, _ = _read_whole(path)
    return records


def _read_whole(path):
    if not os.path.exists(path):
        return [], 0
    with open(path, "rb") as file:
        data = file.read()
    whole = data.rfind(b"\n") + 1
    return [json.loads(line) for line in data[:whole].splitlines() if line], whole


class follower:
    """Reads a growing record file piece by piece."""

    def __init__(self, path):
        self.path_ = path
        self.offset_ = 0

    def fresh(self):
        """The whole records that were added since the last call."""
        try:
            with open(self.path_, "rb") as file:
                file.seek(self.offset_)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data.rfind(b"\n") + 1
        self.offset_ += whole
        return [json.loads(line) for line in data[:whole].splitlines() if line]


class journal:
    """The writer. `write` is called on the event loop's thread; what it returns is done once the records are on the disk."""

    def __init__(self, path, loop):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self.old_records, whole = _read_whole(path)
        self.loop_ = loop
        self.file_ = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.ftruncate(self.file_, whole)  # what a crash left half written was never acted upon
        os.lseek(self.file_, 0, os.SEEK_END)
        self.lock_ = threading.Condition()
        self.waiting_ = []  # (bytes, future or None)
        self.closing_ = False
        self.thread_ = threading.Thread(target=self._run, name="journal", daemon=True)
        self.thread_.start()

    def write(self, *records):
        """Queues the records in this order, after all that were queued before."""
        now, mono = time.time_ns(), time.monotonic_ns()
        text = "".join(encode({**record, "at_ns": now, "mono_ns": mono}) + "\n" for record in records)
        done = self.loop_.create_future()
        with self.lock_:
            self.waiting_.append((text.encode("utf-8", "surrogateescape"), done))
            self.lock_.notify()
        return done

    def close(self):
        """Writes what is waiting and ends the thread."""
        with self.lock_:
            self.closing_ = True
            self.lock_.notify()
        self.thread_.join()
        os.close(self.file_)

    def _run(self):
        while True:
            with self.lock_:
                while not self.waiting_ and not self.closing_:
                    self.lock_.wait()
                group, self.waiting_ = self.waiting_, []
                if not group:
                    return
            try:
                self._append(b"".join(text for text, _ in group))
            except OSError as error:
                # A record that is not on the disk must never be followed by an effect: the process ends, nothing is tried again.
                os.write(2, f"the record file cannot be written: {error}\n".encode())
                os._exit(74)
            self._call_loop(self._resolve, [done for _, done in group])

    def _append(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.file_, view):]
        os.fdatasync(self.file_)

    def _call_loop(self, function, argument):
        try:
            self.loop_.call_soon_threadsafe(function, argument)
        except RuntimeError:
            pass  # the loop has ended; nobody waits any more

    @staticmethod
    def _resolve(futures):
        for done in futures:
            if not done.done():
                done.set_result(None)
