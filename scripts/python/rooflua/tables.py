"""Rows as a DataFrame where pandas is installed, and documents as flat rows."""

from __future__ import annotations

from pathlib import Path


def pandas():
    """The module pandas; None where it is not installed."""
    try:
        import pandas as module
    except ImportError:
        return None
    return module


def text_of(path, what):
    """The text of a file; what it should be stands in messages.

    :raises ValueError: that names the file, if it holds no text
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name a file in it")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is no text; expected {what}") from None


def rows_of(table):
    """A list of dicts from a DataFrame or from such a list. Missing values of a DataFrame are None."""
    if hasattr(table, "to_dict"):
        return [{str(key): None if value != value else value for key, value in row.items()}
                for row in table.to_dict("records")]
    return [dict(row) for row in table]


class Rows:
    """Rows of results. Results of one campaign have few different sets of columns, so only values are kept per row."""

    def __init__(self):
        self.shapes = {}  # what names and summary look like: (names of columns, values of rows, places of these rows)
        self.count = 0

    def add(self, head, summary):
        """:param head: a flat dict; summary: nested, as in a result document"""
        values, shape = list(head.values()), [*head, None]
        for key, value in summary.items():
            kind = type(value)
            if kind is dict:
                shape.append((key, *value))
                values += value.values()
            elif kind is not list:
                shape.append(key)
                values.append(value)
        shape = tuple(shape)
        kinds = set(map(type, values))
        if dict in kinds or list in kinds:
            row = {**head, **flat(summary)}
            shape, values = tuple(row), list(row.values())
        known = self.shapes.get(shape)
        if known is None:
            known = self.shapes[shape] = (list({**head, **flat(summary)}), [], [])
        known[1].append(values)
        known[2].append(self.count)
        self.count += 1

    def dicts(self):
        out = [None] * self.count
        for names, rows, places in self.shapes.values():
            for place, values in zip(places, rows):
                out[place] = dict(zip(names, values))
        return out

    def columns(self):
        """{name: list of values} in order of appearance; None where a row lacks the column."""
        if len(self.shapes) == 1:
            (names, rows, _), = self.shapes.values()
            return dict(zip(names, map(list, zip(*rows))))
        out = {name: [None] * self.count for names, _, _ in self.shapes.values() for name in names}
        for names, rows, places in self.shapes.values():
            for name, values in zip(names, zip(*rows)):
                column = out[name]
                for place, value in zip(places, values):
                    column[place] = value
        return out


def columns_of(rows):
    """The same of a list of flat dicts."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _arrays(columns):
    """Columns of numbers as arrays, which a DataFrame takes as they are."""
    import numpy
    out = {}
    for name, values in columns.items():
        array = numpy.array(values) if type(values[0]) in (int, float, bool) else None  # None among them: of objects
        out[name] = array if array is not None and array.dtype.kind in "iufb" else values
    return out


def table(rows):
    """A DataFrame, or the rows themselves where pandas is not installed."""
    return rows if pandas() is None else frame(columns_of(rows))


def frame(columns):
    """A DataFrame of {name: values}.

    :raises ImportError: where pandas is not installed
    """
    module = pandas()
    if module is None:
        raise ImportError("a frame needs pandas (apt install python3-pandas); .rows is a list of dicts without it")
    return module.DataFrame(_arrays(columns), copy=False)  # the arrays are nobody else's


def flat(nested, prefix=""):
    """{"ttft_s": {"p99": 1}} as {"ttft_s_p99": 1}: the names of metrics. Lists, such as replicas, are left out."""
    out = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{prefix}{key}_"))
        elif not isinstance(value, list):
            out[prefix + key] = value
    return out
