"""The rows that are measured, and their order.

Shapes are those of the shipped models on one of 1, 2, 4, 8 ranks, and a regular grid for interpolation. Every grid
has levels: level 0 is coarse and spans the whole range, higher levels refine it. So a run that is cut short leaves a
usable table. Within a level the tables come in the order of OPS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from rooflua_collect import models as m
from rooflua_collect.cases import FORMS, Case, Value, flop_of, held_bytes_of

MOST_BYTES = 8 * 2**30  # of one row: no layer of a model that fits a GPU has more
MOST_FLOP = 40e12
QUICK_LEVEL = 0

GRID_COARSE = (1024, 4096, 16384)
GRID_FINE = (512, 1024, 2048, 4096, 8192, 16384, 32768)
ROWS = ((1, 16, 128, 1024, 8192), (2, 4, 8, 32, 64, 256, 512, 2048, 4096), (16384,),
        (3, 6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288, 32768))
PROMPTS = ((128, 1024, 8192), (512, 2048), (16, 64, 256, 4096, 16384), (384, 768, 1536, 3072, 6144, 12288, 32768))
BATCHES = ((1, 8, 64, 256), (16, 32, 128), (2, 4, 512), (48, 96, 192, 384))
CONTEXTS = ((128, 1024, 8192), (512, 4096, 32768), (2048, 16384, 65536, 131072), (256, 768, 1536, 3072, 6144, 12288))
VOCABULARIES = ((32000, 131072), (151936, 201088), (65536, 262144))
ROWS_SAMPLED = ((1, 16, 256), (4, 64, 1024), (2, 8, 32, 128, 512), (2048,))
TOKENS = ((1, 16, 256, 4096), (4, 64, 1024), (2, 8, 32, 128, 512, 2048, 8192), (16384, 32768))


def levels(*grids: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every point of a product of axes with levels; the level of a point is the highest of its coordinates."""
    if not grids:
        yield 0, ()
        return
    for level, values in enumerate(grids[0]):
        for value in values:
            for other, rest in levels(*grids[1:]):
                yield max(level, other), (value, *rest)


def _common(found: Iterable[tuple], least: int = 5) -> dict[tuple, int]:
    """Level of each shape: 0 if so many models or ranks share it, else 1."""
    counted = Counter(found)
    return {shape: 0 if times >= least else 1 for shape, times in sorted(counted.items())}


def _pairs(models: list[m.Model]) -> Iterator[tuple[m.Model, int]]:
    return ((model, tp) for model in models for tp in model.ranks)


def gemm(models: list[m.Model], dtype: str) -> Iterator[Case]:
    """Dense GEMMs: the models' (k, n), and a grid of k and n."""
    found = [(gemm, model.name) for model, tp in _pairs(models) for gemm in m.gemms(model, tp)]
    most: dict[tuple, int] = {}
    for each, _ in found:
        limit = each.most_rows or 10**9
        most[each.k, each.n] = max(most.get((each.k, each.n), 0), limit)
    shapes = _common((each.k, each.n) for each, _ in found)
    for k in GRID_FINE:
        for n in GRID_FINE:
            coarse = k in GRID_COARSE and n in GRID_COARSE
            shapes[k, n] = 0 if coarse else min(shapes.get((k, n), 3), 3)
            most[k, n] = 10**9
    for (k, n), shape_level in shapes.items():
        for level, (rows,) in levels(ROWS):
            if rows <= most[k, n] and (dtype != "fp8" or (k % 16 == 0 and n % 16 == 0)):
                # levels of shape and point add up, so that every shape gets its coarse rows first
                yield Case(f"gemm_{dtype}", "gemm", (rows, k, n), _sum(shape_level, level))


def _sum(shape: int, point: int) -> int:
    return 3 if shape == 3 or point == 3 else min(3, shape + point)


def _heads(models: list[m.Model]) -> dict[tuple, int]:
    return _common(heads for model, tp in _pairs(models) if (heads := m.attention_heads(model, tp)))


def attention_prefill(models: list[m.Model], dtype: str) -> Iterator[Case]:
    """Causal attention of `batch` equal prompts: first without, then with prior context."""
    for heads, shape_level in _heads(models).items():
        for level, (new, batch) in levels(PROMPTS, ((1,), (4,), (2, 16), (8,))):
            if new * batch <= 65536:
                values = (*heads, batch, 0, new)
                yield Case(f"attention_prefill_{dtype}", "attention_prefill", values, _sum(shape_level, level))
        chunks = ((512, 2048), (128, 8192), (32, 1024, 4096), (16, 256))
        prior = ((4096,), (1024, 16384), (65536,), (512, 2048, 8192, 32768, 131072))
        for level, (new, context) in levels(chunks, prior):
            values = (*heads, 1, context, new)
            yield Case(f"attention_prefill_{dtype}", "attention_prefill", values, _sum(shape_level, level))


def attention_decode(models: list[m.Model], dtype: str) -> Iterator[Case]:
    """One new token for each of `batch` requests; the second KV dtype comes one level later."""
    for heads, shape_level in _heads(models).items():
        for later, kv_dtype in enumerate(("bf16", "fp8")):
            for level, (batch, context) in levels(BATCHES, CONTEXTS):
                values = (*heads, kv_dtype, batch, context)
                yield Case(f"attention_decode_{dtype}", "attention_decode", values,
                           _sum(shape_level, min(3, level + later)))


