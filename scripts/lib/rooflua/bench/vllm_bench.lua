-- `vllm bench serve` and benchmark_serving.py. Flags and defaults: vllm/benchmarks/serve.py and datasets.py.
local chunks = require "rooflua.sandbox.chunks"
local loads = require "rooflua.bench.loads"

local random = { random = true, ["random-mm"] = false }

local function of_random(values)
  local ratio = values["random-range-ratio"]
  return chunks.shipped "workloads.vllm_bench" { num_prompts = values["num-prompts"] or 1000,
    request_rate = values["request-rate"] or math.huge, burstiness = values.burstiness,
    max_concurrency = values["max-concurrency"],
    random_input_len = values["random-input-len"] or values["input-len"],
    random_output_len = values["random-output-len"] or values["output-len"],
    random_range_ratio = ratio, random_prefix_len = values["random-prefix-len"],
    ramp_up_strategy = values["ramp-up-strategy"], ramp_up_start_rps = values["ramp-up-start-rps"],
    ramp_up_end_rps = values["ramp-up-end-rps"] }
end

local function of_prefixes(values, told)
  local count, prefixes = values["num-prompts"] or 1000, values["prefix-repetition-num-prefixes"] or 10
  return loads.of({ groups = prefixes, prompts_per_group = math.max(1, math.floor(count / prefixes)),
    prefix_tokens = values["prefix-repetition-prefix-len"] or 256,
    prompt_tokens = values["prefix-repetition-suffix-len"] or 256,
    output_tokens = values["prefix-repetition-output-len"] or 128, count = count,
    rate_per_s = values["request-rate"] or math.huge,
    clients = (values["request-rate"] or math.huge) == math.huge and values["max-concurrency"] or nil,
    most_in_flight = values["max-concurrency"] }, told)
end

return {
  title = "vllm bench serve",
  starts = { "vllm bench serve", "python benchmark_serving.py", "benchmark_serving.py",
    "python -m vllm.benchmarks.serve" },
  aliases = { ["dataset"] = "dataset-name" },
  flags = { ["dataset-name"] = "text", ["num-prompts"] = "whole", ["request-rate"] = "number", burstiness = "number",
    ["max-concurrency"] = "whole", ["random-input-len"] = "whole", ["random-output-len"] = "whole",
    ["input-len"] = "whole", ["output-len"] = "whole", ["random-range-ratio"] = "number",
    ["random-prefix-len"] = "whole", ["ramp-up-strategy"] = "text", ["ramp-up-start-rps"] = "number",
    ["ramp-up-end-rps"] = "number", ["prefix-repetition-prefix-len"] = "whole",
    ["prefix-repetition-suffix-len"] = "whole", ["prefix-repetition-num-prefixes"] = "whole",
    ["prefix-repetition-output-len"] = "whole" },
  without_effect = { backend = "value", ["base-url"] = "value", host = "value", port = "value", endpoint = "value",
    model = "value", tokenizer = "value", ["served-model-name"] = "value", ["tokenizer-mode"] = "value",
    ["trust-remote-code"] = "switch", ["ignore-eos"] = "switch", ["percentile-metrics"] = "value",
    ["metric-percentiles"] = "value", goodput = "values", ["save-result"] = "switch", ["save-detailed"] = "switch",
    ["append-result"] = "switch", metadata = "values", ["result-dir"] = "value", ["result-filename"] = "value",
    ["disable-tqdm"] = "switch", profile = "switch", label = "value", seed = "value", ["num-warmups"] = "value",
    ["ready-check-timeout-sec"] = "value", header = "values", ["extra-body"] = "value", temperature = "value",
    ["top-p"] = "value", ["top-k"] = "value", ["min-p"] = "value", insecure = "switch",
    ["skip-tokenizer-init"] = "switch", ["no-stream"] = "switch", ["request-id-prefix"] = "value",
    ["disable-shuffle"] = "switch", ["endpoint-type"] = "value", ["use-beam-search"] = "switch",
    logprobs = "value", ["random-batch-size"] = "value" },
  workload = function(values, told)
    local name = values["dataset-name"] or "random"
    if name == "prefix_repetition" then return of_prefixes(values, told) end
    if not random[name] then loads.refuse_dataset(name) end
    return of_random(values)
  end,
}
