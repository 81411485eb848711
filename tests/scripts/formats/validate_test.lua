-- `rooflua validate` takes the files of other benchmark tools: single requests where a file has them, else its figures.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local validate = require "rooflua.validate.command"

local measured_folder = dofile "tests/scripts/validate/measured_folder.lua"
local folder, write, write_cases = measured_folder(test, { rating = "B", dataset = "own",
  model = "llama-3.1-8b", gpu = "H200", tp = 1, precision = "bf16", engine = "vLLM 0.15.1",
  workload = "max_num_seqs 128", metrics = "per request", measured = "see file" })

local names = { aiperf = "aiperf_profile_export.jsonl", guidellm = "guidellm.json",
  perf = "inference_perf_stage_0.json", requests = "inference_perf_per_request.json",
  llm_d = "llm_d_report.json", inferencex = "inferencex_agg.json",
  otlp = "otlp_spans.jsonl" }
for _, name in pairs(names) do write(name, native.read_file("tests/fixtures/formats/" .. name)) end

local function run()
  local out = {}
  for _, case in ipairs(validate.run { folder = folder, steps = { "kernels" }, only = "" }.document.cases) do
    out[case.case_id] = case
  end
  return out
end

test("each format is a case: its figures are compared, of requests one by one or of totals", function()
  local list = {}
  for id, name in pairs(names) do list[#list + 1] = { id = id, file = name } end
  list[#list + 1] = { id = "second", file = names.guidellm, selector = "run=2" }
  for _, each in ipairs(list) do
    if each.id == "guidellm" then each.selector = "run=1" end
    if each.id == "inferencex" then each.tp = 2 end
  end
  write_cases(list)
  local found = run()
  for _, each in ipairs(list) do
    local case = found[each.id]
    test.check(not case.problem, "%s: %s", each.id, tostring(case.problem))
    for _, metric in ipairs { "ttft_mean", "tpot_mean" } do
      test.check(type((case.errors or {})[metric]) == "number", "%s: no error of %s", each.id, metric)
    end
  end
  for _, id in ipairs { "inferencex", "llm_d", "perf", "second" } do
    test.check(found[id].errors.throughput, "%s: no throughput", id)
  end
  test.check(found.inferencex.errors.throughput > -0.95 and found.inferencex.errors.throughput < 10,
    "the throughput of all GPUs: %g", found.inferencex.errors.throughput)
end)

test("a scrape of a server is a case of totals, whose load the case or the file states", function()
  local both = native.read_file "tests/fixtures/formats/vllm_metrics_before.txt"
    .. native.read_file "tests/fixtures/formats/vllm_metrics_after.txt"
  write("scrape.txt", both)
  write("scrape.prom", both .. "# rooflua clients 2\n")
  write("words.txt", "hello\n")
  write_cases { { id = "stated", file = "scrape.txt", workload = "max_num_seqs 128; closed loop c=2" },
    { id = "own", file = "scrape.prom" }, { id = "words", file = "words.txt" } }
  local found = run()
  for _, id in ipairs { "stated", "own" } do
    test.check(not found[id].problem, "%s: %s", id, tostring(found[id].problem))
    for _, metric in ipairs { "ttft_mean", "tpot_mean", "e2e_mean" } do
      test.check(type((found[id].errors or {})[metric]) == "number", "%s: no error of %s", id, metric)
    end
  end
  test.near(found.own.errors.ttft_mean, found.stated.errors.ttft_mean, 1e-9)
  test.check(tostring(found.words.problem):find("words.txt: is no file of a known tool (vllm bench serve", 1, true),
    tostring(found.words.problem))
end)

test("several runs want run=N, and a case may not state other clients than its file", function()
  write_cases { { id = "which", file = names.guidellm }, { id = "no", file = names.guidellm, selector = "run=3" },
    { id = "clients", file = names.inferencex, workload = "closed loop c=4", tp = 2 } }
  local found = run()
  local function says(id, part)
    local problem = tostring(found[id].problem)
    test.check(problem:find(part, 1, true), "%s: %s", id, problem)
  end
  says("which", "has 2 runs; expected run=1 to run=2, found ''")
  says("no", "expected run=1 to run=2, found '3'")
  says("clients", "workload: closed loop c=4, but")
end)

test("a result in place of a set is refused, and where it belongs is said", function()
  local path = folder .. "/" .. names.guidellm
  test.raises("guidellm.json: is JSON, and sets of measured runs are CSVs; a result of a benchmark is the `file` of a",
    function() validate.run { folder = path, steps = { "kernels" }, only = "" } end)
end)

test.finish()
