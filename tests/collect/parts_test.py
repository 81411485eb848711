"""The parts that need no kernel: rows on disk, tables.toml, GPUs by name, routing, quantiles."""

from __future__ import annotations

import unittest
from unittest import mock

import rehearsal
from measure.files import digits
from rooflua_collect import gpus
from rooflua_collect.cases import Case
from rooflua_collect.problem import Problem
from rooflua_collect.provenance import Provenance
from rooflua_collect.tables import Table

HEADER = "op,bytes,latency_us,latency_us_p10,latency_us_p90\n"


def row(size: int) -> Case:
    return Case("memory", "memory", ("copy", size), 0)


class Tables(rehearsal.Case):
    def test_a_row_is_on_disk_when_it_was_added_and_is_there_when_the_table_is_opened_again(self) -> None:
        path = self.out / "memory.csv"
        table = Table(path, "memory")
        table.add(row(4096), (1.5, 1.25, 1.75))
        self.assertEqual(path.read_text(), HEADER + "copy,4096,1.5,1.25,1.75\n")
        with self.assertRaises(ValueError):
            table.add(row(4096), (1, 1, 1))
        table.close()
        self.assertIn(row(4096), Table(path, "memory"))

    def test_a_torn_last_line_is_cut_off_and_nothing_else(self) -> None:
        path = self.out / "memory.csv"
        whole = HEADER + "copy,4096,1.5,1.25,1.75\ncopy,8192,2,2,2\n"
        for torn in ("copy,16384,3,2", "copy,16384,3,2,\n", "copy,163", "c", "copy,16384,3,2.9,3.1"):
            path.write_text(whole + torn)
            table = Table(path, "memory")
            self.assertTrue(table.repaired)
            self.assertEqual(path.read_text(), whole)
            self.assertEqual(len(table.rows), 2)
            table.add(row(16384), (3, 3, 3))
            table.close()
            self.assertEqual(path.read_text(), whole + "copy,16384,3,3,3\n")

    def test_a_torn_header_is_written_again(self) -> None:
        path = self.out / "memory.csv"
        path.write_text(HEADER[:10])
        Table(path, "memory")
        self.assertEqual(path.read_text(), HEADER)

    def test_a_bad_line_in_the_middle_and_foreign_columns_are_errors_that_say_where(self) -> None:
        path = self.out / "memory.csv"
        path.write_text(HEADER + "copy,4096,1.5\ncopy,8192,2,2,2\n")
        with self.assertRaisesRegex(Problem, "memory.csv:2: not a row"):
            Table(path, "memory")
        path.write_text("m,k,n,latency_us\n")
        with self.assertRaisesRegex(Problem, "memory.csv:1: the columns are m,k,n"):
            Table(path, "memory")

    def test_two_collectors_do_not_write_one_table(self) -> None:
        held = Table(self.out / "memory.csv", "memory")
        with self.assertRaisesRegex(Problem, "another collector"):
            Table(self.out / "memory.csv", "memory")
        held.close()

    def test_rows_are_sorted_by_shape_when_a_table_is_closed(self) -> None:
        path = self.out / "memory.csv"
        table = Table(path, "memory")
        for size in (65536, 4096, 8192):
            table.add(row(size), (size / 4096, 1, 1))
        table.close()
        self.assertEqual(rehearsal.keys(self.out)["memory.csv"], ["copy,4096", "copy,8192", "copy,65536"])

    def test_microseconds_keep_six_digits_and_no_exponent(self) -> None:
        self.assertEqual([digits(x) for x in (1234567.8, 0.0000125, 12.3456789)], ["1234567.8", "0.000013", "12.3457"])


class Words(rehearsal.Case):
    def test_what_tables_toml_says_is_read_back(self) -> None:
        kept = Provenance.open(self.out)
        kept.of("gemm_bf16").update(op="gemm", rows=3, kernel='a "quoted" \\ name')
        kept.refuse("gemm_bf16", "1/2/3", "out of memory: 3 GiB\nmore")
        again = Provenance.open(self.out)
        self.assertEqual(again.tables, kept.tables)
        self.assertEqual(again.refused("gemm_bf16"), {"1/2/3": "out of memory: 3 GiB more"})
        again.forgive("gemm_bf16")
        self.assertEqual(again.refused("gemm_bf16"), {})

    def test_one_gpu_is_not_filed_as_another(self) -> None:
        known = gpus.read_gpus(rehearsal.ROOT / "bench_data")
        h200 = gpus.named(known, "NVIDIA H200")
        self.assertEqual(h200.name, "h200-sxm")
        gpus.check_device(known, h200, "NVIDIA H200")
        gpus.check_device(known, gpus.named(known, "h100-sxm"), "NVIDIA H100 80GB HBM3")
        with self.assertRaisesRegex(Problem, "which is h100-sxm, not h200-sxm"):
            gpus.check_device(known, h200, "NVIDIA H100 80GB HBM3")
        with self.assertRaisesRegex(Problem, "no alias of h200-sxm"):
            gpus.check_device(known, h200, "NVIDIA GH300")


