"""A short scenario, and files of results that the program wrote."""

import ctypes
import subprocess

import pytest

import rooflua
from rooflua.library import library_path

SCENARIO = """
return {
  rooflua = 1, title = "chat", model = "llama-3.1-8b", hardware = "h200-sxm",
  workload = require "workloads.poisson" { rate_per_s = 10, num_requests = 30, prompt_tokens = 300,
    output_tokens = 20 },
  vary = { ["workload.rate_per_s"] = { 5, 10 } },
}
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("python")
    (path / "chat.lua").write_text(SCENARIO)
    (path / "one.lua").write_text(SCENARIO.replace("vary = ", "-- "))
    return path


@pytest.fixture
def has_library():
    """Skips a test where librooflua is not built."""
    try:
        ctypes.CDLL(library_path())
    except OSError as problem:
        pytest.skip(f"SKIPPED: {problem}")


@pytest.fixture(scope="session")
def rooflua_program():
    return lambda *words: subprocess.run([rooflua.program(), *map(str, words)], check=True, capture_output=True,
                                         text=True).stdout


@pytest.fixture(scope="session")
def result(folder):
    return rooflua.run(folder / "chat.lua", requests=True)
