-- Measured closed loops of deployments: what is read, what is refused, how errors are counted.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.silicon.rows"
local setup = require "rooflua.validate.silicon.setup"
local silicon = require "rooflua.validate.silicon.command"
local statistics = require "rooflua.base.statistics"
local totals = require "rooflua.validate.silicon.totals"

local write, columns = dofile "tests/scripts/closed_loop_file.lua" (test)

local function run(list, more)
  local options = { folder = write(list) }
  for name, value in pairs(more or {}) do options[name] = value end
  return silicon.run(options)
end

local function steps() return policies.of(Reader.new "test", "steps", "kernels") end

local mixtral = { family = "mixtral-8x7b", widths_tp_dp_moetp_moeep = "2,1,1,2" }

local function with(row, more)
  local out = {}
  for name, value in pairs(row) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

-- Reading ------------------------------------------------------------------------------------------------------

test("a file without a column says which one is missing, and what a file has", function()
  for _, name in ipairs { "family", "widths_tp_dp_moetp_moeep", "tpot_ms", "clients", "engine_version" } do
    test.raises(":1: a column is missing: " .. name .. "; a file of measured closed loops has question, family,",
      function() silicon.run { folder = write({ {} }, name) } end)
  end
  local path = test.folder() .. "/other.csv"
  local file = assert(io.open(path, "w"))
  file:write("a,b\n1,2\n")
  file:close()
  test.raises("this is no file of measured cases that is known here: columns are missing: question, family,",
    function() silicon.run { folder = path } end)
  test.raises("has a header and no row", function() silicon.run { folder = write {} } end)
end)

