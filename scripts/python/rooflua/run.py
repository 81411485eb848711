"""Runs the program in a process of its own."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from .kinds import FOLDERS
from .results import Result
from .requests import requests as read_requests
from .watched import watched


class Mistake(Exception):
    """What the program refused, in its own words.

    file, line    where the mistake is; None where the message names no place
    status        the exit status: 1 a mistake or a failed check, 2 wrong usage
    result        what the run gave all the same; None where it gave nothing
    """

    def __init__(self, message, status=1, result=None):
        super().__init__(message)
        place = re.match(r"(?:rooflua: )?([^\s:][^:\n]*):(\d+): ", message)
        self.file, self.line = (place.group(1), int(place.group(2))) if place else (None, None)
        self.status, self.result = status, result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. `result` has the runs that had ended and what is known of the others; None before the first."""

    def __init__(self, result=None):
        super().__init__("interrupted")
        self.result = result


def program():
    """The path of the program: $ROOFLUA, the one that lies beside this package, or the one on PATH."""
    given = os.environ.get("ROOFLUA")
    if given:
        return given
    home = Path(__file__).resolve().parents[3]
    for place in (home / "build/release/bin/rooflua", home.parent.parent / "bin/rooflua"):
        if place.is_file():
            return str(place)
    found = shutil.which("rooflua")
    if found is None:
        raise Mistake("rooflua is not on PATH; set the environment variable ROOFLUA to the program", 2)
    return found


