"""A clock that the scenario sets by hand, for programs that it starts: Debian's libfaketime, told through a file. From each setting on the clock
runs at the pace of the real one; the monotonic clocks are left alone, as they are when the real clock is set."""

import datetime
import pathlib
import re
import subprocess
import time

from harness import BINARY, expect

NANO = 10**9
# The one for programs with threads: the other may give one thread the real time while another reads the file.
PLACES = ("*/faketime/libfaketimeMT.so.1", "faketime/libfaketimeMT.so.1")


def unix(text):
    """Seconds of a moment in UTC, such as 2026-03-29T01:00:00Z."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def library():
    found = sorted(path for place in PLACES for path in pathlib.Path("/usr/lib").glob(place))
    expect(found, "libfaketime is not here, so that no clock can be set: apt-get install faketime (./dev does it)")
    return str(found[0])


def preloaded():
    """What the loader is to put before all else. The allocator that the program is linked with asks for the time while it is being set up, when
    libfaketime cannot answer yet; so that of the C library, with the operators of the C++ library that belong to it, stands before it. The runtime of a
    sanitizer brings its own, and insists on being the first."""
    needed = subprocess.run(["ldd", str(BINARY)], capture_output=True, text=True, check=False).stdout
    runtime = re.search(r"=> (\S*/lib[at]san\.so\S*)", needed)
    return ":".join([runtime[1], library()] if runtime else [library(), "libstdc++.so.6", "libc.so.6"])


class clock:
    def __init__(self, folder, moment):
        self.file_ = folder / "clock"
        self.settings_ = []  # (real time in ns, what is added from then on), the latest last
        self.prefix = ("env", f"LD_PRELOAD={preloaded()}", f"FAKETIME_TIMESTAMP_FILE={self.file_}", "FAKETIME_NO_CACHE=1",
                       "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1")
        self.set(moment)

    def set(self, moment):
        real = time.time_ns()
        ahead = unix(moment) - real / NANO
        # Renamed, as others read it all the time.
        fresh = self.file_.with_suffix(".new")
        fresh.write_text(f"{ahead:+.3f}\n")
        self.settings_.append((real, round(ahead * NANO)))
        fresh.rename(self.file_)

    def pass_on(self, moment):
        """Never back: a slow machine may have passed the moment by itself."""
        if self.now() < unix(moment):
            self.set(moment)

    def now(self):
        return self.of(time.time_ns())

    def of(self, real_ns):
        """What this clock read at a moment of the real one."""
        ahead = next((ahead for since, ahead in reversed(self.settings_) if since <= real_ns), self.settings_[0][1])
        return (real_ns + ahead) / NANO
