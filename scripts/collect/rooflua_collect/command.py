"""The command line.

Exit status: 0 every planned row for which this machine has a kernel is there (others are listed); 1 rows were
refused, or verification found errors; 2 the command line or the machine is wrong; 3 stopped by --budget-s, run it
again; 4 a kernel broke the GPU context or hung, run it again; 130 and 143 interrupted, run it again.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from rooflua_collect import gpus, models, report, shapes
from rooflua_collect.cases import Case, bytes_of, flop_of
from rooflua_collect.problem import DONE, INCOMPLETE, Problem, unknown
from rooflua_collect.progress import Progress
from rooflua_collect.provenance import Provenance

HOME = Path(__file__).resolve().parents[3]
QUICK_S = 150.0
ROW_OVERHEAD_S = 0.05  # for the estimate of --plan: preparing, checking and capturing a row
ROTATED_BYTES = 60e6  # for the estimate of --plan: size of a last-level cache
DRY_ROWS = 6


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="collect.py", description="Measures the kernel tables of a GPU into OUT/<gpu>/ (docs/DATA.md).",
        epilog="Stopped in whatever way, the same command carries on where it was.")
    parser.add_argument("--gpu", required=True, help="folder of bench_data, or an alias: h200-sxm")
    parser.add_argument("--out", type=Path, help="folder of GPUs (default: bench_data of this checkout)")
    parser.add_argument("--only", default="", help="ops or tables, with commas: gemm,decode,gemm_fp8")
    parser.add_argument("--quick", action="store_true", help="the coarse grid only, and 150 seconds at most")
    parser.add_argument("--budget-s", type=float, help="stop cleanly between rows after this many seconds")
    parser.add_argument("--most-level", type=int, choices=range(4), default=3,
                        help="how fine: 0 coarse .. 3 (default)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--dry-run", action="store_true", help="a few tiny rows, as a rehearsal; needs --out")
    parser.add_argument("--plan", action="store_true", help="say what would be measured and about how long it takes")
    parser.add_argument("--retry", action="store_true", help="measure rows again that were refused")
    parser.add_argument("--models", type=Path, default=HOME / "scenarios/models", help="folder of model files")
    parser.add_argument("--report", type=Path, help="where the report goes (default: report.md beside the tables)")
    parser.add_argument("--rooflua", type=Path,
                        help="the program that verifies (default: of this checkout, or on the PATH)")
    parser.add_argument("--pause-s", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    args = arguments(given)
    try:
        return _collect(args)
    except Problem as problem:
        print(f"collect.py: {problem}", file=sys.stderr)
        return problem.status
    except KeyboardInterrupt:
        return 130


def _collect(args: argparse.Namespace) -> int:
    known = gpus.read_gpus(HOME / "bench_data")
    gpu = gpus.named(known, args.gpu)
    cases = planned(args)
    out: Path = args.out or HOME / "bench_data"
    if args.plan:
        print(plan_text(cases, gpu, Provenance.open(out / gpu.name)))
        return DONE
    if args.dry_run and (args.out is None or out.resolve() == (HOME / "bench_data").resolve()):
        raise Problem("--dry-run: its numbers mean nothing; give it an --out of its own, outside bench_data")
    if args.device == "cpu" and not args.dry_run:
        raise Problem("--device cpu: bench_data holds times of GPUs; a CPU is for rehearsals: add --dry-run")
    _need_torch()
    from rooflua_collect import collection, machine

    device = machine.open_device(args.device)
    here = machine.describe(device)
    if device.type == "cuda" and not args.dry_run:
        gpus.check_device(known, gpu, here.gpu)
    folder = out / gpu.name
    gpus.place_datasheet(gpu, folder)
    provenance = Provenance.open(folder)
    if args.retry:
        for table in {case.table for case in cases}:
            provenance.forgive(table)
    budget = args.budget_s or (QUICK_S if args.quick else None)
    limits = collection.Limits(time.monotonic() + budget if budget is not None else float("inf"))
    handler = collection.stops(limits)
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    progress = Progress(len(cases))
    run = collection.Collection(folder, machine.open_bench(device), cases, limits, progress, provenance, here,
                                args.pause_s)
    try:
        status = run.run()
    finally:
        for number, old in before.items():
            signal.signal(number, old)
    print(report.write(folder, gpu, provenance, args.report or folder / "report.md"))
    progress.say(f"{run.done} of {len(cases)} planned rows are in {folder}")
    for table, reasons in run.not_here.items():
        for reason, rows in reasons.items():
            progress.say(f"  {rows} of {table} are not: {reason}")
    if limits.signal:
        return 128 + limits.signal
    verified = verify(folder, args.rooflua)
    return verified if status == DONE else status


def planned(args: argparse.Namespace) -> list[Case]:
    only = {name for name in args.only.split(",") if name}
    for name in sorted(only - shapes.selections()):
        raise Problem(f"--only: {unknown('op or table', name, shapes.selections())}")
    most_level = shapes.QUICK_LEVEL if args.quick else args.most_level
    cases = shapes.plan(models.read_models(args.models), only, most_level)
    return shapes.shrunk(cases, DRY_ROWS) if args.dry_run else cases


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise Problem(f"needs PyTorch ({error}): pip install torch, or an image of PyTorch; see docs/DATA.md. "
                      "--plan works without it") from None


def plan_text(cases: list[Case], gpu: gpus.Gpu, provenance: Provenance) -> str:
    """Rows and a rough time per table and level. A row takes as long as earlier rows of its table; without any, 28
    repeats of 300 us or of one rotation through the inputs, at 0.7 of the peaks."""
    rows: dict[tuple[int, str], list[float]] = {}
    for case in cases:
        entry = provenance.tables.get(case.table, {})
        if entry.get("seconds_rows", 0):
            row_s = entry["seconds"] / entry["seconds_rows"]
        else:
            peak = gpu.peak_flop_per_s.get(case.dtype, gpu.peak_flop_per_s["bf16"])
            call_s = 3e-6 + max(flop_of(case) / peak, bytes_of(case) / gpu.bytes_per_s) / 0.7
            sets = min(1024.0, 2 * ROTATED_BYTES / max(1.0, bytes_of(case))) if bytes_of(case) else 1.0
            row_s = ROW_OVERHEAD_S + 28 * max(call_s, 300e-6, min(sets * call_s, 20e-3))
        rows.setdefault((case.level, case.table), []).append(row_s)
    lines = [f"{'level':5} {'table':24} {'rows':>6} {'about s':>8}"]
    for (level, table), seconds in rows.items():
        lines.append(f"{level:5} {table:24} {len(seconds):6} {sum(seconds):8.0f}")
    total = [each for seconds in rows.values() for each in seconds]
    return "\n".join([*lines, f"{'all':30} {len(total):6} {sum(total):8.0f}"])


def verify(folder: Path, program: Path | None) -> int:
    """Runs `rooflua data verify` on the written tables."""
    found = program or HOME / "build/release/bin/rooflua"
    if program is not None and not program.exists():
        raise Problem(f"--rooflua: there is no {program}")
    if not found.exists():
        on_path = shutil.which("rooflua")
        if on_path is None:
            print(f"not verified: rooflua is not built here. Run: rooflua data verify {folder}", file=sys.stderr)
            return DONE
        found = Path(on_path)
    done = subprocess.run([found, "data", "verify", folder], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return DONE if done.returncode == 0 else INCOMPLETE
