"""Simulations that go step by step in this process, by librooflua."""

import gc
import json
import math
import subprocess
import threading
from pathlib import Path

import pytest

import rooflua

pytestmark = pytest.mark.usefixtures("has_library")

KEYS = {"model": "llama-3.1-8b", "hardware": "h200-sxm", "workload": {
    "name": "poisson", "rate_per_s": 20, "num_requests": 40, "prompt_tokens": 300, "output_tokens": 20}}


def test_it_gives_what_run_gives(folder):
    expected = rooflua.run(folder / "one.lua", seed=3, set={"workload.rate_per_s": 12}).document
    with rooflua.open(folder / "one.lua", seed=3, set={"workload.rate_per_s": 12}) as simulation:
        while simulation.step(11):
            pass
        assert simulation.result().document == expected
    with rooflua.open(folder / "one.lua", seed=3, set={"workload.rate_per_s": 12}) as simulation:
        assert simulation.until(0.5) and not simulation.until(math.inf)
        assert simulation.run().document == expected
    with rooflua.open(**KEYS, users=3) as simulation:
        assert simulation.run().document["variants"] == rooflua.run(**KEYS, users=3).document["variants"]
    text = (folder / "one.lua").read_text()
    assert rooflua.open(text=text).run().rows == rooflua.run(text=text).rows


def test_its_state_and_clock():
    with rooflua.open(**KEYS, replicas=2) as simulation:
        assert simulation.now_s == 0 and simulation.state()["requests"]["arrived"] == 0
        simulation.until(0.5)
        state = simulation.state()
        assert state["now_s"] == simulation.now_s == 0.5 and not state["over"]
        assert [each["name"] for each in state["replicas"]] == ["replica 1", "replica 2"]
        running = [one for each in state["replicas"] for one in each["running"] + each["waiting"]]
        assert len(running) <= state["requests"]["live"]
        assert {"id", "prompt_tokens", "emitted_tokens"} <= set(running[0])
        partial = simulation.result().document["variants"][0]["partial"]
        assert partial["stopped_by"] == "caller" and partial["finished"] == state["requests"]["ended"]


def test_its_documents_are_those_of_the_schema(tmp_path):
    with rooflua.open(**KEYS, engine="vllm 0.19", replicas=2, slo={"ttft_s": 0.2}) as simulation:
        for name, time_s in (("start", 0), ("middle", 1), ("end", math.inf)):
            simulation.until(time_s)
            (tmp_path / f"{name}.json").write_text(json.dumps(simulation.result().document))
    home = Path(__file__).parents[2]
    done = subprocess.run(["python3", home / "tests/app/schema.py", home / "docs/schema/result.json",
                           *sorted(tmp_path.glob("*.json"))], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("SKIPPED: no jsonschema")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fork_goes_on_without_its_original():
    simulation = rooflua.open(**KEYS, seed=5)
    simulation.step(30)
    fork = simulation.fork()
    expected = simulation.run().document
    simulation.close()
    assert fork.now_s < expected["variants"][0]["summary"]["duration_s"] * 2
    assert fork.run().document == expected
    del fork, simulation
    gc.collect()


def test_policies_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers" / "last.lua").write_text("""
local Last = require("rooflua.policy").define { name = "last", doc = "The last one.", params = {
  stop = { default = 1e9, unit = "requests", doc = "The request at which it fails." } } }
function Last:route(request, replicas)
  if request.id >= self.stop then error "enough" end
  return #replicas
end
return Last
""")
    monkeypatch.chdir(tmp_path)
    with rooflua.open(**KEYS, replicas=3, router={"name": "last"}) as simulation:
        simulation.until(1)
        assert [each["planned_steps"] > 0 for each in simulation.state()["replicas"]] == [False, False, True]
    assert [each.name for each in tmp_path.iterdir()] == ["routers"]
    with rooflua.open(**KEYS, replicas=3, router={"name": "last", "stop": 9}) as simulation:
        simulation.until(0.1)
        fork = simulation.fork()
        with pytest.raises(rooflua.Mistake, match="last.lua:5: enough"):
            simulation.run()
        with pytest.raises(rooflua.Mistake, match="go on with a fork made before"):
            simulation.step()
        assert simulation.result().document["variants"][0]["partial"]["stopped_by"] == "error"
        assert fork.step()


def test_mistakes(folder):
    with pytest.raises(rooflua.Mistake, match="did you mean 'rate_per_s'"):
        rooflua.open(folder / "one.lua", set={"workload.rate_per_sec": 3})
    with pytest.raises(rooflua.Mistake, match="gives 2 variants, and a run is of one"):
        rooflua.open(folder / "chat.lua")
    with pytest.raises(TypeError, match="one of them"):
        rooflua.open()
    with rooflua.open(**KEYS) as simulation:
        for steps in (0, -1, 1.5, 2 ** 31):
            with pytest.raises(ValueError, match="steps: expected a whole number"):
                simulation.step(steps)
        for time_s in (-1, math.nan):
            with pytest.raises(ValueError, match="time_s: expected a time"):
                simulation.until(time_s)
        problems = []

        def ask():
            try:
                simulation.step()
            except RuntimeError as problem:
                problems.append(str(problem))

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        simulation.close()
        ask()
    assert len(problems) == 2 and all("another thread" in each for each in problems)
