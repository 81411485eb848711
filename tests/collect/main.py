"""Runs the tests beside this file; closes with `N passed, N failed` as every test program of the house."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts/collect")]

import rehearsal  # noqa: E402


def main() -> int:
    rehearsal.PROGRAM[0] = Path(sys.argv[1]).resolve()
    suite = unittest.defaultTestLoader.discover(str(HERE), "*_test.py")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
