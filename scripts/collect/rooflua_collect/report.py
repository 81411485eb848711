"""The report of a collection: utilisation by op, bandwidth, places where latency falls while work grows, spread. It
is made from the files alone, so it can be made again at any time."""

from __future__ import annotations

import statistics
from pathlib import Path

from measure.files import replace
from rooflua_collect.cases import FORMS, Case, bytes_of, flop_of
from rooflua_collect.gpus import Gpu
from rooflua_collect.provenance import Provenance

TOLERANCE = 0.10  # more work in less time is a violation beyond this relative difference
WIDE = 1.10  # p90 over p10 above which a row counts as scattered


def write(folder: Path, gpu: Gpu, provenance: Provenance, path: Path) -> str:
    """Writes the report and returns it."""
    lines = [f"# Tables of {gpu.name}", ""]
    machines = sorted({entry.get("gpu", "?") for entry in provenance.tables.values()})
    lines += [f"Measured on: {', '.join(machines) or 'nothing yet'}. Latencies are medians.", ""]
    for name in sorted(provenance.tables):
        rows = read(folder, name)
        entry = provenance.tables[name]
        lines += [f"## {name}: {len(rows)} rows, missing: {entry.get('missing', 'unknown')}", ""]
        lines += [f"- {line}" for line in _of_table(gpu, rows, entry)] + [""]
    lines += _spent(provenance) + [""]
    replace(path, "\n".join(lines))
    return "\n".join(lines)


def _spent(provenance: Provenance) -> list[str]:
    """Total time of rows by table, from which --plan estimates the next run."""
    lines = ["## How long it took", "", "| table | rows | seconds | ms a row | choosing a kernel, s |",
             "|---|---|---|---|---|"]
    for name, entry in sorted(provenance.tables.items()):
        rows, seconds = entry.get("seconds_rows", 0), entry.get("seconds", 0.0)
        if rows:
            choosing = entry.get("seconds_choosing", 0.0)
            lines.append(f"| {name} | {rows} | {seconds:.1f} | {1e3 * seconds / rows:.0f} | {choosing:.1f} |")
    return lines


def read(folder: Path, name: str) -> list[tuple[Case, tuple[float, float, float]]]:
    """The rows of a table, as cases with (median, p10, p90) in microseconds."""
    op = next(op for op in sorted(FORMS, key=len, reverse=True) if name == op or name.startswith(op + "_"))
    path = folder / f"{name}.csv"
    if not path.exists():
        return []
    columns = len(FORMS[op].columns)
    found = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        cells = line.split(",")
        median, low, high = (float(cell) for cell in cells[columns:])
        found.append((Case.of(name, op, cells[:columns]), (median, low, high)))
    return found


def _of_table(gpu: Gpu, rows: list[tuple[Case, tuple[float, float, float]]], entry: dict) -> list[str]:
    lines = [f"{key}: {entry[key]}" for key in sorted(entry) if key.startswith("kernel")]
    if not rows:
        return lines
    lines += [f"timer {entry.get('timer', '?')}, {entry.get('repeats', '?')} repeats",
              f"inputs {entry.get('inputs', '?')}", f"rotation: {entry.get('rotation', '?')}"]
    lines += _utilisation(gpu, rows) + [_monotonicity(rows), _spread(rows)]
    refused = entry.get("refused", [])
    if refused:
        lines += [f"{len(refused)} rows refused, first {refused[0]}"]
    return lines


def _utilisation(gpu: Gpu, rows: list[tuple[Case, tuple[float, float, float]]]) -> list[str]:
    lines = []
    peak = gpu.peak_flop_per_s.get(rows[0][0].dtype, 0.0)
    mfu = [(flop_of(case) / (us * 1e-6 * peak), case) for case, (us, _, _) in rows if flop_of(case) > 0 and peak > 0]
    if mfu:
        best, where = max(mfu, key=lambda each: each[0])
        least, middle = min(each for each, _ in mfu), statistics.median(each for each, _ in mfu)
        lines.append(f"MFU {least:.2g} .. {best:.3g}, median {middle:.2g}; "
                     f"best {best * peak / 1e12:.3g} TFLOP/s at {where}")
        if best > 1:
            lines.append("MFU above 1: more than the datasheet allows")
    if rows[0][0].op != "all_reduce" and any(bytes_of(case) > 0 for case, _ in rows):
        fastest, where = _fastest(rows)
        share = 100 * fastest / gpu.bytes_per_s
        lines.append(f"bandwidth up to {fastest / 1e12:.3g} TB/s, {share:.0f} % of the datasheet, at {where}")
    return lines


def _fastest(rows: list[tuple[Case, tuple[float, float, float]]]) -> tuple[float, Case]:
    """The most bytes per second, and where. Of a grouped GEMM only experts with rows count, which the draw decides."""
    most = sorted(((bytes_of(case) / (us * 1e-6), case, us) for case, (us, _, _) in rows), key=lambda row: -row[0])
    if rows[0][0].op != "grouped_gemm":
        return most[0][:2]
    from rooflua_collect.ops.grouped_gemm import moved_bytes  # needs PyTorch, which made the rows

    best = (0.0, most[0][1])
    for bound, case, us in most:
        if bound <= best[0]:
            break
        best = max(best, (moved_bytes(case) / (us * 1e-6), case), key=lambda row: row[0])
    return best


def _monotonicity(rows: list[tuple[Case, tuple[float, float, float]]]) -> str:
    """Rows that take over 10 % less time than a smaller one of the same shape."""
    work = FORMS[rows[0][0].op].work
    lines: dict[tuple, list[tuple[int, float, Case]]] = {}
    for case, (us, _, _) in rows:
        if not work:
            return "one row per kernel"
        key = tuple(v for v, column in zip(case.values, FORMS[case.op].columns) if column != work)
        lines.setdefault(key, []).append((case[work], us, case))
    found = []
    for points in lines.values():
        points.sort(key=lambda point: point[0])
        found += [(after[1] / before[1], after[2]) for before, after in zip(points, points[1:])
                  if after[1] < (1 - TOLERANCE) * before[1]]
    if not found:
        return "latency never falls by over 10 % where work grows"
    worst, where = min(found, key=lambda each: each[0])
    return f"latency falls by over 10 % where work grows in {len(found)} places, most at {where}: to {worst:.2f} of it"


def _spread(rows: list[tuple[Case, tuple[float, float, float]]]) -> str:
    ratios = [(high / low, case) for case, (_, low, high) in rows if low > 0]
    if not ratios:
        return "no spread recorded"
    worst, where = max(ratios, key=lambda each: each[0])
    wide = sum(ratio > WIDE for ratio, _ in ratios)
    middle = statistics.median(ratio for ratio, _ in ratios)
    return f"p90 over p10: median {middle:.3f}, above {WIDE} in {wide} rows, most {worst:.2f} at {where}"
