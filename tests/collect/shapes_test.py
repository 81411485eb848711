"""The lists of shapes: every kernel of every shipped model, coarse grids first, each row once."""

from __future__ import annotations

import unittest

import rehearsal
from rooflua_collect import models, shapes
from rooflua_collect.cases import FORMS, bytes_of, flop_of

MODELS = models.read_models(rehearsal.ROOT / "scenarios/models")
PLAN = shapes.plan(MODELS, set())


def engine_shapes(op: str) -> set[tuple[int, ...]]:
    """(k, n, groups, heads, kv_heads, head_dim, tp) of an op in the engine's forward passes."""
    done = rehearsal.rooflua("lua", "tests/collect/layers.lua")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    found = set()
    for line in done.stdout.splitlines():
        _, tp, kind, *numbers = line.split()
        if kind == op:
            found.add((*(int(float(number)) for number in numbers), int(tp)))
    return found


class Shapes(unittest.TestCase):
    def test_every_dense_gemm_of_the_engines_forward_passes_is_measured_and_no_model_shape_is_made_up(self) -> None:
        engine = {(k, n) for k, n, groups, *_ in engine_shapes("gemm") if groups == 1}
        ours = {(gemm.k, gemm.n) for model in MODELS for tp in model.ranks for gemm in models.gemms(model, tp)}
        self.assertGreater(len(engine), 100)
        self.assertEqual(engine, ours)
        measured = {(case["k"], case["n"]) for case in PLAN if case.table == "gemm_bf16"}
        self.assertLessEqual(engine, measured)

    def test_attention_is_measured_for_the_heads_of_every_rank(self) -> None:
        for op in ("attention_prefill", "attention_decode"):
            engine = {(h, g, d) for _, _, _, h, g, d, _ in engine_shapes(op)}
            measured = {(c["heads"], c["kv_heads"], c["head_dim"]) for c in PLAN if c.op == op}
            self.assertEqual(engine, measured, op)

    def test_routed_experts_are_measured_as_gate_and_up_and_as_down(self) -> None:
        measured = {(c["experts"], c["k"], c["n"]) for c in PLAN if c.op == "grouped_gemm"}
        for k, width, experts, *_ in engine_shapes("grouped_gemm"):
            largest = experts * k * 2 * width * 2  # bytes of the weights of gate and up
            if largest < shapes.MOST_BYTES:
                self.assertIn((experts, k, 2 * width), measured)
                self.assertIn((experts, width, k), measured)

    def test_what_an_fp8_gemm_reads_is_quantised(self) -> None:
        measured = {case["width"] for case in PLAN if case.op == "elementwise" and case.word("op") == "quantize"}
        read = {gemm.k for model in MODELS for tp in model.ranks for gemm in models.gemms(model, tp)
                if gemm.name not in ("lm_head", "router")}
        self.assertLessEqual(read, measured)
        self.assertIn("quantize", {case.word("op") for case in PLAN if case.op == "elementwise" and case.level == 0})

    def test_experts_that_get_no_row_count_for_memory(self) -> None:
        for case in PLAN:
            if case.op == "grouped_gemm":
                self.assertLessEqual(2 * case["experts"] * case["k"] * case["n"], shapes.MOST_BYTES, case)

    def test_each_row_is_planned_once_and_within_its_bounds(self) -> None:
        self.assertEqual(len(PLAN), len({(case.table, case.key) for case in PLAN}))
        for case in PLAN:
            self.assertLessEqual(flop_of(case), shapes.MOST_FLOP, case)
            self.assertLessEqual(bytes_of(case), shapes.MOST_BYTES, case)
            self.assertEqual(len(case.values), len(FORMS[case.op].columns))

    def test_gemms_go_down_to_one_row_and_off_the_powers_of_two(self) -> None:
        rows = {case["m"] for case in PLAN if case.table == "gemm_bf16"}
        self.assertLessEqual({1, 2, 3, 6, 96, 1536, 16384, 32768}, rows)

    def test_a_coarse_grid_spans_what_the_whole_grid_spans(self) -> None:
        coarse = [case for case in PLAN if case.level == 0]
        self.assertEqual(coarse, PLAN[: len(coarse)])
        self.assertEqual({case.table for case in PLAN}, {case.table for case in coarse})
        for table, column, low, high in (("gemm_bf16", "m", 1, 8192), ("gemm_bf16", "k", 1024, 16384),
                                         ("attention_decode_bf16", "batch", 1, 256),
                                         ("grouped_gemm_bf16", "tokens", 1, 4096)):
            seen = [case[column] for case in coarse if case.table == table]
            self.assertLessEqual(min(seen), low)
            self.assertGreaterEqual(max(seen), high)

    def test_the_most_valuable_tables_come_first_in_each_level(self) -> None:
        first = list(dict.fromkeys(case.table for case in PLAN if case.level == 0))
        self.assertEqual(first[:6], ["gemm_bf16", "attention_decode_bf16", "attention_prefill_bf16", "gemm_fp8",
                                     "grouped_gemm_bf16", "memory"])

    def test_only_narrows_and_knows_ops_tables_and_short_words(self) -> None:
        self.assertEqual({case.table for case in shapes.plan(MODELS, {"gemm"})}, {"gemm_bf16", "gemm_fp8"})
        self.assertEqual({case.table for case in shapes.plan(MODELS, {"gemm_fp8"})}, {"gemm_fp8"})
        self.assertEqual({case.table for case in shapes.plan(MODELS, {"decode", "memory"})},
                         {"attention_decode_bf16", "memory"})

    def test_a_whole_table_stays_well_under_five_megabytes(self) -> None:
        longest = sum(len(",".join(case.key)) + 30 for case in PLAN)
        self.assertLess(longest, 4_000_000)