def grouped_gemm(models: list[m.Model], dtype: str) -> Iterator[Case]:
    """Experts of the shipped mixture-of-experts models; skewed routing first, balanced later."""
    found = sorted({(g.experts, g.topk, g.k, g.n) for model, tp in _pairs(models) for g in m.grouped(model, tp)})
    for experts, topk, k, n in found:
        for later, distribution in ((0, "power_law_1.01"), (3, "balanced")):
            for level, (tokens,) in levels(TOKENS):
                values = (experts, topk, tokens, k, n, distribution)
                yield Case(f"grouped_gemm_{dtype}", "grouped_gemm", values, min(3, level + later))


def memory(_models: list[m.Model], _dtype: str) -> Iterator[Case]:
    """Memory traffic: bytes that are read, written, or both in a copy; and bytes to and from the memory of the host."""
    for op in ("copy", "read", "write", "to_host", "from_host"):
        for power in range(12, 29 if "host" in op else 33):
            yield Case("memory", "memory", (op, 2**power), 0 if power % 4 == 0 else 1)


def launch(_models: list[m.Model], _dtype: str) -> Iterator[Case]:
    """A kernel with almost no work: launched one by one, and as a node of a graph."""
    for op in ("kernel", "graph_node"):
        yield Case("launch", "launch", (op,), 0)


def elementwise(models: list[m.Model], _dtype: str) -> Iterator[Case]:
    """The other operations of a layer, by number of tokens."""
    found = _common(pair for model, tp in _pairs(models) for pair in m.elementwise_widths(model, tp))
    for (op, width), shape_level in found.items():
        for level, (tokens,) in levels(TOKENS):
            yield Case("elementwise", "elementwise", (op, tokens, width, "bf16"), _sum(shape_level, level))


def sampling(_models: list[m.Model], _dtype: str) -> Iterator[Case]:
    """The next token of each request, by size of the vocabulary."""
    for method in ("greedy", "random", "top_p"):
        for level, (vocabulary, tokens) in levels(VOCABULARIES, ROWS_SAMPLED):
            yield Case("sampling", "sampling", (method, tokens, vocabulary), level)


def all_reduce(_models: list[m.Model], dtype: str) -> Iterator[Case]:
    """Messages of one rank, in a graph and launched one by one."""
    for ranks in (2, 4, 8):
        for mode in ("graph", "eager"):
            for power in range(9, 29):
                yield Case(f"all_reduce_{dtype}", "all_reduce", (ranks, 2**power, mode), 0 if power % 3 == 0 else 1)


# (op, dtype), those that matter most for prices first.
OPS: tuple[tuple[str, str, Callable[[list[m.Model], str], Iterator[Case]]], ...] = (
    ("gemm", "bf16", gemm),
    ("attention_decode", "bf16", attention_decode),
    ("attention_prefill", "bf16", attention_prefill),
    ("gemm", "fp8", gemm),
    ("grouped_gemm", "bf16", grouped_gemm),
    ("memory", "", memory),
    ("launch", "", launch),
    ("elementwise", "", elementwise),
    ("sampling", "", sampling),
    ("all_reduce", "bf16", all_reduce),
)
ALIASES = {"prefill": "attention_prefill", "decode": "attention_decode", "grouped": "grouped_gemm"}


def selections() -> set[str]:
    """Names that --only accepts: ops, tables, and short names."""
    tables = {f"{op}_{dtype}" for op, dtype, _ in OPS if dtype}
    return {op for op, _, _ in OPS} | tables | set(ALIASES)


def plan(models: list[m.Model], only: set[str], most_level: int = 3) -> list[Case]:
    """Every row to be measured, each once, coarse grids of all tables first.

    only  names of `selections`; empty: all
    """
    wanted = {ALIASES.get(name, name) for name in only}
    found: dict[tuple[str, tuple[Value, ...]], Case] = {}
    order = {}
    for place, (op, dtype, make) in enumerate(OPS):
        table = f"{op}_{dtype}" if dtype else op
        order[table] = place
        if wanted and op not in wanted and table not in wanted:
            continue
        for case in make(models, dtype):
            if flop_of(case) > MOST_FLOP or held_bytes_of(case) > MOST_BYTES:
                continue
            known = found.get((table, case.values))
            if known is None or case.level < known.level:
                found[table, case.values] = case
    kept = [case for case in found.values() if case.level <= most_level]
    return sorted(kept, key=lambda case: (case.level, order[case.table]))


def shrunk(cases: list[Case], per_table: int) -> list[Case]:
    """The plan made tiny, for a rehearsal without a GPU: `per_table` rows spread over each table, with dimensions
    that a CPU can compute."""
    most = {"m": 8, "k": 32, "n": 32, "heads": 4, "kv_heads": 2, "head_dim": 16, "batch": 3, "context_tokens": 24,
            "new_tokens": 12, "experts": 4, "topk": 2, "tokens": 6, "bytes": 65536, "width": 64, "vocab_size": 64,
            "ranks": 2}
    tiny: dict[tuple[str, tuple[Value, ...]], Case] = {}
    for case in cases:
        columns = FORMS[case.op].columns
        values = tuple(min(value, most[column]) if isinstance(value, int) else value
                       for column, value in zip(columns, case.values))
        shape = dict(zip(columns, values))
        if case.op.startswith("attention") and shape["heads"] % shape["kv_heads"]:
            continue
        tiny.setdefault((case.table, values), Case(case.table, case.op, values, case.level))
    chosen: list[Case] = []
    for table in dict.fromkeys(case.table for case in tiny.values()):
        of_table = [case for case in tiny.values() if case.table == table]
        step = max(1, len(of_table) / per_table)
        chosen += [of_table[int(i * step)] for i in range(min(per_table, len(of_table)))]
    return chosen
