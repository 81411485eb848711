"""Results: of one run, of a result document, or of the SQLite files that `rooflua run --results` keeps."""

from __future__ import annotations

import gc
import json
import sqlite3
from contextlib import contextmanager
from pathlib import Path

from .show import Page, html_of
from .tables import Rows, frame, rows_of, table


class Result:
    """A result document.

    document     as `rooflua run --json` writes it
    rows         a dict per variant: name, parameters, metrics
    frame        the same as a DataFrame
    intervals    a dict per variant: how far its figures may be off; None where the document does not say it
    requests     a row per request, after run(..., requests=True)
    text         the report for people
    again        of a run: a function that repeats it and returns the page of --html
    """

    def __init__(self, document, text="", rows=None):
        """:param document: it, or a function that reads it when it is asked for, with `rows` read before"""
        self._document, self.text = document, text
        self.request_rows, self.again = None, None
        self._table = rows

    @property
    def document(self):
        if callable(self._document):
            self._document = self._document()
        return self._document

    @property
    def names(self):
        return [row["name"] for row in self.rows]

    def _rows(self):
        if self._table is None:
            self._table = Rows()
            for each in self.document["variants"]:
                self._table.add(*_parts(each))
        return self._table

    @property
    def rows(self):
        return self._rows().dicts()

    @property
    def frame(self):
        with _no_collection():
            return frame(self._rows().columns())

    def to_parquet(self, path):
        """Writes the frame as a Parquet file.

        :raises ImportError: where pandas or pyarrow is not installed
        """
        try:
            import pyarrow  # noqa: F401, pandas writes with it
        except ImportError:
            raise ImportError("a Parquet file needs pyarrow (pip install pyarrow); without it .frame.to_csv, or "
                              "`rooflua results export --format csv`, which DuckDB and polars read") from None
        self.frame.to_parquet(path, engine="pyarrow", index=False)

    @property
    def intervals(self):
        return [variant.get("intervals") for variant in self.document["variants"]]

    @property
    def requests(self):
        if self.request_rows is None:
            raise ValueError("the requests were not read; run(..., requests=True) reads them")
        return table(self.request_rows)

    def page(self):
        """The page of --html, for a notebook; the run is repeated, which gives the same figures."""
        if self.again is None:
            raise ValueError("only a result of rooflua.run has a page; `rooflua run --html` writes one")
        return Page(self.again())

    def _repr_html_(self):
        return html_of(self)

    def __repr__(self):
        return self.text or f"<rooflua.Result of {len(self)} variants>"

    def __len__(self):
        return self._rows().count


def _parts(variant, **before):
    """What a row begins with, name and parameters; and the metrics, which follow."""
    head = {**before, "name": variant.get("name", ""), **(variant.get("parameters") or {})}
    return head, variant.get("summary") or {}


def document(rows):
    """A result document from a table: the inverse of `rows`, except that metrics stay flat.

    Columns with a dot in their name are parameters.
    """
    variants = []
    for row in rows_of(rows):
        parameters = {key: value for key, value in row.items() if "." in key}
        summary = {key: value for key, value in row.items() if "." not in key and key != "name"}
        variants.append({"name": row.get("name", ""), "parameters": parameters, "summary": summary})
    return {"schema": 1, "variants": variants}


# Files of results ---------------------------------------------------------------------------------------------------

STORED = """SELECT m.set_hash, m.position, m.name, r.run_hash, r.build, r.seed, r.parameters, {document}
            FROM runs r LEFT JOIN members m USING (run_hash) ORDER BY m.set_hash, m.position, r.build"""
# Replicas are most of a document, and no columns.
SHORT = "json_remove(document, '$.summary.replicas')"


# Views and virtual tables in place of the tables: what is read of them is computed by SQL that need not end.
DISGUISED = ("SELECT name FROM sqlite_master WHERE lower(name) IN ('runs', 'sets', 'members', 'failures')"
             " AND (type <> 'table' OR rootpage = 0)")


def is_sqlite(path):
    with open(path, "rb") as file:
        return file.read(15) == b"SQLite format 3"


def _stored(path, document):
    """Rows of one file as they are stored."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: there is no such file of results")
    if Path(path).stat().st_size == 0:
        raise ValueError(f"{path}: holds no results")
    if not is_sqlite(path):
        raise ValueError(f"{path}: is no file of results, which is SQLite; rooflua.read takes exported lines as well")
    connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    try:
        for (name,) in connection.execute(DISGUISED):
            raise ValueError(f"{path}: is no file of results as rooflua writes them: {name!r} is no table, and to read "
                             f"it would run SQL")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(runs)")}
        if "scenario_hash" in columns:
            raise ValueError(f"{path}: has the layout of older versions, which cannot be read any more; do its runs "
                             f"again with `rooflua run SCENARIO --results NEW.sqlite`")
        if "run_hash" in columns:
            return connection.execute(STORED.format(document=document)).fetchall()
    except sqlite3.DatabaseError as problem:
        raise ValueError(f"{path}: is damaged, and its rows cannot be read ({problem}); use a copy of it, or do its "
                         f"runs again") from None
    finally:
        connection.close()
    raise ValueError(f"{path}: is an SQLite file of something else: it has no table of runs")


@contextmanager
def _no_collection():
    """Many thousand documents are no garbage; Python would look through them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _variants(files, chosen, document):
    """({set, run_hash, build, seed}, variant) of every run of the files, once."""
    seen, stored = {}, []
    for each in (row for file in files for row in _stored(file, document)):
        key = each[:2] + each[3:5]
        if key not in seen and (chosen is None or str(each[0] or "").startswith(chosen)):
            seen[key] = True
            stored.append(each)
    variants = json.loads("[" + ",".join(each[7] for each in stored) + "]")
    for each, variant in zip(stored, variants):
        set_hash, _, name, run_hash, build, seed, parameters, _ = each
        if name is not None:
            variant["name"] = name
        if "parameters" not in variant:
            variant["parameters"] = json.loads(parameters)
        yield {"set": set_hash, "run_hash": run_hash, "build": build, "seed": seed}, variant


def results(path, set=None):
    """The runs of a file of `rooflua run --results`, or of every such file in a folder, as a Result.

    A row begins with the columns set, run_hash, build and seed. A run that two shards computed is there once.

    :param set: the beginning of a set's hash: only its runs
    """
    path = Path(path)
    # A shard that has begun and kept nothing has an empty file.
    files = sorted(each for each in path.glob("*.sqlite") if each.stat().st_size) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"{path}: there is no .sqlite file in this folder")

    def document():
        variants = [{**variant, "run": about} for about, variant in _variants(files, set, "document")]
        return {"schema": 1, "scenario": str(path), "variants": variants}

    rows = Rows()
    with _no_collection():
        for about, variant in _variants(files, set, SHORT):
            rows.add(*_parts(variant, **about))
    if set is not None and not rows.count:
        raise ValueError(f"{path}: no run is of a set that begins with {set!r}; `rooflua results list` prints the sets")
    return Result(document, rows=rows)
