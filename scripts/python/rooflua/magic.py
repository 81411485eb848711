"""The cell magic %%rooflua of a notebook."""

from __future__ import annotations

import shlex

from .run import run


def magic(line, cell):
    """%%rooflua [--set KEY=VALUE]... [--seed N] [--jobs N] [--requests]: the cell is a scenario."""
    words, given, changes = shlex.split(line), {}, {}
    while words:
        word = words.pop(0)
        if word == "--requests":
            given["requests"] = True
        elif word in ("--seed", "--jobs") and words:
            given[word[2:]] = int(words.pop(0))
        elif word == "--set" and words and "=" in words[0]:
            key, _, value = words.pop(0).partition("=")
            changes[key] = value
        else:
            raise ValueError(f"%%rooflua: unknown option '{word}' (known: --set KEY=VALUE, --seed N, --jobs N, "
                             f"--requests)")
    return run(text=cell, set=changes, **given)


def load_ipython_extension(shell):
    """%load_ext rooflua"""
    shell.register_magic_function(magic, "cell", "rooflua")
