"""Every key that takes a policy takes one with parameters from Python."""

import os

import pytest

import rooflua
from rooflua.kinds import FOLDERS
from rooflua.run import command, scenario_text

SERVED = {"model": "llama-3.1-8b", "hardware": "h100-sxm",
          "workload": {"name": "poisson", "rate_per_s": 5, "num_requests": 100}}
STEPS = {"name": "kernels", "host_step_s": 0.001}
SCHEDULER = {"name": "vllm_v1", "max_num_seqs": 32}
LOOKUP = {"lookup": {"name": "roofline_blend", "power": 1.0}}
SPECULATION = {"speculator": {"name": "fixed", "draft_tokens": 2}, "acceptance": {"name": "constant", "rate": 0.5},
               "drafter": {"name": "free", "step_s": 0.001}}
SCENARIOS = {
    "one": {**SERVED, "admission": {"name": "concurrency", "max_concurrency": 50},
            "bucketing": {"name": "pow2", "smallest": 256}, "client": {"name": "cancelling", "share": 0.2},
            "corrections": [{"name": "step_overhead", "overhead_s": 0.001}], "steps": {"name": "roofline_v2"},
            "faults": {"name": "exponential", "mtbf_s": 900}, "mfu": LOOKUP,
            "metrics": {"late": {"name": "ttft_above_frac", "above_s": 2}},
            "router": {"name": "least_outstanding"}, "replicas": 2, "scheduler": SCHEDULER},
    "speculation": {**SERVED, "steps": STEPS, "speculation": SPECULATION},
    "pool": {**SERVED, "tiers": {"policy": {"name": "vllm_cpu", "outputs": True}, "stores": [
        {"name": "cpu", "capacity_bytes": 1e9, "eviction": {"name": "ttl", "ttl_s": 3}}]},
        "replicas": [{"autoscaler": {"name": "hpa", "target": 3}, "max": 2, "mfu": LOOKUP, "steps": STEPS,
                      "scheduler": SCHEDULER, "speculation": SPECULATION}]},
    "split": {**SERVED, "replicas": [{"role": "prefill"}, {"role": "decode"}],
              "disaggregation": {"order": "decode_first", "decider": {"name": "uncached", "uncached_tokens": 10}}},
    "experts": {**SERVED, "model": "qwen3-30b-a3b", "deployment": {"tp": 2, "ep": 2},
                "experts": {"zipf": 0.5, "balancer": {"name": "eplb", "window_size": 500}}},
    "plan": {**SERVED, "kind": "plan", "plan": {
        "load": {"rate_per_s": 5, "peak": 2}, "slo": {"ttft_s_p99": 1}, "gpus": [{1: "h100-sxm", "price_per_hour": 2}],
        "candidates": {"name": "ladder", "split": True}, "objective": {"name": "cost"},
        "power": {"name": "linear", "idle_frac": 0.2}, "strategy": {"name": "halving", "growth": 3},
        "day": {"autoscalers": [{"name": "hpa", "target": 3}]}}},
    "varied": {**SERVED, "vary": {"router": [{"name": "least_outstanding"}, {"name": "round_robin"}],
                                  "corrections": [{"label": "none", "value": []}, {"label": "host", "value": [
                                      {"name": "step_overhead", "overhead_s": 0.001}]}],
                                  "pools": [{"label": "a", "set": {"scheduler": SCHEDULER}}]}},
}


def found(value, parts):
    """What stands at a key path, in the first entry of lists."""
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else value
        value = value[0] if isinstance(value, list) else value
        if value is None:
            return None
    return value


def test_a_policy_with_parameters_stands_at_every_key_that_takes_one(tmp_path):
    for path, folder in FOLDERS.items():
        given = [found(each, path.replace("[]", "").replace("*", "late").split(".")) for each in SCENARIOS.values()]
        given = [each for each in given if isinstance(each, dict) and "name" in each]
        assert given, f"no scenario here has {path}"
        name = given[0]["name"]
        assert any(f'require "{folder}.{name}" {{' in scenario_text(each) for each in SCENARIOS.values()), path
    for name, each in SCENARIOS.items():
        (tmp_path / f"{name}.lua").write_text(scenario_text(each))
        status, out, err = command(["check", str(tmp_path / f"{name}.lua")])
        assert status == 0, f"{name}: {out}{err}"


def test_policies_of_the_current_folder_are_found_and_nothing_is_left_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers/mine.lua").write_text("""
local policy = require "rooflua.policy"
local Mine = policy.define { name = "mine", doc = "Of this test.", params = { to = { default = 0, doc = "Where." } } }
function Mine:route() return self.to end
return Mine
""")
    run = rooflua.run(**SERVED, replicas=2, router={"name": "mine", "to": 2})
    replicas = run.document["variants"][0]["summary"]["replicas"]
    assert sorted(each["completed"] for each in replicas) == [0, 100]
    with pytest.raises(rooflua.Mistake, match="unknown policy of routers 'mime'; did you mean 'mine'"):
        rooflua.run(**SERVED, replicas=2, router={"name": "mime"})
    assert os.listdir(tmp_path) == ["routers"]


def test_users_stand_in_place_of_the_arrivals():
    run = rooflua.run(**SERVED, users=7)
    assert run.document["variants"][0]["summary"]["peak_concurrency"] <= 7
    assert any("7 users send the requests of poisson" in each for each in run.document["variants"][0]["notes"])