@rehearsal.needs_torch
class Numbers(unittest.TestCase):
    def test_every_token_takes_as_many_experts_as_it_may(self) -> None:
        from rooflua_collect.ops.grouped_gemm import rows_per_expert

        for experts, topk, tokens in ((128, 8, 1), (128, 8, 5000), (8, 2, 64), (1, 2, 16), (4, 8, 10)):
            for distribution in ("balanced", "power_law_1.01"):
                counts = rows_per_expert(experts, topk, tokens, distribution, 1)
                self.assertEqual((len(counts), sum(counts)), (experts, tokens * topk))
                if topk <= experts:  # different experts: none gets more rows than there are tokens
                    self.assertLessEqual(max(counts), tokens if distribution != "balanced" else tokens * topk)
        self.assertEqual(set(rows_per_expert(8, 2, 64, "balanced", 1)), {16})
        skewed = rows_per_expert(128, 8, 4096, "power_law_1.01", 1)
        self.assertGreater(max(skewed), 2 * 256)
        self.assertEqual(skewed, rows_per_expert(128, 8, 4096, "power_law_1.01", 1))

    def test_weights_of_experts_without_rows_are_not_counted_as_moved(self) -> None:
        from rooflua_collect import report
        from rooflua_collect.cases import bytes_of, held_bytes_of
        from rooflua_collect.ops import grouped_gemm

        def case(tokens: int, distribution: str) -> Case:
            return Case("grouped_gemm_bf16", "grouped_gemm", (128, 8, tokens, 512, 256, distribution), 0)

        few = case(16, "power_law_1.01")
        counts = grouped_gemm.rows_per_expert(128, 8, 16, "power_law_1.01", 1)
        touched = sum(count > 0 for count in counts)
        self.assertLess(touched, 128)
        self.assertEqual(grouped_gemm.moved_bytes(few, counts), 2 * (128 * 512 + touched * 512 * 256 + 128 * 256))
        for each in (few, case(1, "power_law_1.01"), case(4096, "power_law_1.01"), case(16, "balanced")):
            self.assertLessEqual(grouped_gemm.moved_bytes(each), bytes_of(each))
            self.assertLessEqual(bytes_of(each), held_bytes_of(each))
        self.assertEqual(grouped_gemm.moved_bytes(case(16, "balanced")), bytes_of(case(16, "balanced")))
        second = 1e6
        rows = [(each, (second, second, second)) for each in (few, case(2, "balanced"), case(16, "balanced"))]
        self.assertEqual(report._fastest(rows), (bytes_of(rows[2][0]), rows[2][0]))
        self.assertEqual(report._fastest(rows[:1]), (grouped_gemm.moved_bytes(few), few))

    def test_a_sum_that_leaves_numbers_out_is_no_reading_of_memory(self) -> None:
        import torch
        from rooflua_collect.bench import Bench, Pool
        from rooflua_collect.ops import memory

        bench = Bench(torch.device("cpu"), Pool(torch.device("cpu"), 2**24), 2**20)
        for size in (4096, 2**20):
            read = memory._prepare(bench, Case("memory", "memory", ("read", size), 0))
            self.assertLess(read.error(), 1e-5)
            self.assertLess(read.tolerance, 0.01)
            whole = torch.sum

            def part(numbers: torch.Tensor, **how: object) -> torch.Tensor:
                self.assertEqual((numbers.dtype, numbers.numel()), (torch.float32, size // 4))
                self.assertLess(abs(float(numbers.std()) - 1), 0.1)  # normal, as the pool's
                return whole(numbers[: -(numbers.numel() // 16)], **how)

            with mock.patch.object(torch, "sum", part):
                self.assertGreater(read.error(), read.tolerance)
            with mock.patch.object(torch, "sum", lambda numbers, **how: how["out"].fill_(float("nan"))):
                self.assertFalse(read.error() <= read.tolerance)

    def test_a_wrong_kernel_is_refused_and_nan_never_passes(self) -> None:
        import torch
        from rooflua_collect.bench import relative_error

        right = torch.randn(64, 64)
        self.assertEqual(relative_error(right, right), 0)
        self.assertLess(relative_error(right.bfloat16(), right), 0.01)
        self.assertGreater(relative_error(right + 0.1, right), 0.05)
        spoiled = right.clone()
        spoiled[3, 3] = float("nan")
        self.assertFalse(relative_error(spoiled, right) <= 1e9)

    def test_inputs_are_rotated_through_twice_the_cache(self) -> None:
        import torch
        from rooflua_collect.bench import Bench, Pool

        bench = Bench(torch.device("cpu"), Pool(torch.device("cpu"), 2**30), 50 * 2**20)
        self.assertEqual(bench.sets_for(200 * 2**20), 1)  # each run evicts itself
        self.assertEqual(bench.sets_for(60 * 2**20), 3)
        self.assertGreater(bench.sets_for(2**20) * 2**20, 100 * 2**20)
        self.assertEqual(bench.sets_for(1), 64)  # however many: they stay in the cache
        self.assertEqual(bench.sets_for(2**22, 2**29), 2)  # the pool has no room for more

    def test_views_of_one_draw_do_not_overlap_and_a_pool_that_is_too_small_says_so(self) -> None:
        import torch
        from rooflua_collect.bench import Pool
        from rooflua_collect.problem import TooLarge

        draw = Pool(torch.device("cpu"), 2**20).draw()
        views = [draw.take(10, 10), draw.take(10, 10), draw.take(2**17), draw.take(2**18)]
        ends = [(view.data_ptr(), view.data_ptr() + 2 * view.numel()) for view in views]
        for (_, end), (begin, _) in zip(ends, ends[1:]):
            self.assertLessEqual(end, begin)
        self.assertFalse(torch.equal(views[0], views[1]))
        with self.assertRaisesRegex(TooLarge, "the pool holds"):
            draw.take(2**18)

    def test_a_gpu_without_fp8_has_no_kernel_of_it(self) -> None:
        import torch
        from rooflua_collect.bench import Bench
        from rooflua_collect.ops import attention, elementwise, gemm

        bench = Bench(torch.device("cuda"), None, 0)  # type: ignore[arg-type]
        with mock.patch.object(torch, "float8_e4m3fn", torch.float16, create=True), \
                mock.patch.object(torch, "_scaled_mm", None, create=True), \
                mock.patch("rooflua_collect.ops.attention.installed", lambda module: module == "triton"):
            for capability, fp8 in (((8, 0), 0), ((8, 9), 1), ((9, 0), 1), ((12, 0), 1)):
                with mock.patch.object(torch.cuda, "get_device_capability", lambda _, found=capability: found):
                    self.assertEqual(len(gemm.kernels(bench, "gemm_fp8", "")), fp8, capability)
                    self.assertEqual(len(attention.kernels(bench, "attention_decode_bf16", "fp8_kv")), fp8)
                    self.assertEqual(bool(elementwise.kernels(bench, "elementwise", "quantize")), bool(fp8))
                    self.assertTrue(elementwise.kernels(bench, "elementwise", ""))

    def test_quantiles_run_between_neighbours(self) -> None:
        from measure.timing import calls_per_repeat
        from rooflua_collect.timing import summary

        found = summary([float(x) for x in range(11)][::-1], "wall")
        self.assertEqual((found.median_us, found.p10_us, found.p90_us, found.repeats), (5, 1, 9, 11))
        self.assertEqual(calls_per_repeat(3.0, 1), 100)
        self.assertEqual(calls_per_repeat(3.0, 1000), 1000)  # every set is seen
        self.assertEqual(calls_per_repeat(1000.0, 4), 4)
        self.assertEqual(calls_per_repeat(10000.0, 4), 2)

    def test_slices_of_a_context_leave_none_empty(self) -> None:
        source = (rehearsal.ROOT / "scripts/collect/rooflua_collect/triton_kernels/decode.py").read_text()
        names: dict = {"math": __import__("math"), "BLOCK": 64, "MOST_SPLITS": 128, "PROGRAMS_PER_SM": 4}
        exec(source[source.index("def slices"): source.index("def split_kv_decode")], names)  # without Triton
        for batch in (1, 8, 512):
            for context in (1, 63, 64, 65, 1000, 131072):
                splits, each = names["slices"](batch, 8, context, 132)
                self.assertLess((splits - 1) * each, context)
                self.assertGreaterEqual(splits * each, context)
                self.assertLessEqual(splits, 128)
