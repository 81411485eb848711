-- Parameters of a scenario have the values that its engine gives them, and the names that the scenario uses.
local test = dofile "tests/scripts/harness.lua"
local declared = require "rooflua.applied.declared"
local opening = require "rooflua.runs.opening"
local Reader = require "rooflua.scenario.reader"
local sensitivity = require "rooflua.explore.sensitivity"
local sampling = require "rooflua.applied.sampling"

local function given(more)
  local out = { model = "llama-3.1-8b", hardware = "l40s",
    engine = { "vllm 0.11", gpu_memory_utilization = 0.9, max_model_len = 16384, max_num_seqs = 64 },
    workload = require "workloads.poisson" { rate_per_s = 2, num_requests = 30, prompt_tokens = 300,
      output_tokens = 20 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local reader = Reader.new "scenario"

local function by_path(scenario)
  local out = {}
  for _, each in ipairs(declared.all(reader, scenario)) do out[each.path] = each end
  return out
end

test("what the scenario leaves open has the engine's value", function()
  test.equal(by_path(given())["scheduler.max_num_batched_tokens"].value, 2048)
  local other = by_path(given { engine = "vllm 0.19", hardware = "h100-sxm" })
  test.equal(other["scheduler.max_num_batched_tokens"].value, 8192)
  test.equal(by_path(given { engine = "vllm 0.11" })["deployment.memory_utilization"].value, 0.9)
end)

test("what it states as an option of the engine has the option's name", function()
  local all = by_path(given())
  test.equal(all["engine.max_num_seqs"].value, 64)
  test.equal(all["engine.max_num_seqs"].about.unit, "requests")
  test.equal(all["engine.gpu_memory_utilization"].value, 0.9)
  for _, path in ipairs { "scheduler.max_num_seqs", "deployment.max_num_seqs", "deployment.memory_utilization",
    "deployment.max_model_len" } do
    test.equal(all[path], nil, path)
  end
end)

test("either name finds it, and an option that is not stated is found by its own", function()
  test.equal(declared.find(reader, given(), "scheduler.max_num_seqs", "params").path, "engine.max_num_seqs")
  test.equal(declared.find(reader, given(), "engine.max_num_seqs", "params").value, 64)
  test.equal(declared.find(reader, given(), "engine.max_num_batched_tokens", "params").value, 2048)
  test.raises("unknown parameter 'engine.max_num_sequences'", function()
    declared.find(reader, given(), "engine.max_num_sequences", "params")
  end)
end)

test("a sensitivity moves options of the engine from the values in force", function()
  local found = sensitivity.run(reader, given(), { metrics = { "tpot_s_p50" },
    params = { "scheduler.max_num_seqs", "engine.gpu_memory_utilization", "engine.max_num_batched_tokens" } }, {})
  local rows = {}
  for _, row in ipairs(found.rows) do rows[row.path] = row end
  test.equal(rows["engine.max_num_seqs"].value, 64)
  test.equal(rows["engine.gpu_memory_utilization"].value, 0.9)
  test.equal(rows["engine.max_num_batched_tokens"].value, 2048)
  test.equal(#found.fixed, 0, found.fixed[1] and found.fixed[1].why)
end)

test("points of a sweep speak of the option", function()
  local points = sampling.points(reader, given { sweep = { method = "random", n = 2,
    params = { ["scheduler.max_num_seqs"] = { 16, 64 } } } })
  test.equal(points[1].changes[1].path, "engine.max_num_seqs")
end)

test("a set of a key that an option states names the option, whichever name the key has", function()
  for _, path in ipairs { "scheduler.max_num_seqs", "deployment.max_num_seqs" } do
    test.raises("the scenario says it as engine.max_num_seqs; change engine.max_num_seqs", function()
      opening.table(given(), { set = { path .. "=32" } })
    end)
  end
  test.raises("the scenario says it as engine.max_num_seqs", function()
    local opened = opening.table(given { vary = { ["scheduler.max_num_seqs"] = { 16, 32 } } })
    opening.variant(opened, 1)
  end)
  test.equal(opening.table(given(), { set = { "engine.max_num_seqs=32" } }).given.engine.max_num_seqs, 32)
end)

test.finish()
