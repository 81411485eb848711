"""power.py without a GPU: the loads, the share of time that they run, what a row says, and what is refused."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from unittest import mock

import rehearsal
from rooflua_collect import power
from rooflua_collect.cases import Case
from rooflua_collect.problem import Problem

if rehearsal.HAS_TORCH:
    import torch
    from measure import timing
    from rooflua_collect import machine

POWER = rehearsal.ROOT / "scripts/collect/power.py"
WATTS = 250.0


class Meter:
    """A device that draws WATTS whatever it does."""

    def joules(self) -> float:
        return WATTS * time.monotonic()

    def watts(self) -> float:
        return WATTS - 1

    def sm_mhz(self) -> float:
        return 1500

    def celsius(self) -> float:
        return 40


@contextlib.contextmanager
def on_a_cpu() -> Iterator[None]:
    def burst(_cuda, _stream, call, sets, calls, _graph):  # noqa: ANN001, ANN202
        return lambda: [call(i % sets) for i in range(calls)]

    with mock.patch.object(torch.cuda, "synchronize", lambda *_: None), \
            mock.patch.object(torch.cuda, "stream", lambda _: contextlib.nullcontext()), \
            mock.patch.object(timing, "burst", burst):
        yield


def row_of(load: power.Load) -> dict[str, object]:
    with on_a_cpu():
        found = power._row(machine.open_bench(torch.device("cpu")), Meter(), load, 0.05, 0.3)
    return dict(zip(power.COLUMNS, found, strict=True))


class Loads(unittest.TestCase):
    def test_there_is_an_idle_one_and_each_is_measured_once(self) -> None:
        found = list(power.loads())
        self.assertEqual(found[0], power.Load(None))
        self.assertEqual(len({(load.case and load.case.table, load.case and load.case.key, load.busy)
                              for load in found}), len(found))

    def test_each_that_runs_a_part_of_the_time_is_there_without_a_pause_too(self) -> None:
        found = list(power.loads())
        whole = {(load.case.table, load.case.key) for load in found if load.case and load.busy == 1}
        part = [load for load in found if load.busy < 1]
        self.assertGreaterEqual(len(part), 3)
        self.assertTrue(all((load.case.table, load.case.key) in whole for load in part))


@rehearsal.needs_torch
class Rows(unittest.TestCase):
    def test_watts_are_energy_over_time_and_work_is_per_second(self) -> None:
        row = row_of(power.Load(Case("gemm_bf16", "gemm", (8, 64, 64), 0)))
        self.assertAlmostEqual(row["watts"], WATTS, delta=0.02 * WATTS)
        self.assertEqual([row[name] for name in ("op", "dtype", "shape", "watts_read")],
                         ["gemm", "bf16", "8x64x64", WATTS - 1])
        flop = 2 * 8 * 64 * 64
        self.assertAlmostEqual(float(row["tflop_per_s"]) * 1e12 * float(row["latency_us"]) * 1e-6 / flop, 1, delta=0.01)

    def test_an_idle_device_does_no_work(self) -> None:
        row = row_of(power.Load(None))
        self.assertEqual((row["op"], row["shape"], row["tflop_per_s"], row["gb_per_s"]), ("idle", "", "0", "0"))
        self.assertAlmostEqual(row["watts"], WATTS, delta=0.02 * WATTS)

    def test_every_kind_of_load_runs(self) -> None:
        for case in (Case("memory", "memory", ("copy", 2**16), 0),
                     Case("elementwise", "elementwise", ("norm", 4, 64, "bf16"), 0),
                     Case("attention_decode_bf16", "attention_decode", (4, 2, 16, "bf16", 2, 24), 0)):
            self.assertEqual(row_of(power.Load(case, 0.5))["op"], case.op)

    def test_a_load_is_busy_for_its_share_of_the_time(self) -> None:
        with on_a_cpu():
            for share in (0.25, 0.5, 1.0):
                began = time.monotonic()
                busy_s, bursts = power._run(lambda: time.sleep(0.01), share, 0.5, None)
                self.assertGreater(bursts, 5)
                self.assertAlmostEqual(busy_s / (time.monotonic() - began), share, delta=0.1)


@rehearsal.needs_torch
class Refused(rehearsal.Case):
    def test_without_nvml_the_package_is_named(self) -> None:
        with mock.patch.dict(sys.modules, {"pynvml": None}), self.assertRaisesRegex(Problem, "nvidia-ml-py"):
            power.Meter(None)

    def test_a_gpu_that_is_not_known_is_refused_and_nothing_is_written(self) -> None:
        to = self.out / "power.csv"
        done = subprocess.run([sys.executable, str(POWER), "--gpu", "h1000", "--to", str(to)], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, "power.py: .*h1000")
        self.assertFalse(to.exists())
