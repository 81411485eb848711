-- Reading the rows of cases.csv: number formats, words of a workload, engine steps. An error in a row affects that
-- case and no other.
local test = dofile "tests/scripts/harness.lua"
local cases = require "rooflua.validate.cases"
local engines = require "rooflua.validate.engines"
local precision = require "rooflua.validate.precision"
local spec = require "rooflua.spec"
local validate = require "rooflua.validate.command"
local words = require "rooflua.validate.words"

local loop = "closed loop c=4 in=200 out=20"
local measured_folder = dofile "tests/scripts/validate/measured_folder.lua"
local folder, write, write_cases = measured_folder(test, { rating = "C", dataset = "own",
  file = "rows.csv", model = "llama-3.1-8b", gpu = "H100", tp = 1, precision = "bf16", engine = "vLLM 0.15.1",
  workload = loop, metrics = "x", measured = "e2e_ms=400" })

write("rows.csv", "a,b\n1,2\n")

--- The cases of a validation by id.
local function run(only)
  local out = {}
  for _, case in ipairs(validate.run { folder = folder, steps = { "kernels" }, only = only }.document.cases) do
    out[case.case_id] = case
  end
  return out
end

local function says(case, part)
  test.check(case and case.problem and case.problem:find(part, 1, true), "expected '%s', found '%s'", part,
    case and tostring(case.problem) or "no case")
end

-- Number formats ---------------------------------------------------------------------------------------------

test("a precision is that of the simulated deployment: weights, and keys and values where it says so", function()
  write_cases { { id = "bf16" }, { id = "fp16", precision = "FP16 (dummy weights)" }, { id = "fp8", precision = "fp8" },
    { id = "kv", precision = "fp8, kv fp8", workload = "closed loop c=4 in=20000 out=20" },
    { id = "long", precision = "fp8", workload = "closed loop c=4 in=20000 out=20" },
    { id = "int4", precision = "int4" }, { id = "none", precision = "" } }
  local found = run()
  for id, case in pairs(found) do test.check(not case.problem, "%s: %s", id, tostring(case.problem)) end
  local function e2e(id) return found[id].errors.e2e_mean end
  test.equal(e2e "fp16", e2e "bf16")
  test.equal(e2e "none", e2e "bf16")
  test.check(e2e "fp8" < e2e "bf16" - 0.01, "fp8 is no faster than bf16: %g, %g", e2e "fp8", e2e "bf16")
  test.check(e2e "int4" < e2e "fp8" - 0.01, "int4 is no faster than fp8: %g, %g", e2e "int4", e2e "fp8")
  -- Measured prefill with an FP8 cache is slower, decode faster: only that it is another price is held here.
  test.check(math.abs(e2e "kv" - e2e "long") > 0.01, "a KV cache of fp8 costs as much: %g, %g", e2e "kv", e2e "long")
  test.equal(found.bf16.group, found.fp16.group)
  test.check(found.fp8.group:find "vLLM fp8 on" ~= nil, found.fp8.group)
  test.check(found.kv.group:find "vLLM fp8 kv fp8 on" ~= nil, found.kv.group)
end)

test("weights of 8 bit fit where 16 bit do not, of engine steps too; an unknown format is refused", function()
  local big = "llama-3.1-70b"
  write("steps.csv", "cycle_us,decode_reqs,prefill_reqs,prefill_tokens\n9000,8,0,0\n")
  write_cases { { id = "bf16", model = big, gpu = "H200" },
    { id = "fp8", model = big, gpu = "H200", precision = "fp8" },
    { id = "steps", model = big, gpu = "H200", precision = "fp8", file = "steps.csv", rating = "A",
      workload = "in=500 out=100" },
    { id = "wrong", precision = "fp99" }, { id = "twice", precision = "fp8 int4" } }
  local found = run()
  says(found.bf16, "does not fit")
  test.check(found.fp8.errors.e2e_mean ~= nil, "fp8: %s", tostring(found.fp8.problem))
  test.check(found.steps.errors.step_time ~= nil, "steps: %s", tostring(found.steps.problem))
  says(found.wrong, "cases.csv:5: precision: unknown dtype 'fp99'; did you mean")
  says(found.wrong, "(known: fp32, bf16, fp16, fp8, int8, fp4, int4, fp8_block, ")
  says(found.twice, "cases.csv:6: precision: expected one format, and 'kv FORMAT' after it")
  local weights, kv = precision.read("fp8 kv_cache_dtype=fp8_e4m3", "here")
  test.equal(weights .. kv, "fp8fp8")
end)

-- Words ------------------------------------------------------------------------------------------------------

test("known words are read in any order and case, with =, : or a space", function()
  local found = words.read("Chat, POISSON 2.5 rps 600 s in=547+~28 out~248.5; --max-num-seqs 128, mbt: 8192; "
    .. "kv_blocks=7.", "here")
  test.equal(found.rate_per_s, 2.5)
  test.equal(found.duration_s, 600)
  test.equal(found.prompt_tokens, 575)
  test.equal(found.output_tokens, 248.5)
  test.equal(found.max_num_seqs, 128)
  test.equal(found.max_num_batched_tokens, 8192)
  test.equal(found.kv_blocks, 7)
  test.equal(words.read("static batch 16 isl=128 osl=4", "here").batch, 16)
  test.equal(words.read("closed loop c=8, shared_prefix 1024", "here").clients, 8)
end)

