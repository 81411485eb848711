"""The time of one call: the median, p10 and p90 of repeats.

    graph   a CUDA graph of many calls is replayed; one repeat is the time between two events around a
            replay, divided by the calls in it. Engines with CUDA graphs run kernels in this way.
    kernel  events around plain launches, for calls that cannot be captured in a graph
    wall    a host clock around calls, on a CPU
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass

import torch

from measure.timing import WARM_UP, median_p10_p90, timed
from rooflua_collect.bench import Bench, Prepared

REPEATS = 25


@dataclass(frozen=True)
class Timing:
    """Microseconds of one call.

    rotated_bytes  bytes moved until a set of inputs is used again; 0: nothing rotates
    inputs         their description
    """

    median_us: float
    p10_us: float
    p90_us: float
    repeats: int
    timer: str
    rotated_bytes: float = 0.0
    inputs: str = ""

    @property
    def spread(self) -> float:
        return self.p90_us / self.p10_us if self.p10_us > 0 else math.inf


def summary(times_us: list[float], timer: str) -> Timing:
    return Timing(*median_p10_p90(times_us), len(times_us), timer)


def timer_name(bench: Bench, prepared: Prepared) -> str:
    if not bench.on_gpu:
        return "wall"
    return "graph" if prepared.graph else "kernel"


def measure(bench: Bench, prepared: Prepared, repeats: int = REPEATS, calls: int | None = None) -> Timing:
    """Warm-up, then `repeats` repeats of `calls` calls each.

    calls  None: as many as a repeat needs. Processes that must call equally often give a number
    """
    if bench.stream is None:
        return dataclasses.replace(_wall(prepared, repeats, calls), inputs=prepared.inputs)
    times, many = timed(torch.cuda, bench.stream, prepared.call, prepared.sets, repeats, prepared.graph, calls or 0)
    found = summary(times, timer_name(bench, prepared))
    return dataclasses.replace(found, rotated_bytes=prepared.set_bytes * min(many, prepared.sets),
                               inputs=prepared.inputs)


def _wall(prepared: Prepared, repeats: int, calls: int | None) -> Timing:
    for i in range(WARM_UP):
        prepared.call(i % prepared.sets)
    begin = time.perf_counter()
    prepared.call(0)
    many = calls or max(1, min(20, math.ceil(50e-6 / max(time.perf_counter() - begin, 1e-9))))
    times = []
    for repeat in range(repeats):
        begin = time.perf_counter()
        for i in range(many):
            prepared.call((repeat + i) % prepared.sets)
        times.append((time.perf_counter() - begin) * 1e6 / many)
    return summary(times, "wall")
