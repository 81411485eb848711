"""The folder that is written: hardware.toml, tables.toml, and a CSV for each table. Each row is written before the
next is measured."""

import datetime
import os

from files import Problem, Table, replace, toml
from shapes import COLUMNS, op_of

FLOP = {"gemm": "2mkn", "attention_prefill": "causal_half", "attention_decode": "full"}
AXES = {"gemm": "m", "attention_decode": "context_tokens", "attention_prefill": "new_tokens", "elementwise": "tokens",
        "launch": "none"}
# Lookups do not use the rows of these tables; why, stands in their entry.
COMPARED = {"elementwise": "PyTorch launches several kernels where an engine has one fused kernel",
            "launch": "prices of engines have launch times of their own",
            "memory": "to be compared with memory_gb_per_s of hardware.toml"}


def hardware_text(source):
    """The text of hardware.toml for what measures."""
    facts = dict(source.facts)
    peaks, sources = facts.pop("peak_tflop_per_s"), facts.pop("sources", {})
    lines = [f"# {source.name}, written by scripts/collect/measure. A figure of a datasheet is better: correct it.", ""]
    lines += [f"{key} = {toml(value)}" for key, value in facts.items()]
    lines += ["", "[peak_tflop_per_s]", *(f"{key} = {toml(value)}" for key, value in peaks.items())]
    lines += ["", "[sources]", *(f"{key} = {toml(value)}" for key, value in sources.items())]
    return "\n".join(lines) + "\n"


class Folder:
    """Opens a folder, or carries on in one that the same GPU, driver and PyTorch began.

    tables  those that are open, by name
    @raises Problem where another machine began it
    """

    def __init__(self, path, source, hardware_file=None):
        self.path, self.source, self.tables = path, source, {}
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

    def table(self, name):
        """A table of the folder, open. @raises Problem"""
        if name not in self.tables:
            self.tables[name] = Table(self.place(name + ".csv"), COLUMNS[op_of(name)])
        return self.tables[name]

    def has(self, row):
        return tuple(map(str, row[1])) in self.table(row[0]).rows

    def add(self, row, times_us):
        """Adds a row with median, p10 and p90."""
        self.table(row[0]).put(tuple(map(str, row[1])), times_us)

    def close(self):
        """Closes the tables, and writes tables.toml."""
        lines = [self.heading, "# The keys are explained in docs/DATA.md."]
        for name, table in sorted(self.tables.items()):
            table.close()
            if table.rows:
                lines += ["", f"[{name}]"]
                lines += [f"{key} = {toml(value)}" for key, value in self.entry(name, op_of(name), table.rows).items()]
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
