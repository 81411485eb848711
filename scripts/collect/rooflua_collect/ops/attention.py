"""Attention of one rank, causal. Heads h query, g KV, D head dim.

prefill  q [batch, new, h, D] against k, v [batch, context + new, g, D]; the mask is aligned to the end
decode   q [batch, 1, h, D] against k, v [batch, context, g, D] (contiguous, as a paged cache of one page)

Candidates, as far as installed: FlashAttention 3 and 2 packages, PyTorch's own (flash, and cuDNN for
prefill), and for decode rooflua's split-KV kernel in Triton. On a CPU a plain product is used, for rehearsals.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error, some_indices
from rooflua_collect.cases import Case, bytes_of
from rooflua_collect.kernels import Kernel, installed, torch_version, version

Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
CHECKED_QUERIES = 8
CHECKED_HEADS = 4


def variant(case: Case) -> str:
    """Names groups of cases that need a kernel of their own: prior context, FP8 KV."""
    if case.op == "attention_decode":
        return "" if case.word("kv_dtype") == "bf16" else "fp8_kv"
    return "context" if case["context_tokens"] > 0 else ""


def kernels(bench: Bench, table: str, variant_name: str) -> list[Kernel]:
    decode = table.startswith("attention_decode")
    if not bench.on_gpu:
        return [Kernel("plain product (rehearsal)", torch_version(), _of(_plain))] if variant_name != "fp8_kv" else []
    found: list[Kernel] = []
    if variant_name != "fp8_kv":
        found += _packages()
        if decode:
            found += _torch_decode()
        else:
            found += _torch_prefill(variant_name)
    if decode and installed("triton") and (variant_name != "fp8_kv" or bench.fp8):
        found.append(Kernel("rooflua split-KV", version("triton"), _of(_triton_decode)))
    return found


def _of(attend: Attend) -> Callable[[Bench, Case], Prepared]:
    return lambda bench, case: _prepare(bench, case, attend)


def _prepare(bench: Bench, case: Case, attend: Attend) -> Prepared:
    batch, heads, kv_heads, dim = case["batch"], case["heads"], case["kv_heads"], case["head_dim"]
    decode = case.op == "attention_decode"
    new = 1 if decode else case["new_tokens"]
    total = case["context_tokens"] + (0 if decode else new)
    kv_dtype = torch.float8_e4m3fn if decode and case.word("kv_dtype") == "fp8" else torch.bfloat16
    draw = bench.pool.draw()
    sets = [
        (draw.take(batch, new, heads, dim), draw.take(batch, total, kv_heads, dim, dtype=kv_dtype),
         draw.take(batch, total, kv_heads, dim, dtype=kv_dtype))
        for _ in range(bench.sets_for(bytes_of(case)))
    ]

    def call(i: int) -> torch.Tensor:
        return attend(*sets[i])

    def error() -> float:
        return _error(call(0), *sets[0])

    inputs = "random normal" if kv_dtype == torch.bfloat16 else "FP8 KV: random normal, rounded to e4m3"
    return Prepared(call, len(sets), error, tolerance=0.02, set_bytes=bytes_of(case), inputs=inputs)


def _error(out: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> float:
    """Error against float32 for some queries and heads of the first and the last request. Score rows are
    [queries, context] only, so that long contexts fit."""
    if out.shape != q.shape or not bool(torch.isfinite(out).all()):
        return math.nan
    batch, new, heads, dim = q.shape
    total, group = k.shape[1], heads // k.shape[2]
    queries = some_indices(new, CHECKED_QUERIES, q.device)
    found, expected = [], []
    for request in sorted({0, batch - 1}):
        for head in some_indices(heads, CHECKED_HEADS, q.device).tolist():
            keys = k[request, :, head // group].float()
            values = v[request, :, head // group].float()
            scores = q[request, queries, head].float() @ keys.t() / math.sqrt(dim)
            last = (total - new) + queries[:, None]
            mask = torch.arange(total, device=q.device)[None, :] > last
            weights = torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1)
            expected.append(weights @ values)
            found.append(out[request, queries, head])
    return relative_error(torch.stack(found), torch.stack(expected))


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """softmax(q k^T / sqrt(D)) v in the dtype of q, with the score matrix in memory."""
    new, total, group = q.shape[1], k.shape[1], q.shape[2] // k.shape[2]
    qt = q.transpose(1, 2)
    kt, vt = (x.transpose(1, 2).repeat_interleave(group, dim=1) for x in (k, v))
    scores = (qt @ kt.transpose(2, 3)).float() / math.sqrt(q.shape[3])
    mask = torch.ones(new, total, dtype=torch.bool, device=q.device).triu(total - new + 1)
    weights = torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1).to(q.dtype)
    return (weights @ vt).transpose(1, 2)


def _packages() -> list[Kernel]:
    """FlashAttention, if installed; its causal mask is aligned to the end."""
    found = []
    if installed("flash_attn_interface"):

        def third(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            from flash_attn_interface import flash_attn_func, flash_attn_with_kvcache

            # only flash_attn_with_kvcache splits a long context over the SMs
            out = (flash_attn_with_kvcache if q.shape[1] == 1 else flash_attn_func)(q, k, v, causal=True)
            return out[0] if isinstance(out, tuple) else out

        found.append(Kernel("FlashAttention 3", version("flash_attn_3") or "flash_attn_interface", _of(third)))
    if installed("flash_attn"):

        def second(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            from flash_attn import flash_attn_func, flash_attn_with_kvcache

            if q.shape[1] == 1:
                return flash_attn_with_kvcache(q, k, v, causal=True)
            return flash_attn_func(q, k, v, causal=True)

        found.append(Kernel("FlashAttention 2", version("flash_attn"), _of(second)))
    return found


def _sdpa(backend: str, causal: bool) -> Attend | None:
    """torch's scaled_dot_product_attention with one backend; None if this torch does not have it."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        only = getattr(SDPBackend, backend)
    except (ImportError, AttributeError):
        return None

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel(only):
            out = torch.nn.functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=causal,
                enable_gqa=q.shape[2] != k.shape[2])
        return out.transpose(1, 2)

    return attend


def _torch_decode() -> list[Kernel]:
    """SDPA for decode: one query needs no mask. cuDNN is left out: 9.13 and 9.14 read out of bounds in a graph without
    a mask (NVIDIA/TransformerEngine, pull request 2344), and one such read ends the process."""
    attend = _sdpa("FLASH_ATTENTION", causal=False)
    return [Kernel("torch SDPA, flash", torch_version(), _of(attend))] if attend else []


def _flash_aligned_to_end(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """PyTorch's flash kernel itself, whose causal mask is aligned to the end. (is_causal of SDPA aligns it to the
    beginning, which is wrong after prior context.)"""
    out = torch.ops.aten._flash_attention_forward(q, k, v, None, None, q.shape[1], k.shape[1], 0.0, True, False)
    return out[0]


def _torch_prefill(variant_name: str) -> list[Kernel]:
    found = []
    if variant_name == "" and (attend := _sdpa("CUDNN_ATTENTION", causal=True)):
        found.append(Kernel("torch SDPA, cuDNN", torch_version(), _of(attend)))
    if hasattr(torch.ops.aten, "_flash_attention_forward"):
        found.append(Kernel("torch flash attention", torch_version(), _of(_flash_aligned_to_end)))
    return found


def _triton_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    from rooflua_collect.triton_kernels.decode import split_kv_decode

    return split_kv_decode(q, k, v)
