"""A notebook: tables, evidence, pages, the cell magic; docs/PYTHON.md from its first line to its last."""

import re
from pathlib import Path

import pytest

import rooflua
from rooflua.magic import magic
from rooflua.show import html_of


def test_a_result_shows_table_evidence_and_notes(result):
    text = html_of(result)
    assert text.count("<tr>") == 3 and "workload.rate_per_s" in text and "ttft_s_p99" in text
    assert "Time rests on: measured" in text
    document = {"variants": [{"name": "<b>", "summary": {"requests_per_s": 1.0}, "notes": ["a < b", "a < b"]},
                             {"name": "c", "summary": {"requests_per_s": 2.0}}]}
    text = rooflua.Result(document)._repr_html_()
    assert "&lt;b&gt;" in text and text.count("a &lt; b") == 1 and "<b>" not in text


def test_many_variants_are_cut():
    text = html_of(rooflua.Result({"variants": [{"name": str(i), "summary": {"time_s": 1.0}} for i in range(80)]}))
    assert text.count("<tr>") == 51 and "50 of 80 variants" in text


def test_the_page_of_a_run_is_framed(folder, result):
    text = rooflua.run(folder / "one.lua").page()._repr_html_()
    assert text.startswith("<iframe srcdoc=") and "&lt;svg" in text and '"<' not in text
    with pytest.raises(ValueError, match="only a result of rooflua.run has a page"):
        rooflua.Result({"variants": []}).page()


def test_the_cell_magic(folder):
    cell = (folder / "one.lua").read_text()
    result = magic("--set workload.rate_per_s=7 --seed 2 --requests", cell)
    assert result.document["seed"] == 2 and len(result.request_rows) == 30
    with pytest.raises(ValueError, match="unknown option '--sett'"):
        magic("--sett a=1", cell)


def test_the_document_runs_as_it_stands(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    text = (Path(__file__).parents[2] / "docs" / "PYTHON.md").read_text()
    monkeypatch.chdir(tmp_path)
    for name, body in re.findall(r"```lua file=(\S+)\n(.*?)```", text, re.S):
        Path(name).write_text(body)
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, "docs/PYTHON.md", "exec"), names)
