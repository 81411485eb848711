"""The time of one call on a GPU: calls rotate through all input sets until a repeat lasts REPEAT_US, so that the host
is always ahead of the device and there is no gap between the events around repeats. `cuda` is torch.cuda."""

import contextlib
import gc
import math
import statistics

WARM_UP = 3
REPEAT_US = 300.0
ROTATION_US = 20e3  # longest repeat that goes through all sets, in device time
MOST_CALLS = 2048
MOST_CALL_US = 2e6


class TooSlow(Exception):
    """A row takes longer than any row of its table should."""


def quantile(ordered, part):
    """Quantile, linear between the two neighbours; `part` in 0..1."""
    at = part * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def median_p10_p90(times):
    ordered = sorted(times)
    return tuple(quantile(ordered, part) for part in (0.5, 0.1, 0.9))


def timed(cuda, stream, call, sets, repeats, graph=True, calls=0):
    """Microseconds of a call in each of `repeats` repeats, and the calls of a repeat.

    graph  a repeat is a replay of a CUDA graph of its calls, as engines run kernels; else plain launches
    calls  of a repeat; 0: as many as it needs. Processes that must call equally often give a number
    @raises TooSlow
    """
    stream.wait_stream(cuda.current_stream())
    with cuda.stream(stream):
        for i in range(WARM_UP):
            call(i % sets)
        many = calls or calls_per_repeat(_rough_us(cuda, stream, call, sets, graph), sets)
        times = _between_events(cuda, burst(cuda, stream, call, sets, many, graph), repeats, many)
    cuda.current_stream().wait_stream(stream)
    return times, many


def calls_per_repeat(call_us, sets):
    """Enough to last REPEAT_US, in whole rotations, so that no set comes up early in the next repeat.

    Less than one rotation only where that would keep the device for more than ROTATION_US.
    """
    enough = min(MOST_CALLS, math.ceil(REPEAT_US / max(call_us, 0.1)))
    if call_us * sets > ROTATION_US:
        return max(1, enough, int(ROTATION_US / call_us))
    return sets * max(1, min(MOST_CALLS // sets, math.ceil(enough / sets)))


def _rough_us(cuda, stream, call, sets, graph):
    """A first guess of the device time of one call. A graph of one call is replayed, because the host may take longer
    to launch the call than the device to run it. Without a graph the launches themselves are timed."""
    once = burst(cuda, stream, call, sets, 1, graph)
    guess = _between_events(cuda, once, 1, 1, 1)[0]
    if guess > MOST_CALL_US:
        raise TooSlow(f"one call takes {guess * 1e-6:.1f} s")
    if guess < REPEAT_US:
        guess = statistics.median(_between_events(cuda, once, 9, 1, 1))
    return min(guess, 3.0) if guess < 10 else guess  # below 10 us the time may be that of the host's replays


def burst(cuda, stream, call, sets, calls, graph=True):
    """A function that runs one repeat."""

    def launch():
        for i in range(calls):
            call(i % sets)

    if not graph:
        return launch
    stream.synchronize()
    captured = cuda.CUDAGraph()
    gc.disable()  # freeing a graph during a capture makes the capture invalid; torch.cuda.graph() collects each time
    try:
        # thread_local: calls of other threads (NCCL's queries events) do not make the capture invalid
        captured.capture_begin(capture_error_mode="thread_local")
        try:
            launch()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                captured.capture_end()  # the capture is invalid; its error says less than the first one
            raise
        captured.capture_end()
    finally:
        gc.enable()
    return captured.replay


def _between_events(cuda, burst, repeats, calls, warm_up=WARM_UP):
    """Events between bursts that follow each other without a gap; microseconds per call."""
    events = [cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    for _ in range(warm_up):
        burst()
    for event in events[:-1]:
        event.record()
        burst()
    events[-1].record()
    events[-1].synchronize()
    return [before.elapsed_time(after) * 1e3 / calls for before, after in zip(events, events[1:])]
