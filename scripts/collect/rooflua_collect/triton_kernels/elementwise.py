"""Fused element-wise kernels: one program per token (and block of columns)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_norm(x, residual, weight, normed, added, width, epsilon, COLUMNS: tl.constexpr):
    column = tl.arange(0, COLUMNS)
    there = column < width
    at = tl.program_id(0).to(tl.int64) * width + column
    both = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    both += tl.load(residual + at, mask=there, other=0.0).to(tl.float32)
    tl.store(added + at, both.to(tl.bfloat16), mask=there)
    scale = 1.0 / tl.sqrt(tl.sum(both * both, 0) / width + epsilon)
    out = both * scale * tl.load(weight + column, mask=there, other=0.0).to(tl.float32)
    tl.store(normed + at, out.to(tl.bfloat16), mask=there)


def add_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, normed: torch.Tensor, added: torch.Tensor,
             epsilon: float) -> None:
    """added = x + residual; normed = added / rms(added) * weight. All [tokens, width], weight [width]."""
    tokens, width = x.shape
    _add_norm[(tokens,)](x, residual, weight, normed, added, width, epsilon, COLUMNS=triton.next_power_of_2(width),
                         num_warps=8)


@triton.jit(do_not_specialize=["heads"])
def _rope(x, cosine, sine, out, heads, HALF: tl.constexpr, HEADS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, HEADS)
    lane = tl.arange(0, HALF)
    there = (head < heads)[:, None] & (lane < HALF)[None, :]
    cos = tl.load(cosine + token * HALF + lane)[None, :]
    sin = tl.load(sine + token * HALF + lane)[None, :]
    at = token * heads * 2 * HALF + head[:, None] * 2 * HALF + lane[None, :]
    low = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    high = tl.load(x + at + HALF, mask=there, other=0.0).to(tl.float32)
    tl.store(out + at, (low * cos - high * sin).to(tl.bfloat16), mask=there)
    tl.store(out + at + HALF, (high * cos + low * sin).to(tl.bfloat16), mask=there)


def rope(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, out: torch.Tensor) -> None:
    """x, out [tokens, heads, 2 half]; cosine, sine [tokens, half] float32."""
    tokens, heads, dim = x.shape
    _rope[(tokens,)](x, cosine, sine, out, heads, HALF=dim // 2, HEADS=triton.next_power_of_2(heads), num_warps=4)


@triton.jit
def _silu_mul(gate_up, out, width, COLUMNS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    there = column < width
    gate = tl.load(gate_up + token * 2 * width + column, mask=there, other=0.0).to(tl.float32)
    up = tl.load(gate_up + token * 2 * width + width + column, mask=there, other=0.0).to(tl.float32)
    tl.store(out + token * width + column, (gate * tl.sigmoid(gate) * up).to(tl.bfloat16), mask=there)


def silu_mul(gate_up: torch.Tensor, out: torch.Tensor) -> None:
    """gate_up [tokens, 2 width] -> out [tokens, width]."""
    tokens, width = out.shape
    _silu_mul[(tokens, triton.cdiv(width, 2048))](gate_up, out, width, COLUMNS=2048, num_warps=4)


@triton.jit
def _quantize(x, out, scales, width, largest, least_scale, COLUMNS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    there = column < width
    row = tl.load(x + token * width + column, mask=there, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(row), 0) / largest, least_scale)
    tl.store(scales + token, scale)
    tl.store(out + token * width + column, (row / scale).to(out.dtype.element_ty), mask=there)


def quantize(x: torch.Tensor, out: torch.Tensor, scales: torch.Tensor, largest: float, least_scale: float) -> None:
    """x [tokens, width] -> out, in an 8-bit format, and scales [tokens, 1]: x is about out * scales."""
    tokens, width = x.shape
    _quantize[(tokens,)](x, out, scales, width, largest, least_scale, COLUMNS=triton.next_power_of_2(width),
                         num_warps=8)
