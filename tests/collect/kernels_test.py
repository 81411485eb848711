"""The calls of scripts/collect/measure on a CPU: each computes what its row says, and the order of events on a GPU."""

from __future__ import annotations

import contextlib
import io
import math
import sys
import tempfile
import unittest
from unittest import mock

import rehearsal

sys.path.append(str(rehearsal.ROOT / "scripts/collect/measure"))

import gpu  # noqa: E402
import kernels  # noqa: E402
import shapes  # noqa: E402

ROWS = (("gemm_bf16", (3, 64, 32)), ("gemm_bf16", (1, 32, 64)),
        ("attention_decode_bf16", (8, 2, 16, "bf16", 3, 24)), ("attention_decode_bf16", (4, 4, 16, "bf16", 1, 9)),
        ("attention_prefill_bf16", (4, 4, 16, 2, 0, 12)), ("attention_prefill_bf16", (8, 2, 16, 1, 0, 12)),
        ("elementwise", ("norm", 5, 64, "bf16")), ("elementwise", ("rope", 5, 256, "bf16")),
        ("elementwise", ("silu_mul", 5, 64, "bf16")), ("memory", ("copy", 4096)), ("memory", ("read", 4096)),
        ("memory", ("write", 4096)), ("launch", ("graph_node",)))


def attention(torch, q, k, v, is_causal: bool = False, enable_gqa: bool = False, attn_mask: object = None):
    """scaled_dot_product_attention as PyTorch documents it, in float32."""
    if enable_gqa:
        k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    scores = q.float() @ k.float().transpose(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v.float()).to(q.dtype)


def rms_norm(x, _shape, weight, epsilon: float):
    return (x.float() * (x.float().square().mean(-1, keepdim=True) + epsilon).rsqrt() * weight.float()).to(x.dtype)


