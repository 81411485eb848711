"""One CSV table of bench_data. Rows are appended one by one; each is on disk before the next is measured."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from rooflua_collect.cases import FORMS, LATENCIES, Case
from rooflua_collect.problem import Problem


class Table:
    """The file of one table, locked while it is open.

    If a crash left the last line incomplete, it is cut off when the file is opened; any other line that cannot be
    read is an error.
    """

    def __init__(self, path: Path, op: str) -> None:
        self.path = path
        self.columns = (*FORMS[op].columns, *LATENCIES)
        self.repaired = False
        self.rows: dict[tuple[str, ...], tuple[float, float, float]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = open(path, "a+b")
        except OSError as error:
            raise Problem(f"{path}: cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(f"{path}: another collector is writing this table") from None
        self._read()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.decode("utf-8", "replace").splitlines()
        if lines and tuple(lines[0].split(",")) != self.columns:
            raise Problem(f"{self.path}:1: the columns are {lines[0]}; expected {','.join(self.columns)}. "
                          "Move the file away, or choose another --out")
        for number, line in enumerate(lines[1:], 2):
            row = self._parse(line)
            if row is None and number == len(lines):
                whole = "".join(each + "\n" for each in lines[:-1]).encode()
            elif row is None:
                raise Problem(f"{self.path}:{number}: not a row of this table: '{line}'")
            else:
                self.rows[row[0]] = row[1]
        if len(whole) < len(content):
            self.repaired = True
            self._file.truncate(len(whole))
        if not whole:
            self._append(",".join(self.columns))

    def _parse(self, line: str) -> tuple[tuple[str, ...], tuple[float, float, float]] | None:
        cells = line.split(",")
        if len(cells) != len(self.columns):
            return None
        try:
            median, low, high = (float(cell) for cell in cells[-3:])
        except ValueError:
            return None
        return tuple(cells[:-3]), (median, low, high)

    def _append(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __contains__(self, case: Case) -> bool:
        return case.key in self.rows

    def add(self, case: Case, times_us: tuple[float, float, float]) -> None:
        """Adds a row with median, p10, p90. It is on disk when this returns."""
        if case.key in self.rows:
            raise ValueError(f"{case} was measured already")
        self._append(",".join((*case.key, *(digits(time_us) for time_us in times_us))))
        self.rows[case.key] = times_us

    def close(self) -> None:
        """Sorts the rows by their shapes, so that two runs can be compared line by line."""
        ordered = sorted(self.rows.items(), key=lambda row: [_order(cell) for cell in row[0]])
        text = "".join(",".join((*key, *map(digits, times))) + "\n" for key, times in ordered)
        if self.rows:
            replace(self.path, ",".join(self.columns) + "\n" + text)
        self._file.close()
        if not self.rows:
            self.path.unlink()


def _order(cell: str) -> tuple[int, float, str]:
    return (0, float(cell), "") if cell.isdigit() else (1, 0.0, cell)


def replace(path: Path, text: str) -> None:
    """Writes a whole file, or leaves the old one."""
    beside = path.with_name(path.name + ".new")
    try:
        with open(beside, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}") from None


def digits(time_us: float) -> str:
    """Microseconds with six significant digits, never in exponents."""
    text = f"{time_us:.6g}"
    return text if "e" not in text else f"{time_us:.6f}".rstrip("0").rstrip(".")
