"""Sampling and copies over the bus: what is timed is right, and the check sees where it is not."""

from __future__ import annotations

import unittest
from unittest import mock

import rehearsal
from rooflua_collect import models, shapes
from rooflua_collect.cases import Case, bytes_of

METHODS = ("greedy", "random", "top_p")

if rehearsal.HAS_TORCH:
    import torch
    from rooflua_collect import machine
    from rooflua_collect.ops import memory, sampling


def sampled(method: str, tokens: int = 6, vocabulary: int = 400) -> Case:
    return Case("sampling", "sampling", (method, tokens, vocabulary), 0)


@rehearsal.needs_torch
class Sampling(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(7)
        self.bench = machine.open_bench(torch.device("cpu"))

    def _prepared(self, method: str):  # noqa: ANN202
        return sampling.kernels(self.bench, "sampling", method)[0].prepare(self.bench, sampled(method))

    def test_every_method_chooses_a_token_that_it_may(self) -> None:
        for method in METHODS:
            for _ in range(5):
                self.assertEqual(self._prepared(method).error(), 0, method)

    def test_a_token_that_may_not_be_chosen_is_seen(self) -> None:
        def least_probable(values: torch.Tensor, dim: int, out: torch.Tensor) -> None:
            torch.argmin(values, dim=dim, out=out)

        for method in ("greedy", "top_p"):  # a random choice may take any token
            prepared = self._prepared(method)
            with mock.patch.object(torch, "argmax", least_probable):
                self.assertGreater(prepared.error(), 0.5, method)

    def test_a_method_that_writes_no_token_is_seen(self) -> None:
        for method in METHODS:
            prepared = self._prepared(method)
            with mock.patch.object(torch, "argmax", lambda *_, **__: None):
                self.assertNotEqual(prepared.error(), 0, method)

    def test_top_p_keeps_the_most_probable_tokens_that_together_have_the_probability(self) -> None:
        for top_p in (0.1, 0.5, 0.9, 0.999):
            logits = torch.randn(5, 64) * 3
            kept = sampling._nucleus(logits.clone(), torch.full((5, 1), 1 - top_p)) > -float("inf")
            for row, mask in zip(logits, kept):
                probability = row.softmax(0)
                order = torch.argsort(row, descending=True)
                before = torch.cumsum(probability[order], 0) - probability[order]
                expected = torch.zeros(64, dtype=torch.bool)
                expected[order[before < top_p]] = True
                self.assertTrue(torch.equal(mask, expected), top_p)


@rehearsal.needs_torch
class OverTheBus(unittest.TestCase):
    def test_a_copy_arrives_whole_and_one_that_is_not_made_is_seen(self) -> None:
        bench = machine.open_bench(torch.device("cpu"))
        for op in ("to_host", "from_host"):
            case = Case("memory", "memory", (op, 4096), 0)
            self.assertEqual(memory.variant(case), "host")
            prepared = memory.kernels(bench, "memory", "host")[0].prepare(bench, case)
            with mock.patch.object(torch.Tensor, "copy_", lambda self, *_, **__: self):
                if op == "to_host":
                    self.assertNotEqual(prepared.error(), 0)
            self.assertEqual(prepared.error(), 0)
        self.assertEqual(memory.variant(Case("memory", "memory", ("copy", 4096), 0)), "")


class Shapes(unittest.TestCase):
    def test_sampling_is_planned_for_every_method_each_row_once_and_its_bytes_are_the_logits(self) -> None:
        plan = [case for case in shapes.plan(models.read_models(rehearsal.ROOT / "scenarios/models"), set())
                if case.op == "sampling"]
        self.assertEqual({case.word("method") for case in plan}, set(METHODS))
        self.assertEqual(len({case.key for case in plan}), len(plan))
        coarse = {(case["tokens"], case["vocab_size"]) for case in plan if case.level == 0}
        self.assertEqual(len(coarse), 6)
        self.assertEqual(bytes_of(sampled("greedy", 3, 1000)), 6000)

    def test_copies_over_the_bus_are_planned_up_to_what_page_locked_memory_holds(self) -> None:
        for op in ("to_host", "from_host"):
            sizes = [case["bytes"] for case in shapes.memory([], "") if case.word("op") == op]
            self.assertEqual((min(sizes), max(sizes)), (2**12, 2**28), op)
