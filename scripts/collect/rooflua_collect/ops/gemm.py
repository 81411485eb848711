"""Dense GEMM as a linear layer runs it: [m, k] x [n, k]^T -> [m, n], bf16 out.

bf16  torch.mm into a given output
fp8   torch._scaled_mm on e4m3 inputs, one scale per tensor, fast accumulation
"""

from __future__ import annotations

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error, rows_of, some_indices
from rooflua_collect.cases import Case, bytes_of
from rooflua_collect.kernels import Kernel, torch_version

CHECKED = 96  # rows and columns of the output that are compared


def kernels(bench: Bench, table: str, _variant: str) -> list[Kernel]:
    if table == "gemm_fp8":
        if not (bench.fp8 and hasattr(torch, "_scaled_mm")):
            return []
        return [Kernel("torch._scaled_mm, scale per tensor, fast accumulation", torch_version(), _prepare_fp8)]
    return [Kernel("torch.mm (cuBLAS)", torch_version(), _prepare_bf16)]


def _inputs(bench: Bench, case: Case, dtype: torch.dtype) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Sets of x [m, k] and w [n, k]."""
    m, k, n = case["m"], case["k"], case["n"]
    draw, sets = bench.pool.draw(), bench.sets_for(bytes_of(case))
    return [(draw.take(m, k, dtype=dtype), draw.take(n, k, dtype=dtype)) for _ in range(sets)]


def _error(out: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> float:
    """Some rows and columns of out [m, n] against float32."""
    rows = some_indices(out.shape[0], CHECKED, out.device)
    columns = some_indices(out.shape[1], CHECKED, out.device)
    reference = rows_of(x, rows) @ rows_of(w, columns).t()
    # every element must have been written, not only those that are compared
    if not bool(torch.isfinite(out).all()):
        return float("nan")
    return relative_error(out[rows][:, columns], reference)


def _prepare_bf16(bench: Bench, case: Case) -> Prepared:
    sets = _inputs(bench, case, torch.bfloat16)
    out = bench.empty(case["m"], case["n"])

    def call(i: int) -> None:
        x, w = sets[i]
        torch.mm(x, w.t(), out=out)

    def error() -> float:
        call(0)
        return _error(out, *sets[0])

    return Prepared(call, len(sets), error, keep=[out], set_bytes=bytes_of(case))


def _prepare_fp8(bench: Bench, case: Case) -> Prepared:
    sets = _inputs(bench, case, torch.float8_e4m3fn)
    one = torch.ones((), dtype=torch.float32, device=bench.device)
    out = bench.empty(case["m"], case["n"])
    into = {"out": out} if _version(torch.__version__) >= (2, 5) else {}  # 2.4 wants a second output, of amax

    def call(i: int) -> torch.Tensor:
        x, w = sets[i]
        return torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True,
                                **into)

    def error() -> float:
        result = call(0)
        return _error(result[0] if isinstance(result, tuple) else result, *sets[0])

    # fast accumulation keeps about 13 bits and cuts off the rest, each 32 products
    tolerance = max(0.03, case["k"] / 32 * 2.0**-13)
    return Prepared(call, len(sets), error, tolerance, keep=[out, one], set_bytes=bytes_of(case),
                    inputs="random normal, rounded to e4m3, scales of 1")


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
