"""The device under test: its pool of random numbers, and what a kernel needs to be checked and timed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from rooflua_collect.problem import TooLarge

MOST_SETS = 1024
FEW_SETS = 64  # used for inputs so small that MOST_SETS of them fit in the cache, where rotation has no effect
ALIGNMENT = 256  # elements; for vectorised loads and the tensor cores


class Pool:
    """One large tensor of random normal numbers per dtype; inputs are views of it.

    Filling fresh tensors for each row would take longer than timing it. Views of one draw never
    overlap, because a kernel that reads the same memory twice would find it in the cache.
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
            flat = torch.empty(count, dtype=dtype, device=self.device)
            chunk = 2**26
            for start in range(0, count, chunk):
                part = flat[start : start + chunk]
                part.copy_(torch.randn(part.shape[0], generator=self._generator, device=self.device))
            self._tensors[dtype] = flat
        return self._tensors[dtype]

    def draw(self) -> Draw:
        """A new draw, which hands out tensors from the beginning of the pool."""
        return Draw(self)


@dataclass
class Draw:
    """Hands out consecutive views of the pool, separately for each dtype."""

    pool: Pool
    at: dict[torch.dtype, int] = field(default_factory=dict)

    def take(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """A contiguous view of random numbers. @raises TooLarge if the pool has no more"""
        flat = self.pool.tensor(dtype)
        count, start = math.prod(shape), self.at.get(dtype, 0)
        if start + count > flat.shape[0]:
            raise TooLarge(f"inputs of {(start + count) * flat.element_size() / 2**30:.1f} GiB, the pool holds "
                           f"{flat.shape[0] * flat.element_size() / 2**30:.1f}")
        self.at[dtype] = -(-(start + count) // ALIGNMENT) * ALIGNMENT
        return flat[start : start + count].view(shape)


@dataclass
class Prepared:
    """One kernel, ready to run on one of several sets of inputs.

    call(i)   launches it on set i; asynchronous on a GPU
    sets      how many sets there are
    error()   runs it once and compares with a float32 reference: |out - ref| / |ref| (Frobenius)
    tolerance of that error; NaN never passes
    set_bytes bytes that a call moves: calls on all sets together must move more than twice the cache
    inputs    their description in tables.toml
    """

    call: Callable[[int], object]
    sets: int
    error: Callable[[], float]
    tolerance: float = 0.01
    graph: bool = True  # may be captured in a CUDA graph
    set_bytes: float = 0.0
    inputs: str = "random normal"
    keep: list[object] = field(default_factory=list)  # objects that must live as long as this


@dataclass(frozen=True)
class Bench:
    """The device that kernels run on.

    cache_bytes  last-level cache: inputs are rotated through more than twice as much
    stream       on which a GPU's kernels are timed: graphs cannot be captured on the default stream
    """

    device: torch.device
    pool: Pool
    cache_bytes: int
    stream: torch.cuda.Stream | None = None

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def sets_for(self, moved_bytes: float, held_bytes: float = 0.0) -> int:
        """Number of sets of inputs that exceed twice the cache, as far as the pool has room.

        held_bytes  of one set, if it holds more than a call moves
        """
        wanted = 2 * self.cache_bytes / max(1.0, moved_bytes)
        if wanted <= 0.5:
            return 1
        room = int(self.pool.size_bytes // max(1.0, held_bytes, moved_bytes))
        return max(1, min(math.ceil(wanted) + 1 if wanted <= MOST_SETS else FEW_SETS, room))

    @property
    def fp8(self) -> bool:
        """Whether this GPU and this PyTorch compute with e4m3. A rehearsal on a CPU needs only the dtype."""
        if not hasattr(torch, "float8_e4m3fn"):
            return False
        return not self.on_gpu or torch.cuda.get_device_capability(self.device) >= (8, 9)

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
    """At most `most` of 0..count-1, spread evenly, with the first and the last: the rows to check."""
    if count <= most:
        return torch.arange(count, device=device)
    return torch.linspace(0, count - 1, most, device=device).round().long()
