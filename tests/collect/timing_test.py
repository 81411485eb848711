"""The order of things on a GPU, with a GPU that only writes down what it is told."""

from __future__ import annotations

import contextlib
import gc
import unittest
from types import SimpleNamespace
from unittest import mock

import rehearsal

if rehearsal.HAS_TORCH:
    from measure.timing import ROTATION_US, WARM_UP, TooSlow, calls_per_repeat
    from rooflua_collect import timing
    from rooflua_collect.bench import Prepared


class Recorder:
    """Stands for torch.cuda, with two clocks: launching a call keeps the host for `host_us`, running it the
    device for `device_us`, which starts when it has been launched and the one before has ended. A replay
    keeps the host for `replay_us`, the device for what was captured."""

    def __init__(self, device_us: float, host_us: float = 0.0, replay_us: float = 0.0) -> None:
        self.device_us, self.host_us, self.replay_us = device_us, host_us, replay_us
        self.host_now_us, self.device_now_us = 0.0, 0.0
        self.captured, self.capturing = 0, False
        self.log: list[str] = []
        recorder = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                self.at = 0.0

            def record(self) -> None:
                self.at = recorder.run(0.0)

            def synchronize(self) -> None:
                recorder.host_now_us = max(recorder.host_now_us, self.at)

            def elapsed_time(self, other: Event) -> float:
                return (other.at - self.at) / 1e3

        class Graph:
            def __init__(self) -> None:
                self.calls = 0

            def capture_begin(self, capture_error_mode: str = "global") -> None:
                recorder.log.append("begin")
                recorder.capturing, recorder.captured = True, 0

            def capture_end(self) -> None:
                recorder.log.append("end")
                recorder.capturing, self.calls = False, recorder.captured

            def replay(self) -> None:
                recorder.log.append("replay")
                recorder.host_now_us += recorder.replay_us
                recorder.run(self.calls * recorder.device_us)

        self.Event, self.CUDAGraph = Event, Graph

    def run(self, device_us: float) -> float:
        """Puts so much work on the device; when it ends."""
        self.device_now_us = max(self.device_now_us, self.host_now_us) + device_us
        return self.device_now_us

    def call(self, _i: int) -> None:
        self.host_now_us += self.host_us
        if self.capturing:
            self.captured += 1
        else:
            self.run(self.device_us)

    @contextlib.contextmanager
    def stream(self, _stream: object):  # noqa: ANN201
        yield

    def current_stream(self) -> object:
        return SimpleNamespace(wait_stream=lambda _: None, synchronize=lambda: None)


