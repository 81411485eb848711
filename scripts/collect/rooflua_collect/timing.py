"""The time of one call: the median, p10 and p90 of repeats.

    graph   a CUDA graph of many calls is replayed; one repeat is the time between two events around a
            replay, divided by the calls in it. Engines with CUDA graphs run kernels in this way.
    kernel  events around plain launches, for calls that cannot be captured in a graph
    wall    a host clock around calls, on a CPU

Calls rotate through all input sets until a repeat lasts REPEAT_US, so that the host is always ahead of the device and
there is no gap between the events.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from rooflua_collect.bench import Bench, Prepared
from rooflua_collect.problem import TooSlow

WARM_UP = 3
REPEATS = 25
REPEAT_US = 300.0
ROTATION_US = 20e3  # longest repeat that goes through all sets, in device time
MOST_CALLS = 2048
MOST_CALL_US = 2e6


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


def quantile(sorted_values: list[float], part: float) -> float:
    """Quantile, linear between the two neighbours; `part` in 0..1."""
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

    calls  None: as many as a repeat needs. Processes that must call equally often give a number
    """
    if bench.stream is None:
        return dataclasses.replace(_wall(prepared, repeats, calls), inputs=prepared.inputs)
    bench.stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(bench.stream):
        for i in range(WARM_UP):
            prepared.call(i % prepared.sets)
        many = calls or calls_per_repeat(_rough_us(prepared, bench.stream), prepared.sets)
        times = _between_events(burst(prepared, many, bench.stream), repeats, many)
    torch.cuda.current_stream().wait_stream(bench.stream)
    found = summary(times, timer_name(bench, prepared))
    return dataclasses.replace(found, rotated_bytes=prepared.set_bytes * min(many, prepared.sets),
                               inputs=prepared.inputs)


def calls_per_repeat(call_us: float, sets: int) -> int:
    """Enough to last REPEAT_US, in whole rotations, so that no set comes up early in the next repeat.

    Less than one rotation only where that would keep the device for more than ROTATION_US.
    """
    enough = min(MOST_CALLS, math.ceil(REPEAT_US / max(call_us, 0.1)))
    if call_us * sets > ROTATION_US:
        return max(1, enough, int(ROTATION_US / call_us))
    return sets * max(1, min(MOST_CALLS // sets, math.ceil(enough / sets)))


def _rough_us(prepared: Prepared, stream: torch.cuda.Stream) -> float:
    """A first guess of the device time of one call. A graph of one call is replayed, because the host may take longer
    to launch the call than the device to run it. Without a graph the launches themselves are timed.

    @raises TooSlow if one call outlasts MOST_CALL_US
    """
    once = burst(prepared, 1, stream)
    guess = _between_events(once, 1, 1, 1)[0]
    if guess > MOST_CALL_US:
        raise TooSlow(f"one call takes {guess * 1e-6:.1f} s")
    if guess < REPEAT_US:
        guess = statistics.median(_between_events(once, 9, 1, 1))
    return min(guess, 3.0) if guess < 10 else guess  # below 10 us the time may be that of the host's replays


def burst(prepared: Prepared, calls: int, stream: torch.cuda.Stream) -> Callable[[], None]:
    """A function that runs one repeat."""

    def launch() -> None:
        for i in range(calls):
            prepared.call(i % prepared.sets)

    if not prepared.graph:
        return launch
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    gc.disable()  # freeing a graph during a capture makes the capture invalid; torch.cuda.graph() collects each time
    try:
        # thread_local: calls of other threads (NCCL's queries events) do not make the capture invalid
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            launch()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                graph.capture_end()  # the capture is invalid; its error says less than the first one
            raise
        graph.capture_end()
    finally:
        gc.enable()
    return graph.replay


def _between_events(burst: Callable[[], None], repeats: int, calls: int, warm_up: int = WARM_UP) -> list[float]:
    """Events between bursts that follow each other without a gap; microseconds per call."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    for _ in range(warm_up):
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
