"""Runs the collector as a user would, on a CPU, in a folder of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLLECT = ROOT / "scripts/collect/collect.py"
PROGRAM = [ROOT / "build/release/bin/rooflua"]  # main.py puts the one under test here
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = unittest.skipUnless(HAS_TORCH, "PyTorch is not installed (python3-torch)")


def rooflua(*given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROGRAM[0]), *given], cwd=ROOT, capture_output=True, text=True, timeout=120,
                          check=False)


def command(out: Path, *more: str) -> list[str]:
    return [sys.executable, str(COLLECT), "--gpu", "h200-sxm", "--out", str(out), "--device", "cpu", "--dry-run",
            "--rooflua", str(PROGRAM[0]), *more]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def collect(*given: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The program itself, with exactly these arguments."""
    return subprocess.run([sys.executable, str(COLLECT), *given], capture_output=True, text=True, timeout=300,
                          check=False, env={**environment(), **more})


def rehearse(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The same in this process: importing PyTorch anew takes longer than a rehearsal."""
    from rooflua_collect.command import main

    given = command(out, *more)
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        status = main(given[2:])
    return subprocess.CompletedProcess(given, status, said.getvalue(), complained.getvalue())


def keys(folder: Path) -> dict[str, list[str]]:
    """Shape columns of each row of each table, in file order."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        lines = path.read_text().splitlines()
        found[path.name] = [line.rsplit(",", 3)[0] for line in lines[1:]]
    return found


class Case(unittest.TestCase):
    """With a folder that goes away."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.out = Path(self._folder.name)
        self.tables = self.out / "h200-sxm"
