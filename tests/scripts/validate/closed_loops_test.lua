-- Measured closed loops from the file to the report: what runs, what does not, options, the document, the text. The
-- parts have tests of their own (closed_loops_*_test.lua).
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local statistics = require "rooflua.base.statistics"
local validate = require "rooflua.validate.command"

local write = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

local function run_file(path, more)
  local options = { folder = path }
  for name, value in pairs(more or {}) do options[name] = value end
  return validate.run(options)
end

local function run(list, more, about) return run_file(write(list, about), more) end

local has = test.has

-- Coverage ---------------------------------------------------------------------------------------------------------

test("what cannot be simulated is counted by its reason, and costs only its question", function()
  local out = run { {}, { family = "no-such-model" }, { family = "no-such-model", clients = 4 },
    { engine = "lmdeploy" }, { system = "tpu" }, { widths = "2,1,2" }, { format = "fp6" },
    { family = "llama-3.1-70b", tpot_ms = 100 },
    { isl = 5000, options = "max_model_len=4000" }, { widths = "oops" } }
  local coverage = out.document.silicon.coverage
  test.equal(out.ran, 1)
  test.equal(coverage.questions, 10)
  test.near(coverage.questions_frac, 1 / 10, 1e-12)
  test.equal(coverage.refused["model not known"], 2)
  test.equal(coverage.refused["system not known"], 1)
  test.equal(coverage.refused["does not fit"], 1)
  test.equal(coverage.refused["a request is refused"], 1)
  test.equal(coverage.refused["broken row"], 1)
  test.equal(coverage.refused["widths: ep of a model without experts"], 1)
  test.equal(coverage.refused["unknown engine 'lmdeploy'"], 1)
  test.equal(coverage.refused["format: unknown format 'fp6'"], 1)
  local sum = 0
  for reason, count in pairs(coverage.refused) do
    test.check(not reason:find("%.%a+:%d"), "a place in a file: %s", reason)
    sum = sum + count
  end
  test.equal(sum, 9)
  has(out.text, "10 questions of")
  has(out.text, "1 scored, 9 not")
  has(out.text, "lmdeploy")
end)

test("an option that is none costs no question; the report says so", function()
  local out = run { { options = "max_num_sequences=3" } }
  test.equal(out.ran, 1)
  has(out.text, "1 x not read: max_num_sequences: vLLM has no such flag")
end)

test("rows that the file does not score are left out, and said", function()
  local out = run({ {}, { scored = "no", scored_why = "images" }, { scored = "no" } }, { wide = true },
    { older = true })
  local coverage = out.document.silicon.coverage
  test.equal(coverage.questions .. " " .. coverage.left_out, "1 2")
  test.equal(out.document.questions[2].left_out, "images")
  test.equal(out.document.questions[3].left_out, "the file does not score it")
  has(out.text, "1 questions of 1 deployments, 1 scored, 0 not, 2 that the file does not score")
end)

-- Errors -----------------------------------------------------------------------------------------------------------

test("a measurement that is its own simulation has no error; twice as much is an error of half", function()
  local simulated = run({ { clients = 3 } }, { wide = true }).document.questions[1].simulated
  local function all(factor)
    return run({ { clients = 3, ttft_ms = ("%.12g"):format(simulated.ttft_mean * factor * 1e3),
      tpot_ms = ("%.12g"):format(simulated.tpot_mean * factor * 1e3) } }).document.silicon.all
  end
  local same, half = all(1), all(2)
  for _, metric in ipairs { "tpot", "ttft", "e2e", "tokens_per_s_per_gpu" } do
    test.check(math.abs(same[metric].mean) < 1e-9, metric)
    test.near(half[metric].signed_median, metric == "tokens_per_s_per_gpu" and 1 or -0.5, 1e-9, metric)
  end
end)

test("the end of an answer counts the mean length that was asked for, on both sides", function()
  local row = { osl = 100, client = "requests=4 a client; lengths=[0.5 L, L]" }
  local one = run({ row }, { wide = true }).document.questions[1]
  local function end_s(ttft, tpot) return ttft + 74 * tpot end   -- 75 tokens in the mean
  test.near(one.errors.e2e + 1, end_s(one.simulated.ttft_mean, one.simulated.tpot_mean) / end_s(0.02, 0.008), 1e-9)
end)

-- Options ----------------------------------------------------------------------------------------------------------

test("options of the run are checked", function()
  for part, more in pairs {
    ["--intervals: intervals of closed loops are those of the step model kernels"] =
      { intervals = 2, set = { "host_step_s=0.05" } },
    ["--html: measured closed loops have no page"] = { page = true },
    ["--tables: measured closed loops use the shipped tables"] = { tables = "somewhere" },
    ["--steps"] = { steps = { "kernels", "roofline_v1" } },
    ["unknown setting 'sedes'"] = { set = { "silicon.sedes=3" } },
    ["expected a whole number, 1 or more"] = { set = { "silicon.seeds=0" } },
    ["expected a whole number, 0 or more"] = { set = { "silicon.seed=0.5" } },
    ["expected mean or median"] = { set = { "silicon.statistic=mode" } },
    ["expected key=value"] = { set = { "silicon.seeds" } },
    ["no question of 1 has 'x-y' in its id or deployment"] = { only = "x-y" } } do
    test.raises(part, function() run({ {} }, more) end)
  end
end)

