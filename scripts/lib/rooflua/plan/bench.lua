-- The benchmark that would prove a plan wrong: `vllm bench serve` with uniform lengths, because its random dataset
-- knows no others. So the prediction is another simulation, of workloads.vllm_bench with these very options.
local chunks = require "rooflua.sandbox.chunks"
local confidence = require "rooflua.plan.confidence"
local evaluate = require "rooflua.plan.evaluate"
local interval = require "rooflua.intervals.table_errors"
local quoting = require "rooflua.text.quoting"
local search = require "rooflua.plan.search"

local bench = {}

local most_prompts, fewest_prompts = 2000, 500
local replicates = 20

--- Half width of a uniform distribution with the spread of a list, as a share of its mean.
local function ratio_of(values, mean)
  local sum = 0
  for _, each in ipairs(values) do sum = sum + (each - mean) * (each - mean) end
  local ratio = math.sqrt(3 * sum / #values) / mean
  return math.floor(math.min(0.9, ratio) * 100 + 0.5) / 100
end

--- The options of the benchmark as parameters of workloads.vllm_bench.
---@param scale number multiple of the load that the deployment is for
function bench.options(question, scale)
  local drawn, load = question.drawn, question.load
  local input, output = ratio_of(drawn.prompts, drawn.mean_prompt), ratio_of(drawn.outputs, drawn.mean_output)
  local out = { random_input_len = math.floor(drawn.mean_prompt + 0.5),
    random_output_len = math.max(1, math.floor(drawn.mean_output + 0.5)),
    random_range_ratio = math.floor((input + output) / 2 * 100 + 0.5) / 100,
    num_prompts = math.max(fewest_prompts, math.min(most_prompts, question.requests)) }
  if load.kind == "clients" then
    out.max_concurrency = math.floor(load.value * load.peak + 0.5)
    out.request_rate = math.huge
  else
    out.request_rate = load.kind == "rate" and load.value * load.peak * scale or drawn.count / 60
  end
  return out
end

--- What a result of the benchmark states of its load, as bench.sh asks for it.
function bench.asked(question, scale)
  local of = bench.options(question, scale)
  return { num_prompts = of.num_prompts, request_rate = of.request_rate < math.huge and of.request_rate or nil,
    max_concurrency = of.max_concurrency, prompt_tokens_mean = question.drawn.mean_prompt,
    output_tokens_mean = question.drawn.mean_output }
end

local predicted = { "ttft_s_mean", "ttft_s_p50", "ttft_s_p99", "tpot_s_mean", "tpot_s_p50", "tpot_s_p99",
  "output_tokens_per_s", "requests_per_s" }

--- The question with the benchmark's requests as its load, taken as they are.
local function asked_as_bench(question, parameters)
  local own = setmetatable({}, { __index = question })
  own.workload = chunks.shipped("workloads.vllm_bench")(parameters)
  own.load = { kind = "recorded", peak = 1 }
  own.metrics = predicted
  return own
end

--- What the benchmark should measure: {metric = {value, low, high}}.
function bench.predict(question, item)
  local parameters = bench.options(question, item.result.scale)
  local own = asked_as_bench(question, parameters)
  local factors = confidence.factors(question, item.candidate, replicates)
  local runs = search.parallel(question, replicates + 1, "benchmark", function(i)
    return evaluate.run(own, item.candidate, item.result.replicas, { seed = question.seed + i - 1,
      requests = parameters.num_prompts, factor = i > 1 and factors[i - 1] or 1, brief = true })
  end)
  local out = {}
  for _, name in ipairs(predicted) do
    local values = {}
    for i = 2, #runs do values[#values + 1] = runs[i].metrics[name] end
    if runs[1].metrics[name] and #values > 0 then
      out[name] = { value = runs[1].metrics[name], low = interval.end_of(values, interval.low),
        high = interval.end_of(values, interval.high) }
    end
  end
  return out
end

local program = "vllm bench serve" -- vLLM's client of any server with OpenAI's interface

--- The command of the benchmark as a list of words (quoting.word).
function bench.words(question, model, scale)
  local own, out = bench.options(question, scale), {}
  for word in program:gmatch "%S+" do out[#out + 1] = word end
  for _, word in ipairs { "--backend", "openai", "--base-url", quoting.verbatim '"${BASE_URL:?the gateway}"', "--model",
    model, "--dataset-name", "random", "--random-input-len", own.random_input_len, "--random-output-len",
    own.random_output_len, "--random-range-ratio", ("%.2f"):format(own.random_range_ratio), "--num-prompts",
    own.num_prompts, "--request-rate", own.request_rate == math.huge and "inf" or ("%.6g"):format(own.request_rate),
    "--burstiness", "1", "--ignore-eos", "--seed", question.seed } do
    out[#out + 1] = word
  end
  if own.max_concurrency then
    out[#out + 1], out[#out + 2] = "--max-concurrency", own.max_concurrency
  end
  local goodput = {}
  for _, bound in ipairs(question.bounds) do
    local name = bound.metric:match "^(%a%d?%a*)_s_"
    if bound.max and (name == "ttft" or name == "tpot" or name == "e2e") then
      goodput[#goodput + 1] = ("%s:%.6g"):format(name == "e2e" and "e2el" or name, bound.max * 1e3)
    end
  end
  if #goodput > 0 then
    out[#out + 1] = "--goodput"
    for _, each in ipairs(goodput) do out[#out + 1] = each end
  end
  for _, each in ipairs { "--save-result", "--save-detailed", "--result-filename", "result.json" } do
    out[#out + 1] = each
  end
  for i, each in ipairs(out) do out[i] = type(each) == "table" and each or tostring(each) end
  return out
end

return bench
