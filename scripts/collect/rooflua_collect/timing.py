"""How long one call takes: the median, p10 and p90 of repeats.

    graph   a CUDA graph of many calls is replayed; one repeat is the time between two events around a
            replay, divided by the calls in it. As an engine runs with CUDA graphs.
    kernel  the same without a graph, for what cannot be captured: events around plain launches
    wall    a host clock around calls: on a CPU

Calls rotate through the input sets. A repeat lasts at least REPEAT_US, so that the host is always ahead
of the device and the events see no gap.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from rooflua_collect.bench import Bench, Prepared

WARM_UP = 3
REPEATS = 25
REPEAT_US = 300.0
MOST_CALLS = 2048


@dataclass(frozen=True)
class Timing:
    """Microseconds of one call."""

    median_us: float
    p10_us: float
    p90_us: float
    repeats: int
    timer: str

    @property
    def spread(self) -> float:
        return self.p90_us / self.p10_us if self.p10_us > 0 else math.inf


def quantile(sorted_values: list[float], part: float) -> float:
    """Linear between the two neighbours; `part` in 0..1."""
    at = part * (len(sorted_values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (at - low) * (sorted_values[high] - sorted_values[low])


def summary(times_us: list[float], timer: str) -> Timing:
    ordered = sorted(times_us)
    return Timing(quantile(ordered, 0.5), quantile(ordered, 0.1), quantile(ordered, 0.9), len(ordered), timer)


def timer_name(bench: Bench, prepared: Prepared) -> str:
    if not bench.on_gpu:
        return "wall"
    return "graph" if prepared.graph else "kernel"


def measure(bench: Bench, prepared: Prepared, repeats: int = REPEATS, calls: int | None = None) -> Timing:
    """Warm-up, then `repeats` repeats of `calls` calls each.

    calls  None: as many as a repeat needs. Processes that must call equally often have to say
    """
    if bench.stream is None:
        return _wall(prepared, repeats, calls)
    bench.stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(bench.stream):
        rough_us = _rough_us(prepared)
        many = calls or calls_per_repeat(rough_us, prepared.sets)
        times = _between_events(_burst(prepared, many, bench.stream), repeats, many)
    torch.cuda.current_stream().wait_stream(bench.stream)
    return summary(times, timer_name(bench, prepared))


def calls_per_repeat(call_us: float, sets: int) -> int:
    """Enough to last REPEAT_US and, where that is no more than a few repeats, to see every set."""
    enough = math.ceil(REPEAT_US / max(call_us, 0.1))
    if call_us * sets <= 10 * REPEAT_US:
        enough = max(enough, sets)
    return max(1, min(MOST_CALLS, enough))


def _rough_us(prepared: Prepared) -> float:
    """A first guess, with events: device time where that is longer than a launch."""
    for i in range(WARM_UP):
        prepared.call(i % prepared.sets)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.current_stream().synchronize()
    begin.record()
    for i in range(4):
        prepared.call((WARM_UP + i) % prepared.sets)
    end.record()
    end.synchronize()
    guess = begin.elapsed_time(end) * 1e3 / 4
    return min(guess, 3.0) if guess < 20 else guess  # below that it is the host that was timed


def _burst(prepared: Prepared, calls: int, stream: torch.cuda.Stream) -> Callable[[], None]:
    """What one repeat runs."""

    def launch() -> None:
        for i in range(calls):
            prepared.call(i % prepared.sets)

    if not prepared.graph:
        return launch
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()  # torch.cuda.graph() would collect garbage for each row
    try:
        launch()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            graph.capture_end()  # the capture is void; its error says less than the first one
        raise
    graph.capture_end()
    return graph.replay


def _between_events(burst: Callable[[], None], repeats: int, calls: int) -> list[float]:
    """Events between bursts that follow each other without a gap; microseconds per call."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    for _ in range(WARM_UP):
        burst()
    for event in events[:-1]:
        event.record()
        burst()
    events[-1].record()
    events[-1].synchronize()
    return [before.elapsed_time(after) * 1e3 / calls for before, after in zip(events, events[1:])]


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
