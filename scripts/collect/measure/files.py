"""Files of a folder of kernel tables: a CSV whose rows are on disk one by one, texts that are whole or not there."""

import json
import os

try:
    import fcntl
except ImportError:  # no locks there
    fcntl = None

LATENCIES = ("latency_us", "latency_us_p10", "latency_us_p90")


class Problem(Exception):
    """An error that the user can correct, with its exit status. It says what was found and what would be right."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


class Table:
    """The CSV of one table, locked while it is open. Each row is on disk before the next is measured.

    If a crash left the last line incomplete, it is cut off when the file is opened (`repaired`); any other line that
    cannot be read is an error.
    rows  {values of the shape as text: (median, p10, p90)}
    @raises Problem
    """

    def __init__(self, path, columns):
        self.path, self.columns, self.rows, self.repaired = path, (*columns, *LATENCIES), {}, False
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            self._file = open(path, "a+b")
        except OSError as error:
            raise Problem(f"{path}: cannot be written: {error.strerror}") from None
        try:
            if fcntl:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(f"{path}: another collector is writing this table") from None
        self._read()

    def _read(self):
        self._file.seek(0)
        content = self._file.read()
        whole = content[:content.rfind(b"\n") + 1]
        lines = whole.decode("utf-8", "replace").splitlines()
        if lines and tuple(lines[0].split(",")) != self.columns:
            raise Problem(f"{self.path}:1: the columns are {lines[0]}; expected {','.join(self.columns)}. "
                          "Move the file away, or choose another --out")
        for number, line in enumerate(lines[1:], 2):
            row = self._parse(line)
            if row is None and number == len(lines):
                whole = "".join(each + "\n" for each in lines[:-1]).encode()
            elif row is None:
                raise Problem(f"{self.path}:{number}: not a row of this table: '{line}'")
            else:
                self.rows[row[0]] = row[1]
        if len(whole) < len(content):
            self.repaired = True
            self._file.truncate(len(whole))
        if not whole:
            self._append(",".join(self.columns))

    def _parse(self, line):
        cells = line.split(",")
        if len(cells) != len(self.columns):
            return None
        try:
            return tuple(cells[:-3]), tuple(float(cell) for cell in cells[-3:])
        except ValueError:
            return None

    def _append(self, line):
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def put(self, key, times_us):
        """Adds a row with median, p10, p90. It is on disk when this returns."""
        if key in self.rows:
            raise ValueError(f"{self.path}: {','.join(key)} was measured already")
        self._append(_line(key, times_us))
        self.rows[key] = times_us

    def close(self):
        """Sorts the rows by their shapes, so that two runs can be compared line by line. No rows: no file."""
        ordered = sorted(self.rows.items(), key=lambda row: [_order(cell) for cell in row[0]])
        if self.rows:
            replace(self.path, "".join(line + "\n" for line in [",".join(self.columns),
                                                                *(_line(*row) for row in ordered)]))
        self._file.close()
        if not self.rows:
            os.remove(self.path)


def _line(key, times_us):
    return ",".join((*key, *map(digits, times_us)))


def _order(cell):
    """Sorts the cells of a row: numbers by size, then words."""
    return (0, float(cell), "") if cell.isdigit() else (1, 0.0, cell)


def digits(time_us):
    """Microseconds with six significant digits, never in exponents."""
    text = f"{time_us:.6g}"
    return text if "e" not in text else f"{time_us:.6f}".rstrip("0").rstrip(".")


def toml(value):
    """TOML text of a value: basic strings, numbers and arrays are written as in JSON."""
    if isinstance(value, list):
        return "[\n" + "".join(f"  {json.dumps(each)},\n" for each in value) + "]" if value else "[]"
    return json.dumps(value)


def replace(path, text):
    """Writes a whole file, or leaves the old one. @raises Problem"""
    new = f"{path}.new"
    try:
        with open(new, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, path)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}") from None
