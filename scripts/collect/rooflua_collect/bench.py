"""The device under test: its memory of random numbers, and how a kernel is put to the test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from rooflua_collect.problem import TooLarge

MOST_SETS = 1024
ALIGNMENT = 256  # elements; what vectorised loads and the tensor cores like


class Pool:
    """One large tensor of random normal numbers per dtype; inputs are views of it.

    Filling fresh tensors for each row would take longer than timing it. A view that would run past
    the end starts over.
    """

    def __init__(self, device: torch.device, size_bytes: int, seed: int = 20261121) -> None:
        self.device = device
        self.size_bytes = size_bytes
        self._generator = torch.Generator(device=device)
        self._generator.manual_seed(seed)
        self._tensors: dict[torch.dtype, torch.Tensor] = {}

    def tensor(self, dtype: torch.dtype) -> torch.Tensor:
        """[elements], flat."""
        if dtype not in self._tensors:
            count = self.size_bytes // torch.empty(0, dtype=dtype).element_size()
            if dtype.is_floating_point and torch.finfo(dtype).bits == 8:
                count = min(count, self.size_bytes // 2)
            flat = torch.empty(count, dtype=dtype, device=self.device)
            chunk = 2**26
            for start in range(0, count, chunk):
                part = flat[start : start + chunk]
                part.copy_(torch.randn(part.shape[0], generator=self._generator, device=self.device))
            self._tensors[dtype] = flat
        return self._tensors[dtype]

    def draw(self, start: int = 0) -> Draw:
        """Tensors one after another, from element `start` on."""
        return Draw(self, start)


@dataclass
class Draw:
    """Hands out consecutive views of the pool."""

    pool: Pool
    at: int

    def take(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """A contiguous view of random numbers. @raises TooLarge if the pool is smaller"""
        flat = self.pool.tensor(dtype)
        count = math.prod(shape)
        if count > flat.shape[0]:
            raise TooLarge(f"an input of {count * flat.element_size() / 2**30:.1f} GiB, the pool holds "
                           f"{flat.shape[0] * flat.element_size() / 2**30:.1f}")
        start = self.at % flat.shape[0]
        if start + count > flat.shape[0]:
            start = 0
        self.at = -(-(start + count) // ALIGNMENT) * ALIGNMENT
        return flat[start : start + count].view(shape)


@dataclass
class Prepared:
    """One kernel, ready to run on one of several sets of inputs.

    call(i)   launches it on set i; asynchronous on a GPU
    sets      how many sets there are
    error()   runs it once and compares with a float32 reference: |out - ref| / |ref| (Frobenius)
    tolerance of that error; NaN never passes
    """

    call: Callable[[int], object]
    sets: int
    error: Callable[[], float]
    tolerance: float = 0.01
    graph: bool = True  # may be captured in a CUDA graph
    keep: list[object] = field(default_factory=list)  # what must live as long as this


@dataclass(frozen=True)
class Bench:
    """Where kernels run.

    cache_bytes  last-level cache: inputs are rotated through more than twice as much
    stream       where a GPU's kernels are timed: graphs are not captured on the default stream
    """

    device: torch.device
    pool: Pool
    cache_bytes: int
    stream: torch.cuda.Stream | None = None

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def sets_for(self, input_bytes: float) -> int:
        """How many sets of inputs exceed the cache twofold."""
        wanted = 2 * self.cache_bytes / max(1.0, input_bytes)
        return max(1, min(MOST_SETS, math.ceil(wanted) + 1)) if wanted > 0.5 else 1

    def empty(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """An output, full of NaN where the dtype has one."""
        tensor = torch.empty(*shape, dtype=dtype, device=self.device)
        if dtype.is_floating_point and torch.finfo(dtype).bits > 8:
            tensor.fill_(float("nan"))
        return tensor


def relative_error(found: torch.Tensor, reference: torch.Tensor) -> float:
    """|found - reference| / |reference|, Frobenius, in float64. NaN if either holds one."""
    a, b = found.double().flatten(), reference.double().flatten()
    norm = torch.linalg.norm(b).item()
    gap = torch.linalg.norm(a - b).item()
    return gap / norm if norm > 0 else (0.0 if gap == 0 else math.inf)


def rows_of(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """x[rows] in float32, also of 8-bit floats, which not every version can index."""
    if x.element_size() == 1:
        return x.view(torch.uint8)[rows].view(x.dtype).float()
    return x[rows].float()


def some_indices(count: int, most: int, device: torch.device) -> torch.Tensor:
    """At most `most` of 0..count-1, spread evenly, first and last among them: which rows are checked."""
    if count <= most:
        return torch.arange(count, device=device)
    return torch.linspace(0, count - 1, most, device=device).round().long()
