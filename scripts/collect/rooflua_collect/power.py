"""Power under steady loads: each kernel runs over and over for a few seconds, all of the time or a share of it.

The energy counter of the driver is read before and after. Its mean is what counts: a reading of power is itself a mean
over about a second. The first second of each load is not counted, because the readings lag behind. Clocks and limits
are read, never set.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rooflua_collect import gpus
from rooflua_collect.cases import Case, bytes_of, flop_of
from rooflua_collect.problem import Problem

HOME = Path(__file__).resolve().parents[3]
COLUMNS = ("op", "dtype", "shape", "busy", "watts", "watts_read", "sm_mhz", "celsius", "latency_us", "tflop_per_s",
           "gb_per_s", "seconds")
BURST_US = 10e3
KERNELS = {"attention_decode": -1, "attention_prefill": -1}  # which of the candidates; else the first
AHEAD = 3  # bursts that the device is given before the host waits


@dataclass(frozen=True)
class Load:
    """A kernel that runs for a share of the time; None: an idle device."""

    case: Case | None
    busy: float = 1.0


def loads() -> Iterator[Load]:
    """From idle to the largest GEMMs, and three loads that run a part of the time."""
    yield Load(None)
    for dtype, rows in (("bf16", (1, 8, 32, 64, 128, 256, 512, 1024, 4096, 16384)),
                        ("fp8", (16, 64, 128, 256, 512, 1024, 4096, 16384))):
        for m in rows:
            yield Load(_gemm(dtype, m))
    yield Load(Case("memory", "memory", ("copy", 2**30), 0))
    yield Load(Case("elementwise", "elementwise", ("norm", 8192, 8192, "bf16"), 0))
    yield Load(Case("attention_decode_bf16", "attention_decode", (32, 8, 128, "bf16", 64, 8192), 0))
    yield Load(Case("attention_prefill_bf16", "attention_prefill", (32, 8, 128, 1, 0, 8192), 0))
    for case in (_gemm("bf16", 64), _gemm("bf16", 4096), Case("memory", "memory", ("copy", 2**30), 0)):
        for busy in (0.25, 0.5, 0.75):
            yield Load(case, busy)


def _gemm(dtype: str, m: int) -> Case:
    return Case(f"gemm_{dtype}", "gemm", (m, 8192, 8192), 0)


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="power.py", description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", required=True, help="folder of bench_data, or an alias: h100-sxm")
    parser.add_argument("--to", type=Path, required=True, help="CSV file")
    parser.add_argument("--settle-s", type=float, default=1.0, help="before a load is counted")
    parser.add_argument("--seconds", type=float, default=1.5, help="that a load is counted")
    args = parser.parse_args(given)
    try:
        _measure(args)
    except Problem as problem:
        print(f"power.py: {problem}", file=sys.stderr)
        return problem.status
    return 0


def _measure(args: argparse.Namespace) -> None:
    from rooflua_collect import machine

    known = gpus.read_gpus(HOME / "bench_data")
    gpu = gpus.named(known, args.gpu)
    device = machine.open_device("cuda")
    gpus.check_device(known, gpu, machine.describe(device).gpu)
    meter = Meter(device)
    bench = machine.open_bench(device)
    with open(args.to, "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for load in loads():
            table.writerow(_row(bench, meter, load, args.settle_s, args.seconds))
            out.flush()


class Meter:
    """Energy, power, clock and temperature of one GPU, as NVML reads them. @raises Problem without NVML"""

    def __init__(self, device: object) -> None:
        from rooflua_collect import machine

        try:
            import pynvml
        except ImportError:
            raise Problem("needs the package nvidia-ml-py, which reads the power") from None
        pynvml.nvmlInit()
        self._nvml, self._handle = pynvml, pynvml.nvmlDeviceGetHandleByUUID(machine.identity(device))

    def joules(self) -> float:
        return self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle) * 1e-3

    def watts(self) -> float:
        return self._nvml.nvmlDeviceGetPowerUsage(self._handle) * 1e-3

    def sm_mhz(self) -> float:
        return self._nvml.nvmlDeviceGetClockInfo(self._handle, self._nvml.NVML_CLOCK_SM)

    def celsius(self) -> float:
        return self._nvml.nvmlDeviceGetTemperature(self._handle, self._nvml.NVML_TEMPERATURE_GPU)


def _row(bench: object, meter: Meter, load: Load, settle_s: float, seconds: float) -> list[object]:
    run, calls = _repeated(bench, load) if load.case else (lambda: time.sleep(0.01), 1)
    _run(run, load.busy, settle_s, None)
    readings: list[tuple[float, float]] = []
    before, began = meter.joules(), time.monotonic()
    busy_s, bursts = _run(run, load.busy, seconds, lambda: readings.append((meter.watts(), meter.sm_mhz())))
    spent_s = time.monotonic() - began
    watts = (meter.joules() - before) / spent_s
    case = load.case
    call_s = busy_s / (bursts * calls) if case else 0.0
    work = (flop_of(case) / call_s * 1e-12, bytes_of(case) / call_s * 1e-9) if case else (0.0, 0.0)
    return [case.op if case else "idle", case.dtype if case else "", "x".join(case.key) if case else "", load.busy,
            round(watts, 1), round(statistics.median(r[0] for r in readings), 1),
            round(statistics.median(r[1] for r in readings)), meter.celsius(), f"{call_s * 1e6:.6g}",
            f"{work[0]:.4g}", f"{work[1]:.4g}", round(spent_s, 2)]


def _repeated(bench: object, load: Load) -> tuple[Callable[[], None], int]:
    """A function that launches BURST_US of calls on the device, and how many calls those are."""
    import torch

    from measure import timing as gpu_timing
    from rooflua_collect import timing
    from rooflua_collect.collection import FAMILIES

    case = load.case
    family = FAMILIES[case.op]
    variant = family.variant(case) if hasattr(family, "variant") else ""
    prepared = family.kernels(bench, case.table, variant)[KERNELS.get(case.op, 0)].prepare(bench, case)
    with torch.inference_mode():
        call_us = timing.measure(bench, prepared, 3).median_us
        with torch.cuda.stream(bench.stream):
            calls = max(1, round(BURST_US / call_us))
            replay = gpu_timing.burst(torch.cuda, bench.stream, prepared.call, prepared.sets, calls, prepared.graph)

    def run() -> None:
        with torch.cuda.stream(bench.stream):
            replay()

    return run, calls


def _run(run: Callable[[], None], busy: float, seconds: float, read: Callable[[], None] | None) -> tuple[float, int]:
    """Bursts for some seconds. Returns the time in which the device was busy, and how many bursts there were."""
    import torch

    busy_s, bursts, end = 0.0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        many = AHEAD if busy == 1 else 1
        for _ in range(many):
            run()
        torch.cuda.synchronize()
        took = time.monotonic() - began
        busy_s, bursts = busy_s + took, bursts + many
        if read:
            read()
        if busy < 1:
            time.sleep(took * (1 / busy - 1))
    return busy_s, bursts
