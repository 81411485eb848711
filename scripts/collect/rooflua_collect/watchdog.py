"""A kernel that hangs cannot be interrupted from within its process, so the process is ended after a limit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rooflua_collect.problem import BROKEN

ROW_LIMIT_S = 120.0  # includes compiling a kernel for a shape


@contextmanager
def watched(on_late: Callable[[], object], limit_s: float = ROW_LIMIT_S,
            leave: Callable[[int], object] = os._exit) -> Iterator[None]:
    """If the block takes longer than `limit_s`, calls on_late() and ends the process. Measured rows are on disk."""

    def late() -> None:
        try:
            on_late()
        finally:
            leave(BROKEN)

    timer = threading.Timer(limit_s, late)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
