"""Errors that stop a collection, with their exit status."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from measure.files import Problem

DONE = 0
INCOMPLETE = 1  # rows were refused, or `rooflua data verify` found errors
USAGE = 2  # the command line or the machine is wrong
BUDGET = 3  # stopped by --budget-s: run the same command again
BROKEN = 4  # a kernel broke the GPU context, or hung: run again, the kernel's row is then left out


class TooLarge(Exception):
    """A row needs more memory than there is."""


def unknown(kind: str, name: str, known: Iterable[str]) -> Problem:
    """`unknown op 'gem' (did you mean 'gemm'? known: ...)`."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return Problem(f"unknown {kind} '{name}' ({hint}known: {', '.join(names)})")
