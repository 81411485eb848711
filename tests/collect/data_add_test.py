"""`rooflua data add` on folders with a mistake each: it names the kind, the file and the line, and says what would be
right."""

from __future__ import annotations

import shutil
import unittest
from pathlib import Path
from typing import Callable

import measure_test

ROWS = {"gemm_bf16/16/4096/4096": 40, "gemm_bf16/64/4096/4096": 42, "gemm_bf16/1024/4096/4096": 90,
        "elementwise/norm/16/4096/bf16": 4, "elementwise/norm/4096/4096/bf16": 90}


def line(number: int, text: str) -> Callable[[Path], None]:
    """Replaces a line of gemm_bf16.csv."""

    def change(folder: Path) -> None:
        path = folder / "gemm_bf16.csv"
        lines = path.read_text().splitlines()
        lines[number - 1] = text
        path.write_text("\n".join(lines) + "\n")

    return change


def within(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        assert old in path.read_text(), (old, path.read_text())
        path.write_text(path.read_text().replace(old, new))

    return change


def renamed(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: (folder / old).rename(folder / new) and None


def slower(factor: float) -> Callable[[Path], None]:
    """Latencies of GEMMs in another unit."""

    def change(folder: Path) -> None:
        path = folder / "gemm_bf16.csv"
        head, *rows = path.read_text().splitlines()
        cells = [row.split(",") for row in rows]
        path.write_text("\n".join([head, *(",".join([*row[:3], *(f"{float(us) * factor:.9g}" for us in row[3:])])
                                           for row in cells)]) + "\n")

    return change


# What is done to the folder, and the error: its kind, file, line (0: of the whole file), and part of what it says.
MISTAKES = (
    (lambda folder: (folder / "hardware.toml").unlink(), "no_datasheet", "hardware.toml", 0, "copy that of a similar"),
    (within("hardware.toml", "memory_gb_per_s = 2000", "memory_gb_per_s = 2"), "datasheet",
     "hardware.toml", 6, "memory_gb_per_s: found 2 GB/s"),
    (within("hardware.toml", "sms = 100\n", ""), "datasheet", "hardware.toml", 1, "sms: is missing"),
    (renamed("gemm_bf16.csv", "gem_bf16.csv"), "no_table", "gem_bf16.csv", 0, "did you mean 'gemm_bf16'"),
    (renamed("gemm_bf16.csv", "gemm_bf61.csv"), "no_table", "gemm_bf61.csv", 0, "<op>_<dtype>.csv"),
    (within("tables.toml", "[gemm_bf16]", "[gemm_bf17]"), "no_file", "tables.toml", 28, "did you mean 'gemm_bf16'?"),
    (within("tables.toml", "answers = false", "answers = 3"), "unreadable", "tables.toml", 25, "expected true or"),
    (line(1, "m,k,n,latency_us,latency_us_p10,latency_us_p99"), "unknown_column", "gemm_bf16.csv", 1,
     "did you mean 'latency_us_p90'"),
    (line(1, "m,k,n,latency_ms,latency_us_p10,latency_us_p90"), "unreadable", "gemm_bf16.csv", 1,
     "multiply latency_ms by 1,000 and call it latency_us"),
    (line(1, "m,k,width,latency_us,latency_us_p10,latency_us_p90"), "unreadable", "gemm_bf16.csv", 1, "no column 'n'"),
    (line(2, "16,4096,4096,4x,4,4"), "unreadable", "gemm_bf16.csv", 2, "expected a number, found '4x'"),
    (line(2, "64,4096,4096,42,42,42"), "duplicate_key", "gemm_bf16.csv", 3, "keep one line"),
    (line(2, "16,4096,4096,0,0,0"), "not_positive", "gemm_bf16.csv", 2, "measure its shape again"),
    (line(2, "0,4096,4096,40,40,40"), "impossible_shape", "gemm_bf16.csv", 2, "at least 1"),
    (line(2, "16,4096,4096,1e10,1e10,1e10"), "impossible_latency", "gemm_bf16.csv", 2, "in microseconds"),
    (line(2, "16,4096,4096,40,41,42"), "quantiles", "gemm_bf16.csv", 2, "latency_us is the median"),
    (line(4, "1024,4096,4096,41,41,41"), "above_peak", "gemm_bf16.csv", 4, "is the peak of hardware.toml right"),
    (line(2, "16,4096,4096,400,400,400"), "falls", "gemm_bf16.csv", 3, "line 2 has 400 us at 16"),
    (within("elementwise.csv", "90,90,90", "30,30,30"), "below_floor", "elementwise.csv", 3, "bandwidth of the memory"),
    (slower(1e3), "unit", "gemm_bf16.csv", 1, "are these nanoseconds?"),
    (slower(1e-3), "unit", "gemm_bf16.csv", 1, "are these milliseconds or seconds?"),
    (lambda folder: (folder / "gemm_bf16.csv").write_text(""), "unreadable", "gemm_bf16.csv", 0, "the table is empty"),
    (lambda folder: [path.unlink() for path in folder.glob("*.csv")], "no_tables", "", 0, "holds no table"),
)


class Mistakes(measure_test.Folder):
    def test_each_mistake_is_named_with_its_place_and_what_would_be_right(self) -> None:
        right = self.rehearse("right", ROWS)
        self.assertEqual(self.add(right, "--dry-run")["errors"], 0)
        for number, (change, kind, name, at, said) in enumerate(MISTAKES):
            with self.subTest(kind=kind, number=number):
                folder = self.at / f"wrong-{number}"
                shutil.copytree(right, folder)
                change(folder)
                found = self.add(folder)
                self.assertEqual(found["status"], 1, found)
                self.assertFalse(self.gpus.exists())
                errors = [each for each in found["problems"] if each["level"] == "error"]
                mine = [each for each in errors if each["kind"] == kind and Path(each["file"]) == folder / name]
                self.assertTrue(mine, found["problems"])
                self.assertEqual(mine[0].get("line", 0), at, mine)
                self.assertIn(said, f"{mine[0]['message']}; {mine[0].get('advice', '')}")
                self.assertIn(f"error: {mine[0]['file']}", found["said"])
                self.assertIn("not added: correct the errors first", found["said"])

    def test_there_are_more_than_twelve_kinds_of_mistakes(self) -> None:
        self.assertGreater(len({kind for _, kind, *_ in MISTAKES}), 12)

    def test_a_file_that_nothing_reads_and_rows_of_a_rehearsal_are_noted(self) -> None:
        folder = self.rehearse("a", ROWS)
        (folder / "notes.txt").write_text("mine")
        kinds = [each["kind"] for each in self.add(folder)["problems"]]
        self.assertEqual(sorted(kinds), ["not_measured", "not_measured", "not_read"])
        self.assertEqual((self.gpus / "a/notes.txt").read_text(), "mine")
        step = self.rooflua("step", "--model", "llama-3.1-8b", "--hardware", "a", "--decode", "1000x16").stdout
        self.assertIn("a: its tables are of a rehearsal: their times come from no GPU", step)

    def test_a_gpu_that_is_shipped_is_told_which_and_what_it_lends(self) -> None:
        folder = self.rehearse("a", ROWS)
        within("tables.toml", 'gpu = "none: a rehearsal"', 'gpu = "NVIDIA H100 80GB HBM3"')(folder)
        told = [each for each in self.add(folder, "--dry-run")["problems"] if each["kind"] == "shipped"]
        self.assertEqual([each["message"] for each in told], ["NVIDIA H100 80GB HBM3 is the shipped h100-sxm"])
        self.assertIn('tables_from = "h100-sxm"', told[0]["advice"])

    def test_an_alias_of_another_gpu_is_refused(self) -> None:
        folder = self.rehearse("a", ROWS)
        within("hardware.toml", "\n[peak", '\naliases = ["H100 SXM"]\n[peak')(folder)
        done = self.rooflua("data", "add", folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("aliases", done.stderr)
        self.assertIn("h100-sxm", done.stderr)

    def test_a_shipped_gpu_lends_to_one_that_was_added(self) -> None:
        folder = self.rehearse("a", ROWS)
        within("hardware.toml", "\n[peak", '\ntables_from = "h100-sxm"\n[peak')(folder)
        scenario = self.scenario(measure_test.DECODE)
        found = self.add(folder, "--for", scenario)
        self.assertGreater(found["scenario"]["evidence"]["stand_in"], 0.2)
        self.assertIn("attention_decode_bf16", [each["table"] for each in found["scenario"]["tables"]])

    def test_a_scenario_that_no_step_can_be_priced_of_is_an_error_and_nothing_is_installed(self) -> None:
        folder, plan = self.rehearse("a", ROWS), self.at / "wrong.lua"
        plan.write_text('return { kind = "static", model = "llama-3.1-8b", hardware = "h100-sxm" }\n')
        done = self.rooflua("data", "add", folder, "--for", plan)
        self.assertEqual(done.returncode, 1)
        self.assertIn('expected "serve" or "price"', done.stderr)
        self.assertFalse(self.gpus.exists())
        done = self.rooflua("data", "add", folder, "--set", "model=x")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