@rehearsal.needs_torch
class Calls(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        self.torch = torch
        functional = torch.nn.functional
        for patch in (mock.patch.object(kernels, "DEVICE", "cpu"),
                      mock.patch.object(functional, "scaled_dot_product_attention", create=True,
                                        new=lambda *given, **more: attention(torch, *given, **more)),
                      mock.patch.object(functional, "rms_norm", create=True, new=rms_norm)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_each_row_computes_what_it_says(self) -> None:
        torch = self.torch
        torch.manual_seed(1)
        for row in ROWS:
            with self.subTest(row=row), torch.no_grad():
                call, reference = kernels.kernel_of(torch, row, 2)
                kernels.check(torch, call, reference, 1.0)
                self.assertTrue(bool(torch.isfinite(call(1)).all()))

    def test_a_wrong_result_is_no_row(self) -> None:
        torch = self.torch
        call, reference = kernels.kernel_of(torch, ROWS[0], 1)
        with self.assertRaises(LookupError):
            kernels.check(torch, lambda i: call(i) * 1.1, reference, 1.0)
        with self.assertRaises(LookupError):
            kernels.check(torch, lambda i: call(i) * math.nan, reference, 1.0)

    def test_prefill_behind_a_context_has_the_mask_at_the_end(self) -> None:
        torch = self.torch
        q, k, v = (torch.randn(1, 2, tokens, 8) for tokens in (3, 7, 7))
        whole = torch.cat((torch.randn(1, 2, 4, 8), q), 2)
        behind = kernels.plain_attention(torch, q, k, v, True)
        self.assertTrue(torch.allclose(behind, attention(torch, whole, k, v, is_causal=True)[:, :, 4:], atol=1e-5))


class Plan(unittest.TestCase):
    def test_work_is_counted_as_tables_count_it(self) -> None:
        self.assertEqual(shapes.work_of(("gemm_bf16", (2, 3, 5))), (60.0, 2.0 * (6 + 15 + 10)))
        self.assertEqual(shapes.work_of(("gemm_fp8", (2, 3, 5)))[1], 6 + 15 + 20)
        self.assertEqual(shapes.work_of(("attention_decode_bf16", (8, 2, 16, "bf16", 3, 10)))[0], 4 * 8 * 16 * 30)
        self.assertEqual(shapes.work_of(("attention_prefill_bf16", (8, 2, 16, 1, 0, 10)))[0], 4 * 8 * 16 * 50)

    def test_no_row_is_planned_twice_and_the_coarse_rows_of_the_large_kernels_come_first(self) -> None:
        rows = shapes.planned(True, 8)
        self.assertEqual(len({row[1:] for row in rows}), len(rows))
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        self.assertEqual(rows[0][1], "gemm_bf16")
        self.assertFalse(any(table == "gemm_fp8" for _, table, _ in shapes.planned(False, 8)))
        self.assertFalse(any(table == "all_reduce_bf16" for _, table, _ in shapes.planned(True, 1)))


class Run(unittest.TestCase):
    def test_an_interrupted_run_keeps_what_it_has_and_says_so_in_its_status(self) -> None:
        import command
        import folder
        import rehearsed

        source, stopped = rehearsed.Rehearsal("roofline"), []
        rows = [(table, values) for _, table, values in shapes.planned(True, 1)][:9]

        def time(row: tuple) -> tuple[float, float, float]:
            if len(timed) == 4:
                stopped.append(2)  # SIGINT arrives while the fifth row is measured
            timed.append(row)
            return 5.0, 4.0, 6.0

        timed: list[tuple] = []
        source.time = time
        with tempfile.TemporaryDirectory() as at, contextlib.redirect_stdout(io.StringIO()) as said:
            first = folder.Folder(at, source)
            self.assertEqual(command.run(rows, source, first, 1e9, stopped), 130)
            first.close()
            self.assertEqual(timed, rows[:5])
            again = folder.Folder(at, source)
            self.assertEqual(command.run(rows, source, again, 1e9, []), command.DONE)
            again.close()
            self.assertEqual(timed, rows)
        self.assertIn("5 of 9 planned rows are in", said.getvalue())


class OnGpu(unittest.TestCase):
    def torch(self) -> mock.MagicMock:
        """A PyTorch that writes down what it is told; a graph takes 2 us for each call that was captured."""
        torch = mock.MagicMock()
        log: list[str] = []
        clock = [0.0]

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                self.at = 0.0

            def record(self) -> None:
                self.at = clock[0]

            def synchronize(self) -> None:
                log.append("wait")

            def elapsed_time(self, later: Event) -> float:
                return (later.at - self.at) / 1e3

        class Graph:
            def capture_begin(self, capture_error_mode: str) -> None:
                torch.calls, torch.capturing = 0, True

            def capture_end(self) -> None:
                self.calls, torch.capturing = torch.calls, False

            def replay(self) -> None:
                clock[0] += 2.0 * self.calls

        torch.cuda.CUDAGraph = Graph
        torch.cuda.Event, torch.log, torch.clock, torch.capturing = Event, log, clock, False
        return torch

    def test_a_time_is_that_of_one_call_of_a_captured_graph(self) -> None:
        torch = self.torch()
        seen: list[int] = []

        def call(i: int) -> None:
            if torch.capturing:
                torch.calls += 1
                seen.append(i)
            else:
                torch.clock[0] += 20.0  # the host is slow: what is launched alone takes longer

        self.assertEqual(kernels.times_of(torch, call, 4), (2.0, 2.0, 2.0))
        self.assertEqual(seen[-torch.calls:], [i % 4 for i in range(152)])  # 300 us at 2 us a call, in whole rotations

    def test_figures_of_a_gpu_follow_from_what_its_driver_states(self) -> None:
        torch, properties = mock.MagicMock(), mock.MagicMock()
        torch.cuda.get_device_capability.return_value = (9, 0)
        properties.multi_processor_count, properties.total_memory = 132, 85 * 10**9
        stated = {13: 1830000, 36: 2619000, 37: 5120, 38: 50 * 2**20}
        with mock.patch.object(gpu, "driver_attribute", stated.get), \
                mock.patch.object(gpu, "link_gb_per_s", lambda: (450, "stated")):
            facts = gpu.device_facts(torch, properties)
        self.assertAlmostEqual(facts["peak_tflop_per_s"]["bf16"], 989.4, delta=0.1)  # NVIDIA's whitepaper of Hopper
        self.assertAlmostEqual(facts["peak_tflop_per_s"]["fp8"], 1978.9, delta=0.1)
        self.assertAlmostEqual(facts["memory_gb_per_s"], 3350, delta=5)
        self.assertEqual((facts["architecture"], facts["l2_mib"]), ("hopper", 50))
        torch.cuda.get_device_capability.return_value = (9, 9)
        with self.assertRaisesRegex(gpu.Problem, "give its datasheet"):
            gpu.device_facts(torch, properties)


if __name__ == "__main__":
    unittest.main()
