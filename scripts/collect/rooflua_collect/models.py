"""The shipped models (scenarios/models/*.toml) and the shapes of their kernels on one rank.

Symbols: H hidden size, h query heads, g KV heads, D head dim, I MLP width, V vocabulary, T tensor
parallel ranks, E experts. The same rules as engine/cost/work/forward_pass.cpp; a test compares the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflua_collect.problem import Problem

TP = (1, 2, 4, 8)


@dataclass(frozen=True)
class Model:
    """One model file: its name and its keys, unchanged."""

    name: str
    keys: dict[str, Any]

    def number(self, *path: str, default: int = 0) -> int:
        """A whole number of the file, by its path of keys."""
        value: Any = self.keys
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return default if value is None else int(value)

    @property
    def moe(self) -> bool:
        return "moe" in self.keys

    @property
    def mla(self) -> bool:
        return "mla" in self.keys

    @property
    def heads(self) -> int:
        return self.number("heads")

    @property
    def hidden(self) -> int:
        return self.number("hidden_size")

    @property
    def head_dim(self) -> int:
        return self.number("head_dim", default=self.hidden // max(1, self.heads))

    def kv_heads(self, tp: int) -> int:
        """KV heads of one rank; they are replicated if there are fewer of them than ranks."""
        return max(1, self.number("kv_heads", default=self.heads) // tp)

    @property
    def ranks(self) -> list[int]:
        """The tensor parallel sizes that divide the heads, and the KV heads or replicate them."""
        kv_heads = self.number("kv_heads", default=self.heads)
        return [tp for tp in TP if self.heads % tp == 0 and (kv_heads % tp == 0 or tp % kv_heads == 0)]


@dataclass(frozen=True)
class Gemm:
    """[m, k] x [k, n]; `most_rows` is the largest m of a serving step (0: no limit)."""

    name: str
    k: int
    n: int
    most_rows: int = 0


@dataclass(frozen=True)
class Grouped:
    """`experts` GEMMs [rows of each, k] x [k, n] on one rank."""

    experts: int
    topk: int
    k: int
    n: int


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, by the standard library's reader (Python 3.11) or by tomli."""
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib  # type: ignore[no-redef]
        except ImportError:
            raise Problem("needs Python 3.11 or later, or the package tomli, to read TOML") from None
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}") from None


def read_models(folder: Path) -> list[Model]:
    """Every model of a folder whose layers are alike, by name: one without lists of kinds of layers."""
    models = [Model(path.stem, read_toml(path)) for path in sorted(folder.glob("*.toml"))]
    models = [model for model in models if "attention" not in model.keys and "mlp" not in model.keys]
    if not models:
        raise Problem(f"{folder}: holds no model files (*.toml)")
    return models


def gemms(model: Model, tp: int) -> list[Gemm]:
    """The dense GEMMs of one forward pass on one of `tp` ranks."""
    hidden, heads, dim = model.hidden, model.heads // tp, model.head_dim
    found: list[Gemm] = []
    if model.mla:
        found += _latent_gemms(model, heads)
    else:
        gate = heads * dim if model.keys.get("attention_output_gate") else 0
        found.append(Gemm("qkv", hidden, (heads + 2 * model.kv_heads(tp)) * dim + gate))
        found.append(Gemm("o", heads * dim, hidden))
    if "hybrid" in model.keys:
        keys = model.number("hybrid", "key_heads") * model.number("hybrid", "key_head_dim") // tp
        values = model.number("hybrid", "value_heads") * model.number("hybrid", "value_head_dim") // tp
        value_heads = model.number("hybrid", "value_heads") // tp
        found.append(Gemm("gdn_in", hidden, 2 * keys + 2 * values))
        found.append(Gemm("gdn_gates", hidden, 2 * value_heads))
        found.append(Gemm("gdn_out", values, hidden))
    dense = not model.moe or model.number("moe", "dense_layers") > 0
    if dense:
        found += _mlp(model, "", hidden, model.number("intermediate_size") // tp)
    if model.moe:
        found.append(Gemm("router", hidden, model.number("moe", "experts")))
        shared = model.number("moe", "shared_intermediate_size")
        if shared:
            found += _mlp(model, "shared_", hidden, shared // tp)
    padded = math.ceil(model.number("vocab_size") / (64 * tp)) * 64
    found.append(Gemm("lm_head", hidden, padded, most_rows=1024))
    return found


def _mlp(model: Model, prefix: str, hidden: int, width: int) -> list[Gemm]:
    up = "gate_up" if model.keys.get("gated_mlp", True) else "up"
    wide = 2 * width if up == "gate_up" else width
    return [Gemm(prefix + up, hidden, wide), Gemm(prefix + "down", width, hidden)]


def _latent_gemms(model: Model, heads: int) -> list[Gemm]:
    """Projections of latent attention. qkv_a and kv_a are replicated on every rank."""
    hidden, latent = model.hidden, model.number("mla", "kv_lora_rank")
    nope, rope = model.number("mla", "qk_nope_head_dim"), model.number("mla", "qk_rope_head_dim")
    value, rank = model.number("mla", "v_head_dim"), model.number("mla", "q_lora_rank")
    found = [Gemm("kv_b", latent, heads * (nope + value)), Gemm("o", heads * value, hidden)]
    if rank:
        found.append(Gemm("qkv_a", hidden, rank + latent + rope))
        found.append(Gemm("q_b", rank, heads * (nope + rope)))
    else:
        found.append(Gemm("q", hidden, heads * (nope + rope)))
        found.append(Gemm("kv_a", hidden, latent + rope))
    return found


def attention_heads(model: Model, tp: int) -> tuple[int, int, int] | None:
    """(heads, kv_heads, head_dim) of one rank; latent attention has no table of this form."""
    if model.mla:
        return None
    return model.heads // tp, model.kv_heads(tp), model.head_dim


def grouped(model: Model, tp: int) -> list[Grouped]:
    """Routed experts of one rank: sliced by tensor parallelism, and whole by expert parallelism."""
    if not model.moe:
        return []
    experts, topk = model.number("moe", "experts"), model.number("moe", "experts_per_token")
    width, hidden = model.number("moe", "intermediate_size"), model.hidden
    found = [Grouped(experts, topk, hidden, 2 * (width // tp)), Grouped(experts, topk, width // tp, hidden)]
    if tp > 1 and experts % tp == 0:
        found += [Grouped(experts // tp, topk, hidden, 2 * width), Grouped(experts // tp, topk, width, hidden)]
    return found


def elementwise_widths(model: Model, tp: int) -> list[tuple[str, int]]:
    """(op, width) of one rank: norm over H; rope over (h + g) D; silu_mul to I; quantize over the k of each GEMM."""
    found = [("norm", model.hidden)]
    heads = attention_heads(model, tp)
    if heads:
        found.append(("rope", (heads[0] + heads[1]) * heads[2]))
    if not model.moe:
        found.append(("silu_mul", model.number("intermediate_size") // tp))
    read = {gemm.k for gemm in gemms(model, tp) if gemm.name not in ("lm_head", "router")}
    return found + [("quantize", k) for k in sorted(read)]
