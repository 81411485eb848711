"""rooflua.run: the program's own words, rows, requests, Ctrl-C."""

import json
import math
import subprocess
import sys
import tempfile
import threading
from decimal import Decimal
from fractions import Fraction

import pytest

import rooflua
from rooflua.run import scenario_text


def test_a_row_per_variant_begins_with_its_parameters(result):
    assert [row["workload.rate_per_s"] for row in result.rows] == [5, 10]
    assert list(result.rows[0])[:2] == ["name", "workload.rate_per_s"]
    summary = result.document["variants"][1]["summary"]
    assert result.rows[1]["ttft_s_p99"] == summary["ttft_s"]["p99"]
    assert result.rows[1]["evidence_measured"] == summary["evidence"]["measured"]
    assert "chat" in result.text and len(result) == 2


def test_columns_are_the_names_of_metrics(result, rooflua_program, tmp_path):
    script = tmp_path / "names.lua"
    script.write_text("""
      local declared, out = require("rooflua.native").metrics(), {}
      for _, metric in ipairs(declared.run) do
        if metric.kind == "number" then out[#out + 1] = metric.name end
        if metric.kind == "distribution" then
          for _, figure in ipairs(declared.figures) do out[#out + 1] = metric.name .. "_" .. figure end
        end
      end
      print(table.concat(out, " "))""")
    names = rooflua_program("lua", script).split()
    assert len(names) > 30
    there = {name for name in names if name in result.rows[0]}
    # goodput and figures of other kinds of scenarios are not in every run
    assert {"ttft_s_p99", "tpot_s_mean", "e2e_s_p50", "requests_per_s", "output_tokens_per_s"} <= there
    nested = {f"{key}_{figure}" for key, value in result.document["variants"][0]["summary"].items()
              if isinstance(value, dict) and "p50" in value for figure in value}
    assert {name for name in nested if not name.endswith(("_count", "_min"))} <= set(names)


def test_requests_are_rows_with_their_variant(result):
    rows = result.request_rows
    assert len(rows) == 60 and {row["variant"] for row in rows} == set(result.names)
    assert rows[0]["prompt_tokens"] == 300 and isinstance(rows[0]["ttft_s"], float)
    assert rows[0]["outcome"] == "completed" and rows[0]["session"] is None


def test_intervals_are_those_of_the_document_and_can_be_left_out(folder):
    keys = dict(model="llama-3.1-8b", hardware="h100", workload={
        "name": "poisson", "rate_per_s": 5, "num_requests": 20, "prompt_tokens": 100, "output_tokens": 10})
    with_them, without = rooflua.run(**keys), rooflua.run(**keys, intervals=False)
    (found,) = with_them.intervals
    assert found == with_them.document["variants"][0]["intervals"]
    assert found["tpot_s"]["low"] < found["tpot_s"]["value"] < found["tpot_s"]["high"]
    assert found["tpot_s"]["value"] == with_them.rows[0]["tpot_s_mean"]
    assert found["text"][0] in with_them._repr_html_()
    assert without.intervals == [None] and "interval" not in without.text
    assert without.rows == with_them.rows


def test_set_seed_and_keys_without_a_file(folder):
    by_file = rooflua.run(folder / "one.lua", seed=3,
                          set={"workload.rate_per_s": 7, "deployment.prefix_caching": False})
    by_keys = rooflua.run(model="llama-3.1-8b", hardware="h200-sxm", seed=3, deployment={"prefix_caching": False},
                          workload={"name": "poisson", "rate_per_s": 7, "num_requests": 30, "prompt_tokens": 300,
                                    "output_tokens": 20})
    assert by_file.rows == by_keys.rows


def test_values_of_python_are_said_in_lua(folder):
    text = scenario_text({"workload": {"name": "vllm_bench", "request_rate": math.inf}, "vary": {"seed": (1, 2)},
                          "slo": {"ttft_s": 0.5, "e2e_s": -math.inf}, "title": 'a "b"\n'})
    assert '["request_rate"] = math.huge' in text and '["e2e_s"] = -math.huge' in text and '{ 1, 2 }' in text
    at_once = rooflua.run(model="llama-3.1-8b", hardware="h200-sxm",
                          requests=True, workload={"name": "vllm_bench", "request_rate": math.inf, "num_prompts": 5})
    assert {row["arrival_s"] for row in at_once.request_rows} == {0}
    varied = rooflua.run(folder / "one.lua", set={"vary": '{"seed": [1, 2]}'})
    assert len(varied) == 2


