"""Rows of requests, and traces that the program replays."""

import pytest

import rooflua


@pytest.fixture(scope="session")
def files(folder, rooflua_program):
    for name in ("requests.csv", "bench.json"):
        rooflua_program("run", folder / "one.lua", "--quiet", "--requests", folder / name)
    return folder


def test_both_files_of_requests_say_the_same(files):
    rows, bench = (rooflua.requests(files / name, as_rows=True) for name in ("requests.csv", "bench.json"))
    assert len(rows) == len(bench) == 30
    first_s = min(row["arrival_s"] for row in rows)
    by_id = {row["id"]: row for row in rows}
    for each in bench:
        row = by_id[each["id"]]
        assert each["prompt_tokens"] == row["prompt_tokens"] and each["outcome"] == row["outcome"]
        for name in ("ttft_s", "tpot_s", "e2e_s"):
            assert each[name] == pytest.approx(row[name], rel=1e-9)
        assert each["arrival_s"] == pytest.approx(row["arrival_s"] - first_s, abs=1e-9)


def test_a_wrong_file_is_refused_by_its_line(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="a.csv:1: expected the columns of --requests"):
        rooflua.requests(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("arrival_s,prompt_tokens\n1,2\n1,x\n")
    with pytest.raises(ValueError, match="b.csv:3: "):
        rooflua.requests(tmp_path / "b.csv")
    (tmp_path / "c.json").write_text('{"mean_ttft_ms": 3}')
    with pytest.raises(ValueError, match="input_lens: is missing"):
        rooflua.requests(tmp_path / "c.json")


def test_a_trace_is_replayed_as_it_was_written(tmp_path, files):
    rows = rooflua.requests(files / "requests.csv", as_rows=True)
    rooflua.trace.write(rows[::-1], tmp_path / "t.csv")
    replay = {"name": "trace", "path": str(tmp_path / "t.csv")}
    again = rooflua.run(model="llama-3.1-8b", hardware="h200-sxm", workload=replay, requests=True).request_rows
    assert [(row["arrival_s"], row["ttft_s"]) for row in again] == [(row["arrival_s"], row["ttft_s"]) for row in rows]


def test_columns_of_a_trace_that_are_optional_are_kept(tmp_path):
    rows = [{"arrival_s": 1.5, "prompt_tokens": 10, "output_tokens": 2, "class": "chat, short", "other": 3},
            {"arrival_s": 0.25, "prompt_tokens": 20, "output_tokens": 4}]
    rooflua.trace.write(rows, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == ("arrival_s,prompt_tokens,output_tokens,class\n0.25,20,4,\n"
                                                '1.5,10,2,"chat, short"\n')


def test_a_wrong_row_of_a_trace_is_named(tmp_path):
    good = {"arrival_s": 1.0, "prompt_tokens": 10, "output_tokens": 2}
    for change, words in (({"prompt_tokens": 1.5}, "row 1: prompt_tokens: expected a whole number, found 1.5"),
                          ({"output_tokens": 0}, "row 1: output_tokens: expected 1 or more, found 0"),
                          ({"arrival_s": None}, "row 1: arrival_s: expected a number, found None"),
                          ({"arrival_s": float("nan")}, "row 1: arrival_s: expected 0 or more, found nan")):
        with pytest.raises(ValueError, match=words):
            rooflua.trace.write([good, {**good, **change}], tmp_path / "t.csv")
    with pytest.raises(ValueError, match="at least one request"):
        rooflua.trace.write([], tmp_path / "t.csv")


def test_a_frame_is_a_trace(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"arrival_s": [0.5, 0.0], "prompt_tokens": [10, 20], "output_tokens": [3, 4]})
    rooflua.trace.write(frame, tmp_path / "t.csv")
    back = rooflua.trace.read_trace(tmp_path / "t.csv")
    assert back.to_dict("list") == {"arrival_s": [0.0, 0.5], "prompt_tokens": [20, 10], "output_tokens": [4, 3]}