test("settings of the run reach it", function()
  local path = write { { clients = 4, client = "requests=5 a client; lengths=[0.8 L, L]" } }
  local base = run_file(path).document
  test.equal(base.settings.requests_per_client .. " " .. base.settings.seeds .. " " .. base.settings.statistic,
    "0 1 mean")
  for _, set in ipairs { "silicon.seed=7", "silicon.requests_per_client=3", "silicon.statistic=median",
    "host_step_s=0.05" } do
    local other = run_file(path, { set = { set } }).document
    test.check(other.silicon.all.ttft.mean ~= base.silicon.all.ttft.mean
      or other.silicon.all.tpot.mean ~= base.silicon.all.tpot.mean, "%s changes nothing", set)
  end
  local ttfts = {}
  for seed = 0, 2 do
    local one = run_file(path, { set = { "silicon.seed=" .. seed }, wide = true }).document.questions[1]
    ttfts[#ttfts + 1] = one.simulated.ttft_mean
  end
  local mean = run_file(path, { set = { "silicon.seeds=3" }, wide = true }).document.questions[1]
  test.near(mean.simulated.ttft_mean, statistics.mean(ttfts), 1e-12)
end)

test("--only takes a question by its id or its deployment", function()
  local list = { { question = "one" }, { question = "two", engine = "sglang", engine_version = "0.5.9" } }
  test.equal(run(list, { only = "two" }).document.silicon.coverage.questions, 1)
  test.equal(run(list, { only = "|sglang|" }).document.silicon.engine.sglang.deployments, 1)
end)

-- The document and the report --------------------------------------------------------------------------------------

test("the member has the name that file or folder begins with", function()
  local path = write({ {} }, { name = "cookbook_2026.csv" })
  test.check(run_file(path).document.cookbook, "by the file")
  local folder = test.folder() .. "/amd"
  assert(os.execute(("mkdir -p %s && cp %s %s/develop.csv"):format(folder, write { {} }, folder)) == 0)
  local document = run_file(folder).document
  test.equal(document.amd.coverage.questions, 1)
  test.equal(document.silicon, nil)
  test.check(run({ {} }).document.silicon, "else silicon")
end)

test("questions.csv with its options replaces other files of its folder", function()
  local path = write({ {} }, { name = "questions.csv" })
  local folder = path:match "^(.*)/"
  assert(os.execute(("cp %s %s/develop.csv"):format(write({ {}, {} }, { older = true }), folder)) == 0)
  local document = run_file(folder).document
  test.equal(document.silicon.coverage.questions, 1)
  test.equal(document.passed_over[1].why, "questions.csv beside it replaces it")
end)

test("the same file gives the same document; questions stand in it only if they are asked for", function()
  local path = write { { clients = 3 }, { engine = "sglang", engine_version = "0.5.9" }, { family = "nothing" } }
  local one, two = run_file(path), run_file(path)
  test.equal(json.encode(one.document), json.encode(two.document))
  test.equal(one.text, two.text)
  test.equal(one.document.questions, nil)
  local wide = run_file(path, { wide = true }).document
  test.equal(#wide.questions, 3)
  test.equal(wide.questions[3].refused, "model not known")
  local first = wide.questions[1]
  test.equal(first.deployment .. " " .. first.class .. " " .. first.config .. " " .. first.clients,
    "llama-3.1-8b|h100_sxm|vllm|bf16|agg:1,1,1 dense none 3")
  test.equal(json.encode(wide.silicon), json.encode(one.document.silicon))
end)

test("what was assumed is counted in the text and stands with its question", function()
  local list = { { config = "none" }, { config = "none" }, { config = "exact" } }
  local out = run(list, { wide = true })
  has(out.text, "2 x settings not stated: defaults of the release")
  has(out.text, "3 x the client is not described")
  test.equal(#out.document.questions[3].notes, 1)
end)

test("a question of split engines and one with ranks of attention are scored in their classes", function()
  local mixtral = { family = "mixtral-8x7b", widths = "1,2,2" }
  local document = run { { mode = "pd", widths = "P:1,1,1 D:1,1,1", workers = "P:1 D:2" }, mixtral,
    { family = "mixtral-8x7b", widths = "2,1,2" } }.document.silicon
  for _, class in ipairs { "pd", "dpa", "tep" } do test.equal(document.class[class].deployments, 1, class) end
end)

test("ranks of one engine share the clients, by the router of their engine, and step together", function()
  for engine, version in pairs { vllm = "0.15.1", sglang = "0.5.9", trtllm = "1.2.0rc2" } do
    local out = run({ { family = "mixtral-8x7b", widths = "1,2,2", engine = engine, engine_version = version } })
    test.equal(out.ran, 1, engine .. ": " .. out.text)
    test.equal(out.document.silicon.engine[engine].deployments, 1)
  end
end)

-- The measured closed loops that are public ------------------------------------------------------------------------

test("every public question can be read, and a few of each engine are near their measurements", function()
  local path = test.shared "truth/silicon/questions.csv"
  local rows = require("rooflua.validate.closed_loops.rows").read(path)
  test.equal(#rows, 1405)
  for _, question in ipairs(rows) do test.equal(question.problem, nil) end
  for _, id in ipairs { "9f120a61d902", "5df01bb5da3a", "d40fb60a9b32" } do
    local out = run_file(path, { only = id, wide = true })
    test.equal(out.ran, 1, out.text)
    local one = out.document.questions[1]
    test.check(math.abs(one.errors.tpot) < 0.25, "%s: %+.1f %%", one.deployment, one.errors.tpot * 100)
  end
end)

test("all rows of the cookbook and of AMD's GPUs can be read", function()
  for _, name in ipairs { "cookbook", "amd" } do
    local path = test.shared("truth/" .. name .. "/develop.csv")
    for _, question in ipairs(require("rooflua.validate.closed_loops.rows").read(path)) do
      -- One row of AMD's has no TPOT.
      test.check(not question.problem or question.problem:find("tpot_ms: expected milliseconds above 0, found nil",
        1, true), tostring(question.problem))
    end
  end
end)

test.finish()