@pytest.mark.parametrize("value, words", [
    (math.nan, "nan is no value"), (Decimal("1.5"), "found decimal.Decimal; write float"),
    (Fraction(1, 2), "found fractions.Fraction; write float"), (2 ** 63 + 1, "beyond the whole numbers"),
    (object(), "found builtins.object"), ({1, 2}, "found builtins.set"), (b"x", "found builtins.bytes"),
    (1j, "found builtins.complex")])
def test_values_that_lua_does_not_have_are_refused_by_name(folder, value, words):
    for place, call in (
            ("slo.ttft_s", lambda: rooflua.run(model="llama-3.1-8b", hardware="h100", slo={"ttft_s": value})),
            ("workload.rate_per_s", lambda: rooflua.run(model="llama-3.1-8b", hardware="h100",
                                                        workload={"name": "poisson", "rate_per_s": value})),
            ("vary.seed[1]", lambda: rooflua.run(model="llama-3.1-8b", hardware="h100", vary={"seed": [1, value]})),
            ("workload.rate_per_s", lambda: rooflua.run(folder / "one.lua", set={"workload.rate_per_s": value}))):
        with pytest.raises(rooflua.Mistake) as mistake:
            call()
        assert words in str(mistake.value) and str(mistake.value).startswith(place + ": ")


def test_set_refuses_what_it_cannot_say(folder):
    for value in ({"tp": 2}, [{"tp": 2}], None, [None]):
        with pytest.raises(rooflua.Mistake) as mistake:
            rooflua.run(folder / "one.lua", set={"deployment": value})
        assert str(mistake.value).startswith("deployment: ")
    with pytest.raises(rooflua.Mistake, match="None in a list"):
        rooflua.run(model="llama-3.1-8b", hardware="h100", vary={"seed": [1, None, 2]})


def test_keys_make_a_scenario():
    result = rooflua.run(model="llama-3.1-8b", hardware="h100", vary={"deployment.tp": [1, 2]},
                         workload={"name": "poisson", "rate_per_s": 5, "num_requests": 10, "prompt_tokens": 100,
                                   "output_tokens": 5})
    assert [row["deployment.tp"] for row in result.rows] == [1, 2]
    assert 'require "workloads.poisson"' in scenario_text({"workload": {"name": "poisson"}})
    tiers = scenario_text({"tiers": {"policy": {"name": "vllm_cpu", "outputs": True}, "stores": [
        {"name": "cpu", "capacity_bytes": 1e9, "eviction": {"name": "ttl", "ttl_s": 3}}]}})
    assert '["policy"] = require "tiers.vllm_cpu" { ["outputs"] = true }' in tiers
    assert '["eviction"] = require "eviction.ttl" { ["ttl_s"] = 3 }' in tiers
    assert '["name"] = "cpu"' in tiers
    assert scenario_text({"title": 'a "b"\n'}).count("\n") == 4
    with pytest.raises(TypeError, match="one of them$"):
        rooflua.run()
    with pytest.raises(TypeError, match=r"found also keys \(progress\)"):
        rooflua.run("mine.lua", progress=print)


def test_a_mistake_has_the_words_of_the_program_and_its_place(folder):
    (folder / "bad.lua").write_text("return {\n  rooflua = 1,\n  model = = 3 }\n")
    with pytest.raises(rooflua.Mistake) as caught:
        rooflua.run(folder / "bad.lua")
    assert caught.value.line == 3 and caught.value.file.endswith("bad.lua") and caught.value.status == 1
    with pytest.raises(rooflua.Mistake, match="did you mean 'rate_per_s'"):
        rooflua.run(folder / "one.lua", set={"workload.rate_pers": 3})
    with pytest.raises(rooflua.Mistake) as caught:
        rooflua.run(folder / "nowhere.lua")
    assert "nowhere.lua" in str(caught.value) and caught.value.result is None


def test_a_failed_check_keeps_the_result(folder):
    with pytest.raises(rooflua.Mistake) as caught:
        rooflua.run(folder / "one.lua", set={"deployment.max_model_len": 10})
    result = caught.value.result
    assert result is None or len(result) == 1


