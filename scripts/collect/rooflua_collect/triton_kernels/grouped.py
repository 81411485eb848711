"""Grouped GEMM: x [rows, k] sorted by expert, w [experts, n, k] -> [rows, n], bf16.

The rows of each expert are cut into tiles; a list gives the expert and the rows of each tile. One program
computes one tile and one block of columns.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl


@dataclass(frozen=True)
class Tiles:
    """Tiles of all experts. expert, first, end: int32 [tiles]; rows first .. end - 1 are the tile's."""

    expert: torch.Tensor
    first: torch.Tensor
    end: torch.Tensor
    height: int

    @staticmethod
    def of(counts: list[int], device: torch.device) -> "Tiles":
        """Chooses the tile height by the mean number of rows of experts with rows: few rows, low tiles."""
        busy = [count for count in counts if count > 0]
        mean = sum(busy) / max(1, len(busy))
        height = 16 if mean <= 16 else 32 if mean <= 32 else 64 if mean <= 96 else 128
        expert, first, end, start = [], [], [], 0
        for index, count in enumerate(counts):
            for row in range(start, start + count, height):
                expert.append(index)
                first.append(row)
                end.append(min(row + height, start + count))
            start += count
        as_tensor = [torch.tensor(each, dtype=torch.int32, device=device) for each in (expert, first, end)]
        return Tiles(*as_tensor, height)


@triton.jit
def _grouped(x, w, out, tile_expert, tile_first, tile_end, k, n,
             HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr):
    tile = tl.program_id(0)
    expert = tl.load(tile_expert + tile).to(tl.int64)
    first = tl.load(tile_first + tile)
    end = tl.load(tile_end + tile)
    row = first + tl.arange(0, HEIGHT)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    depth = tl.arange(0, DEPTH)
    rows_there = row < end
    columns_there = column < n
    x_at = x + row.to(tl.int64)[:, None] * k + depth[None, :]
    w_at = w + expert * n * k + column.to(tl.int64)[None, :] * k + depth[:, None]
    sums = tl.zeros([HEIGHT, WIDTH], tl.float32)
    for start in range(0, k, DEPTH):
        inside = depth < k - start
        a = tl.load(x_at, mask=rows_there[:, None] & inside[None, :], other=0.0)
        b = tl.load(w_at, mask=columns_there[None, :] & inside[:, None], other=0.0)
        sums += tl.dot(a, b)
        x_at += DEPTH
        w_at += DEPTH
    at = out + row.to(tl.int64)[:, None] * n + column[None, :]
    tl.store(at, sums.to(tl.bfloat16), mask=rows_there[:, None] & columns_there[None, :])


def grouped_gemm(x: torch.Tensor, w: torch.Tensor, tiles: Tiles, out: torch.Tensor) -> torch.Tensor:
    """Writes the product into `out` and returns it."""
    k, n = x.shape[1], w.shape[1]
    width = 128 if tiles.height >= 64 else 64
    grid = (tiles.expert.shape[0], triton.cdiv(n, width))
    _grouped[grid](x, w, out, tiles.expert, tiles.first, tiles.end, k, n, HEIGHT=tiles.height, WIDTH=width, DEPTH=64,
                   num_warps=8 if tiles.height == 128 else 4, num_stages=3)
    return out
