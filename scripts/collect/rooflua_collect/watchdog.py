"""A kernel that hangs cannot be interrupted from within its process: after a while the process ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rooflua_collect.problem import BROKEN

ROW_LIMIT_S = 120.0  # compiling a kernel for a shape is part of it


@contextmanager
def watched(on_late: Callable[[], object], limit_s: float = ROW_LIMIT_S,
            leave: Callable[[int], object] = os._exit) -> Iterator[None]:
    """After `limit_s` in the block: on_late(), then the process ends. Rows are on disk before."""

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
