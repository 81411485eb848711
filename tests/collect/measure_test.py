"""The collector of one file: its plan, its limits, its folder; and `rooflua data add` of what it wrote."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rehearsal

MEASURE = rehearsal.ROOT / "scripts/collect/measure"
DECODE = "{ decodes = 32, decode_context_tokens = 32 * 2047 }"
PREFILL = "{ prefills = { { new_tokens = 2048, context_tokens = 0 } } }"
ATTENTION = {"attention_decode_bf16/32/8/128/bf16/32/2048": 160, "attention_prefill_bf16/32/8/128/1/0/2048": 900}


class Folder(unittest.TestCase):
    """Each test has a folder of its own, with a place for GPUs in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.at = Path(self._folder.name)
        self.gpus = self.at / "gpus"

    def measure(self, out: str, *given: str, program: Path = MEASURE) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(program), "--out", str(self.at / out), *given], text=True,
                              capture_output=True, timeout=120, check=False)

    def rehearse(self, out: str, times: dict | None, *given: str) -> Path:
        """A rehearsal with exactly these times, or with those of a roofline."""
        stub = "roofline"
        if times is not None:
            stub = str(self.at / "stub.json")
            Path(stub).write_text(json.dumps({"only": True, "times_us": times}))
        done = self.measure(out, "--rehearse", stub, *given)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.at / out

    def rooflua(self, *given: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(rehearsal.PROGRAM[0]), *map(str, given)], cwd=rehearsal.ROOT, text=True, timeout=120,
                              capture_output=True, check=False, env={**os.environ, "ROOFLUA_GPUS": str(self.gpus)})

    def add(self, folder: Path, *given: str | Path) -> dict:
        """The document of `data add`, with its exit status under `status`."""
        document = self.at / "add.json"
        document.unlink(missing_ok=True)
        done = self.rooflua("data", "add", folder, "--json", document, *given)
        self.assertTrue(document.exists(), done.stdout + done.stderr)
        return {**json.loads(document.read_text()), "status": done.returncode, "said": done.stdout}

    def scenario(self, *batches: str) -> Path:
        path = self.at / "scenario.lua"
        path.write_text('return { kind = "price", model = "llama-3.1-8b", hardware = "h100-sxm",\n'
                        f"  price = {{ {', '.join(batches)} }} }}\n")
        return path

    def priced(self, scenario: Path, hardware: str | Path) -> dict:
        done = self.rooflua("run", scenario, "--set", f"hardware={hardware}", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["variants"][0]


class Rehearsal(Folder):
    def test_the_plan_says_what_is_measured_and_writes_nothing(self) -> None:
        done = self.measure("a", "--rehearse", "roofline", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        for table in ("gemm_bf16", "gemm_fp8", "attention_decode_bf16", "attention_prefill_bf16", "all_reduce_bf16",
                      "elementwise", "launch", "memory"):
            self.assertRegex(done.stdout, rf"(?m)^{table} +\d+ +\d+ +\d+$")
        self.assertIn("10 minutes reach about", done.stdout)
        self.assertFalse((self.at / "a").exists())

    def test_it_stops_in_time_with_the_coarse_rows_and_the_same_command_carries_on(self) -> None:
        whole = self.rehearse("whole", None)
        cut = self.measure("cut", "--rehearse", "roofline", "--minutes", "1")
        self.assertEqual(cut.returncode, 3, cut.stderr)
        first = rehearsal.keys(self.at / "cut")
        rows = sum(map(len, first.values()))
        self.assertEqual(set(first), set(rehearsal.keys(whole)) - {"elementwise.csv"})  # what matters most comes first
        self.assertIn(f"reach about {rows - 1} of", cut.stdout.replace(f"about {rows} of", f"about {rows - 1} of"))
        with open(self.at / "cut/gemm_bf16.csv", "a", encoding="utf-8") as torn:
            torn.write("16,4096,4")
        again = self.measure("cut", "--rehearse", "roofline", "--minutes", "60")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        for path in whole.glob("*.csv"):
            self.assertEqual(path.read_text(), (self.at / "cut" / path.name).read_text(), path.name)

    def test_a_folder_of_another_machine_is_not_continued(self) -> None:
        folder = self.rehearse("a", ATTENTION)
        words = folder / "tables.toml"
        words.write_text(words.read_text().replace("none: a rehearsal, driver none", "NVIDIA H100, driver 580", 1))
        done = self.measure("a", "--rehearse", "roofline")
        self.assertEqual(done.returncode, 2)
        self.assertIn("begun by another machine", done.stderr)
        self.assertIn("Choose another --out", done.stderr)

    def test_one_file_made_of_the_folder_does_the_same(self) -> None:
        packed = self.at / "measure.pyz"
        subprocess.run([sys.executable, "-m", "zipapp", str(MEASURE), "-o", str(packed)], check=True)
        done = self.measure("b", "--rehearse", "roofline", "--only", "launch", program=packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rehearsal.keys(self.at / "b"), {"launch.csv": ["graph_node", "kernel"]})

    def test_mistakes_in_the_command_are_named(self) -> None:
        for given, expected in ((["--only", "gem"], "nothing is planned of gem (planned: all_reduce_bf16"),
                                (["--first", "/no"], "--first: /no: not a document of"),
                                (["--hardware", "/no"], "--hardware: /no"),
                                (["--minutes", "0"], "more than 0, found 0")):
            done = self.measure("a", "--rehearse", "roofline", *given)
            self.assertEqual(done.returncode, 2, given)
            self.assertIn(expected, done.stderr)


class Added(Folder):
    def test_a_folder_that_was_added_prices_by_its_name_and_its_rows_are_measured(self) -> None:
        folder = self.rehearse("my-gpu", None)
        scenario = self.scenario(DECODE, PREFILL)
        found = self.add(folder, "--for", scenario)
        self.assertEqual((found["status"], found["errors"]), (0, 0), found["problems"])
        self.assertEqual(found["installed"], str(self.gpus / "my-gpu"))
        self.assertEqual({each["kind"] for each in found["problems"]}, {"not_measured"})  # it is a rehearsal
        self.assertGreater(found["scenario"]["evidence"]["measured"], 0.8)
        priced = self.priced(scenario, "my-gpu")
        self.assertEqual(priced, self.priced(scenario, self.gpus / "my-gpu"))
        self.assertIn("my-gpu", self.rooflua("data", "list").stdout)
        misspelt = self.rooflua("step", "--model", "llama-3.1-8b", "--hardware", "my-gq", "--decode", "9x1")
        self.assertIn("did you mean 'my-gpu'?", misspelt.stderr)

    def test_a_step_costs_the_sum_of_the_times_that_were_measured(self) -> None:
        scenario = self.scenario(DECODE, PREFILL)
        lacking = self.add(self.rehearse("a", ATTENTION), "--for", scenario, "--dry-run")
        gemms = [each["row"] for each in lacking["measure"] if each["table"] == "gemm_bf16"]
        times = {"/".join(["gemm_bf16", *map(str, row)]): 5000 + i for i, row in enumerate(sorted(gemms))}
        self.assertEqual(len(times), 10)  # the four of a layer and that of the head, for each batch
        folder = self.rehearse("b", {**ATTENTION, **times})
        self.add(folder)
        for batch in self.priced(scenario, "b")["price"]:
            measured = [row for row in batch["rows"] if row["evidence"] == "measured"]
            self.assertEqual(len(measured), 6)
            expected = 0.0
            for row in measured:
                if row["kind"] == "gemm":
                    shape = "/".join(word.split("=")[1] for word in row["shape"].split() if "=" in word)
                    expected += 1e-6 * times[f"gemm_bf16/{shape}"] * row["count"]
                else:
                    expected += 1e-6 * next(us for name, us in ATTENTION.items() if name.startswith(row["kind"])) * \
                        row["count"]
            others = sum(row["time_s"] for row in batch["rows"] if row["evidence"] != "measured")
            found = sum(row["time_s"] for row in measured)
            self.assertAlmostEqual(found, expected, delta=1e-9 * expected)
            self.assertAlmostEqual(batch["time_s"], expected + others, delta=1e-9 * expected)

    def test_measuring_what_is_worth_most_changes_the_evidence_by_the_share_that_was_promised(self) -> None:
        scenario = self.scenario(DECODE, PREFILL)
        folder = self.rehearse("a", ATTENTION)
        before = self.add(folder, "--for", scenario, "--dry-run")
        shares = [each["share"] for each in before["scenario"]["tables"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        most = before["scenario"]["tables"][0]
        self.assertEqual((most["table"], most["has"]), ("gemm_bf16", "no table"))
        # times of the modelled kernel, so that nothing but the evidence changes
        asked = self.at / "asked.json"
        asked.write_text(json.dumps([each["row"] for each in before["measure"] if each["table"] == "gemm_bf16"]))
        modelled = self.rooflua("lua", "tests/collect/modelled.lua", folder, asked)
        self.assertEqual(modelled.returncode, 0, modelled.stderr)
        complete = self.rehearse("b", {**ATTENTION, **json.loads(modelled.stdout)})
        after = self.add(complete, "--for", scenario, "--dry-run")
        was, now = before["scenario"]["evidence"], after["scenario"]["evidence"]
        self.assertAlmostEqual(now["measured"] - was["measured"], most["share"], delta=1e-5)  # six digits of a row
        self.assertAlmostEqual(was["modelled"] - now["modelled"], most["share"], delta=1e-5)
        self.assertNotIn("gemm_bf16", [each["table"] for each in after["scenario"]["tables"]])

    def test_the_rows_that_a_scenario_lacks_are_measured_first(self) -> None:
        scenario = self.at / "serve.lua"
        scenario.write_text('return { model = "llama-3.1-70b", hardware = "h100-sxm", deployment = { tp = 4 },\n'
                            '  workload = require "workloads.poisson" { rate_per_s = 1000, num_requests = 30,\n'
                            "    prompt_tokens = 3000, output_tokens = 200 } }\n")
        found = self.add(self.rehearse("a", ATTENTION), "--for", scenario)
        document = self.at / "add.json"
        kinds = {each["table"] for each in found["measure"]}
        self.assertEqual(kinds, {"gemm_bf16", "attention_decode_bf16", "attention_prefill_bf16", "all_reduce_bf16"})
        done = self.measure("b", "--rehearse", "roofline", "--first", str(document), "--minutes", "0.03")
        self.assertEqual(done.returncode, 3, done.stderr)
        again = self.add(self.at / "b", "--for", scenario, "--set", "seed=1")
        for name in kinds:  # within two seconds, what the plan would reach in minutes
            self.assertNotIn(name, [each["table"] for each in again["scenario"]["tables"]])

    def test_what_a_scenario_lacks_is_named_as_the_files_of_tables_are(self) -> None:
        folder = self.rehearse("a", ATTENTION)
        columns = (rehearsal.ROOT / "docs/DATA.md").read_text().split("columns of tables -->")[1]
        ops = set(re.findall(r"(?m)^\| (\w+) \|", columns)) - {"op"}
        for model in ("deepseek-v3", "qwen3-30b-a3b", "qwen3-next-80b-a3b", "gpt-oss-120b", "deepseek-v4-flash"):
            with self.subTest(model=model):
                scenario = self.at / "scenario.lua"
                scenario.write_text(f'return {{ kind = "price", model = "{model}", hardware = "h100-sxm",\n'
                                    f"  deployment = {{ tp = 16 }}, price = {{ {DECODE}, {PREFILL} }} }}\n")
                found = self.add(folder, "--for", scenario, "--dry-run")
                names = [each["table"] for each in found["scenario"]["tables"]]
                self.assertGreater(len(names), 3)
                for name in names:
                    op = max((each for each in ops if name == each or name.startswith(each + "_")), key=len)
                    self.assertRegex(name[len(op):], r"^(_(bf16|fp8|fp8_block|mxfp4|fp4|nvfp4|w4a8_mxfp4_mxfp8))?$")
                unsupported = sum(share for name, share in found["scenario"]["evidence"].items()
                                  if name not in ("measured", "interpolated"))
                told = sum(each["share"] for each in found["scenario"]["tables"]) + found["scenario"]["other"]
                self.assertAlmostEqual(told, unsupported, delta=0.02)

    def test_a_row_of_a_format_that_no_kernel_here_has_is_not_measured_as_another(self) -> None:
        asked = self.at / "asked.json"
        rows = [{"table": "gemm_fp8_block", "row": [64, 4096, 4096]},
                {"table": "attention_decode_bf16", "row": [32, 8, 128, "fp8", 1, 128]}]
        asked.write_text(json.dumps({"measure": rows}))
        done = self.measure("a", "--rehearse", "roofline", "--first", str(asked))
        self.assertIn("gemm_fp8_block: 1 rows were not measured: there is no kernel of this format", done.stdout)
        self.assertIn("attention_decode_bf16: 1 rows were not measured: there is no kernel for a KV cache", done.stdout)
        self.assertNotIn("gemm_fp8_block.csv", rehearsal.keys(self.at / "a"))
        self.assertFalse(any(",fp8," in row for row in rehearsal.keys(self.at / "a")["attention_decode_bf16.csv"]))

    def test_a_stored_run_is_run_again_where_the_rows_of_its_gpu_changed(self) -> None:
        scenario, store = self.scenario(DECODE), self.at / "runs.sqlite"
        times = []
        for us in (200, 300):
            self.add(self.rehearse(f"of-{us}", {name: us for name in ATTENTION}), "--name", "mine", "--replace")
            done = self.rooflua("run", scenario, "--set", "hardware=mine", "--results", store, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            times.append(json.loads(done.stdout)["variants"][0]["summary"]["time_s"])
        self.assertAlmostEqual(times[1] - times[0], 32 * 100e-6, delta=1e-9)

    def test_shipped_gpus_are_found_whatever_lies_among_those_that_were_added(self) -> None:
        (self.gpus / "broken").mkdir(parents=True)
        (self.gpus / "broken/hardware.toml").write_text("memory_gb = \n")
        done = self.rooflua("step", "--model", "llama-3.1-8b", "--hardware", "NVIDIA H100 80GB HBM3", "--decode", "9x1")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.rooflua("step", "--model", "llama-3.1-8b", "--hardware", "broken", "--decode", "9x1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken/hardware.toml:1", done.stderr)

    def test_nothing_is_lost_and_nothing_is_overwritten_without_being_told(self) -> None:
        first, second = self.rehearse("a", ATTENTION), self.rehearse("b", None, "--only", "launch")
        self.add(first, "--name", "mine")
        done = self.rooflua("data", "add", second, "--name", "mine")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--replace puts it aside", done.stderr)
        self.assertEqual(rehearsal.keys(self.gpus / "mine"), rehearsal.keys(first))
        self.assertIn("has it already", self.rooflua("data", "add", first, "--name", "mine").stdout)
        found = self.add(second, "--name", "mine", "--replace")
        self.assertEqual(rehearsal.keys(self.gpus / "mine"), rehearsal.keys(second))
        self.assertEqual(rehearsal.keys(Path(found["set_aside"])), rehearsal.keys(first))
        for name in ("h100", "NVIDIA H100 SXM", "../x", ".x"):
            done = self.rooflua("data", "add", first, "--name", name)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn("--name", done.stderr)
        before = sorted(path.name for path in self.gpus.iterdir())
        self.add(first, "--name", "other", "--dry-run")
        self.assertEqual(sorted(path.name for path in self.gpus.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
