"""The rows that are measured, most valuable first, and the work of a row. A row is (table, values of its columns)."""

import json
import math

from files import Problem

COLUMNS = {
    "gemm": ("m", "k", "n"),
    "attention_decode": ("heads", "kv_heads", "head_dim", "kv_dtype", "batch", "context_tokens"),
    "attention_prefill": ("heads", "kv_heads", "head_dim", "batch", "context_tokens", "new_tokens"),
    "all_reduce": ("ranks", "bytes", "mode"),
    "elementwise": ("op", "tokens", "width", "dtype"),
    "launch": ("op",),
    "memory": ("op", "bytes"),
}

# In the order in which tables are measured within a level.
TABLES = ("gemm_bf16", "attention_decode_bf16", "attention_prefill_bf16", "gemm_fp8", "all_reduce_bf16", "launch",
          "memory", "elementwise")

# Layers of dense transformers: hidden size, heads, KV heads, width of a head, MLP width, vocabulary.
LAYERS = ((4096, 32, 8, 128, 14336, 128256), (8192, 64, 8, 128, 28672, 128256), (5120, 64, 8, 128, 25600, 151936),
          (4096, 32, 8, 128, 12288, 151936), (5120, 40, 8, 128, 17408, 151936), (3584, 28, 4, 128, 18944, 152064),
          (2048, 32, 4, 128, 0, 151936), (4096, 64, 4, 128, 0, 151936))
RANKS = (1, 2, 4, 8)
GRID = (1024, 4096, 16384)
ROWS = ((1, 16, 64, 256, 1024, 4096), (8, 32, 128, 512, 2048, 8192), (2, 4, 24, 48, 96, 192, 384, 16384))
BATCHES = ((1, 16, 64, 256), (8, 32, 128), (2, 4, 512))
CONTEXTS = ((128, 1024, 8192), (512, 2048, 4096, 32768), (256, 16384, 65536))
PROMPTS = ((128, 1024, 8192), (512, 2048), (64, 256, 4096, 16384))
PRIOR = ((), (1024, 8192), (4096, 32768))
MESSAGES = tuple(tuple(2**power for power in range(first, 29, 3)) for first in (10, 11, 12))
MOST_BYTES, MOST_FLOP = 4 * 2**30, 20e12  # of one row


def op_of(table):
    """The op of a table: "gemm" of "gemm_bf16"."""
    return next(op for op in COLUMNS if table == op or table.startswith(op + "_"))


def shape_of(row):
    """{column: value} of a row (table, values)."""
    return dict(zip(COLUMNS[op_of(row[0])], row[1]))


def work_of(row):
    """(flop, bytes) of a row: each input read once, each output written once. Prefill is causal."""
    op, s = op_of(row[0]), shape_of(row)
    if op == "gemm":
        element = 1 if row[0].endswith("fp8") else 2
        return 2.0 * s["m"] * s["k"] * s["n"], element * (s["m"] + s["n"]) * s["k"] + 2.0 * s["m"] * s["n"]
    if op == "attention_decode":
        pairs = s["batch"] * s["context_tokens"]
        return 4.0 * s["heads"] * s["head_dim"] * pairs, 4.0 * s["kv_heads"] * s["head_dim"] * pairs
    if op == "attention_prefill":
        new, prior, width = s["new_tokens"], s["context_tokens"], s["batch"] * s["head_dim"]
        tokens = 2 * s["kv_heads"] * (new + prior) + 2 * s["heads"] * new
        return 4.0 * s["heads"] * width * (new * prior + 0.5 * new * new), 2.0 * width * tokens
    if op == "elementwise":
        return 0.0, 2.0 * {"norm": 4, "rope": 2, "silu_mul": 3}[s["op"]] * s["tokens"] * s["width"]
    return 0.0, float(s.get("bytes", 0))


def leveled(*axes):
    """(level, values) over a product of axes with levels; the level of a point is the highest of its coordinates."""
    points = [(0, ())]
    for axis in axes:
        points = [(max(level, own), values + (value,)) for level, values in points
                  for own, choices in enumerate(axis) for value in choices]
    return points


