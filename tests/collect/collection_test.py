"""The loop, with kernels that misbehave."""

from __future__ import annotations

import subprocess
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import rehearsal
from rooflua_collect.cases import Case
from rooflua_collect.problem import BROKEN, Problem

if rehearsal.HAS_TORCH:
    import torch
    from rooflua_collect import collection, timing
    from rooflua_collect.bench import Bench, Pool, Prepared
    from rooflua_collect.kernels import Kernel
    from rooflua_collect.machine import describe
    from rooflua_collect.progress import Progress
    from rooflua_collect.provenance import Provenance

CASES = [Case("gemm_bf16", "gemm", (rows, 64, 64), 0) for rows in (1, 64, 8192)]
MIB = 2**20


class OfItsOwn(Exception):
    """As Triton has them: no RuntimeError."""


@rehearsal.needs_torch
class Loop(rehearsal.Case):
    def _run(self, *kernels: Kernel, cache_bytes: int = 0, rotated_bytes: float = 0.0) -> tuple[int, Provenance]:
        device = torch.device("cpu")
        bench = Bench(device, Pool(device, MIB), cache_bytes)
        provenance = Provenance.open(self.tables)
        run = collection.Collection(self.tables, bench, CASES, collection.Limits(), Progress(len(CASES), True),
                                    provenance, describe(device))
        family = SimpleNamespace(kernels=lambda *_: list(kernels))
        found = timing.Timing(2.0, 1.9, 2.1, 25, "graph", rotated_bytes, "random normal")
        with mock.patch.dict(collection.FAMILIES, gemm=family), \
                mock.patch.object(timing, "measure", lambda *_: found), \
                mock.patch.object(collection.Progress, "say", lambda _self, text: self.said.append(text)):
            status = run.run()
        return status, Provenance.open(self.tables)

    def setUp(self) -> None:
        super().setUp()
        self.said: list[str] = []

    @staticmethod
    def _kernel(name: str, error: Exception | None = None) -> Kernel:
        def prepare(_bench: Bench, _case: Case) -> Prepared:
            if error is not None:
                raise error
            return Prepared(lambda _i: None, 1, lambda: 0.0)

        return Kernel(name, "a library", prepare)

    def test_an_exception_of_any_kind_costs_a_kernel_not_the_collection(self) -> None:
        status, words = self._run(self._kernel("one", OfItsOwn("too many resources")), self._kernel("two"))
        self.assertEqual(status, 0)
        self.assertEqual((words.tables["gemm_bf16"]["kernel"], words.tables["gemm_bf16"]["rows"]), ("two", 3))
        self.assertTrue(any("OfItsOwn: too many resources" in text for text in self.said))

    def test_a_candidate_that_breaks_the_gpu_is_remembered_and_the_others_are_tried(self) -> None:
        broken, good = self._kernel("broken", RuntimeError("illegal access")), self._kernel("good")

        def look_after(_self: object, case: Case, error: Exception, blame) -> None:  # noqa: ANN001
            blame(f"broke the GPU context: {error}")
            raise Problem(f"{case}: broken", BROKEN)

        with mock.patch.object(collection.Collection, "_look_after", look_after):
            with self.assertRaisesRegex(Problem, "broken"):
                self._run(broken, good)
            self.assertEqual(Provenance.open(self.tables).tables["gemm_bf16"]["broken"], ["broken"])
            status, words = self._run(broken, good)
        self.assertEqual((status, words.tables["gemm_bf16"]["kernel"]), (0, "good"))
        self.assertEqual(words.refused("gemm_bf16"), {})

    def test_rows_that_could_not_pass_the_cache_are_named(self) -> None:
        _, words = self._run(self._kernel("one"), cache_bytes=4 * MIB, rotated_bytes=6.0 * MIB)
        entry = words.tables["gemm_bf16"]
        self.assertEqual(entry["inputs"], "random normal")
        self.assertEqual(set(entry["not_rotated"]), {"1/64/64", "64/64/64", "8192/64/64"})
        self.assertIn("(4 MiB)", entry["rotation"])
        self.assertIn("not_rotated", entry["rotation"])

    def test_rows_that_passed_the_cache_are_not(self) -> None:
        _, words = self._run(self._kernel("one"), cache_bytes=4 * MIB, rotated_bytes=9.0 * MIB)
        self.assertNotIn("not_rotated", words.tables["gemm_bf16"])
        self.assertNotIn("but for", words.tables["gemm_bf16"]["rotation"])

    def test_rows_too_small_to_leave_any_cache_are_counted(self) -> None:
        _, words = self._run(self._kernel("one"), cache_bytes=60 * MIB, rotated_bytes=6.0 * MIB)
        self.assertIn("but for 2 rows that move less than 120 KiB", words.tables["gemm_bf16"]["rotation"])
        self.assertEqual(words.tables["gemm_bf16"]["not_rotated"], ["8192/64/64"])

    def test_how_long_rows_took_is_added_up(self) -> None:
        _, words = self._run(self._kernel("one"))
        self.assertEqual(words.tables["gemm_bf16"]["seconds_rows"], 3)
        self.assertGreaterEqual(words.tables["gemm_bf16"]["seconds"], 0)


class Watch(unittest.TestCase):
    def test_a_kernel_that_hangs_is_blamed_and_the_process_ends(self) -> None:
        program = ("import sys, time; sys.path.insert(0, sys.argv[1])\n"
                   "from rooflua_collect.watchdog import watched\n"
                   "with watched(lambda: print('blamed', flush=True), 0.05): time.sleep(60)\n")
        done = subprocess.run([sys.executable, "-c", program, str(rehearsal.COLLECT.parent)], capture_output=True,
                              text=True, timeout=50, check=False)
        self.assertEqual((done.returncode, done.stdout), (BROKEN, "blamed\n"))

    def test_who_comes_back_in_time_is_left_alone(self) -> None:
        from rooflua_collect.watchdog import watched

        ended: list[int] = []
        with watched(lambda: None, 60, ended.append) as _:
            pass
        with self.assertRaises(ValueError), watched(lambda: None, 60, ended.append):
            raise ValueError
        import threading

        self.assertFalse([each for each in threading.enumerate() if isinstance(each, threading.Timer)
                          and not each.finished.is_set()])
        self.assertEqual(ended, [])
