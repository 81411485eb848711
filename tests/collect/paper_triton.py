"""Triton on paper: enough of its language to run our kernels on a CPU, one program after another, in
float32. It holds index arithmetic, masks and reductions against a reference, and every access against the
bounds of its tensor; it knows nothing of warps, layouts or speed."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import torch


class Pointer:
    """A tensor's memory and where in it."""

    def __init__(self, tensor: torch.Tensor, at: Any = 0) -> None:
        self.tensor, self.at = tensor, at

    @property
    def dtype(self) -> Any:
        return types.SimpleNamespace(element_ty=self.tensor.dtype)

    def __add__(self, more: Any) -> Pointer:
        return Pointer(self.tensor, self.at + more)

    def where(self, mask: Any) -> tuple[torch.Tensor, torch.Tensor]:
        at = torch.as_tensor(self.at)
        there = torch.ones_like(at, dtype=torch.bool) if mask is None else torch.as_tensor(mask).expand(at.shape)
        inside = (at >= 0) & (at < self.tensor.numel())
        if not bool((inside | ~there).all()):
            raise IndexError("an access outside of its tensor")
        return at, there


class Kernel:
    """kernel[grid](...): every program of the grid."""

    def __init__(self, body: Callable[..., None], place: list[tuple[int, ...]]) -> None:
        self.body, self.place = body, place

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(*given: Any, **named: Any) -> None:
            for word in ("num_warps", "num_stages"):
                named.pop(word, None)
            values = [Pointer(each) if isinstance(each, torch.Tensor) else each for each in given]
            for place in product(*(range(int(size)) for size in grid)):
                self.place[0] = place
                self.body(*values, **named)

        return launch


def _load(pointer: Pointer, mask: Any = None, other: float = 0.0) -> torch.Tensor:
    at, there = pointer.where(mask)
    flat = pointer.tensor.reshape(-1)
    found = flat[torch.where(there, at, torch.zeros_like(at))]
    return torch.where(there, found, torch.full_like(found, other))


def _store(pointer: Pointer, value: torch.Tensor, mask: Any = None) -> None:
    at, there = pointer.where(mask)
    flat = pointer.tensor.view(-1)
    flat[at[there]] = value.expand(at.shape)[there].to(flat.dtype)


def _language(place: list[tuple[int, ...]]) -> types.ModuleType:
    tl: Any = types.ModuleType("triton.language")
    tl.constexpr = int
    tl.float32, tl.bfloat16, tl.int64 = torch.float32, torch.bfloat16, torch.int64
    tl.program_id = lambda axis: torch.tensor(place[0][axis])
    tl.arange = lambda begin, end: torch.arange(begin, end)
    tl.zeros = lambda shape, dtype: torch.zeros(shape, dtype=dtype)
    tl.full = lambda shape, value, dtype: torch.full(shape, value, dtype=dtype)
    tl.load, tl.store = _load, _store
    tl.dot = lambda a, b: a.float() @ b.float()
    tl.trans = lambda x: x.t()
    tl.max = lambda x, axis: x.max(axis).values
    tl.sum = lambda x, axis: x.sum(axis)
    tl.where = lambda condition, a, b: torch.where(condition, a, torch.full_like(a, b))
    tl.maximum = lambda a, b: torch.maximum(torch.as_tensor(a), torch.as_tensor(b))
    tl.abs = torch.abs
    tl.minimum = lambda a, b: torch.minimum(torch.as_tensor(a), torch.as_tensor(b))
    tl.exp2, tl.log2, tl.sqrt, tl.sigmoid = torch.exp2, torch.log2, torch.sqrt, torch.sigmoid
    return tl


@contextmanager
def installed() -> Iterator[None]:
    """`import triton` finds the paper one, for as long as this lasts."""
    place: list[tuple[int, ...]] = [()]
    triton: Any = types.ModuleType("triton")
    triton.language = _language(place)
    triton.jit = lambda body=None, **options: Kernel(body, place) if body else lambda body: Kernel(body, place)
    triton.cdiv = lambda a, b: -(-a // b)
    triton.next_power_of_2 = lambda n: 1 << (int(n) - 1).bit_length()
    before = {name: sys.modules.pop(name) for name in list(sys.modules)
              if name.split(".")[0] == "triton" or name.startswith("rooflua_collect.triton_kernels")}
    sys.modules["triton"], sys.modules["triton.language"] = triton, triton.language
    try:
        yield
    finally:
        for name in list(sys.modules):
            if name.split(".")[0] == "triton" or name.startswith("rooflua_collect.triton_kernels"):
                del sys.modules[name]
        sys.modules.update(before)
