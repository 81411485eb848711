"""PyTorch's kernels: the call of a row, the same in float32, and how long the call takes (timing.py)."""

import math

from shapes import op_of, shape_of
from timing import median_p10_p90, timed

DEVICE = "cuda"
REPEATS, MOST_SETS = 20, 256
CHECKED_BYTES, TOLERANCE = 2**26, 0.03  # rows that move more are not compared; relative error, root mean square


def kernel_of(torch, row, sets):
    """(call(i), reference()) of a row: the call uses input set i and returns its result; the reference is that of
    set 0 in float32, or None where there is nothing to compare."""
    op, s = op_of(row[0]), shape_of(row)
    if op == "gemm":
        return gemm(torch, s, sets, row[0].endswith("fp8"))
    if op == "attention_decode":
        return decode(torch, s, sets)
    if op == "attention_prefill":
        return prefill(torch, s, sets)
    if op == "elementwise":
        return elementwise(torch, s, sets)
    if op == "launch":
        one = torch.ones(1, device=DEVICE)
        return lambda i: one.add_(1), lambda: None
    return memory(torch, s, sets)


def drawn(torch, sets, *shape):
    """Random normal bf16 tensors, one for each set."""
    return [torch.randn(shape, dtype=torch.bfloat16, device=DEVICE) for _ in range(sets)]


def gemm(torch, s, sets, is_fp8):
    """[m, k] x [n, k]^T -> [m, n] in bf16."""
    x, w = drawn(torch, sets, s["m"], s["k"]), drawn(torch, sets, s["n"], s["k"])
    if not is_fp8:
        out = torch.empty(s["m"], s["n"], dtype=torch.bfloat16, device=DEVICE)
        return lambda i: torch.mm(x[i], w[i].t(), out=out), lambda: x[0].float() @ w[0].float().t()
    x, w = [t.to(torch.float8_e4m3fn) for t in x], [t.to(torch.float8_e4m3fn) for t in w]
    one = torch.ones((), dtype=torch.float32, device=DEVICE)

    def call(i):
        return torch._scaled_mm(x[i], w[i].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)

    return call, lambda: x[0].float() @ w[0].float().t()


def plain_attention(torch, q, k, v, causal):
    """Attention in float32; q [b, h, t, D], k and v [b, g, T, D]; the mask is aligned to the end."""
    group = q.shape[1] // k.shape[1]
    k, v = (t.float().repeat_interleave(group, 1) for t in (k, v))
    scores = q.float() @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        new, total = q.shape[2], k.shape[2]
        behind = torch.arange(total, device=q.device)[None] > torch.arange(total - new, total, device=q.device)[:, None]
        scores = scores.masked_fill(behind, -math.inf)
    return torch.softmax(scores, -1) @ v


def decode(torch, s, sets):
    """One query for each request. The query heads of a KV head stand as its queries: [b, g, h / g, D], no mask."""
    batch, kv_heads, dim, context = s["batch"], s["kv_heads"], s["head_dim"], s["context_tokens"]
    q = drawn(torch, sets, batch, kv_heads, s["heads"] // kv_heads, dim)
    k, v = (drawn(torch, sets, batch, kv_heads, context, dim) for _ in range(2))
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda i: attend(q[i], k[i], v[i]), lambda: plain_attention(torch, q[0], k[0], v[0], False)


def prefill(torch, s, sets):
    """Causal; after earlier tokens the mask is aligned to the end."""
    batch, new, total = s["batch"], s["new_tokens"], s["context_tokens"] + s["new_tokens"]
    q = drawn(torch, sets, batch, s["heads"], new, s["head_dim"])
    k, v = (drawn(torch, sets, batch, s["kv_heads"], total, s["head_dim"]) for _ in range(2))
    attend = torch.nn.functional.scaled_dot_product_attention
    how = {"is_causal": True}
    if total > new:
        from torch.nn.attention.bias import causal_lower_right

        how = {"attn_mask": causal_lower_right(new, total)}
    if s["heads"] != s["kv_heads"]:
        how["enable_gqa"] = True
    return lambda i: attend(q[i], k[i], v[i], **how), lambda: plain_attention(torch, q[0], k[0], v[0], True)


def elementwise(torch, s, sets):
    """norm adds the residual; rope rotates halves of heads; silu_mul reads both halves of [tokens, 2 width]."""
    tokens, width = s["tokens"], s["width"]
    functional = torch.nn.functional
    if s["op"] == "norm":
        x, residual = drawn(torch, sets, tokens, width), drawn(torch, sets, tokens, width)
        weight = drawn(torch, 1, width)[0]

        def norm(i):
            return functional.rms_norm(x[i] + residual[i], (width,), weight, 1e-6)

        return norm, lambda: functional.rms_norm((x[0] + residual[0]).float(), (width,), weight.float(), 1e-6)
    if s["op"] == "silu_mul":
        both = drawn(torch, sets, tokens, 2 * width)

        def product(t):
            return functional.silu(t[:, :width]) * t[:, width:]

        return lambda i: product(both[i]), lambda: product(both[0].float())
    dim = min(128, width)
    x = drawn(torch, sets, tokens, width // dim, dim)
    angle = torch.randn(tokens, 1, dim // 2, device=DEVICE)
    cosine, sine = angle.cos(), angle.sin()

    def rotated(t):
        low, high = t[..., :dim // 2], t[..., dim // 2:]
        return torch.cat((low * cosine - high * sine, high * cosine + low * sine), -1).to(t.dtype)

    return lambda i: rotated(x[i]), lambda: rotated(x[0].float())


def memory(torch, s, sets):
    """A copy counts the bytes that it reads and those that it writes."""
    count = max(1, s["bytes"] // (8 if s["op"] == "copy" else 4))
    source = [torch.randn(count, device=DEVICE) for _ in range(sets)]
    if s["op"] == "copy":
        target = torch.empty(count, device=DEVICE)
        return lambda i: target.copy_(source[i]), lambda: source[0]
    if s["op"] == "write":
        return lambda i: source[i].fill_(1.5), lambda: None
    return lambda i: source[i].sum(), lambda: source[0].double().sum()


def check(torch, call, reference, moved_bytes):
    """@raises LookupError where the result is not finite, or not that of the reference"""
    result = call(0)
    if not bool(torch.isfinite(result).all()):
        raise LookupError("the kernel's result is not finite")
    expected = reference() if moved_bytes <= CHECKED_BYTES else None
    if expected is None:
        return
    error = float((result.double() - expected.double()).norm() / expected.double().norm().clamp(min=1e-9))
    if not error <= TOLERANCE:
        raise LookupError(f"the kernel's result is {error:.2g} off that in float32")


def times_of(torch, call, sets, graph=True, calls=0):
    """(median, p10, p90) of a call in microseconds (timing.timed())."""
    return median_p10_p90(timed(torch.cuda, torch.cuda.Stream(), call, sets, REPEATS, graph, calls)[0])


def rank_main(rank, ranks, port, sizes, answers):
    """One rank of all-reduces: times each message of `sizes` bytes; rank 0 answers with the slowest rank's times."""
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    found = []
    for size in sizes:
        message = torch.zeros(size // 2, dtype=torch.bfloat16, device=DEVICE)
        dist.all_reduce(message)
        times = times_of(torch, lambda i: dist.all_reduce(message), 1, calls=20 if size > 2**22 else 100)
        slowest = torch.tensor(times, device=DEVICE)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        found.append(tuple(slowest.tolist()))
    if rank == 0:
        answers.put(found)
    dist.barrier()
    dist.destroy_process_group()
