"""One CSV table of bench_data, by the cases of its rows."""

from __future__ import annotations

from pathlib import Path

from measure import files
from rooflua_collect.cases import FORMS, Case


class Table(files.Table):
    def __init__(self, path: Path, op: str) -> None:
        super().__init__(str(path), FORMS[op].columns)

    def __contains__(self, case: Case) -> bool:
        return case.key in self.rows

    def add(self, case: Case, times_us: tuple[float, float, float]) -> None:
        self.put(case.key, times_us)
