"""The folder that is written: hardware.toml, tables.toml, and a CSV for each table. Each row is written before the
next is measured."""

import datetime
import json
import os

from problem import Problem
from shapes import COLUMNS, op_of

LATENCIES = ("latency_us", "latency_us_p10", "latency_us_p90")
FLOP = {"gemm": "2mkn", "attention_prefill": "causal_half", "attention_decode": "full"}
AXES = {"gemm": "m", "attention_decode": "context_tokens", "attention_prefill": "new_tokens", "elementwise": "tokens",
        "launch": "none"}
# Lookups do not use the rows of these tables; why, stands in their entry.
COMPARED = {"elementwise": "PyTorch launches several kernels where an engine has one fused kernel",
            "launch": "prices of engines have launch times of their own",
            "memory": "to be compared with memory_gb_per_s of hardware.toml"}


def toml(value):
    """A value of a TOML file. Text is quoted as in JSON, which TOML reads."""
    return json.dumps(value) if isinstance(value, (str, bool, list)) else repr(value)


def hardware_text(source):
    """The text of hardware.toml for what measures."""
    facts = dict(source.facts)
    peaks, sources = facts.pop("peak_tflop_per_s"), facts.pop("sources", {})
    lines = [f"# {source.name}, written by scripts/collect/measure. A figure of a datasheet is better: correct it.", ""]
    lines += [f"{key} = {toml(value)}" for key, value in facts.items()]
    lines += ["", "[peak_tflop_per_s]", *(f"{key} = {toml(value)}" for key, value in peaks.items())]
    lines += ["", "[sources]", *(f"{key} = {toml(value)}" for key, value in sources.items())]
    return "\n".join(lines) + "\n"


def order(key):
    """Sorts the cells of a row: numbers by size, then words."""
    return [(0, int(cell), "") if cell.isdigit() else (1, 0, cell) for cell in key]


def replace(path, text):
    """Writes a whole file, or leaves the old one."""
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".new", path)


class Folder:
    """Opens a folder, or carries on in one that the same GPU, driver and PyTorch began.

    known  the rows that are there: {table: {values as text: line}}
    @raises Problem where another machine began it, or a file in it is none of ours
    """

    def __init__(self, path, source, hardware_file=None):
        self.path, self.source, self.known, self.files = path, source, {}, {}
        self.heading = f"# scripts/collect/measure on {source.name}, driver {source.driver}, {source.library}"
        try:
            os.makedirs(path, exist_ok=True)
            self.check_heading()
            if not os.path.exists(self.place("hardware.toml")):
                replace(self.place("hardware.toml"), open(hardware_file, encoding="utf-8").read() if hardware_file
                        else hardware_text(source))
        except OSError as error:
            raise Problem(f"--out: {path}: cannot be written: {error.strerror}") from None

    def place(self, name):
        return os.path.join(self.path, name)

    def check_heading(self):
        there = self.place("tables.toml")
        if os.path.exists(there):
            with open(there, encoding="utf-8") as file:
                first = file.readline().rstrip("\n")
            if first != self.heading:
                raise Problem(f"{there}:1: begun by another machine or version:\n  {first}\nhere it is\n  "
                              f"{self.heading}\nChoose another --out")
        elif any(name.endswith(".csv") for name in os.listdir(self.path)):
            raise Problem(f"{self.path}: has tables and no tables.toml that says who measured them: choose another "
                          "--out")

    def rows(self, table):
        """The rows of a table that are there. A last line that a crash left incomplete is cut off. @raises Problem"""
        if table in self.known:
            return self.known[table]
        columns = (*COLUMNS[op_of(table)], *LATENCIES)
        self.known[table], path = {}, self.place(table + ".csv")
        self.files[table] = open(path, "a+", encoding="utf-8", newline="\n")
        self.files[table].seek(0)
        text = self.files[table].read()
        whole = text[:text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            cells = line.split(",")
            if number == 1 and cells != list(columns) or len(cells) != len(columns):
                raise Problem(f"{path}:{number}: expected {','.join(columns)}, found {line}: move the file away")
            if number > 1:
                self.known[table][tuple(cells[:-3])] = line
        if len(whole) < len(text):
            self.files[table].truncate(len(whole.encode()))
        if not whole:
            self.append(table, ",".join(columns))
        return self.known[table]

    def append(self, table, line):
        self.files[table].write(line + "\n")
        self.files[table].flush()

    def has(self, row):
        return tuple(map(str, row[1])) in self.rows(row[0])

    def add(self, row, times_us):
        """Adds a row with median, p10 and p90."""
        key = tuple(map(str, row[1]))
        line = ",".join((*key, *(f"{us:.6g}" if us < 1e5 else f"{us:.1f}" for us in times_us)))
        self.rows(row[0])[key] = line
        self.append(row[0], line)

    def close(self):
        """Sorts the rows of each table by their shapes, and writes tables.toml. A table without rows leaves no file."""
        lines = [self.heading, "# The keys are explained in docs/DATA.md."]
        for table, file in sorted(self.files.items()):
            file.close()
            op, rows, path = op_of(table), self.known[table], self.place(table + ".csv")
            if not rows:
                os.remove(path)
                continue
            ordered = [",".join((*COLUMNS[op], *LATENCIES)), *(rows[key] for key in sorted(rows, key=order))]
            replace(path, "\n".join(ordered) + "\n")
            lines += ["", f"[{table}]"]
            lines += [f"{key} = {toml(value)}" for key, value in self.entry(table, op, rows).items()]
        replace(self.place("tables.toml"), "\n".join(lines) + "\n")

    def entry(self, table, op, rows):
        """What tables.toml says of a table."""
        out = {"op": op, "dtype": table[len(op) + 1:] or "bf16", "project": "own",
               "source": "measured with scripts/collect/measure", "library": self.source.library, "warm_up": 3,
               "repeats": 20, "statistic": "median", "inputs": "random normal", **self.source.about(op),
               "flop": FLOP.get(op, "none"), "axis": AXES.get(op, "bytes"), "rows": len(rows), "gpu": self.source.name,
               "driver": self.source.driver, "date": datetime.date.today().isoformat()}
        if op in COMPARED:
            out.update(answers=False, note="not used by lookups: " + COMPARED[op])
        return out