def command(arguments):
    """Runs the program with these arguments and returns (status, stdout, stderr). Ctrl-C ends it as in a shell."""
    # A session of its own, so that Ctrl-C reaches the program once: from here.
    process = subprocess.Popen([program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        out, err = process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        return 130, out, err
    return process.returncode, out, err


def call(*words):
    """Runs any command that has --json and returns its document: call("validate", "measured"), call("step", ...).

    :raises Mistake: where the command gave no document; a failed check that gave one is no mistake
    """
    status, out, err = command([*map(str, words), "--json", "-"])
    try:
        return json.loads(out)
    except json.JSONDecodeError:
        raise Mistake(err.strip() or out.strip(), status) from None


# A scenario without a file ------------------------------------------------------------------------------------------

def _number(value, where):
    """A number as Lua writes it."""
    if value != value:
        raise Mistake(f"{where}: nan is no value of a scenario", 2)
    if value in (math.inf, -math.inf):
        return "math.huge" if value > 0 else "-math.huge"
    if isinstance(value, int) and int(float(value)) != value:
        raise Mistake(f"{where}: {value} is beyond the whole numbers that the program counts exactly", 2)
    return repr(value)


def _plain(value):
    """A number or an array of numpy as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def _refuse(value, where):
    kind = type(value)
    more = "; write float(...)" if hasattr(value, "__float__") else ""
    name = f"{kind.__module__}.{kind.__name__}"
    raise Mistake(f"{where}: expected a number, text, a list or a dict, found {name}{more}", 2)


def _folder(path):
    """The folder of the policies that stand at a key path; None where none do. Values and cases of `vary` have the
    paths of the keys that they are for."""
    path = re.sub(r"^vary\.(?:[^[]+\[\]\.set\.|([^[]+)\[\](?:\.value)?)", r"\1", path or "")
    return FOLDERS.get(path) or FOLDERS.get(re.sub(r"\.[^.]+$", ".*", path))


def _lua(value, where, path=None):
    """A value as Lua. At a path that takes policies, {"name": "poisson", "rate_per_s": 5} is one of them:
    require "workloads.poisson" { rate_per_s = 5 }."""
    value = _plain(value)
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + re.sub(r'[\\"\x00-\x1f]', lambda found: "\\%03d" % ord(found.group()), value) + '"'
    if type(value) in (int, float):
        return _number(value, where)
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int)) for key in value):
            raise Mistake(f"{where}: the keys of a dict are text or whole numbers", 2)
        if _folder(path) and "name" in value:
            given = {key: each for key, each in value.items() if key != "name"}
            return f"require {_lua(_folder(path) + '.' + str(value['name']), where)} {_lua(given, where)}"
        return "{ " + ", ".join(f"[{_lua(key, where)}] = {_lua(each, f'{where}.{key}', path and f'{path}.{key}')}"
                                for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        if any(each is None for each in value):
            raise Mistake(f"{where}: None in a list ends the list for the program", 2)
        inside = path if _folder(path) else path and path + "[]"
        return "{ " + ", ".join(_lua(each, f"{where}[{i}]", inside) for i, each in enumerate(value)) + " }"
    return _refuse(value, where)


def scenario_text(keys):
    """The Lua file of a scenario from its keys; a policy is a dict with its name."""
    lines = [f"  {key} = {_lua(value, key, key)}," for key, value in keys.items()]
    return "\n".join(["return {", "  rooflua = 1,", *lines, "}", ""])


# Running -------------------------------------------------------------------------------------------------------------

def _value(value, where):
    """A value as --set reads it: text as it is, a list as JSON."""
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if type(value) in (int, float):
        return _number(value, where).replace("math.huge", "inf")
    if isinstance(value, (list, tuple)):
        texts = [json.dumps(each) if isinstance(each, str) else _value(each, where) for each in value]
        return "[" + ", ".join(texts) + "]"
    if isinstance(value, dict):
        raise Mistake(f"{where}: set takes no dict; name the key in it, as in set={{'{where}.key': 1}}", 2)
    return _refuse(value, where)


def set_texts(set, users=None):  # noqa: A002, as in run()
    """What --set is given: a list of "key=value"; --users is one of them."""
    stated = dict(set or {}) if users is None else {**(set or {}), "users": users}
    return [f"{key}={_value(value, key)}" for key, value in stated.items()]


def _options(set, users, seed, jobs, results, trusted, timeout_s, intervals):
    out = [] if intervals else ["--intervals", "off"]
    for text in set_texts(set):
        out += ["--set", text]
    for name, value in (("--users", users), ("--seed", seed), ("--jobs", jobs), ("--results", results),
                        ("--timeout", timeout_s)):
        if value is not None:
            out += [name, str(value)]
    return out + ["--trusted"] if trusted else out


def _documents(folder, out):
    path = folder / "result.json"
    if not path.exists():
        return None
    result = Result(json.loads(path.read_text()), text=out)
    files = sorted(folder.glob("requests*.csv"), key=lambda each: int(each.stem.partition(".")[2] or 0))
    if files:
        result.request_rows = [{"variant": name, **row} for name, file in zip(result.names, files)
                               for row in read_requests(file, as_rows=True)]
    return result


@contextmanager
def written(text, folder):
    """The file of a scenario that has none: in the current folder while it runs, so that policies of this folder are
    found by their names; in `folder` where nothing can be written there. A path is a file already."""
    if isinstance(text, Path):
        yield text
        return
    try:
        number, name = tempfile.mkstemp(prefix=".rooflua-", suffix=".lua", dir=".", text=True)
        os.close(number)
    except OSError:
        name = str(folder / "scenario.lua")
    path = Path(name) if Path(name).is_relative_to(folder) else Path(os.path.relpath(name))
    try:
        path.write_text(text)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _page(source, options):
    """The page of --html of a run that is repeated."""
    with tempfile.TemporaryDirectory(prefix="rooflua-") as name, written(source, Path(name)) as file:
        folder = Path(name)
        source = str(file)
        status, _, err = command(["run", source, "--quiet", "--html", str(folder / "page.html"), *options])
        if not (folder / "page.html").exists():
            raise Mistake(err.strip(), status)
        return (folder / "page.html").read_text()


def run(scenario=None, *, set=None, users=None, seed=None, jobs=None, requests=False, results=None, trusted=False,
        timeout_s=None, intervals=True, text=None, on_progress=None, cancel=None, **keys):
    """Runs a scenario and returns a Result.

    :param scenario: its file. Without one, `text` is the Lua file, or the other keywords are the scenario's keys:
        model="llama-3.1-8b", workload={"name": "poisson", "rate_per_s": 5}, vary={"deployment.tp": [1, 2]}.
        Policies of the current folder are found by their names
    :param set: {"workload.rate_per_s": 12}, as --set
    :param users: so many users who wait for answers and think, in place of the workload's arrivals
    :param requests: also read a row per request
    :param intervals: False leaves out how far figures may be off (Result.intervals)
    :param results: an SQLite file that keeps every run; a second time only missing ones run
    :param on_progress: called in this thread with (share, ended), ten times a second at most: the share of all work,
        None where that is not known, and the requests of this variant that have ended (with jobs: the runs)
    :param cancel: a threading.Event, or a function without arguments: set or True, the run ends
    :raises Mistake: what the program refused; its `result` has what was run all the same
    :raises Interrupted: after Ctrl-C
    :raises Cancelled: `cancel` ended it; of the program and its files nothing is left but `results`
    """
    given = [scenario is not None, text is not None, bool(keys)]
    if sum(given) != 1:
        found = f"; found also keys ({', '.join(keys)})" if keys else ""
        raise TypeError("run() takes a scenario's file, text= or the keys of a scenario, one of them" + found)
    with tempfile.TemporaryDirectory(prefix="rooflua-") as name:
        folder = Path(name)
        source = Path(scenario) if scenario is not None else text if text is not None else scenario_text(keys)
        arguments = ["--quiet", "--json", str(folder / "result.json"),
                     *_options(set, users, seed, jobs, results, trusted, timeout_s, intervals)]
        if requests:
            arguments += ["--requests", str(folder / "requests.csv")]
        with written(source, folder) as file:
            words = ["run", str(file), *arguments]
            if on_progress is None and cancel is None:
                status, out, err = command(words)
            else:
                status, out, err = watched([program(), *words], folder, on_progress, cancel)
        result = _documents(folder, out)
    if result is not None:
        result.again = partial(_page, source,
                               _options(set, users, seed, jobs, None, trusted, timeout_s, intervals))
    if status == 130:
        raise Interrupted(result)
    if status != 0:
        raise Mistake(err.strip() or f"rooflua ended with status {status}", status, result)
    return result
