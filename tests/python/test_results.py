"""Files of results, documents, frames."""

import json
import math
import sqlite3
import time

import pytest

import rooflua
from rooflua.results import document


@pytest.fixture(scope="session")
def stored(folder, rooflua_program):
    path = folder / "runs.sqlite"
    rooflua_program("run", folder / "chat.lua", "--quiet", "--results", path)
    return path


def new_layout(path, runs):
    """A file with a row per run and lists of runs; runs: (set, position, name, hash, build, variant)."""
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE runs(run_hash TEXT, build TEXT, seed INTEGER, scenario TEXT, parameters TEXT, "
                     "document TEXT, report TEXT, drawing TEXT, host TEXT, PRIMARY KEY (run_hash, build))")
        file.execute("CREATE TABLE members(set_hash TEXT, position INTEGER, name TEXT, run_hash TEXT, "
                     "PRIMARY KEY (set_hash, position))")
        for set_hash, position, name, run_hash, build, variant in runs:
            file.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, 0, 'a.lua', ?, ?, '', '', 'host')",
                         (run_hash, build, json.dumps(variant["parameters"]), json.dumps(variant)))
            file.execute("INSERT OR IGNORE INTO members VALUES (?, ?, ?, ?)", (set_hash, position, name, run_hash))
    file.close()
    return path


def test_a_file_of_results_has_the_rows_of_the_run(stored, result):
    kept = rooflua.results(stored)
    assert [{key: row[key] for key in result.rows[0]} for row in kept.rows] == result.rows
    assert list(kept.rows[0])[:5] == ["set", "run_hash", "build", "seed", "name"]
    variants = kept.document["variants"]
    assert variants[0]["summary"] == result.document["variants"][0]["summary"]
    assert variants[0]["run"]["set"] == kept.rows[0]["set"]


def test_the_layout_of_runs_and_sets(tmp_path, result):
    a, b = result.document["variants"]
    path = new_layout(tmp_path / "new.sqlite", [("s1", 0, "a", "h1", "b1", a), ("s1", 1, "b", "h2", "b1", b),
                                                ("s2", 0, "again", "h1", "b1", a)])
    rows = rooflua.results(path).rows
    assert [(row["set"], row["name"], row["build"]) for row in rows] == [("s1", "a", "b1"), ("s1", "b", "b1"),
                                                                       ("s2", "again", "b1")]
    assert rows[2]["ttft_s_mean"] == a["summary"]["ttft_s"]["mean"]
    assert len(rooflua.results(path, set="s2")) == 1


def test_shards_of_a_folder_are_joined_and_a_run_in_two_is_there_once(tmp_path, result):
    a, b = result.document["variants"]
    new_layout(tmp_path / "shard-000-of-002.sqlite", [("s", 0, "a", "h1", "b", a)])
    new_layout(tmp_path / "shard-001-of-002.sqlite", [("s", 1, "b", "h2", "b", b), ("s", 0, "a", "h1", "b", a)])
    assert [row["name"] for row in rooflua.results(tmp_path).rows] == ["a", "b"]
    assert len(rooflua.read(tmp_path)) == 2


