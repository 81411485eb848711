"""tables.toml: how each table was measured, and what is missing from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure.files import replace, toml
from rooflua_collect.models import read_toml

KEYS = ("op", "dtype", "flop", "kernel", "library", "timer", "warm_up", "repeats", "inputs", "rotation", "check", "gpu",
        "driver", "clocks", "date", "rows", "missing")
HEADER = """\
# How the tables beside this file were measured (scripts/collect). Latencies are in microseconds.
# flop: how work is counted where an MFU is derived. timer: graph = replays of a CUDA graph between events,
# kernel = events around plain launches, wall = a host clock. missing: rows that were planned and are not
# there; refused: those among them whose kernel failed, or differed from its float32 reference; broken:
# kernels that must not be tried again. seconds: how long seconds_rows of the rows took, all told.
"""


@dataclass
class Provenance:
    """The file tables.toml: read if it exists, and kept up to date while a collection runs."""

    path: Path
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def open(folder: Path) -> Provenance:
        path = folder / "tables.toml"
        known = read_toml(path) if path.exists() else {}
        return Provenance(path, {name: dict(entry) for name, entry in known.items() if isinstance(entry, dict)})

    def of(self, table: str) -> dict[str, Any]:
        return self.tables.setdefault(table, {})

    def refused(self, table: str) -> dict[str, str]:
        """Reasons of refused rows, by the cells of the row joined by slashes."""
        found = {}
        for line in self.tables.get(table, {}).get("refused", []):
            key, _, reason = line.partition(": ")
            found[key] = reason
        return found

    def refuse(self, table: str, key: str, reason: str) -> None:
        """Writes the refusal to disk at once, so that a kernel that breaks the process is not tried again."""
        known = self.refused(table)
        known[key] = " ".join(reason.split())[:200]
        self.of(table)["refused"] = [f"{each}: {why}" for each, why in known.items()]
        self.save()

    def forgive(self, table: str) -> None:
        self.tables.get(table, {}).pop("refused", None)

    def save(self) -> None:
        """Writes all tables; if that fails, the old file stays."""
        parts = [HEADER]
        for name in sorted(self.tables):
            entry = self.tables[name]
            if not entry:
                continue
            parts.append(f"\n[{name}]\n")
            keys = [key for key in KEYS if key in entry] + sorted(set(entry) - set(KEYS))
            parts += [f"{key} = {toml(entry[key])}\n" for key in keys]
        replace(self.path, "".join(parts))
