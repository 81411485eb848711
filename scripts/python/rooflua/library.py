"""The library librooflua in this process, and what its functions answer (engine/library/rooflua.h)."""

from __future__ import annotations

import ctypes
import glob
import json
import os
from pathlib import Path

from .run import Mistake

_NAME = "librooflua.so.0"
ERROR_BYTES = 4096
_MISUSE, _CLOSED, _MEMORY = -2, -3, -4

HANDLE, TEXT, SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t


def library_path():
    """The library: $ROOFLUA_LIBRARY, else that of the installation or build beside this package, else by name."""
    stated = os.environ.get("ROOFLUA_LIBRARY")
    if stated:
        return stated
    home = Path(__file__).resolve().parents[3]
    prefix = home.parents[1] if home.parent.name == "share" else home
    for pattern in (f"lib/{_NAME}", f"lib/*/{_NAME}", f"lib64/{_NAME}", f"build/release/lib/{_NAME}",
                    f"build/*/lib/{_NAME}"):
        found = sorted(glob.glob(str(prefix / pattern)))
        if found:
            return found[0]
    return _NAME


def load():
    """A library of its own for each caller, who declares the functions that it calls.

    :raises Mistake: where there is none
    """
    try:
        return ctypes.CDLL(library_path())
    except OSError as problem:
        raise Mistake(f"the library of rooflua was not loaded: {problem}; install librooflua0, or set ROOFLUA_LIBRARY "
                      f"to {_NAME}") from None


class Closing:
    """What `close()` frees: at the end of a `with`, or when nothing holds it any more."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


def refuse(code, text):
    """Raises what a code below 0 stands for."""
    if code == _MEMORY:
        raise MemoryError(text)
    raise {_MISUSE: ValueError, _CLOSED: RuntimeError}.get(code, Mistake)(text)


def opened(call, *arguments):
    """The handle that a function gives; its last two arguments, the message's, are added here."""
    error = ctypes.create_string_buffer(ERROR_BYTES)
    handle = call(*arguments, error, ERROR_BYTES)
    if not handle:
        raise Mistake(error.value.decode(errors="replace"))
    return HANDLE(handle)


def document(call, *arguments):
    """The JSON that a function writes; its last two arguments, the buffer's, are added here."""
    room = 1 << 16
    while True:
        text = ctypes.create_string_buffer(room)
        size = call(*arguments, text, room)
        if size < 0:
            problem = text.value.decode(errors="replace")
            refuse(size, json.loads(problem)["error"] if problem else "memory has run out")
        if size < room:
            return json.loads(text.value)
        room = size + 1