test("a broken row costs that row, and says where and why", function()
  local broken = {
    { { widths_tp_dp_moetp_moeep = "4,1,4,4" }, "tp 4 x dp 1 is not moe_tp 4 x moe_ep 4" },
    { { widths_tp_dp_moetp_moeep = "4,1" }, "expected tp,dp,moe_tp,moe_ep, found '4,1'" },
    { { widths_tp_dp_moetp_moeep = "" }, "expected tp,dp,moe_tp,moe_ep, found ''" },
    { { mode = "pd" }, "mode pd has the widths of prefill;decode" },
    { { mode = "pd", widths_tp_dp_moetp_moeep = "1,1,1,1;1,1,1,1" }, "workers: mode pd has engines for prefill" },
    { { mode = "agg?" }, "expected agg or pd, found 'agg?'" },
    { { clients = 0 }, "clients: expected a whole number above 0" },
    { { isl = "long" }, "isl: expected a whole number above 0" },
    { { osl = 1.5 }, "osl: expected a whole number above 0" },
    { { ttft_ms = "" }, "ttft_ms: expected milliseconds above 0" },
    { { tpot_ms = -3 }, "tpot_ms: expected milliseconds above 0" },
    { { family = "" }, "column 'family' is empty" },
    { { more = ",one,two" }, "the row has 18 columns, the header 16" },
    { { question = "first" }, "question 'first' is that of line 2" },
  }
  local list = { { question = "first" } }
  for i, each in ipairs(broken) do list[i + 1] = each[1] end
  local found = rows.read(write(list))
  test.equal(#found, #broken + 1)
  test.equal(found[1].problem, nil)
  for i, each in ipairs(broken) do
    local problem = tostring(found[i + 1].problem)
    test.check(problem:find((".csv:%d: "):format(i + 2), 1, true), "%d: %s", i, problem)
    test.check(problem:find(each[2], 1, true), "%d: %s", i, problem)
  end
  local out = run(list)
  test.equal(out.ran, 1)
  test.equal(out.document.silicon.coverage.refused["broken row"], #broken)
  test.check(out.text:find("15 questions of", 1, true) and out.text:find("1 scored, 14 not", 1, true), out.text)
end)

test("a deployment is family, system, engine, format and widths; versions and lengths are its questions", function()
  local found = rows.read(write { {}, { engine_version = "0.9", isl = 900 }, { engine = "SGLang" }, { format = "FP8" },
    { widths_tp_dp_moetp_moeep = "2,1,2,1" },
    { mode = "pd", workers = "1P3D", widths_tp_dp_moetp_moeep = "1,4,1,4;8,1,1,8" } })
  test.equal(found[1].key, "llama-3.1-8b|h100_sxm|vllm|bf16|agg:1,1,1,1")
  test.equal(found[2].key, found[1].key)
  test.equal(found[3].key, "llama-3.1-8b|h100_sxm|sglang|bf16|agg:1,1,1,1")
  test.equal(found[6].key, "llama-3.1-8b|h100_sxm|vllm|bf16|pd:1,4,1,4;8,1,1,8")
  test.equal(found[6].prefill.dp, 4)
  test.equal(found[6].decode.ep, 8)
  test.equal(found[6].prefill_engines, 1)
  test.equal(found[6].decode_engines, 3)
  local answers = {}
  for i, question in ipairs(found) do answers[i] = { question = question } end
  test.equal(#totals.deployments(answers), 5)
end)

-- Refusals -----------------------------------------------------------------------------------------------------

test("what cannot be simulated is refused with its reason, and counted", function()
  local out = run { {}, { family = "no-such-model" }, { family = "no-such-model", clients = 4 },
    { mode = "pd", workers = "1P1D", widths_tp_dp_moetp_moeep = "1,1,1,1;2,1,1,2" },
    { engine = "lmdeploy" }, { system = "tpu" },
    { widths_tp_dp_moetp_moeep = "2,1,1,2" } }
  local coverage = out.document.silicon.coverage
  for reason, count in pairs { ["model not shipped: no-such-model"] = 2,
    ["widths: ep of a model without experts"] = 2 } do
    test.equal(coverage.refused[reason], count, reason)
  end
  local unknown = {}
  for reason in pairs(coverage.refused) do unknown[#unknown + 1] = reason:match "^unknown %a+ '[%w]+'" end
  table.sort(unknown)
  test.equal(table.concat(unknown, ", "), "unknown engine 'lmdeploy', unknown system 'tpu'")
  test.near(coverage.questions_frac, 1 / 7, 1e-12)
  test.near(coverage.deployments_frac, 1 / 6, 1e-12)
  test.equal(out.ran, 1)
end)

test("a deployment that does not fit is refused, not an error of the run", function()
  local out = run { { family = "llama-3.1-70b", tpot_ms = 100 }, {} }
  test.equal(out.document.silicon.coverage.refused["does not fit"], 1)
  test.equal(out.ran, 1)
end)

test("attention on DP ranks and whole experts are scored", function()
  local out = run { mixtral, with(mixtral, { widths_tp_dp_moetp_moeep = "1,2,1,2" }) }
  test.equal(out.document.silicon.class.tep.deployments, 1)
  test.equal(out.document.silicon.class.dpa.deployments, 1)
end)

test("an engine version that is empty or has no number takes the newest defaults, with a note", function()
  local out = run { { engine_version = "" }, { engine_version = "nightly-dev" }, { engine_version = "0.12.0" } }
  test.equal(out.ran, 3)
  test.check(out.text:find("1 x engine version not stated: defaults of vllm 0.24", 1, true), out.text)
  test.check(out.text:find("1 x engine version 'nightly-dev': defaults of vllm 0.24", 1, true), out.text)
  test.check(not out.text:find("0.12.0", 1, true), "a known version has a note")
end)

-- Errors -------------------------------------------------------------------------------------------------------

--- The answer to a question whose errors are known.
local function answer(key, tpot, ttft, class)
  return { question = { key = key, engine = "vllm", system = "b200_sxm", format = "fp8" }, class = class or "dense",
    errors = { tpot = tpot, ttft = ttft } }
end

test("a deployment's error is the mean over its questions, and deployments have equal weights", function()
  local of = totals.of { answer("a", 0.1, 1), answer("a", -0.3, -1), answer("b", 0.5, 0.5) }
  test.near(of.tpot.mean_over_deployments, (0.2 + 0.5) / 2, 1e-12)
  test.near(of.tpot.mean, 0.3, 1e-12)
  test.near(of.tpot.median, 0.3, 1e-12)
  test.near(of.tpot.signed_median, 0.1, 1e-12)
  test.near(of.ttft.mean_over_deployments, (1 + 0.5) / 2, 1e-12)
  test.equal(of.tpot.questions, 3)
  test.equal(of.deployments, 2)
end)

test("the document has every member, by class, engine, GPU and format", function()
  local silicon_of = totals.document { answer("a", 0.1, 1), answer("b", -0.5, -0.5, "moe-tp"),
    { question = { key = "c" }, refused = "because" } }
  test.equal(table.concat(core.sorted_keys(silicon_of), " "), "all class coverage engine format gpu")
  test.equal(table.concat(core.sorted_keys(silicon_of.class), " "), "dense dpa moe-tp pd tep")
  test.equal(table.concat(core.sorted_keys(silicon_of.all), " "), "deployments tpot ttft")
  test.equal(table.concat(core.sorted_keys(silicon_of.all.tpot), " "),
    "mean mean_over_deployments median questions signed_median")
  test.equal(silicon_of.class.dense.tpot.mean, 0.1)
  test.equal(silicon_of.class.pd.deployments, 0)
  test.equal(silicon_of.class.pd.tpot.mean, nil)
  test.equal(silicon_of.engine.vllm.deployments, 2)
  test.equal(silicon_of.gpu.b200_sxm.tpot.questions, 2)
  test.equal(silicon_of.format.fp8.deployments, 2)
  test.near(silicon_of.coverage.questions_frac, 2 / 3, 1e-12)
  test.near(silicon_of.coverage.deployments_frac, 2 / 3, 1e-12)
  test.equal(silicon_of.coverage.refused.because, 1)
end)

test("a measurement that is its own simulation has no error; twice as much is an error of half", function()
  local question = rows.read(write { { clients = 3 } })[1]
  local figures = setup.answer(question, steps(), setup.options).simulated
  local out = run { { clients = 3, ttft_ms = ("%.12g"):format(figures.ttft_mean * 1e3),
    tpot_ms = ("%.12g"):format(figures.tpot_mean * 1e3) } }
  test.check(out.document.silicon.all.tpot.mean < 1e-9 and out.document.silicon.all.ttft.mean < 1e-9, out.text)
  out = run { { clients = 3, ttft_ms = ("%.12g"):format(figures.ttft_mean * 2000),
    tpot_ms = ("%.12g"):format(figures.tpot_mean * 2000) } }
  test.near(out.document.silicon.all.tpot.signed_median, -0.5, 1e-9)
  test.near(out.document.silicon.all.ttft.signed_median, -0.5, 1e-9)
end)

-- Options ----------------------------------------------------------------------------------------------------------

test("options that mean nothing here are errors, and settings of the run are checked", function()
  for part, more in pairs {
    ["--intervals: intervals of closed loops are those of the step model kernels"] =
      { intervals = 2, set = { "host_step_s=0.05" } },
    ["--html: measured closed loops have no page"] = { page = true },
    ["--tables: measured closed loops use the shipped tables"] = { tables = "somewhere" },
    ["--steps: measured closed loops are compared with one step model"] = { steps = { "kernels", "roofline_v1" } },
    ["unknown setting 'sedes'"] = { set = { "silicon.sedes=3" } },
    ["expected a whole number, 1 or more"] = { set = { "silicon.seeds=0" } },
    ["expected mean or median"] = { set = { "silicon.statistic=mode" } },
    ["expected key=value"] = { set = { "silicon.seeds" } },
    ["no question of 1 has 'x-y'"] = { only = "x-y" } } do
    test.raises(part, function() run({ {} }, more) end)
  end
end)

test("settings of the run reach it: seeds, requests, the engine's and the step model's", function()
  local base = run({ { clients = 4 } }).document
  test.equal(base.settings.requests_per_client, 0)
  for _, set in ipairs { "silicon.seed=7", "silicon.requests_per_client=3", "silicon.seats=1", "silicon.frontend_s=1",
    "silicon.statistic=median", "silicon.async_depth=1", "host_step_s=0.05" } do
    local other = run({ { clients = 4 } }, { set = { set } }).document
    test.check(other.silicon.all.ttft.mean ~= base.silicon.all.ttft.mean
      or other.silicon.all.tpot.mean ~= base.silicon.all.tpot.mean, "%s changes nothing", set)
  end
  local found = {}
  for seed = 0, 2 do
    found[seed + 1] = run({ { clients = 4 } }, { set = { "silicon.seed=" .. seed }, wide = true }).document.questions[1]
  end
  local mean = run({ { clients = 4 } }, { set = { "silicon.seeds=3" }, wide = true }).document.questions[1]
  local ttfts = {}
  for i, each in ipairs(found) do ttfts[i] = each.simulated.ttft_mean end
  test.near(mean.simulated.ttft_mean, statistics.mean(ttfts), 1e-12)
end)

test("the same file gives the same document, and rows stand in it only if they are asked for", function()
  local json = require "rooflua.json"
  local list = { { clients = 3 }, { engine = "sglang" }, { family = "nothing" } }
  local path = write(list)
  local one, two = silicon.run { folder = path }, silicon.run { folder = path }
  test.equal(json.encode(one.document), json.encode(two.document))
  test.equal(one.text, two.text)
  test.equal(one.document.questions, nil)
  local wide = silicon.run { folder = path, wide = true }
  test.equal(#wide.document.questions, 3)
  test.equal(wide.document.questions[3].refused, "model not shipped: nothing")
  test.check(wide.text:find("Settings of engines", 1, true), "settings are not told")
  test.equal(#columns, 16)
end)

test("the measured closed loops of 2026: 121 deployments, 1,402 questions, every row readable", function()
  local found, answers = rows.read(test.shared "truth/silicon/develop.csv"), {}
  for i, question in ipairs(found) do
    test.equal(question.problem, nil)
    answers[i] = { question = question }
  end
  test.equal(#found, 1402)
  test.equal(#totals.deployments(answers), 121)
end)

test("rows that no engine on these GPUs can have measured are refused", function()
  --- 8 billion weights of 16 bits and 3.35 TB/s: 4.5 ms a step at least. 100,000 tokens a second are 1.6 Pflop/s.
  local list = run { {}, { tpot_ms = 3 }, { clients = 1000, isl = 2000, ttft_ms = 5000, tpot_ms = 100 } }
  local refused = list.document.silicon.coverage.refused
  test.equal(refused["faster than the GPUs"], 2)
  test.near(list.document.silicon.coverage.questions_frac, 1 / 3, 1e-12)
end)

test.finish()