def test_files_of_something_else_are_refused(tmp_path, folder):
    (tmp_path / "text.sqlite").write_text("not a database, and long enough to be read as one" * 30)
    with pytest.raises(ValueError, match="text.sqlite: is no file of results"):
        rooflua.results(tmp_path / "text.sqlite")
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE things(a)")
    with pytest.raises(ValueError, match="SQLite file of something else"):
        rooflua.results(tmp_path / "other.sqlite")
    with sqlite3.connect(tmp_path / "old.sqlite") as old:
        old.execute("CREATE TABLE runs(scenario_hash TEXT, version TEXT, position INTEGER, document TEXT)")
    with pytest.raises(ValueError, match="old.sqlite: has the layout of older versions.*--results NEW.sqlite"):
        rooflua.results(tmp_path / "old.sqlite")
    with sqlite3.connect(tmp_path / "view.sqlite") as view:
        view.execute("CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                     "SELECT x AS run_hash, '' AS build FROM c")
    with pytest.raises(ValueError, match="'runs' is no table"):
        rooflua.results(tmp_path / "view.sqlite")
    with pytest.raises(FileNotFoundError, match="no such file of results"):
        rooflua.results(tmp_path / "nowhere.sqlite")
    (tmp_path / "begun.sqlite").touch()
    with pytest.raises(ValueError, match="begun.sqlite: holds no results"):
        rooflua.results(tmp_path / "begun.sqlite")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    for reader in (rooflua.read, rooflua.requests):
        with pytest.raises(ValueError, match="picture.png: is no text; expected"):
            reader(tmp_path / "picture.png")
        with pytest.raises(FileNotFoundError, match="nowhere: there is no such file"):
            reader(tmp_path / "nowhere")
    (tmp_path / "cut.jsonl").write_text('{"run_hash": "a", "document": "{}"}\n{"run_hash": "b", "doc')
    with pytest.raises(ValueError, match="cut.jsonl:2: is cut off or was altered"):
        rooflua.read(tmp_path / "cut.jsonl")
    with pytest.raises(ValueError, match="cut.jsonl:2: is no JSON of requests"):
        rooflua.requests(tmp_path / "cut.jsonl")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        rooflua.requests(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no .sqlite file"):
        rooflua.results(tmp_path / "empty")


def test_a_set_that_no_run_is_of_is_told(stored):
    with pytest.raises(ValueError, match="no run is of a set that begins with 'zz'"):
        rooflua.results(stored, set="zz")


def test_a_damaged_file_is_told(stored, tmp_path):
    (tmp_path / "cut.sqlite").write_bytes(stored.read_bytes()[:5000])
    with pytest.raises(ValueError, match="cut.sqlite: is damaged"):
        rooflua.results(tmp_path / "cut.sqlite")


def test_read_tells_files_by_their_content(tmp_path, folder, result, stored, rooflua_program):
    rooflua_program("run", folder / "one.lua", "--quiet", "--json", tmp_path / "a", "--requests", tmp_path / "b")
    assert rooflua.read(tmp_path / "a").rows[0]["requests"] == 30
    assert len(rooflua.read(tmp_path / "b")) == 30
    assert len(rooflua.read(stored)) == 2
    lines = "".join(json.dumps({"run_hash": str(i), "document": json.dumps(each)}) + "\n"
                    for i, each in enumerate(result.document["variants"]))
    (tmp_path / "c").write_text("BEGIN ROOFLUA RESULTS\n" + lines + "END ROOFLUA RESULTS\n")
    assert rooflua.read(tmp_path / "c").rows == result.rows
    (tmp_path / "d").write_text('{"a": 1}')
    with pytest.raises(ValueError, match="expected a result document"):
        rooflua.read(tmp_path / "d")


def test_frame_to_document_to_frame_loses_nothing(result):
    again = rooflua.Result(document(result.rows))
    assert again.rows == result.rows
    pandas = pytest.importorskip("pandas")
    pandas.testing.assert_frame_equal(rooflua.Result(document(result.frame)).frame, result.frame)


def test_a_frame_has_numbers_and_fills_missing_columns():
    pandas = pytest.importorskip("pandas")
    frame = rooflua.Result({"variants": [
        {"name": "a", "parameters": {"x.y": "on"}, "summary": {"n": 1, "t": {"p50": 0.5, "p99": None}, "list": [1]}},
        {"name": "b", "parameters": {}, "summary": {"n": 2, "t": {"p50": 1}, "deep": {"er": {"still": 3}}}}]}).frame
    assert list(frame.columns) == ["name", "x.y", "n", "t_p50", "t_p99", "deep_er_still"]
    assert frame["n"].dtype.kind == "i" and frame["t_p50"].tolist() == [0.5, 1.0]
    assert math.isnan(frame["deep_er_still"][0]) and frame["deep_er_still"][1] == 3
    assert pandas.isna(frame["x.y"][1])


def test_20000_results_are_a_frame_within_two_seconds(tmp_path, result):
    pytest.importorskip("pandas")
    variant = result.document["variants"][0]
    text = json.dumps(variant)
    path = new_layout(tmp_path / "big.sqlite", [])
    with sqlite3.connect(path) as file:
        file.executemany("INSERT INTO runs VALUES (?, 'b', 0, 'a.lua', '{}', ?, '', '', '')",
                         ((str(i), text) for i in range(20000)))
        file.executemany("INSERT INTO members VALUES ('s', ?, ?, ?)", ((i, str(i), str(i)) for i in range(20000)))
    file.close()
    started = time.process_time()
    for _ in range(20000):
        json.loads(text)
    unit_s = time.process_time() - started
    started = time.process_time()
    frame = rooflua.results(path).frame
    took_s = time.process_time() - started
    assert frame.shape[0] == 20000 and frame["ttft_s_p99"][19999] == variant["summary"]["ttft_s"]["p99"]
    print(f"20,000 results in {took_s:.2f} s of CPU; json.loads alone {unit_s:.2f} s")
    # On a machine that is busy or slow: no more than a few times what parsing alone takes.
    assert took_s < max(2.0, 4 * unit_s), (took_s, unit_s)


def test_a_frame_is_written_as_parquet_or_says_what_is_missing(tmp_path, result):
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="needs pyarrow"):
            result.to_parquet(tmp_path / "runs.parquet")
        return
    pandas = pytest.importorskip("pandas")
    result.to_parquet(tmp_path / "runs.parquet")
    assert pandas.read_parquet(tmp_path / "runs.parquet").equals(result.frame)
