"""Memory: copy, read and write on the device, and copies to and from the host.

`bytes` counts all bytes that the memory of the device moves: a copy reads one half and writes the other.

read       a sum of float32 numbers, which reads all of them and writes one number
to_host    a copy into page-locked memory of the host, over the bus; from_host the other way
"""

from __future__ import annotations

import math

import torch

from rooflua_collect.bench import Bench, Prepared, relative_error
from rooflua_collect.cases import Case
from rooflua_collect.kernels import Kernel, torch_version

HOST_BYTES = 2**28  # page-locked at a time, at least one copy


def kernels(_bench: Bench, _table: str, _variant: str) -> list[Kernel]:
    return [Kernel("torch copy_, sum of float32, fill_", torch_version(), _prepare)]


def variant(case: Case) -> str:
    """Copies over the bus are a variant of their own."""
    return "host" if case.word("op").endswith("host") else ""


def _prepare(bench: Bench, case: Case) -> Prepared:
    op, size = case.word("op"), case["bytes"]
    if op == "copy":
        return _copy(bench, size)
    if op.endswith("host"):
        return _over_bus(bench, size, op == "to_host")
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


def _over_bus(bench: Bench, size: int, to_host: bool) -> Prepared:
    count = size // 2
    draw, sets = bench.pool.draw(), max(1, min(bench.sets_for(size), HOST_BYTES // size))
    here = [draw.take(count) if to_host else bench.empty(count) for _ in range(sets)]
    host = torch.ones(sets * count, dtype=torch.bfloat16, pin_memory=bench.on_gpu).split(count)

    def call(i: int) -> None:
        if to_host:
            host[i].copy_(here[i], non_blocking=True)
        else:
            here[i].copy_(host[i], non_blocking=True)

    def error() -> float:
        call(0)
        if bench.on_gpu:
            torch.cuda.synchronize()
        return relative_error(here[0].cpu(), host[0])

    return Prepared(call, sets, error, tolerance=0.0, keep=[here, host], set_bytes=size,
                    inputs="to_host: random normal" if to_host else "from_host: ones")


def _read(bench: Bench, size: int) -> Prepared:
    draw = bench.pool.draw()
    # The second number of a pair of bf16 is the upper half of a float32 (little-endian), so a pair has the value of its
    # second number but for the last digits. A sum over integers would be slow, because it adds in 64 bits.
    sources = [draw.take(size // 2).view(torch.float32) for _ in range(bench.sets_for(size))]
    out = torch.full((), float("nan"), dtype=torch.float32, device=bench.device)

    def call(i: int) -> None:
        torch.sum(sources[i], dim=0, out=out)

    def error() -> float:
        call(0)
        total = squares = 0.0
        for part in sources[0].split(2**22):
            exact = part.double()
            total += exact.sum().item()
            squares += exact.square().sum().item()
        return abs(out.item() - total) / math.sqrt(squares)  # the sum itself may be near 0

    return Prepared(call, len(sources), error, tolerance=1e-3, keep=[out], set_bytes=size,
                    inputs="read: random normal float32")


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
