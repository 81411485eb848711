"""Decode attention with the context split over programs (flash-decoding), grouped queries together.

q [batch, 1, h, D]; k, v [batch, context, g, D], bf16 or FP8 (converted as they are read); out as q.

A program computes one KV head of one request and one slice of the context, for all h/g query heads; a second
kernel combines the slices by their log-sum-exp. Small batches are cut into many slices, to fill the GPU.
"""

import math

import torch
import triton
import triton.language as tl

BLOCK = 64  # tokens per step
MOST_SPLITS = 128
PROGRAMS_PER_SM = 4


@triton.jit(do_not_specialize=["context", "kv_heads", "splits", "per_split"])  # one compilation per head shape
def _slice(q, k, v, out, partial, lse, scale_log2, context, kv_heads, splits, per_split,
           GROUP: tl.constexpr, PADDED: tl.constexpr, DIM: tl.constexpr, STEP: tl.constexpr, WHOLE: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    row = tl.arange(0, PADDED)
    column = tl.arange(0, DIM)
    lane = tl.arange(0, STEP)
    head = request * kv_heads * GROUP + kv_head * GROUP + row
    real = row < GROUP  # the other rows are padding
    queries = tl.load(q + head[:, None] * DIM + column[None, :], mask=real[:, None], other=0.0)
    largest = tl.full([PADDED], float("-inf"), tl.float32)
    total = tl.zeros([PADDED], tl.float32)
    sums = tl.zeros([PADDED, DIM], tl.float32)
    begin = split * per_split
    end = tl.minimum(begin + per_split, context)
    base = (request * context * kv_heads + kv_head) * DIM
    for start in range(begin, end, STEP):
        token = start + lane
        there = token < end
        at = base + token.to(tl.int64)[:, None] * kv_heads * DIM + column[None, :]
        keys = tl.load(k + at, mask=there[:, None], other=0.0).to(tl.bfloat16)
        scores = tl.dot(queries, tl.trans(keys)) * scale_log2
        scores = tl.where(there[None, :], scores, float("-inf"))
        newest = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp2(largest - newest)
        weights = tl.exp2(scores - newest[:, None])
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v + at, mask=there[:, None], other=0.0).to(tl.bfloat16)
        sums = sums * shrink[:, None] + tl.dot(weights.to(tl.bfloat16), values)
        largest = newest
    sums = sums / total[:, None]
    if WHOLE:
        tl.store(out + head[:, None] * DIM + column[None, :], sums.to(tl.bfloat16), mask=real[:, None])
    else:
        slot = head * splits + split
        tl.store(partial + slot[:, None] * DIM + column[None, :], sums, mask=real[:, None])
        tl.store(lse + slot, largest + tl.log2(total), mask=real)


@triton.jit(do_not_specialize=["splits"])
def _combine(partial, lse, out, splits, DIM: tl.constexpr, SLOTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, SLOTS)
    column = tl.arange(0, DIM)
    there = slot < splits
    exponents = tl.load(lse + row * splits + slot, mask=there, other=float("-inf"))
    weights = tl.exp2(exponents - tl.max(exponents, 0))
    weights = weights / tl.sum(weights, 0)
    at = (row * splits + slot)[:, None] * DIM + column[None, :]
    parts = tl.load(partial + at, mask=there[:, None], other=0.0)
    tl.store(out + row * DIM + column, tl.sum(parts * weights[:, None], 0).to(tl.bfloat16))


def slices(batch: int, kv_heads: int, context: int, processors: int) -> tuple[int, int]:
    """(slices, tokens of each): enough programs for every SM, none without tokens."""
    wanted = max(1, PROGRAMS_PER_SM * processors // (batch * kv_heads))
    blocks = math.ceil(context / BLOCK)
    wanted = min(wanted, blocks, MOST_SPLITS)
    per_split = math.ceil(blocks / wanted) * BLOCK
    return math.ceil(context / per_split), per_split


def split_kv_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention of one query per request over its whole context."""
    batch, _, heads, dim = q.shape
    context, kv_heads = k.shape[1], k.shape[2]
    if dim & (dim - 1) or dim < 16:
        raise ValueError(f"head_dim {dim}: this kernel needs a power of two of at least 16")
    group = heads // kv_heads
    padded = max(16, triton.next_power_of_2(group))
    processors = torch.cuda.get_device_properties(q.device).multi_processor_count
    splits, per_split = slices(batch, kv_heads, context, processors)
    out = torch.empty_like(q)
    partial = torch.empty(batch * heads * splits * dim if splits > 1 else 1, dtype=torch.float32, device=q.device)
    lse = torch.empty(batch * heads * splits, dtype=torch.float32, device=q.device)
    scale_log2 = math.log2(math.e) / math.sqrt(dim)
    _slice[(batch, kv_heads, splits)](q, k, v, out, partial, lse, scale_log2, context, kv_heads, splits, per_split,
                                      GROUP=group, PADDED=padded, DIM=dim, STEP=BLOCK, WHOLE=splits == 1,
                                      num_warps=4, num_stages=3)
    if splits > 1:
        _combine[(batch * heads,)](partial, lse, out, splits, DIM=dim, SLOTS=triton.next_power_of_2(splits),
                                   num_warps=4)
    return out
