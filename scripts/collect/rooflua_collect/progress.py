"""Progress as one line on stderr; if stderr is no terminal, as a plain line every 20 s."""

from __future__ import annotations

import sys
import time


class Progress:
    def __init__(self, planned: int, quiet: bool = False) -> None:
        self._planned, self._quiet = planned, quiet
        self._begin = self._shown = time.monotonic()
        self._width = 0

    def show(self, done: int, what: str) -> None:
        """`done` rows are on disk; `what` is being measured."""
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if self._quiet or now - self._shown < (0.1 if terminal else 20.0):
            return
        self._shown = now
        text = f"{done}/{self._planned} rows, {now - self._begin:.0f} s  {what}"[:110]
        sys.stderr.write(f"\r{text.ljust(self._width)}" if terminal else text + "\n")
        sys.stderr.flush()
        self._width = len(text)

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        if sys.stderr.isatty() and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
