-- Nothing in cases.csv is ignored silently: unknown settings are errors, one broken row costs one row, a figure needs
-- its unit, names are known as published runs spell them, and figures without a counterpart are told.
local test = dofile "tests/scripts/harness.lua"
local cases = require "rooflua.validate.cases"
local engines = require "rooflua.validate.engines"
local names = require "rooflua.validate.names"
local spec = require "rooflua.spec"
local validate = require "rooflua.validate.command"
local words = require "rooflua.validate.words"

local folder, write, write_cases, header = dofile "tests/scripts/validate/measured_folder.lua" (test, { rating = "C",
  dataset = "own", file = "rows.csv", model = "llama-3.1-8b", gpu = "H100", tp = 1, precision = "bf16",
  engine = "vLLM 0.15.1", workload = "closed loop c=4 in=200 out=20", metrics = "x", measured = "e2e_ms=400" })

write("rows.csv", "a,b\n1,2\n")

test("a setting that a case cannot have is an error, whatever its spelling", function()
  for text, part in pairs {
    ["cp 8"] = "unknown setting 'cp'", ["closed loop c=4 in=1 out=1, pp 2"] = "unknown setting 'pp'",
    ["dcp=2"] = "unknown setting 'dcp'", ["prefix_caching true"] = "'prefix_caching'",
    ["--enforce-eager"] = "unknown setting 'enforce_eager'", ["--kv-cache-dtype fp8"] = "'kv_cache_dtype'",
    ["qps 5"] = "unknown setting 'qps'", ["concurrency 8"] = "unknown setting 'concurrency'",
    ["max_model_len 4096"] = "unknown setting 'max_model_len'", ["tp 4"] = "it is the column tp" } do
    test.raises(part, function() words.read(text, "here") end)
  end
end)

test("widths, asynchronous scheduling, the share of memory and the spread of lengths are settings", function()
  for text, wanted in pairs { ["ep 8"] = { "ep", 8 }, ["dp=2"] = { "dp", 2 }, ["async on"] = { "async_depth", 2 },
    ["async_scheduling off"] = { "async_depth", 1 }, ["Async-Scheduling: ON"] = { "async_depth", 2 },
    ["gpu_memory_utilization 0.85"] = { "memory_utilization", 0.85 },
    ["--gpu-memory-utilization=0.85"] = { "memory_utilization", 0.85 },
    ["memory_fraction 0.8"] = { "memory_utilization", 0.8 }, ["length_spread 0.2"] = { "length_spread", 0.2 } } do
    test.equal(words.read(text, "here")[wanted[1]], wanted[2], text)
  end
  for text, part in pairs { ["ep 1.5"] = "ep: expected a whole number above 0, found '1.5'",
    ["dp many"] = "dp: expected a whole number above 0, found 'many'",
    ["async=maybe"] = "expected on or off, found 'maybe'", ["async_scheduling"] = "expected on or off, found nothing",
    ["memory_fraction 90"] = "a share of at most 1, found 90",
    ["length_spred 0.2"] = "unknown setting 'length_spred'" } do
    test.raises(part, function() words.read(text, "here") end)
  end
end)

--- The result of one closed loop with further words.
local function loop(more, model, tp)
  write_cases { { model = model, tp = tp, workload = "closed loop c=4 in=200 out=20" .. more } }
  local case = validate.run({ folder = folder, steps = { "kernels, shipped data" } }).document.cases[1]
  return case
end

test("the new settings reach the run, or the case says why they cannot", function()
  local base = loop ""
  for _, more in ipairs { ", length_spread 0.5", ", async off" } do
    test.check(loop(more).errors.e2e_mean ~= base.errors.e2e_mean, "%s changes nothing", more)
  end
  test.check(loop(", gpu_memory_utilization 0.05").problem:find("does not fit", 1, true), "the share is not used")
  local split, whole = loop("", "mixtral-8x7b", 2), loop(", ep 2", "mixtral-8x7b", 2)
  test.check(split.errors.e2e_mean ~= whole.errors.e2e_mean, "ep changes nothing")
  test.check(loop(", ep 3").problem:find("ep 3 does not divide the 1 GPUs", 1, true), "ep 3 on one GPU")
  test.check(loop(", ep 2", nil, 2).problem:find("ep of a model without experts", 1, true), "ep of a dense model")
  if not require("rooflua.scenario.schema").entry "deployment.dp" then
    test.check(loop(", dp 2").problem:find("widths: dp 2", 1, true), "dp is ignored")
  end
  write_cases { { workload = "Poisson 2 rps 4 s in=200 out=20 length_spread 0.5" } }
  local case = validate.run({ folder = folder, steps = { "kernels, shipped data" } }).document.cases[1]
  test.check(case.problem:find("only a closed loop", 1, true), tostring(case.problem))
end)