def layer_shapes(tp):
    """(heads, kv_heads, head_dim), [(k, n)], [(op, width)] of each layer on one of `tp` ranks that divide its heads."""
    for hidden, heads, kv_heads, dim, width, vocabulary in LAYERS:
        if heads % tp:
            continue
        own, own_kv = heads // tp, max(1, kv_heads // tp)
        gemms = [(hidden, (own + 2 * own_kv) * dim), (own * dim, hidden)]
        small = [("norm", hidden), ("rope", (own + own_kv) * dim)]
        if width:
            gemms += [(hidden, 2 * width // tp), (width // tp, hidden)]
            small.append(("silu_mul", width // tp))
        gemms.append((hidden, math.ceil(vocabulary / (64 * tp)) * 64))
        yield (own, own_kv, dim), gemms, small


def planned(fp8, ranks):
    """Every row once, the most valuable first: (level, table, values). Level 0 spans all shapes coarsely."""
    found = {}

    def add(level, table, values):
        flop, moved = work_of((table, values))
        if flop <= MOST_FLOP and moved <= MOST_BYTES:
            found[table, values] = min(level, found.get((table, values), 9))

    for place, tp in enumerate(RANKS):
        later = min(place, 2)  # fewer deployments have many ranks
        for heads, gemms, small in layer_shapes(tp):
            for level, (m,) in leveled(ROWS):
                for k, n in gemms:
                    add(level + later, "gemm_bf16", (m, k, n))
                    if fp8 and k % 16 == 0 and n % 16 == 0:
                        add(level + later, "gemm_fp8", (m, k, n))
                for op, width in small:
                    add(level + later + 1, "elementwise", (op, m, width, "bf16"))
            for level, (batch, context) in leveled(BATCHES, CONTEXTS):
                add(level + later, "attention_decode_bf16", (*heads, "bf16", batch, context))
            for level, (new, batch) in leveled(PROMPTS, ((1,), (4,), (2,))):
                add(level + later, "attention_prefill_bf16", (*heads, batch, 0, new))
            for level, (new, prior) in leveled(((512, 2048), (128, 8192), ()), PRIOR):
                add(level + later, "attention_prefill_bf16", (*heads, 1, prior, new))
    for k in GRID:
        for n in GRID:
            for level, (m,) in leveled(ROWS):
                add(level + 1, "gemm_bf16", (m, k, n))
    for level, (ranks_used, size) in leveled(tuple((each,) for each in RANKS[1:]), MESSAGES):
        if ranks_used <= ranks:
            add(level if size < 2**26 else level + 1, "all_reduce_bf16", (ranks_used, size, "graph"))
    for op in ("kernel", "graph_node"):
        add(0, "launch", (op,))
    for op in ("copy", "read", "write"):
        for power in range(12, 31, 2):
            add(1 if power % 4 else 0, "memory", (op, 2**power))
    return sorted(((level, *row) for row, level in found.items()), key=lambda row: (row[0], TABLES.index(row[1])))


def why_not(row):
    """Why no kernel of kernels.py computes this row; "" where one does."""
    if row[0] not in TABLES:
        return "there is no kernel of this format here; scripts/collect/collect.py has some"
    shape = shape_of(row)
    if shape.get("kv_dtype", "bf16") != "bf16":
        return f"there is no kernel for a KV cache of {shape['kv_dtype']} here; scripts/collect/collect.py has one"
    return ""


def asked_first(path):
    """The rows that `rooflua data add --json` names under `measure`, in their order. @raises Problem"""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [(each["table"], tuple(each["row"])) for each in json.load(file)["measure"]]
        wrong = next((row for row in rows if len(row[1]) != len(COLUMNS[op_of(row[0])])), None)
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise Problem(f"--first: {path}: not a document of `rooflua data add --json`: {error!r}") from None
    if wrong:
        raise Problem(f"--first: {path}: {wrong[0]} has the columns {', '.join(COLUMNS[op_of(wrong[0])])}, found "
                      f"{list(wrong[1])}")
    return rows
