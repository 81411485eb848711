"""The command line, the plan, and the loop over rows.

Exit status: 0 every planned row is there for which PyTorch has a kernel; 2 the command line or the machine is wrong;
3 the time is up, run it again; 130 and 143 interrupted, run it again.
"""

import argparse
import signal
import sys
import time

from files import Problem
from folder import Folder
from gpu import Gpu
from rehearsed import Rehearsal, seconds_of
from shapes import asked_first, planned, why_not

DONE, WRONG, TIME_IS_UP = 0, 2, 3
TELL_S = 10.0  # between two lines that say how far the run is


def arguments(given):
    parser = argparse.ArgumentParser(
        prog="measure", description="Measures a GPU and writes a folder of kernel tables (docs/DATA.md).",
        epilog="Stopped in whatever way, the same command carries on. Then: rooflua data add OUT")
    parser.add_argument("--out", required=True, help="the folder to write; its name is the name of the GPU")
    parser.add_argument("--minutes", type=float, default=10.0, help="stop between two rows after that long (10)")
    parser.add_argument("--plan", action="store_true", help="say what would be measured and how long it takes")
    parser.add_argument("--first", metavar="FILE", help="a document of `rooflua data add --json`: its rows first")
    parser.add_argument("--only", default="", help="tables, with commas: gemm_bf16,attention_decode_bf16")
    parser.add_argument("--hardware", metavar="FILE", help="a hardware.toml in place of what the driver states")
    parser.add_argument("--rehearse", metavar="TIMES", help="no GPU: \"roofline\", or a JSON file of times")
    args = parser.parse_args(given)
    if not 0 < args.minutes < 1e5:
        parser.error(f"--minutes: expected more than 0, found {args.minutes:g}")
    return args


def main(given):
    args = arguments(given)
    try:
        return measure(args)
    except Problem as problem:
        print(f"measure: {problem}", file=sys.stderr)
        return WRONG


def measure(args):
    source = source_of(args)
    rows = rows_of(args, source)
    print(plan_text(rows, source.facts, 60 * args.minutes), flush=True)
    if args.plan:
        return DONE
    folder, stopped = Folder(args.out, source, args.hardware), []
    before = {number: signal.signal(number, lambda received, _frame: stopped.append(received))
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return run(rows, source, folder, 60 * args.minutes, stopped)
    finally:
        folder.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def source_of(args):
    """Who gives the times: a rehearsal, or the GPU. A plan on a machine without one is that of a rehearsal."""
    facts = facts_of(args.hardware) if args.hardware else None
    if args.rehearse:
        return Rehearsal(args.rehearse, facts)
    try:
        return Gpu(facts)
    except Problem as problem:
        if not args.plan:
            raise
        print(f"planned for a GPU that is made up: {problem}")
        return Rehearsal("roofline", facts)


def facts_of(path):
    """A hardware.toml that a user gives. @raises Problem"""
    try:
        import tomllib
    except ImportError:
        raise Problem("--hardware: needs Python 3.11 or later, which reads TOML") from None
    try:
        with open(path, "rb") as file:
            facts = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise Problem(f"--hardware: {path}: {error}") from None
    for key in ("peak_tflop_per_s", "memory_gb_per_s", "link_gb_per_s", "l2_mib"):
        if key not in facts:
            raise Problem(f"--hardware: {path}: states no {key}")
    return facts


def rows_of(args, source):
    """The rows in the order in which they are measured: those of --first, those of a stub, the plan's."""
    rows = [(table, values) for _, table, values in planned(source.fp8, source.ranks)]
    rows = list(dict.fromkeys([*(asked_first(args.first) if args.first else []), *source.rows(), *rows]))
    only = {name for name in args.only.split(",") if name}
    wrong = sorted(only - {table for table, _ in rows})
    if wrong:
        raise Problem(f"--only: nothing is planned of {wrong[0]} (planned: {', '.join(sorted({t for t, _ in rows}))})")
    return [row for row in rows if not only or row[0] in only]


def plan_text(rows, facts, limit_s):
    """Rows and about how long they take by table, and how many of them fit into the time."""
    sums, within, spent_s = {}, {}, 0.0
    for table, values in rows:
        row_s = seconds_of((table, values), facts)
        spent_s += row_s
        count, seconds = sums.get(table, (0, 0.0))
        sums[table] = (count + 1, seconds + row_s)
        if spent_s <= limit_s:
            within[table] = within.get(table, 0) + 1
    lines = [f"{'table':26} {'rows':>6} {'about s':>8} {'in time':>8}"]
    for table, (count, seconds) in sums.items():
        lines.append(f"{table:26} {count:6} {seconds:8.0f} {within.get(table, 0):8}")
    total = sum(within.values())
    return "\n".join([*lines, f"{'all':26} {len(rows):6} {spent_s:8.0f} {total:8}",
                      f"{limit_s / 60:g} minutes reach about {total} of {len(rows)} rows, the most valuable first"])


def run(rows, source, folder, limit_s, stopped):
    """Measures the rows that are missing until the time is up or a signal comes. Returns an exit status."""
    todo = [row for row in rows if not folder.has(row)]
    begin_s, done, lacking = source.clock(), len(rows) - len(todo), {}
    told_s = time.monotonic()
    for row in todo:
        if stopped or source.clock() - begin_s > limit_s:
            break
        try:
            if why_not(row):
                raise LookupError(why_not(row))
            folder.add(row, source.time(row))
            done += 1
        except LookupError as reason:
            lacking.setdefault((row[0], str(reason)), []).append(row)
        if time.monotonic() - told_s > TELL_S:
            told_s = time.monotonic()
            print(f"{done} of {len(rows)} rows, {source.clock() - begin_s:.0f} s", flush=True)
    for (table, reason), without in lacking.items():
        print(f"{table}: {len(without)} rows were not measured: {reason}")
    missing = len(rows) - done - sum(map(len, lacking.values()))
    print(f"{done} of {len(rows)} planned rows are in {folder.path}. Next: rooflua data add {folder.path}")
    if stopped:
        return 128 + stopped[0]
    return TIME_IS_UP if missing else DONE
