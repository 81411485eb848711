"""Grouped GEMM of routed experts: rows sorted by expert, [rows of e, k] x [n, k]^T for each expert e.

rows = tokens * topk in all. The rows of each expert are drawn once per case, with the case as seed:

  balanced         equally many for each expert; the remainder goes to randomly drawn experts
  power_law_1.01   popularity x^-1.01, x spread between 1 and 1000 (a mild skew); each token takes topk
                   different experts
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error, some_indices
from rooflua_collect.cases import Case, grouped_bytes, held_bytes_of
from rooflua_collect.kernels import Kernel, installed, torch_version, version

CHECKED = 64


def kernels(bench: Bench, _table: str, _variant: str) -> list[Kernel]:
    found = []
    if bench.on_gpu and hasattr(torch, "_grouped_mm"):
        found.append(Kernel("torch._grouped_mm", torch_version(), _prepare_torch))
    if bench.on_gpu and installed("triton"):
        found.append(Kernel("rooflua grouped GEMM", version("triton"), _prepare_triton))
    if not bench.on_gpu:
        found.append(Kernel("one product per expert (rehearsal)", torch_version(), _prepare_loop))
    return found


def rows_per_expert(experts: int, topk: int, tokens: int, distribution: str, seed: int) -> list[int]:
    """Number of rows of each expert. They sum to tokens * topk."""
    rows = tokens * topk
    generator = torch.Generator().manual_seed(seed)
    if distribution == "balanced":
        counts = torch.full((experts,), rows // experts, dtype=torch.int64)
        counts[torch.randperm(experts, generator=generator)[: rows % experts]] += 1
        return counts.tolist()
    alpha = float(distribution.removeprefix("power_law_"))
    # inverse of the cumulative distribution of x^-alpha between 1 and 1000
    power = 1.0 - alpha
    uniform = torch.rand(experts, generator=generator, dtype=torch.float64)
    weights = ((1000.0**power - 1.0) * uniform + 1.0) ** (1.0 / power)
    if topk > experts:  # a rank that holds fewer experts than a token takes
        drawn = torch.multinomial(weights, rows, replacement=True, generator=generator)
        return torch.bincount(drawn, minlength=experts).tolist()
    # the topk largest of log w + Gumbel noise: sampling without replacement
    counts = torch.zeros(experts, dtype=torch.int64)
    for start in range(0, tokens, 4096):
        many = min(4096, tokens - start)
        noise = -torch.log(-torch.log(torch.rand(many, experts, generator=generator, dtype=torch.float64)))
        chosen = torch.topk(torch.log(weights) + noise, topk, dim=1).indices
        counts += torch.bincount(chosen.flatten(), minlength=experts)
    return counts.tolist()


def _counts(case: Case) -> list[int]:
    seed = zlib.crc32("/".join(case.key).encode())
    return rows_per_expert(case["experts"], case["topk"], case["tokens"], case.word("distribution"), seed)


def moved_bytes(case: Case, counts: list[int] | None = None) -> float:
    """Bytes of one call: those of `bytes_of`, less the weights of experts for which no row was drawn."""
    return grouped_bytes(case, sum(count > 0 for count in counts or _counts(case)))


def _inputs(bench: Bench, case: Case, counts: list[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Sets of x [rows, k] and w [experts, n, k]."""
    rows = case["tokens"] * case["topk"]
    draw = bench.pool.draw()
    return [(draw.take(rows, case["k"]), draw.take(case["experts"], case["n"], case["k"]))
            for _ in range(bench.sets_for(moved_bytes(case, counts), held_bytes_of(case)))]


def _error(out: torch.Tensor, x: torch.Tensor, w: torch.Tensor, counts: list[int]) -> float:
    """Error of some rows and columns against float32, each row with the weights of its expert."""
    if not bool(torch.isfinite(out).all()):
        return float("nan")
    owner = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts)).to(x.device)
    rows = some_indices(x.shape[0], CHECKED, x.device)
    columns = some_indices(out.shape[1], CHECKED, x.device)
    expected = [x[row].float() @ w[owner[row], columns].float().t() for row in rows.tolist()]
    return relative_error(out[rows][:, columns], torch.stack(expected))


def _prepared(case: Case, call: Callable[[int], torch.Tensor], sets: list[tuple[torch.Tensor, torch.Tensor]],
              counts: list[int], *keep: object) -> Prepared:
    return Prepared(call, len(sets), lambda: _error(call(0), *sets[0], counts), keep=list(keep),
                    set_bytes=moved_bytes(case, counts))


def _prepare_torch(bench: Bench, case: Case) -> Prepared:
    counts = _counts(case)
    sets = _inputs(bench, case, counts)
    ends = torch.tensor(counts).cumsum(0).to(device=bench.device, dtype=torch.int32)

    def call(i: int) -> torch.Tensor:
        x, w = sets[i]
        return torch._grouped_mm(x, w.transpose(1, 2), offs=ends)

    return _prepared(case, call, sets, counts, ends)


def _prepare_triton(bench: Bench, case: Case) -> Prepared:
    from rooflua_collect.triton_kernels.grouped import Tiles, grouped_gemm

    counts = _counts(case)
    sets = _inputs(bench, case, counts)
    tiles = Tiles.of(counts, bench.device)
    out = bench.empty(case["tokens"] * case["topk"], case["n"])

    def call(i: int) -> torch.Tensor:
        return grouped_gemm(*sets[i], tiles, out)

    return _prepared(case, call, sets, counts, tiles, out)


def _prepare_loop(bench: Bench, case: Case) -> Prepared:
    counts = _counts(case)
    sets = _inputs(bench, case, counts)
    out = bench.empty(case["tokens"] * case["topk"], case["n"])

    def call(i: int) -> torch.Tensor:
        x, w = sets[i]
        start = 0
        for expert, count in enumerate(counts):
            if count:
                torch.mm(x[start : start + count], w[expert].t(), out=out[start : start + count])
            start += count
        return out

    return _prepared(case, call, sets, counts, out)
