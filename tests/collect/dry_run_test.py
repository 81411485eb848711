"""The whole program without a GPU: shapes, check, timing, CSV, resume, report, verification."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tarfile
import time
from pathlib import Path
from unittest import mock

import rehearsal

FAST = ("--only", "gemm_bf16,decode,prefill,grouped,memory,launch,elementwise")


@rehearsal.needs_torch
class DryRun(rehearsal.Case):
    def test_every_table_is_written_verified_and_priced_from(self) -> None:
        done = rehearsal.rehearse(self.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(" 0 errors", done.stdout)
        found = rehearsal.keys(self.tables)
        for name in ("gemm_bf16", "attention_decode_bf16", "attention_prefill_bf16", "grouped_gemm_bf16", "memory",
                     "launch", "elementwise", "sampling", "all_reduce_bf16"):
            self.assertGreaterEqual(len(found[f"{name}.csv"]), 2, name)
        report = (self.tables / "report.md").read_text()
        self.assertIn("p90 over p10", report)
        self.assertRegex(report, r"\| gemm_bf16 \| 6 \| ")  # how long it took
        words = (self.tables / "tables.toml").read_text()
        for key in ("kernel", "library", "timer", "warm_up", "repeats", "gpu", "driver", "clocks", "date", "missing",
                    "inputs", "rotation"):
            self.assertIn(f"\n{key} = ", words)
        for inputs in ("ones, always the same", "write: none, 1.5 is written", "summed over the ranks in place"):
            self.assertIn(inputs, words)
        table = self.tables / "elementwise.csv"  # PyTorch here may be too old to quantise
        rows = [line for line in table.read_text().splitlines() if not line.startswith("quantize,")]
        table.write_text("\n".join([*rows, "quantize,4,64,bf16,2.5,2.4,2.6"]) + "\n")
        done = rehearsal.rooflua("lua", "tests/collect/prices.lua", str(self.tables), "quantize")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok", done.stdout)

    def test_what_no_kernel_here_does_is_said_and_never_reads_as_present(self) -> None:
        with mock.patch("rooflua_collect.bench.Bench.fp8", False):
            done = rehearsal.rehearse(self.out, "--only", "gemm_fp8,decode,memory")
        self.assertEqual(done.returncode, 0, done.stderr)
        planned = int(re.search(r"of (\d+) planned rows are in", done.stderr)[1])
        absent = sum(int(rows) for rows in re.findall(r"^  (\d+) of \S+ are not: ", done.stderr, re.M))
        there = sum(len(rows) for rows in rehearsal.keys(self.tables).values())
        self.assertGreater(absent, 6)
        self.assertEqual(there + absent, planned)
        self.assertIn("## gemm_fp8: 0 rows, missing: 6 of 6 planned rows; no kernel here does it", done.stdout)

    def test_the_next_run_is_planned_by_how_long_the_last_one_took(self) -> None:
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "memory").returncode, 0)
        words = self.tables / "tables.toml"
        words.write_text(re.sub(r"\nseconds = .*", "\nseconds = 60.0", words.read_text()))
        plan = rehearsal.rehearse(self.out, "--only", "memory", "--plan").stdout
        self.assertRegex(plan, r"all +6 +60")

    def test_killed_midway_and_resumed_it_has_the_rows_of_an_uninterrupted_run(self) -> None:
        whole = self.out / "whole"
        self.assertEqual(rehearsal.rehearse(whole, *FAST).returncode, 0)
        cut = self.out / "cut"
        process = subprocess.Popen(rehearsal.command(cut, *FAST, "--pause-s", "0.1"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=rehearsal.environment())
        self._wait_for_rows(cut / "h200-sxm", 12)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = rehearsal.keys(cut / "h200-sxm")
        measured = sum(len(rows) for rows in before.values())
        self.assertGreaterEqual(measured, 12)
        torn = sorted((cut / "h200-sxm").glob("*.csv"))[0]
        lines_before = {path.name: path.read_text().splitlines() for path in (cut / "h200-sxm").glob("*.csv")}
        with open(torn, "a", encoding="utf-8") as out:
            out.write("32,8,12")
        again = rehearsal.rehearse(cut, *FAST)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("torn last line", again.stderr)
        after = rehearsal.keys(cut / "h200-sxm")
        self.assertEqual(after, rehearsal.keys(whole / "h200-sxm"))
        for rows in after.values():
            self.assertEqual(len(rows), len(set(rows)))
        self.assertLess(measured, sum(len(rows) for rows in after.values()))
        for name, lines in lines_before.items():  # and what was measured before was not measured again
            kept = (cut / "h200-sxm" / name).read_text().splitlines()
            self.assertLessEqual(set(lines), set(kept), name)

    def _wait_for_rows(self, folder: Path, count: int) -> None:
        for _ in range(2400):
            if sum(len(rows) for rows in rehearsal.keys(folder).values()) >= count:
                return
            time.sleep(0.05)
        self.fail("no rows came")

    def test_a_signal_stops_it_between_rows_with_everything_written(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.out / str(int(number))
            process = subprocess.Popen(rehearsal.command(out, *FAST, "--pause-s", "0.2"), stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=rehearsal.environment())
            self._wait_for_rows(out / "h200-sxm", 2)
            process.send_signal(number)
            said, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("missing", (out / "h200-sxm/tables.toml").read_text())
            self.assertIn("# Tables of h200-sxm", said)

    def test_a_budget_stops_it_and_the_next_run_carries_on(self) -> None:
        done = rehearsal.rehearse(self.out, "--only", "memory", "--budget-s", "0.000001")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(rehearsal.keys(self.tables), {})
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "memory").returncode, 0)
        rows = (self.tables / "memory.csv").read_bytes()
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "memory").returncode, 0)
        self.assertEqual(rows, (self.tables / "memory.csv").read_bytes())

    def test_a_refused_row_is_named_left_out_and_tried_again_when_asked(self) -> None:
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "launch").returncode, 0)
        lines = (self.tables / "launch.csv").read_text().splitlines()
        (self.tables / "launch.csv").write_text("\n".join(lines[:2]) + "\n")
        gone = lines[2].split(",")[0]
        with open(self.tables / "tables.toml", "a", encoding="utf-8") as out:
            out.write(f'refused = ["{gone}: RuntimeError: a test"]\n')
        done = rehearsal.rehearse(self.out, "--only", "launch")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 rows refused", done.stdout)
        self.assertEqual(len(rehearsal.keys(self.tables)["launch.csv"]), 1)
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "launch", "--retry").returncode, 0)
        self.assertEqual(len(rehearsal.keys(self.tables)["launch.csv"]), 2)

    def test_rows_of_another_kernel_or_another_machine_are_not_mixed_in(self) -> None:
        self.assertEqual(rehearsal.rehearse(self.out, "--only", "memory").returncode, 0)
        words = (self.tables / "tables.toml").read_text()
        table = (self.tables / "memory.csv").read_text().splitlines()
        (self.tables / "memory.csv").write_text("\n".join(table[:-1]) + "\n")
        (self.tables / "tables.toml").write_text(words.replace("torch copy_, sum of float32, fill_", "another kernel"))
        done = rehearsal.rehearse(self.out, "--only", "memory")
        self.assertEqual(done.returncode, 2)
        self.assertIn("measured with another kernel, which is not here", done.stderr)
        rehearsed = "CPU (a rehearsal: no measurement of a GPU)"
        (self.tables / "tables.toml").write_text(words.replace(rehearsed, "NVIDIA H200"))
        done = rehearsal.rehearse(self.out, "--only", "memory")
        self.assertEqual(done.returncode, 2)
        self.assertIn("measured on NVIDIA H200", done.stderr)


class Mistakes(rehearsal.Case):
    def _fails(self, text: str, *given: str, **more: str) -> None:
        done = rehearsal.collect(*given, **more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_gpu_we_know_nothing_of(self) -> None:
        self._fails("unknown GPU 'h200-sxn' (did you mean 'h200-sxm'?", "--gpu", "h200-sxn", "--plan")

    def test_an_op_that_does_not_exist(self) -> None:
        self._fails("unknown op or table 'gemms' (did you mean 'gemm'?", "--gpu", "h200-sxm", "--only", "gemms",
                    "--plan")

    def test_numbers_of_a_cpu_do_not_get_into_bench_data(self) -> None:
        self._fails("add --dry-run", "--gpu", "h200-sxm", "--device", "cpu", "--out", str(self.out))
        self._fails("an --out of its own", "--gpu", "h200-sxm", "--device", "cpu", "--dry-run")
        self._fails("an --out of its own", "--gpu", "h200-sxm", "--device", "cpu", "--dry-run", "--out",
                    str(rehearsal.ROOT / "bench_data"))

    def test_models_that_are_not_there(self) -> None:
        self._fails("holds no model files", "--gpu", "h200-sxm", "--plan", "--models", str(self.out))

    def test_no_torch(self) -> None:
        (self.out / "torch.py").write_text("raise ImportError('hidden by a test')\n")
        self._fails("needs PyTorch (hidden by a test)", "--gpu", "h200-sxm", "--out", str(self.out),
                    PYTHONPATH=str(self.out))

    def test_the_plan_needs_neither_torch_nor_a_gpu(self) -> None:
        (self.out / "torch.py").write_text("raise ImportError('hidden by a test')\n")
        done = rehearsal.collect("--gpu", "h200-sxm", "--plan", "--quick", PYTHONPATH=str(self.out))
        self.assertEqual(done.returncode, 0, done.stderr)
        seconds = int(done.stdout.split()[-1])
        self.assertLess(seconds, 150)

    @rehearsal.needs_torch
    def test_no_gpu(self) -> None:
        self._fails("sees no GPU", "--gpu", "h200-sxm", "--out", str(self.out), CUDA_VISIBLE_DEVICES="")

    @rehearsal.needs_torch
    def test_a_folder_that_cannot_be_written(self) -> None:
        (self.out / "file").write_text("")
        done = rehearsal.rehearse(self.out / "file")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be written", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        if os.geteuid() != 0:
            (self.out / "locked").mkdir(mode=0o500)
            self.assertEqual(rehearsal.rehearse(self.out / "locked").returncode, 2)


class Jobs(rehearsal.Case):
    def test_the_job_files_run_the_command_that_the_documentation_gives(self) -> None:
        jobs = rehearsal.ROOT / "scripts/collect/jobs"
        for name in ("slurm.sh", "kubernetes.yaml"):
            text = (jobs / name).read_text()
            self.assertIn("scripts/collect/collect.py", text)
            self.assertIn("--budget-s", text)
    def test_slurm_tells_the_collector_itself_to_stop(self) -> None:
        text = (rehearsal.ROOT / "scripts/collect/jobs/slurm.sh").read_text()
        self.assertIn("#SBATCH --signal=B:TERM@", text)  # without B: only steps of srun get it
        self.assertRegex(text, r'\nexec "\$\{PYTHON:-python3\}" scripts/collect/collect.py')

    def _pod(self) -> dict:
        text = (rehearsal.ROOT / "scripts/collect/jobs/kubernetes.yaml").read_text()
        self.assertNotIn("hostPath", text)
        try:
            import yaml
        except ImportError:
            self.skipTest("PyYAML is not installed")
        documents = list(yaml.safe_load_all(text))
        self.assertEqual([each["kind"] for each in documents], ["PersistentVolumeClaim", "Job"])
        self.plain = "\n".join(line for line in text.splitlines() if "not on OpenShift" not in line)
        return documents[1]["spec"]["template"]["spec"]

    def test_a_pod_starts_as_a_user_that_may_write_to_its_claim(self) -> None:
        pod = self._pod()
        self.assertEqual(pod["restartPolicy"], "OnFailure")
        context = pod["securityContext"]
        self.assertTrue(context["runAsNonRoot"])
        self.assertGreater(context["runAsUser"], 0)  # an image that names no user is refused otherwise
        self.assertGreater(context["fsGroup"], 0)
        import yaml

        elsewhere = list(yaml.safe_load_all(self.plain))[1]["spec"]["template"]["spec"]["securityContext"]
        self.assertEqual(set(elsewhere), {"runAsNonRoot", "seccompProfile"})  # OpenShift gives the rest

    def _in_a_pod(self, collector: str) -> subprocess.Popen[str]:
        """The container's script, with `collector` for a Python and a source of one file."""
        script = self._pod()["containers"][0]["args"][0]
        for name in ("source", "scratch", "results"):
            (self.out / name).mkdir()
        script = re.sub(r"(?<![\w/])/(?=(source|scratch|results)\b)", f"{self.out}/", script)
        (self.out / "python3").write_text("#!/bin/sh\n" + collector.replace("RESULTS", str(self.out / "results")))
        (self.out / "python3").chmod(0o755)
        (self.out / "a").write_text("")
        with tarfile.open(self.out / "source/source.tgz", "w:gz") as source:
            source.add(self.out / "a", "a")
        environment = {**os.environ, "PATH": f"{self.out}:{os.environ['PATH']}", "GPU": "h200-sxm", "BUDGET_S": "9"}
        return subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True, env=environment)

    def test_a_job_prints_its_tables_and_lets_the_gpu_go(self) -> None:
        for status, ends in ((0, 0), (1, 0), (3, 0), (2, 2), (4, 4)):
            with self.subTest(status=status):
                self.setUp()
                table = "RESULTS/h200-sxm/launch.csv"
                pod = self._in_a_pod(f"mkdir -p RESULTS/h200-sxm; echo 1 > {table}; exit {status}\n")
                said, _ = pod.communicate(timeout=120)  # it does not sleep at its end
                self.assertEqual(pod.returncode, ends)
                (self.out / "log").write_text(said)
                text = (rehearsal.ROOT / "scripts/collect/jobs/kubernetes.yaml").read_text()
                documented = text[text.index("| sed -n") : text.index("-C bench_data")].replace("\n#", "")
                documented = documented.replace("\\ ", "").replace("\\", "")
                subprocess.run(["sh", "-c", f"mkdir b; cat log {documented} -C b"], cwd=self.out, check=True)
                self.assertEqual((self.out / "b/h200-sxm/launch.csv").read_text(), "1\n")

    def test_a_job_that_is_stopped_tells_the_collector_and_waits_for_it(self) -> None:
        pod = self._in_a_pod("trap 'mkdir RESULTS/h200-sxm; echo told > RESULTS/h200-sxm/report.md; exit 143' TERM\n"
                             "touch RESULTS/ready; while :; do sleep 0.05; done\n")
        for _ in range(2400):
            if (self.out / "results/ready").exists():
                break
            time.sleep(0.05)
        pod.send_signal(signal.SIGTERM)
        said, _ = pod.communicate(timeout=120)
        self.assertEqual(pod.returncode, 143)
        self.assertEqual((self.out / "results/h200-sxm/report.md").read_text(), "told\n")
        self.assertIn("END TABLES", said)
