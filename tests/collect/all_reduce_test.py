"""What all-reduce is timed on, with one rank of gloo in this process."""

from __future__ import annotations

import time
import unittest
from unittest import mock

import rehearsal
from rooflua_collect.cases import Case

if rehearsal.HAS_TORCH:
    import torch
    import torch.distributed as dist
    from rooflua_collect import timing
    from rooflua_collect.bench import Bench, Pool, Prepared
    from rooflua_collect.ops import all_reduce


@rehearsal.needs_torch
class Messages(rehearsal.Case):
    def setUp(self) -> None:
        super().setUp()
        if not dist.is_available():
            self.skipTest("this PyTorch has no torch.distributed")
        dist.init_process_group("gloo", init_method=f"file://{self.out}/ranks", rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

    def _one(self, measure) -> object:  # noqa: ANN001
        device = torch.device("cpu")
        bench = Bench(device, Pool(device, 2**22), 2**18)
        case = Case("all_reduce_bf16", "all_reduce", (1, 2**16, "eager"), 0)
        with mock.patch.object(all_reduce, "measure", measure):
            return all_reduce._one(case, bench, dist)

    def test_messages_are_random_rotate_past_the_cache_and_stay_finite_over_all_repeats(self) -> None:
        seen: list[torch.Tensor] = []

        def measure(bench: Bench, prepared: Prepared, calls: int) -> timing.Timing:
            self.assertGreater(prepared.sets * 2**16, 2 * 2**18)
            self.assertEqual(calls, prepared.sets)  # each message once per repeat: it grows no faster
            reduce_ = dist.all_reduce

            def eightfold(message: torch.Tensor) -> None:  # one rank here; what eight would do
                seen.append(message)
                reduce_(message.mul_(8))

            with mock.patch.object(dist, "all_reduce", eightfold):
                return timing.measure(bench, prepared, timing.REPEATS, calls)

        found = self._one(measure)
        self.assertIsInstance(found, timing.Timing, found)
        self.assertEqual(found.inputs, all_reduce.INPUTS)
        self.assertGreaterEqual(len({message.data_ptr() for message in seen}), 9)
        for message in seen:
            self.assertTrue(bool(torch.isfinite(message).all()))
            self.assertGreater(message.abs().min().item(), 0)
            self.assertLess(message.abs().max().item(), 1e30)

    def test_messages_of_zeros_are_refused(self) -> None:
        def measure(bench: Bench, prepared: Prepared, calls: int) -> timing.Timing:
            reduce_ = dist.all_reduce
            with mock.patch.object(dist, "all_reduce", lambda message: reduce_(message.zero_())):
                return timing.measure(bench, prepared, 3, calls)

        self.assertIn("became zeros", str(self._one(measure)))


class Waiting(unittest.TestCase):
    @rehearsal.needs_torch
    def test_a_rank_that_ended_is_not_waited_for(self) -> None:
        import queue

        class Worker:
            def __init__(self, alive: bool) -> None:
                self.alive = alive

            def is_alive(self) -> bool:
                return self.alive

        begin = time.monotonic()
        with mock.patch.object(all_reduce, "GRACE_S", 0.2):
            answer = all_reduce._answer(queue.Queue(), [Worker(False), Worker(True)])
        self.assertEqual(answer, "the process of a rank ended")
        self.assertLess(time.monotonic() - begin, 30)
