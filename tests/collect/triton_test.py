"""Our Triton kernels, on paper, against the float32 references that the collector itself checks with."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from unittest import mock

import rehearsal

if rehearsal.HAS_TORCH:
    import paper_triton
    import torch
    from rooflua_collect.bench import Bench, Pool
    from rooflua_collect.cases import Case
    from rooflua_collect.ops import attention, elementwise, grouped_gemm


@rehearsal.needs_torch
class TritonKernels(unittest.TestCase):
    def setUp(self) -> None:
        device = torch.device("cpu")
        self.bench = Bench(device, Pool(device, 2**22), 0)

    def _decode(self, heads: int, kv_heads: int, dim: int, batch: int, context: int) -> float:
        case = Case("attention_decode_bf16", "attention_decode", (heads, kv_heads, dim, "bf16", batch, context), 0)
        processors = SimpleNamespace(multi_processor_count=4)
        with paper_triton.installed(), mock.patch.object(torch.cuda, "get_device_properties", lambda _: processors):
            return attention._prepare(self.bench, case, attention._triton_decode).error()

    def test_decode_adds_up_its_slices(self) -> None:
        for context in (1, 63, 64, 65, 300, 1024):
            self.assertLess(self._decode(8, 2, 32, 1, context), 0.01, context)

    def test_decode_takes_any_group_of_query_heads_and_any_batch(self) -> None:
        for heads, kv_heads in ((1, 1), (7, 1), (4, 4), (40, 2)):
            self.assertLess(self._decode(heads, kv_heads, 16, 3, 100), 0.01, (heads, kv_heads))
        self.assertLess(self._decode(4, 2, 16, 20, 130), 0.01)  # more programs than slots: one slice

    def test_decode_refuses_a_head_dim_it_cannot_do(self) -> None:
        with self.assertRaisesRegex(ValueError, "power of two"):
            self._decode(4, 2, 24, 1, 64)

    def test_grouped_gemm_gives_each_row_to_its_expert(self) -> None:
        for shape in ((4, 2, 1, 64, 32), (8, 2, 37, 96, 80), (3, 1, 200, 40, 130), (1, 2, 150, 64, 64)):
            for distribution in ("balanced", "power_law_1.01"):
                case = Case("grouped_gemm_bf16", "grouped_gemm", (*shape, distribution), 0)
                with paper_triton.installed():
                    self.assertLess(grouped_gemm._prepare_triton(self.bench, case).error(), 0.01, str(case))

    def test_fused_elementwise_kernels_do_what_the_plain_ones_do(self) -> None:
        widths = (("norm", 96), ("norm", 128), ("rope", 384), ("rope", 128), ("silu_mul", 100), ("silu_mul", 2500))
        for op, width in widths:
            case = Case("elementwise", "elementwise", (op, 5, width, "bf16"), 0)
            with paper_triton.installed():
                self.assertLess(elementwise._prepare(self.bench, case, True).error(), 0.01, str(case))
            self.assertLess(elementwise._prepare(self.bench, case, False).error(), 0.01, str(case))

    def test_quantising_keeps_each_row_within_what_eight_bits_can_say(self) -> None:
        # PyTorch may be too old for e4m3; half precision shows the same addresses and scales
        with mock.patch.object(elementwise, "FP8", elementwise.FP8 or torch.float16):
            for width in (64, 100, 2500):
                case = Case("elementwise", "elementwise", ("quantize", 5, width, "bf16"), 0)
                with paper_triton.installed():
                    self.assertLess(elementwise._prepare(self.bench, case, True).error(), 0.04, width)
                self.assertLess(elementwise._prepare(self.bench, case, False).error(), 0.04, width)

    def test_a_kernel_that_leaves_its_tensor_is_caught(self) -> None:
        with paper_triton.installed():
            import triton
            import triton.language as tl

            @triton.jit
            def beyond(x, count):  # noqa: ANN001, ANN202
                tl.store(x + tl.arange(0, 8), tl.zeros([8], tl.float32), mask=tl.arange(0, 8) <= count)

            with self.assertRaises(IndexError):
                beyond[(1,)](torch.zeros(5), 5)
