-- Results in the formats of other tools: what is written is read again as the same figures, with no key that the
-- schema of the format forbids.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local measured = require "rooflua.formats.measured_runs"
local written = require "rooflua.writers.formats"
local serve = require "rooflua.serve"

local summary = serve.run { model = "llama-3.1-8b", hardware = "h200", seed = 3,
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 40, prompt_tokens = 300,
    output_tokens = 20 } }.summary
local variant = { name = "rate 8", parameters = { ["workload.rate_per_s"] = 8 }, summary = summary }
local facts = { uid = "0123456789abcdef", build = "0.1.0", scenario = "a.lua", title = "A title", seed = 3 }

test("an llm-d report is read again as the same figures, and says that it is simulated", function()
  local report = written.document("llm-d", variant, facts)
  local run = measured.read(test.file(".json", json.encode(report)))
  test.equal(#run.requests, 40)
  test.equal(run.failed, 0)
  for metric, path in pairs { ttft_s_mean = { "ttft_s", "mean" }, ttft_s_p50 = { "ttft_s", "p50" },
    tpot_s_mean = { "tpot_s", "mean" }, e2e_s_mean = { "e2e_s", "mean" } } do
    test.equal(run.metrics[metric], summary[path[1]][path[2]], metric)
  end
  test.equal(run.how, "at 8 requests/s, burstiness 1")
  test.equal(run.notes[1], "is a simulated run, written by rooflua")
  test.equal(report.run.uid, facts.uid)
end)

test("an llm-d report reads no more of a variant than it says", function()
  local reads, kept = written.reads "llm-d", { name = variant.name, summary = {} }
  for key, inside in pairs(reads) do
    if inside == true then kept[key] = variant[key] end
    for name in pairs(inside == true and {} or inside) do
      test.check(variant[key][name] ~= nil, "%s.%s is in no result", key, name)
      kept[key][name] = variant[key][name]
    end
  end
  local whole = written.document("llm-d", variant, facts)
  test.equal(json.encode(written.document("llm-d", kept, facts)), json.encode(whole))
end)

--- Keys that schema_v0_2.py of llm-d has, for what rooflua writes. It forbids all others.
local allowed = {
  [""] = "version run scenario results", run = "uid eid cid pid time user description keywords",
  ["run.time"] = "start end duration", scenario = "stack load", ["scenario.load"] = "metadata standardized native",
  ["scenario.load.metadata"] = "schema_version cfg_id description",
  ["scenario.load.standardized"] = "tool tool_version parallelism source stage input_seq_len output_seq_len prefix "
    .. "multi_turn rate_qps concurrency", ["scenario.load.standardized.input_seq_len"] = "distribution value",
  ["scenario.stack.1"] = "metadata standardized native",
  ["scenario.stack.1.metadata"] = "schema_version label cfg_id description",
  ["scenario.stack.1.native"] = "args envars config",
  results = "request_performance", ["results.request_performance"] = "aggregate time_series",
  ["results.request_performance.aggregate"] = "requests throughput latency",
  ["results.request_performance.aggregate.requests"] = "total failures incomplete input_length output_length",
  ["results.request_performance.aggregate.throughput"] = "input_token_rate output_token_rate total_token_rate "
    .. "request_rate",
  ["results.request_performance.aggregate.latency"] = "time_to_first_token normalized_time_per_output_token "
    .. "time_per_output_token inter_token_latency request_latency",
  ["results.request_performance.aggregate.latency.request_latency"] = "units mean mode stddev min p0p1 p1 p5 p10 p25 "
    .. "p50 p75 p90 p95 p99 p99p9 max",
}

test("an llm-d report has no key that its schema forbids", function()
  local report, seen = json.decode(json.encode(written.document("llm-d", variant, facts))), 0
  for path, names in pairs(allowed) do
    local found = report
    for part in path:gmatch "[^.]+" do found = found[tonumber(part) or part] end
    for key in pairs(found) do
      test.check((" " .. names .. " "):find(" " .. key .. " ", 1, true), "%s has the key '%s'", path, key)
      seen = seen + 1
    end
  end
  test.at_least(seen, 40)
end)

test("an unknown format, and a result without requests, are refused", function()
  test.raises("--write: unknown format 'llmd'", function() written.document("llmd", variant, facts) end)
  test.raises("which has requests", function() written.document("llm-d", { summary = { time_s = 1 } }, facts) end)
end)

test.finish()
