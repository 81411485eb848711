-- What a comparison of settings says: which do not differ, and how often such a direction was right.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local differences = chunks.require "rooflua.explore.differences"
local json = chunks.require "rooflua.json"
local levers = chunks.require "rooflua.intervals.levers"
local side_by_side = chunks.require "rooflua.explore.side_by_side"
local counts = chunks.require "rooflua.intervals.directions"

--- A run with these seconds of E2E; all its metrics follow.
local function run(parameters, seconds)
  local function part(value) return { mean = value, p50 = value, p99 = value } end
  return { name = "x", parameters = parameters, seed = parameters.seed, summary = { e2e_s = part(seconds),
    ttft_s = part(seconds / 10), tpot_s = part(seconds / 100), output_tokens_per_s = 100 / seconds } }
end

local function seats(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = run({ ["engine.max_num_seqs"] = each[1] }, each[2]) end
  return out
end

test("of five settings the two that are equal within noise are named", function()
  local found = differences.of(seats { { 4, 8 }, { 8, 4 }, { 16, 2 }, { 64, 1 }, { 256, 1.02 } })
  test.equal(#found.no_difference, 1)
  test.equal(table.concat(found.no_difference[1], " "), "max_num_seqs=64 max_num_seqs=256")
  test.check(found.text:find("no difference: max_num_seqs=64; max_num_seqs=256", 1, true), found.text)
  test.equal(#differences.of(seats { { 4, 8 }, { 8, 4 }, { 16, 2 }, { 64, 1 }, { 256, 1.04 } }).no_difference, 0)
end)

test("the interval over the seeds decides where there are several", function()
  local function of(a, b)
    local runs = {}
    for seed, value in ipairs(a) do runs[#runs + 1] = run({ ["deployment.tp"] = 1, seed = seed }, value) end
    for seed, value in ipairs(b) do runs[#runs + 1] = run({ ["deployment.tp"] = 2, seed = seed }, value) end
    return #differences.of(runs).no_difference
  end
  test.equal(of({ 1, 1, 1 }, { 1.5, 0.8, 1.0 }), 1, "10 % that the seeds do not hold")
  test.equal(of({ 1, 1, 1 }, { 1.11, 1.1, 1.09 }), 0, "10 % in each seed")
end)

test("a lever says its count, and one that was not measured says so", function()
  local before = counts["sample-lever"]
  counts["sample-lever"] = { right = 5, pairs = 10, size = 0.2 }
  test.equal(levers.of("engine.sample_lever").text, "sample_lever: 5 of 10")
  test.equal(levers.of("engine.no_such_lever").text, "no_such_lever: nobody has measured it")
  test.equal(levers.of "workload.rate_per_s", nil, "a load is no setting of a server")
  local runs = { run({ ["engine.sample_lever"] = 1 }, 1), run({ ["engine.sample_lever"] = 2 }, 1.1) }
  local found = differences.of(runs)
  test.equal(#found.unsure, 1, "10 % where simulated gains were off by 20 %")
  test.check(found.text:find("sample_lever: 5 of 10", 1, true), found.text)
  counts["sample-lever"] = before
end)

test("what is served, asked or drawn is no comparison of settings", function()
  local runs = { run({ model = "a" }, 1), run({ model = "b" }, 2) }
  test.equal(differences.of(runs), nil)
  test.equal(differences.of { runs[1] }, nil)
end)

local program = chunks.require "rooflua.program.scenarios"

local function scenario(more)
  local given = { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.15.1",
    workload = require "workloads.closed_loop" { clients = 8, num_requests = 16, prompt_tokens = 200,
      output_tokens = 20 } }
  for key, value in pairs(more) do given[key] = value end
  return given
end

local function answered(given)
  local opened, results = program.open_table(given), {}
  for i, variant in ipairs(opened.variants) do
    results[i] = program.run(opened.number, i, { document = true })
    results[i].name, results[i].parameters = variant.name, variant.parameters
  end
  return opened, program.report(opened.number, results), results
end

test("a run of five settings says which two are equal, and its own report stays in front", function()
  local vary = { ["engine.max_num_seqs"] = { 1, 2, 4, 64, 256 } }
  local opened, report = answered(scenario { vary = vary })
  test.check(opened.has_report)
  test.check(report.text:find("no difference: max_num_seqs=64; max_num_seqs=256", 1, true), report.text)
  test.equal(#report.rows.no_difference .. report.rows.levers[1].lever, "1max_num_seqs")
  local _, own = answered(scenario { vary = vary, report = function() return "mine" end })
  test.check(own.text:find("^mine\n\nno difference"), own.text)
  test.equal(own.rows, "mine", "the document has the scenario's own")
end)

test("variants behind a label are compared by what they set, and loads are not", function()
  local _, report = answered(scenario { vary = { point = { { label = "a", set = { ["deployment.tp"] = 1 } },
    { label = "b", set = { ["deployment.tp"] = 2 } } } } })
  test.equal(report.rows.levers[1].lever, "tp")
  local opened, own = answered(scenario { vary = { ["workload.clients"] = { 1, 2 } } })
  test.check(not opened.has_report and own.text == "", "a load is no setting of a server")
end)

test("a search says how often its lever was right", function()
  local opened = program.open_table(scenario { kind = "search", search = { goal = "pareto",
    objectives = { "ttft_s_p50", "output_tokens_per_s" }, vary = { ["deployment.tp"] = { 1, 2 } } } })
  local notes = table.concat(program.run(opened.number, 1, {}).notes, "\n")
  test.check(notes:find("of measured pairs: tp: %d+ of %d+"), notes)
end)

test("two results of benchmark tools are compared by their metrics, requests by their place", function()
  local function result(slower)
    return test.file(".json", json.encode { completed = 3, num_prompts = 3, duration = 3, input_lens = { 10, 10, 10 },
      output_lens = { 3, 3, 3 }, ttfts = { 0.1, 0.2, 0.3 * slower }, start_times = { 0, 1, 2 },
      itls = { { 0.01, 0.01 }, { 0.01, 0.01 }, { 0.01 * slower, 0.01 } }, errors = { "", "", "" } })
  end
  local a, b = result(1), result(2)
  local text = side_by_side.of_results { a, b }
  test.has(text, "requests ", "ttft_s_p99 ", "e2e_s of 3 requests in both: 0 faster, 1 slower by more than")
  test.check(text:find "ttft_s_mean +200.0 ms +300.0 ms +%+50.0 %%", text)
  test.equal(side_by_side.of_results { a, test.file(".json", "{}") }, "", "one of them is none")
end)

test("many levers that nobody has measured stand together", function()
  local text = levers.text(levers.list { "deployment.tp", "steps2.a", "steps2.b", "steps2.c" })
  test.check(text:find("a: nobody has measured it; b: nobody has measured it; c: nobody has measured", 1, true), text)
  text = levers.text(levers.list { "steps2.a", "deployment.tp", "steps2.b", "steps2.c", "steps2.d" })
  test.check(text:find "pairs: tp: %d+ of %d+; nobody has measured a, b, c, d$", text)
end)

test("the shipped counts are of pairs", function()
  local some = 0
  for name, own in pairs(counts) do
    test.check(own.right <= own.pairs and own.right >= 0 and own.pairs > 0)
    some = some + own.pairs
  end
  test.check(some > 100, "the measured pairs are in it")
end)

test.finish()