test("prose stays prose", function()
  for _, text in ipairs { "658 exact consecutive engine steps (decode_reqs, prefill_tokens, kv blocks -> cycle_us)",
    "300 ShareGPT requests ~10 rps, exact lengths and arrivals", "codegen rates 5|10 rps x 600|600 s",
    "in: 500 users; out of 5; met 3 people", "llama-3 8 requests on 4 GPUs", "Poisson arrivals, prefix_caching as ever",
    "a static batch, then a closed loop" } do
    test.equal(next(words.read(text, "here")), nil, text)
  end
end)

test("what looks like a setting and is none is an error that says what would be right", function()
  for text, part in pairs {
    ["max_num_seqs abc"] = "here: max_num_seqs: expected a whole number above 0, found 'abc'",
    ["max_num_seqs"] = "found none", ["mbt 2.5"] = "mbt: expected a whole number above 0, found '2.5'",
    ["kv_blocks 0"] = "found '0'", ["in=many"] = "in: expected a number above 0, found 'many'",
    ["max_num_seq 1"] = "unknown setting 'max_num_seq'; did you mean 'max_num_seqs'?",
    ["kv_blockz seven"] = "did you mean 'kv_blocks'?", ["mbtt 2048"] = "did you mean 'mbt', ",
    ["Poison 2 rps 30 s"] = "did you mean 'poisson'?", ["concurrency=8"] = "unknown setting 'concurrency'",
    ["prefix_caching 1"] = "unknown setting 'prefix_caching'",
    ["mbt 2048, mbt 4096"] = "stated twice, as 2048 and as 4096",
    ["Poisson 8 req/s"] = "expected 'Poisson R rps D s'", ["c=4 in=5 out=6"] = "expected 'closed loop c=4'",
    ["static batch 0"] = "static batch: expected a whole number above 0" } do
    test.raises(part, function() words.read(text, "here") end)
  end
end)

-- Rows -------------------------------------------------------------------------------------------------------

test("what is wrong with a row costs that case and no other", function()
  write_cases { { id = "good" }, { id = "empty", workload = "" }, { id = "tp", tp = "many" },
    { id = "word", workload = loop .. " max_num_seqs abc" }, { id = "figure", measured = "e2e=400" } }
  local found = run()
  test.check(found.good.errors.e2e_mean ~= nil, tostring(found.good.problem))
  says(found.empty, "cases.csv:3: column 'workload' is empty")
  says(found.tp, "cases.csv:4: tp: expected a whole number above 0, found 'many'")
  says(found.word, "cases.csv:5: workload: max_num_seqs: expected a whole number above 0, found 'abc'")
  says(found.figure, "cases.csv:6: nothing to compare")
  test.check(run("good").good.errors.e2e_mean ~= nil, "alone it does not run")
end)

test("engine steps of one's own need nothing but their row and their file", function()
  write("steps.csv", "cycle_us,decode_reqs,prefill_reqs,prefill_tokens,kind\n9000,8,0,0,a\n12000,8,1,500,b\n")
  write_cases { { id = "all", file = "steps.csv", rating = "A", workload = "in=500 out=100" },
    { id = "one", file = "steps.csv", rating = "A", workload = "in=500 out=100", selector = "kind=b" },
    { id = "tp", file = "steps.csv", rating = "A", workload = "in=500 out=100", tp = 2 },
    { id = "longer", file = "steps.csv", rating = "A", workload = "in=50000 out=100" },
    { id = "unstated", file = "steps.csv", rating = "A", workload = "my steps" },
    { id = "wrong", file = "broken.csv", rating = "A", workload = "in=500 out=100" } }
  write("broken.csv", "cycle_us,decode_reqs,prefill_reqs,prefill_tokens\n9000,8,0,0\n9000,8,,0\n")
  local found = run()
  for _, id in ipairs { "all", "one", "tp", "longer" } do
    test.check(found[id].errors.step_time ~= nil, "%s: %s", id, tostring(found[id].problem))
  end
  test.check(found.tp.errors.step_time < found.all.errors.step_time - 0.1, "tp of the row does not count")
  test.check(found.longer.errors.step_time > found.all.errors.step_time + 0.1, "lengths of the row do not count")
  test.check(found.one.errors.step_time ~= found.all.errors.step_time, "the selector does not count")
  test.check(found.all.group:find "engine steps" ~= nil, found.all.group)
  says(found.unstated, "cases.csv:6: workload: mean prompt and output lengths of these steps are not stated")
  says(found.wrong, "broken.csv:3: column 'prefill_reqs': expected a whole number, 0 or more")
end)

