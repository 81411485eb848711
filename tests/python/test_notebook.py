"""The notebooks of docs/, whose cells run from the first to the last, without Jupyter."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs(path, tmp_path, monkeypatch, has_library):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5 and not any(cell.get("outputs") for cell in notebook["cells"]), "outputs grow old"
    names = {}
    for number, cell in enumerate(cells, 1):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), names)


def test_there_is_a_notebook():
    assert NOTEBOOKS
