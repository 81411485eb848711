"""A row per request: the CSV of --requests, and the result file of `vllm bench serve`."""

from __future__ import annotations

import csv
import io
import json

from .tables import table, text_of

# Columns of --requests that are texts.
TEXTS = ("class", "outcome")


def _number(text):
    if text == "":
        return None
    number = float(text)
    return int(number) if number.is_integer() and "." not in text and "e" not in text else number


def _from_csv(path, text):
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if not reader.fieldnames or "arrival_s" not in reader.fieldnames:
        raise ValueError(f"{path}:1: expected the columns of --requests (arrival_s, prompt_tokens, ttft_s, ...), "
                         f"found {', '.join(reader.fieldnames or ['nothing'])}")
    rows = []
    for row in reader:
        try:
            rows.append({key: value if key in TEXTS else _number(value) for key, value in row.items()})
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{path}:{reader.line_num}: {problem}") from None
    return rows


def _from_bench(path, text):
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise ValueError(f"{path}:{problem.lineno}: is no JSON of requests: {problem.msg}") from None
    if not isinstance(document, dict) or not document.get("input_lens"):
        raise ValueError(f"{path}: input_lens: is missing; vllm bench serve writes it with --save-detailed")
    first_s = min(document.get("start_times") or [0])
    rows = []
    for i, prompt in enumerate(document["input_lens"]):
        output, ttft_s = document["output_lens"][i], document["ttfts"][i]
        decoding_s = sum(document["itls"][i])
        done = output > 0 and not document["errors"][i]
        starts = document.get("start_times") or [first_s] * (i + 1)
        rows.append({"id": i, "arrival_s": starts[i] - first_s, "prompt_tokens": prompt, "output_tokens": output,
                     "outcome": "completed" if done else "failed", "ttft_s": ttft_s if done else None,
                     "tpot_s": decoding_s / (output - 1) if done and output > 1 else None,
                     "e2e_s": ttft_s + decoding_s if done else None})
    return rows


def requests(path, as_rows=False):
    """The requests of a file: a DataFrame where pandas is installed, else a list of dicts.

    :param as_rows: a list of dicts in any case
    """
    text = text_of(path, "requests: the CSV of --requests, or the JSON of vllm bench serve")
    rows = _from_bench(path, text) if text[:64].lstrip().startswith("{") else _from_csv(path, text)
    return rows if as_rows else table(rows)
