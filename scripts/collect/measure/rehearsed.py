"""Times without a GPU, and how long a row takes."""

import json

from files import Problem
from kernels import MOST_SETS, REPEATS
from shapes import op_of, work_of
from timing import REPEAT_US, ROTATION_US, WARM_UP


class Rehearsal:
    """Times without a GPU: those of a JSON file, and 1.4 times the roofline for every other shape. The file has
    `hardware` (keys of hardware.toml), `times_us` {"gemm_bf16/64/4096/6144": us}, `only` (true: no other rows)."""

    name, driver, library = "none: a rehearsal", "none", "none"

    def __init__(self, stub, facts=None):
        self.stub = {} if stub == "roofline" else read_stub(stub)
        self.ranks = self.stub.get("ranks", 8)
        self.facts = {"architecture": "hopper", "memory_gb": 80, "usable_memory_gib": 74, "memory_gb_per_s": 2000,
                      "link_gb_per_s": 300, "sms": 100, "clock_mhz": 1500, "l2_mib": 40,
                      "peak_tflop_per_s": {"bf16": 600, "fp8": 1200},
                      "sources": {"peak_tflop_per_s": "made up, for a rehearsal"}, **(facts or {}),
                      **self.stub.get("hardware", {})}
        self.fp8 = "fp8" in self.facts["peak_tflop_per_s"]
        self.known = {tuple(key.split("/")): us for key, us in self.stub.get("times_us", {}).items()}
        self.now_s = 0.0

    def clock(self):
        return self.now_s

    def rows(self):
        return [(key[0], tuple(int(cell) if cell.isdigit() else cell for cell in key[1:])) for key in self.known]

    def about(self, op):
        return {"kernel": "none: a rehearsal", "timer": "none: times of a stub or of a roofline",
                "cache": "none", "clocks": "none", "measured": False}

    def time(self, row):
        self.now_s += seconds_of(row, self.facts)
        us = self.known.get((row[0], *map(str, row[1])))
        if us is None:
            if self.stub.get("only"):
                raise LookupError("not in the stub")
            us = 1.4 * roofline_us(row, self.facts)
        return us, us, us


def read_stub(path):
    try:
        with open(path, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError, TypeError) as error:
        raise Problem(f"--rehearse: {path}: expected \"roofline\" or a JSON file of times: {error}") from None


def roofline_us(row, facts):
    """Microseconds of a row at the peaks, and two for its launch."""
    flop, moved = work_of(row)
    peaks = facts["peak_tflop_per_s"]
    per_s = 1e9 * facts["link_gb_per_s" if op_of(row[0]) == "all_reduce" else "memory_gb_per_s"]
    return 2.0 + 1e6 * max(flop / (1e12 * peaks.get(row[0].rsplit("_", 1)[-1], peaks["bf16"])), moved / per_s)


def seconds_of(row, facts):
    """About how long a row takes: its repeats, and 30 ms to prepare it."""
    call_us = 1.4 * roofline_us(row, facts)
    sets = min(MOST_SETS, 2 * facts["l2_mib"] * 2**20 / max(1, work_of(row)[1]))
    rotation_us = min(ROTATION_US, call_us * sets)
    return 0.03 + 1e-6 * (WARM_UP + REPEATS) * max(REPEAT_US, rotation_us, call_us)
