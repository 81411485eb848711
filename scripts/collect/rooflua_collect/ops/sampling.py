"""Choice of the next token from the logits of the LM head, bf16 [tokens, vocab_size].

greedy  the largest logit of each row
random  softmax at a temperature, divided by exponential noise; the largest quotient of each row
top_p   random, among the most probable tokens that together have the probability TOP_P. The logits are sorted for it

These are operations of PyTorch, one after the other and in float32, outside of a graph's fused kernels: engines that
sample with PyTorch do the same (vLLM, vllm/v1/sample).
"""

from __future__ import annotations

import torch

from rooflua_collect.bench import Bench, Prepared, some_indices
from rooflua_collect.cases import Case, bytes_of
from rooflua_collect.kernels import Kernel, torch_version

TEMPERATURE = 0.7
TOP_P = 0.9
CHECKED = 16
SLACK = 1e-3  # of probability: sums of float32 over a vocabulary


def variant(case: Case) -> str:
    return case.word("method")


def kernels(_bench: Bench, _table: str, _variant: str) -> list[Kernel]:
    return [Kernel("torch operations, float32", torch_version(), _prepare)]


def _prepare(bench: Bench, case: Case) -> Prepared:
    method, tokens, vocabulary = case.word("method"), case["tokens"], case["vocab_size"]
    draw = bench.pool.draw()
    sets = [draw.take(tokens, vocabulary) for _ in range(bench.sets_for(bytes_of(case)))]
    temperature = torch.full((tokens, 1), TEMPERATURE, device=bench.device)
    least = torch.full((tokens, 1), 1.0 - TOP_P, device=bench.device)
    chosen = torch.full((tokens,), -1, dtype=torch.int64, device=bench.device)

    def call(i: int) -> None:
        logits = sets[i].to(torch.float32)
        if method == "greedy":
            torch.argmax(logits, dim=-1, out=chosen)
            return
        logits.div_(temperature)
        if method == "top_p":
            logits = _nucleus(logits, least)
        probability = logits.softmax(dim=-1, dtype=torch.float32)
        noise = torch.empty_like(probability).exponential_()
        torch.argmax(probability.div_(noise), dim=-1, out=chosen)

    def error() -> float:
        """Share of the checked rows whose token cannot be right."""
        chosen.fill_(-1)
        call(0)
        if not bool(((chosen >= 0) & (chosen < vocabulary)).all()):
            return float("nan")
        rows = some_indices(tokens, CHECKED, bench.device)
        logits, token = sets[0][rows].float(), chosen[rows][:, None]
        mine = logits.gather(1, token)
        if method == "greedy":
            return float((mine < logits.amax(1, keepdim=True)).float().mean())
        probability = (logits / TEMPERATURE).softmax(1)
        before = torch.where(logits > mine, probability, 0.0).sum(1)
        most = 1.0 if method == "random" else TOP_P
        return float((before > most + SLACK).float().mean())

    return Prepared(call, len(sets), error, tolerance=0.0, keep=[temperature, least, chosen],
                    graph=method != "top_p", set_bytes=bytes_of(case))


def _nucleus(logits: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    """Logits of the most probable tokens, the others at minus infinity; `least` [tokens, 1] is what these sum up to."""
    ordered, where = logits.sort(dim=-1, descending=False)
    below = torch.cumsum(ordered.softmax(dim=-1), dim=-1) <= least
    below[:, -1] = False
    ordered.masked_fill_(below, -float("inf"))
    return ordered.scatter(dim=-1, index=where, src=ordered)
