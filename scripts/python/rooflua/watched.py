"""A process of the program that is watched: how far it is, and whether it is asked to stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time

_every_s = 0.1
_grace_s = 5  # from TERM to KILL


class Cancelled(Exception):
    """`cancel` said so: the program was stopped and its files are gone."""


def _is_asked(cancel):
    """Whether an Event or a function says that the run ends."""
    if cancel is None:
        return False
    return bool(cancel.is_set() if hasattr(cancel, "is_set") else cancel())


def _far(line):
    """(share of all work or None, what has ended) of a line of --progress."""
    told = json.loads(line)
    place = re.match(r"(\d+) of (\d+): ", told["title"])
    before, count = (int(place.group(1)) - 1, int(place.group(2))) if place else (0, 1)
    share = (before + min(1, told["done"] / told["of"])) / count if told["of"] > 0 else None
    return share, told["done"]


def _signal(process, number):
    """To the program and the workers that it started: they are a group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def _end(process):
    _signal(process, signal.SIGTERM)
    try:
        process.wait(_grace_s)
    except subprocess.TimeoutExpired:
        pass
    _signal(process, signal.SIGKILL)
    process.wait()


def _watch(process, lines, on_progress, cancel):
    """Until the program ends."""
    text = ""
    while True:
        ended = process.poll() is not None
        text += lines.read()
        whole, newline, rest = text.rpartition("\n")
        if newline:
            text = rest
            if on_progress is not None:
                on_progress(*_far(whole.rpartition("\n")[2]))
        if ended:
            return
        if _is_asked(cancel):
            raise Cancelled("the run was cancelled")
        time.sleep(_every_s)


def watched(words, folder, on_progress, cancel):
    """Runs the program with these words and returns (status, stdout, stderr).

    :param folder: for a file of progress
    :param on_progress: is called with (share, ended) ten times a second at most
    :param cancel: a threading.Event or a function that is True where the run ends
    :raises Cancelled: and nothing of the program is left
    """
    path = folder / "progress.jsonl"
    path.touch()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, path.open() as lines:
        process = subprocess.Popen([*words, "--progress", str(path)], stdout=out, stderr=err, start_new_session=True)
        try:
            _watch(process, lines, on_progress, cancel)
            status = process.returncode
        except KeyboardInterrupt:
            _signal(process, signal.SIGINT)
            process.wait()
            status = 130
        except BaseException:
            _end(process)
            raise
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()
