"""Requests for `workloads.trace`, and any of the files that rooflua writes."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

from .requests import requests
from .results import Result, is_sqlite, results
from .tables import rows_of, table, text_of

NEEDED = ("arrival_s", "prompt_tokens", "output_tokens")
OPTIONAL = ("class", "session", "round", "priority", "adapter", "prompt_id", "prefix_group", "prefix_length")


def _check(row, number):
    for name in NEEDED:
        if not isinstance(row.get(name), (int, float)) and not hasattr(row.get(name), "item"):
            raise ValueError(f"row {number}: {name}: expected a number, found {row.get(name)!r}")
        least = 0 if name == "arrival_s" else 1
        if not least <= row[name] < math.inf:
            raise ValueError(f"row {number}: {name}: expected {least} or more, found {row[name]}")
        if name != "arrival_s" and row[name] != int(row[name]):
            raise ValueError(f"row {number}: {name}: expected a whole number, found {row[name]}")


def write(rows, path):
    """Writes requests as a trace, in order of arrival: `require "workloads.trace" { path = ... }` replays it.

    :param rows: a DataFrame or a list of dicts with arrival_s, prompt_tokens and output_tokens; of the columns class,
        session, round, priority, adapter, prompt_id, prefix_group and prefix_length those that are there
    :raises ValueError: that names the row and the column
    """
    rows = rows_of(rows)
    if not rows:
        raise ValueError("a trace needs at least one request")
    for number, row in enumerate(rows):
        _check(row, number)
    names = list(NEEDED) + [name for name in OPTIONAL if any(row.get(name) is not None for row in rows)]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in sorted(rows, key=lambda each: each["arrival_s"]):
            whole = {name: int(row[name]) for name in NEEDED[1:]}
            rest = ("" if row.get(name) is None else row[name] for name in names[3:])
            writer.writerow([repr(float(row["arrival_s"])), *whole.values(), *rest])


def read_trace(path):
    """The rows of a trace that write() wrote."""
    with open(path, newline="") as file:
        rows = [{key: float(value) if key == "arrival_s" else int(value) if key in NEEDED else value
                 for key, value in row.items()} for row in csv.DictReader(file)]
    return table(rows)


def _lines(path, text):
    """A Result of the lines that `rooflua results export --format jsonl` writes."""
    variants = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line) if line.startswith("{") else {}
        except json.JSONDecodeError:
            raise ValueError(f"{path}:{number}: is cut off or was altered; export the results again, or delete the "
                             f"line to have the others") from None
        if "document" in row:
            document = row["document"]
            variants.append(json.loads(document) if isinstance(document, str) else document)
    if not variants:
        raise ValueError(f"{path}: has no results")
    return Result({"schema": 1, "scenario": str(path), "variants": variants})


def read(path):
    """A file that rooflua wrote, recognised by its content: a result document, a file of results, or requests."""
    if Path(path).is_dir():
        return results(path)
    if Path(path).is_file() and is_sqlite(path):
        return results(path)
    text = text_of(path, "a result document, results or requests")
    if not text.lstrip().startswith(("{", "BEGIN ROOFLUA")):
        return requests(path)
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        return _lines(path, text)
    if isinstance(document, dict) and isinstance(document.get("variants"), list):
        return Result(document)
    if isinstance(document, dict) and "input_lens" in document:
        return requests(path)
    if isinstance(document, dict) and "run_hash" in document:
        return _lines(path, text)
    raise ValueError(f"{path}: expected a result document (run --json), results (run --results) or requests "
                     f"(run --requests)")