def test_ctrl_c_reaches_the_program_and_what_is_known_is_kept(folder, tmp_path):
    (tmp_path / "long.lua").write_text((folder / "one.lua").read_text().replace("num_requests = 30",
                                                                              "num_requests = 3000000"))
    script = tmp_path / "script.py"
    script.write_text(f"""
import signal, sys, threading, os, rooflua
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    rooflua.run({str(tmp_path / "long.lua")!r})
except rooflua.Interrupted as stopped:
    print("interrupted", stopped.result.document["variants"][0]["summary"]["completed"] > 0)
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "interrupted True", done.stderr


def long_scenario(folder, count):
    return (folder / "one.lua").read_text().replace("num_requests = 30", f"num_requests = {count}")


def test_progress_is_told_and_changes_nothing(folder):
    told = []
    text = long_scenario(folder, 200000)
    watched = rooflua.run(text=text, seed=1, on_progress=lambda share, ended: told.append((share, ended)))
    assert 1 < len(told)
    assert all(0 < share <= 1 and share == pytest.approx(ended / 200000) for share, ended in told)
    assert told == sorted(told)
    alone = rooflua.run(text=text, seed=1)
    assert watched.document["variants"] == alone.document["variants"]


def test_progress_of_variants_counts_all_of_them(folder):
    told = []
    text = long_scenario(folder, 60000).replace("return {", "return { vary = { seed = { 1, 2, 3 } },", 1)
    rooflua.run(text=text, on_progress=lambda share, ended: told.append(share))
    assert told == sorted(told)
    assert told[-1] > 2 / 3


@pytest.mark.parametrize("as_event", [True, False])
def test_a_cancelled_run_raises_and_leaves_nothing(folder, as_event, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stop = threading.Event()
    with pytest.raises(rooflua.Cancelled):
        rooflua.run(text=long_scenario(folder, 3000000), requests=True, on_progress=lambda share, ended: stop.set(),
                    cancel=stop if as_event else stop.is_set)
    assert not list(tmp_path.iterdir())
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True).stdout.split()
    assert not left


def test_what_on_progress_raises_ends_the_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fails(share, ended):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        rooflua.run(text=long_scenario(folder, 3000000), on_progress=fails)
    assert not list(tmp_path.iterdir())


def test_a_mistake_is_told_as_without_a_watch(folder):
    with pytest.raises(rooflua.Mistake, match="did you mean 'rate_per_s'"):
        rooflua.run(folder / "one.lua", set={"workload.rate_per_sec": 3}, cancel=threading.Event())


def test_any_command_with_a_document(rooflua_program):
    document = rooflua.call("step", "--model", "llama-3.1-8b", "--hardware", "h100", "--decode", "1024x8")
    assert document == json.loads(rooflua_program("step", "--model", "llama-3.1-8b", "--hardware", "h100", "--decode",
                                                  "1024x8", "--json", "-"))
    with pytest.raises(rooflua.Mistake, match="unknown model"):
        rooflua.call("step", "--model", "llama-99b", "--hardware", "h100", "--decode", "1024x8")


def test_the_program_is_named_by_the_environment(monkeypatch):
    monkeypatch.setenv("ROOFLUA", "/nowhere/rooflua")
    assert rooflua.program() == "/nowhere/rooflua"


def test_results_are_written_in_formats_of_other_tools(folder, tmp_path, rooflua_program, result):
    rooflua_program("run", folder / "chat.lua", "--quiet", "--write", f"llm-d={tmp_path / 'report.json'}")
    for number, variant in enumerate(result.document["variants"], 1):
        report = json.loads((tmp_path / f"report.{number}.json").read_text())
        latency = report["results"]["request_performance"]["aggregate"]["latency"]
        assert set(report) == {"version", "run", "scenario", "results"}, "the schema forbids all other keys"
        assert latency["time_to_first_token"]["p99"] == variant["summary"]["ttft_s"]["p99"]
        assert report["scenario"]["load"]["standardized"]["rate_qps"] == variant["parameters"]["workload.rate_per_s"]
    for given, status, words in (("llmd=a.json", 1, "did you mean 'llm-d'"), ("llm-d", 2, "expected FORMAT=FILE"),
                                 ("llm-d=/nowhere/a.json", 1, "/nowhere")):
        done = subprocess.run([rooflua.program(), "run", str(folder / "one.lua"), "--write", given],
                              capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == status and words in done.stderr, done.stderr
