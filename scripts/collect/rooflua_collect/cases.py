"""A case is one row to be measured; a form describes the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

Value = Union[int, str]


@dataclass(frozen=True)
class Form:
    """The columns before the latency (fixed by docs/DATA.md), and the way flop are counted."""

    columns: tuple[str, ...]
    flop: str
    dtypes: tuple[str, ...]  # one table each; () = one table without a dtype in its name
    work: str  # the column that work grows with, for the monotonicity report


FORMS: dict[str, Form] = {
    "gemm": Form(("m", "k", "n"), "2mkn", ("bf16", "fp8"), "m"),
    "attention_prefill": Form(
        ("heads", "kv_heads", "head_dim", "batch", "context_tokens", "new_tokens"),
        "causal_half", ("bf16",), "new_tokens",
    ),
    "attention_decode": Form(
        ("heads", "kv_heads", "head_dim", "kv_dtype", "batch", "context_tokens"), "full", ("bf16",), "context_tokens"
    ),
    "grouped_gemm": Form(("experts", "topk", "tokens", "k", "n", "distribution"), "none", ("bf16",), "tokens"),
    "all_reduce": Form(("ranks", "bytes", "mode"), "none", ("bf16",), "bytes"),
    "memory": Form(("op", "bytes"), "none", (), "bytes"),
    "launch": Form(("op",), "none", (), ""),
    "elementwise": Form(("op", "tokens", "width", "dtype"), "none", (), "tokens"),
    "sampling": Form(("method", "tokens", "vocab_size"), "none", (), "tokens"),
}


@dataclass(frozen=True)
class Case:
    """One row to be measured.

    table   "gemm_bf16"
    op      "gemm"
    values  in the order of FORMS[op].columns
    level   0 = coarse grid, measured first; higher levels refine it
    """

    table: str
    op: str
    values: tuple[Value, ...]
    level: int

    def __getitem__(self, column: str) -> int:
        """A number of the shape."""
        return int(self.values[FORMS[self.op].columns.index(column)])

    def word(self, column: str) -> str:
        return str(self.values[FORMS[self.op].columns.index(column)])

    @staticmethod
    def of(table: str, op: str, cells: Sequence[str]) -> Case:
        """A row read from a file; its level is not known and stays 0."""
        return Case(table, op, tuple(int(cell) if cell.isdigit() else cell for cell in cells), 0)

    @property
    def key(self) -> tuple[str, ...]:
        """The cells that identify a row, as printed."""
        return tuple(str(value) for value in self.values)

    @property
    def dtype(self) -> str:
        return self.table[len(self.op) + 1 :] or "bf16"

    def __str__(self) -> str:
        pairs = zip(FORMS[self.op].columns, self.key)
        return f"{self.table} (" + ", ".join(f"{column} {value}" for column, value in pairs) + ")"


def flop_of(case: Case) -> float:
    """Flop of one call; 0 where the op has none. Prefill counts the pairs that the mask keeps."""
    if case.op == "gemm":
        return 2.0 * case["m"] * case["k"] * case["n"]
    if case.op == "grouped_gemm":
        return 2.0 * case["tokens"] * case["topk"] * case["k"] * case["n"]
    if case.op == "attention_prefill":
        new, context = case["new_tokens"], case["context_tokens"]
        pairs = new * context + 0.5 * new * new
        return 4.0 * case["heads"] * case["head_dim"] * case["batch"] * pairs
    if case.op == "attention_decode":
        return 4.0 * case["heads"] * case["head_dim"] * case["batch"] * case["context_tokens"]
    return 0.0


def grouped_bytes(case: Case, touched: int) -> float:
    """Bytes of a grouped GEMM in which this many experts have rows."""
    rows, k, n = case["tokens"] * case["topk"], case["k"], case["n"]
    return 2.0 * (rows * k + touched * k * n + rows * n)


def bytes_of(case: Case) -> float:
    """Bytes of one call: each input read once, each output written once. Of skewed routing the most."""
    element = 1 if case.dtype == "fp8" else 2
    if case.op == "gemm":
        m, k, n = case["m"], case["k"], case["n"]
        return element * float(m * k + k * n) + 2.0 * m * n
    if case.op == "grouped_gemm":
        return grouped_bytes(case, min(case["experts"], case["tokens"] * case["topk"]))
    if case.op == "attention_prefill":
        tokens = case["new_tokens"] + case["context_tokens"]
        per_token = 2 * case["kv_heads"] * tokens + 2 * case["heads"] * case["new_tokens"]
        return 2.0 * case["batch"] * case["head_dim"] * per_token
    if case.op == "attention_decode":
        kv = 1 if case.word("kv_dtype") == "fp8" else 2
        return 2.0 * kv * case["batch"] * case["context_tokens"] * case["kv_heads"] * case["head_dim"]
    if case.op == "elementwise":
        passes = {"norm": 4, "rope": 2, "silu_mul": 3, "quantize": 1.5}[case.word("op")]
        return 2.0 * passes * case["tokens"] * case["width"]
    if case.op == "sampling":
        return 2.0 * case["tokens"] * case["vocab_size"]
    return float(case["bytes"]) if case.op in ("memory", "all_reduce") else 0.0


def held_bytes_of(case: Case) -> float:
    """Bytes of one set of tensors: those that a call moves, and the weights of experts without rows."""
    return grouped_bytes(case, case["experts"]) if case.op == "grouped_gemm" else bytes_of(case)
