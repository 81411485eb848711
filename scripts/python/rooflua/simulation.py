"""Simulations that go step by step in this process, by librooflua.

    with rooflua.open("chat.lua", seed=1) as simulation:
        while simulation.step(100):
            simulation.state()["replicas"][0]["waiting"]
        simulation.result().frame
"""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from pathlib import Path

from .library import ERROR_BYTES, HANDLE, SIZE, TEXT, Closing, document, load, opened, refuse
from .results import Result
from .run import scenario_text, set_texts, written

_STEPS_AT_ONCE = 4096  # of run(); between two of them Python answers Ctrl-C


def _load():
    library = load()
    library.rooflua_run_open.argtypes = [TEXT, TEXT, TEXT, SIZE]
    library.rooflua_run_fork.argtypes = [HANDLE, TEXT, SIZE]
    library.rooflua_run_open.restype = library.rooflua_run_fork.restype = HANDLE
    library.rooflua_run_step.argtypes = [HANDLE, ctypes.c_int32, TEXT, SIZE]
    library.rooflua_run_until.argtypes = [HANDLE, ctypes.c_double, TEXT, SIZE]
    library.rooflua_run_now.argtypes = [HANDLE, ctypes.POINTER(ctypes.c_double), TEXT, SIZE]
    library.rooflua_run_state.argtypes = library.rooflua_run_result.argtypes = [HANDLE, TEXT, SIZE]
    library.rooflua_run_close.argtypes = [HANDLE]
    library.rooflua_run_close.restype = None
    return library


def open(scenario=None, *, set=None, users=None, seed=None, text=None, **keys):  # noqa: A001, A002, as in rooflua.run
    """A scenario of kind "serve" as a Simulation at time 0; without `vary` and `sweep`.

    The parameters are those of rooflua.run.

    :raises Mistake: if the scenario is wrong
    """
    if sum([scenario is not None, text is not None, bool(keys)]) != 1:
        raise TypeError("open() takes a scenario's file, text= or the keys of a scenario, one of them")
    source = Path(scenario) if scenario is not None else text if text is not None else scenario_text(keys)
    overrides = {"set": set_texts(set, users)}
    if seed is not None:
        overrides["seed"] = seed
    library = _load()
    with tempfile.TemporaryDirectory(prefix="rooflua-") as folder, written(source, Path(folder)) as file:
        handle = opened(library.rooflua_run_open, os.fsencode(file), json.dumps(overrides).encode())
    return Simulation(library, handle)


class Simulation(Closing):
    """A simulation, as rooflua.open makes it. It belongs to the thread that made it, and so do its forks."""

    def __init__(self, library, handle):
        self._library, self._handle = library, handle
        self._error = ctypes.create_string_buffer(ERROR_BYTES)

    def _asked(self, function, *arguments):
        code = function(self._handle, *arguments, self._error, ERROR_BYTES)
        if code < 0:
            refuse(code, self._error.value.decode(errors="replace"))
        return code

    def step(self, steps=1):
        """Goes on up to the end of a step, of whichever replica, so many times.

        :returns: whether something is left to happen
        :raises Mistake: an error of a policy; the simulation cannot go on after it, a fork made before can
        """
        if not 1 <= steps < 2 ** 31 or steps != int(steps):
            raise ValueError(f"steps: expected a whole number from 1 to 2^31 - 1, found {steps}")
        return self._asked(self._library.rooflua_run_step, int(steps)) > 0

    def until(self, time_s):
        """Goes on with every event up to this time of its clock, in seconds; Ctrl-C is answered after that.

        :returns: whether something is left to happen
        :raises Mistake: as step()
        """
        return self._asked(self._library.rooflua_run_until, time_s) > 0

    def run(self):
        """Goes on to the end. Returns the Result."""
        while self.step(_STEPS_AT_ONCE):
            pass
        return self.result()

    @property
    def now_s(self):
        """Where its clock stands, in seconds."""
        now_s = ctypes.c_double()
        self._asked(self._library.rooflua_run_now, ctypes.byref(now_s))
        return now_s.value

    def state(self):
        """The present: a dict with now_s, over, requests and replicas (rooflua_run_state of rooflua.h)."""
        return document(self._library.rooflua_run_state, self._handle)

    def fork(self):
        """An independent copy of the present, with the same future. It goes on when this one is closed.

        :raises Mistake: a policy keeps what cannot be copied
        """
        return Simulation(self._library, opened(self._library.rooflua_run_fork, self._handle))

    def result(self):
        """The Result so far; its variant has `partial` where something is left to happen."""
        return Result(document(self._library.rooflua_run_result, self._handle))

    def close(self):
        """Frees it. A closed simulation answers with an error."""
        self._library.rooflua_run_close(self._handle)
