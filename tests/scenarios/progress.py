"""Live progress: one line drawn again and again on a terminal, a plain line every two seconds elsewhere."""

import shutil
import sys
import time


class progress:
    def __init__(self, out=sys.stderr):
        self.out_ = out
        self.terminal_ = out.isatty()
        self.last_ = 0.0

    def say(self, text):
        """A line that stays."""
        self.out_.write(f"\r\x1b[K{text}\n" if self.terminal_ else f"{text}\n")
        self.out_.flush()

    def draw(self, text):
        """A line that the next one replaces."""
        now = time.monotonic()
        if now - self.last_ < (0.1 if self.terminal_ else 2.0):
            return
        self.last_ = now
        if self.terminal_:
            width = shutil.get_terminal_size().columns - 1
            self.out_.write(f"\r\x1b[K{text[:width]}")
        else:
            self.out_.write(f"{text}\n")
        self.out_.flush()

    def bar(self, done, total):
        """As wide as the terminal leaves room for beside some 80 columns of text."""
        width = max(4, min(24, shutil.get_terminal_size((120, 24)).columns - 80))
        filled = width * min(done, total) // max(total, 1)
        return "█" * filled + "░" * (width - filled)
