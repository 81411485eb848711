"""The order of things on a GPU, with a GPU that only writes down what it is told."""

from __future__ import annotations

import contextlib
import unittest
from types import SimpleNamespace
from unittest import mock

import rehearsal

if rehearsal.HAS_TORCH:
    from rooflua_collect import timing
    from rooflua_collect.bench import Prepared


class Recorder:
    """Stands for torch.cuda: a call takes `call_us`, a replay as long as what was captured."""

    def __init__(self, call_us: float) -> None:
        self.call_us, self.now_us, self.captured, self.capturing = call_us, 0.0, 0, False
        self.log: list[str] = []
        recorder = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                self.at = 0.0

            def record(self) -> None:
                self.at = recorder.now_us

            def synchronize(self) -> None:
                pass

            def elapsed_time(self, other: Event) -> float:
                return (other.at - self.at) / 1e3

        class Graph:
            def capture_begin(self) -> None:
                recorder.log.append("begin")
                recorder.capturing = True

            def capture_end(self) -> None:
                recorder.log.append("end")
                recorder.capturing = False

            def replay(self) -> None:
                recorder.log.append("replay")
                recorder.now_us += recorder.captured * recorder.call_us

        self.Event, self.CUDAGraph = Event, Graph

    def call(self, _i: int) -> None:
        if self.capturing:
            self.captured += 1
        else:
            self.now_us += self.call_us

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
        self.assertEqual(gpu.log, ["begin", "end"] + ["replay"] * (timing.WARM_UP + timing.REPEATS))
        self.assertEqual(gpu.captured, 6)  # 300 us
        self.assertAlmostEqual(found.median_us, 50.0)
        self.assertEqual((found.repeats, found.timer), (timing.REPEATS, "graph"))

    def test_every_set_of_inputs_is_in_the_graph(self) -> None:
        gpu, seen = Recorder(2.0), set()
        prepared = Prepared(lambda i: (seen.add(i), gpu.call(i)), 700, lambda: 0.0)
        self.assertAlmostEqual(self._measure(gpu, prepared).median_us, 2.0)
        self.assertEqual(seen, set(range(700)))

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
        from rooflua_collect.ops.all_reduce import calls_of

        self.assertEqual(calls_of(512), 30)
        self.assertEqual(calls_of(2**28), 1)
        for call_us in (1.0, 500.0):
            gpu, calls = Recorder(call_us), []
            self._measure(gpu, Prepared(lambda i: (calls.append(i), gpu.call(i)), 1, lambda: 0.0), calls=7)
            self.assertEqual(len(calls), timing.WARM_UP + 4 + 7)
