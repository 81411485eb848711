"""Element-wise operations of a layer, bf16, one row per token.

norm      residual add and RMS norm: x, residual [tokens, width] -> normed, sum (4 passes over memory)
rope      rotary embedding of [tokens, heads * 128] by position, halves rotated (2 passes)
silu_mul  silu(gate) * up: [tokens, 2 width] -> [tokens, width] (3 passes)
quantize  bf16 [tokens, width] -> e4m3 and one float32 scale per token, the largest magnitude of the row
          over 448 (1.5 passes): it runs before an FP8 GEMM

Fused kernels in Triton if it is installed, as in engines; else several kernels of PyTorch for each.
"""

from __future__ import annotations

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error, rows_of, some_indices
from rooflua_collect.cases import Case, bytes_of
from rooflua_collect.kernels import Kernel, installed, torch_version, version

FP8 = getattr(torch, "float8_e4m3fn", None)  # None: a PyTorch before 2.1
LARGEST = 448.0  # e4m3
LEAST_SCALE = 1e-12
EPSILON = 1e-6
HEAD_DIM = 128
CHECKED = 64


def variant(case: Case) -> str:
    """quantize is a variant of its own, because not every GPU has FP8."""
    return "quantize" if case.word("op") == "quantize" else ""


def kernels(bench: Bench, _table: str, variant_name: str) -> list[Kernel]:
    if variant_name == "quantize" and not bench.fp8:
        return []
    found = []
    if bench.on_gpu and installed("triton"):
        found.append(Kernel("rooflua fused element-wise", version("triton"), lambda b, c: _prepare(b, c, True)))
    found.append(Kernel("torch element-wise, not fused", torch_version(), lambda b, c: _prepare(b, c, False)))
    return found


def _prepare(bench: Bench, case: Case, fused: bool) -> Prepared:
    prepare = {"norm": _norm, "rope": _rope, "silu_mul": _silu_mul, "quantize": _quantize}[case.word("op")]
    return prepare(bench, case, fused)


def _norm(bench: Bench, case: Case, fused: bool) -> Prepared:
    tokens, width = case["tokens"], case["width"]
    draw = bench.pool.draw()
    sets = [(draw.take(tokens, width), draw.take(tokens, width)) for _ in range(bench.sets_for(bytes_of(case)))]
    weight = draw.take(width)
    normed, added = bench.empty(tokens, width), bench.empty(tokens, width)

    def call(i: int) -> None:
        x, residual = sets[i]
        if fused:
            from rooflua_collect.triton_kernels.elementwise import add_norm

            add_norm(x, residual, weight, normed, added, EPSILON)
        else:
            torch.add(x, residual, out=added)
            scale = torch.rsqrt(added.float().square().mean(-1, keepdim=True) + EPSILON)
            torch.mul((added.float() * scale).to(torch.bfloat16), weight, out=normed)

    def error() -> float:
        call(0)
        rows = some_indices(tokens, CHECKED, bench.device)
        both = sets[0][0][rows].float() + sets[0][1][rows].float()
        reference = both * torch.rsqrt(both.square().mean(-1, keepdim=True) + EPSILON) * weight.float()
        errors = relative_error(normed[rows], reference), relative_error(added[rows], both)
        return max(errors) + _unwritten(normed, added)

    return Prepared(call, len(sets), error, keep=[weight, normed, added], set_bytes=bytes_of(case))


def _rope(bench: Bench, case: Case, fused: bool) -> Prepared:
    tokens, width = case["tokens"], case["width"]
    dim = min(HEAD_DIM, width)
    heads, half = width // dim, dim // 2
    draw = bench.pool.draw()
    sets = [draw.take(tokens, heads, dim) for _ in range(bench.sets_for(bytes_of(case)))]
    position = torch.arange(tokens, device=bench.device)
    frequency = 10000.0 ** (-torch.arange(half, device=bench.device, dtype=torch.float32) / half)
    angle = position[:, None].float() * frequency
    cosine, sine = angle.cos(), angle.sin()  # [tokens, half]
    out = bench.empty(tokens, heads, dim)

    def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        low, high = x[..., :half], x[..., half:]
        return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)

    def call(i: int) -> None:
        if fused:
            from rooflua_collect.triton_kernels.elementwise import rope

            rope(sets[i], cosine, sine, out)
        else:
            out.copy_(rotated(sets[i], cosine[:, None], sine[:, None]))

    def error() -> float:
        call(0)
        rows = some_indices(tokens, CHECKED, bench.device)
        reference = rotated(sets[0][rows].float(), cosine[rows][:, None], sine[rows][:, None])
        return relative_error(out[rows], reference) + _unwritten(out)

    return Prepared(call, len(sets), error, keep=[cosine, sine, out], set_bytes=bytes_of(case))


def _silu_mul(bench: Bench, case: Case, fused: bool) -> Prepared:
    tokens, width = case["tokens"], case["width"]
    draw = bench.pool.draw()
    sets = [draw.take(tokens, 2 * width) for _ in range(bench.sets_for(bytes_of(case)))]
    out = bench.empty(tokens, width)

    def call(i: int) -> None:
        if fused:
            from rooflua_collect.triton_kernels.elementwise import silu_mul

            silu_mul(sets[i], out)
        else:
            torch.mul(torch.nn.functional.silu(sets[i][:, :width]), sets[i][:, width:], out=out)

    def error() -> float:
        call(0)
        rows = some_indices(tokens, CHECKED, bench.device)
        both = sets[0][rows].float()
        reference = torch.nn.functional.silu(both[:, :width]) * both[:, width:]
        return relative_error(out[rows], reference) + _unwritten(out)

    return Prepared(call, len(sets), error, keep=[out], set_bytes=bytes_of(case))


def _quantize(bench: Bench, case: Case, fused: bool) -> Prepared:
    tokens, width = case["tokens"], case["width"]
    draw = bench.pool.draw()
    sets = [draw.take(tokens, width) for _ in range(bench.sets_for(bytes_of(case)))]
    out, scales = bench.empty(tokens, width, dtype=FP8), bench.empty(tokens, 1, dtype=torch.float32)

    def call(i: int) -> None:
        if fused:
            from rooflua_collect.triton_kernels.elementwise import quantize

            quantize(sets[i], out, scales, LARGEST, LEAST_SCALE)
        else:
            torch.div(sets[i].abs().amax(-1, keepdim=True).float(), LARGEST, out=scales).clamp_(min=LEAST_SCALE)
            out.copy_(sets[i].float() / scales)

    def error() -> float:
        out.copy_(torch.zeros(tokens, width, device=bench.device))  # unwritten elements: some 8-bit floats lack NaN
        call(0)
        rows = some_indices(tokens, CHECKED, bench.device)
        x = sets[0][rows].float()
        largest = x.abs().amax(-1, keepdim=True) / LARGEST
        if not relative_error(scales[rows], largest) <= 1e-3:
            return float("nan")
        return relative_error(rows_of(out, rows) * scales[rows], x) + _unwritten(scales)

    # three bits of mantissa: at most 1/16 off, 0.026 in the mean over random numbers
    return Prepared(call, len(sets), error, tolerance=0.04, keep=[out, scales], set_bytes=bytes_of(case))


def _unwritten(*outs: torch.Tensor) -> float:
    """NaN if an element was not written, else 0."""
    return 0.0 if all(bool(torch.isfinite(out).all()) for out in outs) else float("nan")