test("remarks stay remarks", function()
  for _, text in ipairs { "step on GPU 3", "tokens per step on average", "runs on 2 nodes", "an eager user",
    "prefix caching on: 100 distinct prompts cycled", "speculative text, no clients" } do
    test.equal(next(words.read(text, "here")), nil, text)
  end
end)

test("a row with a column too many costs that row, and says so", function()
  local good = "%s,C,own,rows.csv,row,llama-3.1-8b,H100,1,bf16,vLLM 0.15.1,closed loop c=4 in=200 out=20,x,e2e_ms=400,"
  write("cases.csv", header .. good:format "one" .. "\n" .. good:format "two" .. "remark,another\n"
    .. good:format "three" .. "\n")
  local list = cases.read(folder)
  test.equal(#list, 3)
  test.equal(list[1].problem, nil)
  test.equal(list[3].problem, nil)
  test.check(list[2].problem:find("cases.csv:3: the row has 15 columns, the header 14", 1, true), list[2].problem)
end)

local function figures(measured)
  write_cases { { measured = measured } }
  local case = cases.read(folder)[1]
  if case.problem then error(case.problem, 0) end
  return case.figures, case.unread
end

test("a figure without a unit is an error that names the units", function()
  test.raises("nothing to compare with 'ttft=20' of `measured`: it has no unit; say ttft_ms, ttft_us or ttft_s",
    function() figures "ttft=20;e2e_ms=400" end)
  test.raises("say tok_s", function() figures "tok=20" end)
end)

test("figures are known by the names of vLLM's benchmark too, quantiles among them", function()
  local found = figures "mean_ttft_ms=20; median_ttft_ms = 18;p99_tpot_ms=9;mean_e2el_ms=900;output_throughput=120"
  test.near(found.ttft_mean, 0.02, 1e-12)
  test.near(found.ttft_p50, 0.018, 1e-12)
  test.near(found.tpot_p99, 0.009, 1e-12)
  test.near(found.e2e_mean, 0.9, 1e-12)
  test.equal(found.output_tokens_per_s, 120)
end)

test("figures that nothing is compared with are told", function()
  local _, unread = figures "e2e_ms=400;joules=3"
  test.equal(table.concat(unread, " "), "joules")
  local out = validate.run { folder = folder, steps = { "kernels" } }
  test.check(out.text:find("Measured figures that nothing is compared with: joules (1 case)", 1, true), out.text)
  test.equal(out.document.cases[1].unread[1], "joules")
end)

test("notes of the models of cases stand in the report and in the document", function()
  write("config.json", [[{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "tie_word_embeddings": false}]])
  local note = "the file names no dtype; bf16 is assumed"
  local model = folder .. "/config.json"
  write_cases { { model = model }, { model = model }, {}, { gpu = "none such" } }
  local out = validate.run { folder = folder, steps = { "kernels" } }
  test.check(out.text:find("Notes\n[^\n]*" .. note:gsub("%p", "%%%0") .. "[^\n]* %(2 cases%)"), "%s", out.text)
  local noted = table.concat(out.document.cases[1].notes, "\n")
  test.check(noted:find(note, 1, true), "%s", noted)
  test.equal(out.document.cases[3].notes, nil)
  test.equal(out.document.cases[4].notes, nil)
end)

test("GPUs are known as their drivers and clouds call them, and a stated memory must be theirs", function()
  for text, name in pairs { ["H200 141GB HBM3"] = "h200-sxm", ["NVIDIA H200 141GB HBM3e"] = "h200-sxm",
    ["NVIDIA-H100-80GB-HBM3"] = "h100-sxm", ["nvidia h100 SXM5 GPU (80 GB)"] = false,
    ["NVIDIA A100-SXM4-80GB"] = "a100-sxm-80gb", ["NVIDIA L40S"] = "l40s" } do
    if name then test.equal(names.hardware(text).name, name, text) end
  end
  test.equal(names.hardware("h200-sxm").name, "h200-sxm")
  test.raises("has 80 GB, not 40", function() names.hardware "NVIDIA A100-SXM4 40GB HBM2" end)
  test.equal(names.hardware("NVIDIA H100 PCIe").name, "h100-pcie")
  test.raises("H100 CNX", function() names.hardware "NVIDIA H100 CNX" end)
end)

test("engines and models are known in their other spellings", function()
  for _, text in ipairs { "trtllm 0.12", "TensorRT-LLM 0.9.0", "TRT LLM 0.9.0", "tensorrt_llm 1.0" } do
    test.equal(engines.of(text, nil, spec.hardware "h100-sxm").family, "TensorRT-LLM", text)
  end
  test.equal(engines.of("trtllm 0.9 static batch", nil, spec.hardware "h100-sxm").scheduler, "static_batch")
  test.equal(spec.model("Qwen2-7B").name, "qwen2.5-7b")
  test.equal(spec.model("Qwen/Qwen2-1.5B-Instruct").name, "qwen2.5-1.5b")
end)

test.finish()
