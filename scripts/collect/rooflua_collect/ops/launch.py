"""Time of a kernel with almost no work: 32 numbers multiplied in place.

kernel      launched one by one from the host, back to back: the slower of host and device. The host is PyTorch called
            from Python, which takes longer than the launches of an engine
graph_node  one node in a graph of many such nodes in a row
"""

from __future__ import annotations

import torch

from rooflua_collect.bench import Bench, Prepared
from rooflua_collect.cases import Case
from rooflua_collect.kernels import Kernel, torch_version


def kernels(_bench: Bench, _table: str, _variant: str) -> list[Kernel]:
    return [Kernel("torch mul_ of 32 numbers", torch_version(), _prepare)]


def _prepare(bench: Bench, case: Case) -> Prepared:
    numbers = torch.ones(32, device=bench.device)

    def call(_i: int) -> None:
        numbers.mul_(1.0)

    def error() -> float:
        call(0)
        return 0.0 if numbers.tolist() == [1.0] * 32 else float("nan")

    return Prepared(call, 1, error, tolerance=0.0, graph=case.word("op") == "graph_node",
                    inputs="ones, always the same")