test("a file of requests says which of its lines and columns is wrong", function()
  local header, good = "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n", "1,200,20,0.1,0.9\n"
  local wrong = {
    negative = { header .. "1,200,20,-0.1,0.9\n", "negative.csv:2: column 'ttft_s': expected 0 or more, found -0.1" },
    text = { header .. good .. "2,nan,20,0.1,0.9\n", "text.csv:3: column 'prompt_tokens': expected a number" },
    short = { header .. good .. "2,200,20\n", "short.csv:3: column 'e2e_s': expected a number, found nothing" },
    backwards = { header .. "1,200,20,0.9,0.1\n", "backwards.csv:2: column 'e2e_s': 0.1 is before the first token" },
    column = { "arrival_s,prompt_tokens,output_tokens,ttfts_s,e2e_s\n1,200,20,0.1,0.9\n",
      "column.csv: has no column for ttft_s" },
    header = { header, "header.csv: no rows" }, empty = { "", "empty.csv: no rows" },
  }
  local list = {}
  for name, each in pairs(wrong) do
    write(name .. ".csv", each[1])
    list[#list + 1] = { id = name, file = name .. ".csv", workload = "x", rating = "B" }
  end
  write("list.json", "[1, 2]")
  write("totals.json", '{"mean_ttft_ms": 4}')
  for _, name in ipairs { "list", "totals" } do
    list[#list + 1] = { id = name, file = name .. ".json", workload = "x", rating = "B" }
    wrong[name] = { "", name == "list" and "list.json: [1]: is not what `vllm bench serve --save-result` writes"
      or "totals.json: completed: is missing" }
  end
  write_cases(list)
  local found = run()
  for name, each in pairs(wrong) do says(found[name], each[2]) end
end)

test("a row whose rating, measured figures, name or selector cannot be meant is refused", function()
  write("requests.csv", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,stage\n1,200,20,0.1,0.9,0\n")
  local function of_requests(id, selector)
    return { id = id, file = "requests.csv", workload = "x", rating = "B", selector = selector }
  end
  write_cases { { id = "rating", rating = "Z" }, { id = "nan", measured = "e2e_ms=nan" },
    { id = "negative", measured = "e2e_ms=400;tpot_ms=-8" }, { id = "zero", measured = "e2e_ms=0" }, { id = "twice" },
    { id = "vvllm", engine = "vvLLM 0.15" }, of_requests("rows", "stage=0"), of_requests("stage", "stage 7"),
    of_requests "good", { id = "twice" } }
  local found = run()
  says(found.rating, "cases.csv:2: rating: expected A (known steps)")
  says(found.nan, "cases.csv:3: measured: e2e_ms: expected a number above 0, found 'nan'")
  says(found.negative, "cases.csv:4: measured: tpot_ms: expected a number above 0, found '-8'")
  says(found.zero, "cases.csv:5: measured: e2e_ms: expected a number above 0, found '0'")
  says(found.vvllm, "engine: nothing is known of 'vvLLM 0.15'")
  says(found.rows, "cases.csv:8: selector: picks rows of figures")
  says(found.stage, "requests.csv: none of stage 7")
  says(found.twice, "cases.csv:11: case_id 'twice' is that of line 6")
  test.check(found.good.errors.e2e_mean ~= nil, tostring(found.good.problem))
end)

test("a stage is scored where the selector names one, whatever the rating", function()
  local lines = { "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,stage" }
  for i = 1, 20 do
    local slow = i > 10
    lines[i + 1] = ("%g,200,20,%g,%g,%d"):format(i, slow and 9 or 0.02, slow and 10 or 0.2, slow and 1 or 0)
  end
  write("staged.csv", table.concat(lines, "\n") .. "\n")
  write_cases { { id = "first", file = "staged.csv", selector = "stage 0 of two", workload = "x", rating = "B" },
    { id = "both", file = "staged.csv", workload = "x", rating = "A" } }
  local found = run()
  test.check(found.first.errors.e2e_mean > -0.9, "%g", found.first.errors.e2e_mean or 0)
  test.check(found.both.errors.e2e_mean < -0.9, "%g", found.both.errors.e2e_mean or 0)
end)

test("a static batch has the blocks it ran with", function()
  write_cases { { id = "whole", model = "llama-2-13b", engine = "TRT-LLM 0.9.0 static batch",
    workload = "static batch 16 in=128 out=4096", measured = "first_token_ms=100", rating = "A" } }
  local found = run().whole
  test.check(found.errors.ttft_mean < 1, "in two parts: %+.1f", found.errors.ttft_mean or 0 / 0)
end)

test("an engine's defaults are those of its GPU", function()
  local function budget(gpu) return engines.of("vLLM 0.15.1", nil, spec.hardware(gpu)).parameters.budget[1] end
  test.equal(budget "h100-sxm", 8192)
  test.equal(budget "a100-sxm-80gb", 2048)
  test.equal(budget "l40s", 2048)
  test.equal(engines.of("vLLM 0.15.1", nil, spec.hardware "l40s").parameters.seats[1], 256)
  test.equal(#cases.read(folder), 1)
end)

test.finish()