@rehearsal.needs_torch
class Timing(unittest.TestCase):
    def _measure(self, gpu: Recorder, prepared: Prepared, **more: int) -> timing.Timing:
        bench = SimpleNamespace(stream=gpu.current_stream(), on_gpu=True)
        with mock.patch.object(timing, "torch", SimpleNamespace(cuda=gpu)):
            return timing.measure(bench, prepared, **more)

    def test_a_graph_is_captured_once_warmed_up_and_replayed_for_each_repeat(self) -> None:
        gpu = Recorder(50.0)
        found = self._measure(gpu, Prepared(gpu.call, 4, lambda: 0.0))
        last = len(gpu.log) - gpu.log[::-1].index("begin") - 1
        self.assertEqual(gpu.log[last:], ["begin", "end"] + ["replay"] * (WARM_UP + timing.REPEATS))
        self.assertEqual(gpu.captured, 8)  # two rotations, over 300 us
        self.assertAlmostEqual(found.median_us, 50.0)
        self.assertEqual((found.repeats, found.timer), (timing.REPEATS, "graph"))

    def test_every_set_of_inputs_is_in_the_graph(self) -> None:
        gpu, seen = Recorder(2.0), set()
        prepared = Prepared(lambda i: (seen.add(i), gpu.call(i)), 700, lambda: 0.0)
        self.assertAlmostEqual(self._measure(gpu, prepared).median_us, 2.0)
        self.assertEqual(seen, set(range(700)))

    def test_a_slow_host_does_not_keep_a_fast_device_in_its_cache(self) -> None:
        for host_us in (0.0, 10.0, 60.0, 500.0):  # decode of 2 MB: 51 sets pass through 100 MB
            for replay_us in (0.0, 3.0, 15.0):
                gpu, replayed = Recorder(3.0, host_us, replay_us), []
                prepared = Prepared(lambda i: (replayed.append(i), gpu.call(i)), 51, lambda: 0.0, set_bytes=2e6)
                found = self._measure(gpu, prepared)
                self.assertEqual(set(replayed[-gpu.captured :]), set(range(51)), (host_us, replay_us))
                self.assertEqual(found.rotated_bytes, 51 * 2e6)
                self.assertAlmostEqual(found.median_us, 3.0)

    def test_calls_come_in_whole_rotations_unless_the_device_would_take_too_long(self) -> None:
        for call_us in (0.5, 3.0, 10.0, 60.0, 299.0, 1000.0, 30000.0):
            for sets in (1, 2, 7, 51, 64, 700, 1025):
                calls = calls_per_repeat(call_us, sets)
                self.assertGreaterEqual(calls, 1)
                if call_us * sets <= ROTATION_US:
                    self.assertEqual(calls % sets, 0, (call_us, sets))  # no set comes up early in the next repeat
                    self.assertGreaterEqual(calls, sets)
                else:
                    self.assertLessEqual(calls * call_us, max(ROTATION_US, call_us))

    def test_a_rotation_that_was_cut_short_says_what_passed(self) -> None:
        gpu = Recorder(5000.0)
        found = self._measure(gpu, Prepared(gpu.call, 51, lambda: 0.0, set_bytes=2e6))
        self.assertEqual(found.rotated_bytes, 4 * 2e6)  # 20 ms

    def test_a_call_that_takes_seconds_is_not_repeated(self) -> None:
        gpu = Recorder(3e6)
        with self.assertRaisesRegex(TooSlow, "one call takes 3.0 s"):
            self._measure(gpu, Prepared(gpu.call, 1, lambda: 0.0))
        self.assertLess(gpu.device_now_us, 8 * 3e6)

    def test_no_garbage_is_collected_during_a_capture(self) -> None:
        gpu, states = Recorder(50.0), []
        self._measure(gpu, Prepared(lambda i: (gpu.capturing and states.append(gc.isenabled()), gpu.call(i)), 1,
                                    lambda: 0.0))
        self.assertEqual(set(states), {False})
        self.assertTrue(gc.isenabled())

    def test_without_a_graph_plain_launches_are_timed(self) -> None:
        gpu = Recorder(30.0)
        found = self._measure(gpu, Prepared(gpu.call, 1, lambda: 0.0, graph=False), calls=8)
        self.assertEqual(gpu.log, [])
        self.assertAlmostEqual(found.median_us, 30.0)
        self.assertEqual(found.timer, "kernel")

    def test_a_call_that_cannot_be_captured_ends_the_capture_and_says_so(self) -> None:
        gpu = Recorder(50.0)

        def call(i: int) -> None:
            gpu.call(i)
            if gpu.capturing:
                raise RuntimeError("not while capturing")

        with self.assertRaisesRegex(RuntimeError, "not while capturing"):
            self._measure(gpu, Prepared(call, 1, lambda: 0.0))
        self.assertEqual(gpu.log, ["begin", "end"])

    def test_ranks_agree_on_the_number_of_calls_whatever_they_measure(self) -> None:
        from rooflua_collect.ops.all_reduce import sets_of

        for size, of_cache, sets in ((512, 1, 30), (2**20, 121, 121), (2**28, 1, 1)):
            bench = SimpleNamespace(sets_for=lambda _, found=of_cache: found)
            self.assertEqual(sets_of(size, bench), sets)
        for device_us in (1.0, 500.0):
            gpu, calls = Recorder(device_us), []
            self._measure(gpu, Prepared(lambda i: (calls.append(i), gpu.call(i)), 1, lambda: 0.0), calls=7)
            self.assertEqual(len(calls), WARM_UP + 7)
