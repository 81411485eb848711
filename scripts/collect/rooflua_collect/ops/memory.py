"""Device memory: copy, read and write. `bytes` counts all bytes moved: a copy reads one half and writes the other.

read  a sum of 32-bit words, which reads all of them and writes one number
"""

from __future__ import annotations

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error
from rooflua_collect.cases import Case
from rooflua_collect.kernels import Kernel, torch_version


def kernels(_bench: Bench, _table: str, _variant: str) -> list[Kernel]:
    return [Kernel("torch copy_, sum, fill_", torch_version(), _prepare)]


def _prepare(bench: Bench, case: Case) -> Prepared:
    op, size = case.word("op"), case["bytes"]
    if op == "copy":
        return _copy(bench, size)
    return _read(bench, size) if op == "read" else _write(bench, size)


def _copy(bench: Bench, size: int) -> Prepared:
    count = size // 4  # bf16 elements, half the bytes
    draw = bench.pool.draw()
    sources = [draw.take(count) for _ in range(bench.sets_for(size))]
    targets = [bench.empty(count) for _ in sources]

    def call(i: int) -> None:
        targets[i].copy_(sources[i])

    def error() -> float:
        call(0)
        return relative_error(targets[0][:4096], sources[0][:4096])

    return Prepared(call, len(sources), error, tolerance=0.0, keep=[targets], set_bytes=size,
                    inputs="copy: random normal")


def _read(bench: Bench, size: int) -> Prepared:
    draw = bench.pool.draw()
    # pairs of bf16 would be arbitrary numbers as float32, so they are summed as int32
    sources = [draw.take(size // 2).view(torch.int32) for _ in range(bench.sets_for(size))]
    out = torch.empty((), dtype=torch.int64, device=bench.device)

    def call(i: int) -> None:
        torch.sum(sources[i], dim=0, out=out)

    def error() -> float:
        call(0)
        parts = sum(int(part.sum().item()) for part in sources[0].split(2**22))
        return 0.0 if int(out.item()) == parts else float("nan")

    return Prepared(call, len(sources), error, tolerance=0.0, keep=[out], set_bytes=size,
                    inputs="read: random normal, in pairs as 32-bit words")


def _write(bench: Bench, size: int) -> Prepared:
    count = size // 2
    targets = [bench.empty(count) for _ in range(bench.sets_for(size))]

    def call(i: int) -> None:
        targets[i].fill_(1.5)

    def error() -> float:
        call(0)
        return 0.0 if bool((targets[0] == 1.5).all()) else float("nan")

    return Prepared(call, len(targets), error, tolerance=0.0, set_bytes=size,
                    inputs="write: none, 1.5 is written everywhere")
