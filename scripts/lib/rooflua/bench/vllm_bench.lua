-- `vllm bench serve` and benchmark_serving.py. Flags and defaults: vllm/benchmarks/serve.py and datasets.py.
local chunks = require "rooflua.sandbox.chunks"
local loads = require "rooflua.bench.loads"

local core = require "rooflua.base.core"
local json = require "rooflua.json"

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

local mm = "random-mm-"

--- {height, width, frames} and weight of each bucket: "{(256, 256, 1): 0.5, ...}".
local function sizes_of(text)
  local sizes = {}
  for height, width, frames, weight in text:gmatch "%(%s*(%d+)%s*,%s*(%d+)%s*,%s*(%d+)%s*%)['\"]?%s*:%s*([%d.eE+-]+)" do
    frames, weight = tonumber(frames), tonumber(weight)
    if not weight then core.fail("--bench: --%sbucket-config: expected {(height, width, frames): weight}", mm) end
    if weight > 0 then
      sizes[#sizes + 1] = { tonumber(width), tonumber(height), frames = frames > 1 and frames or nil, weight = weight }
    end
  end
  if #sizes == 0 then
    core.fail("--bench: --%sbucket-config: expected {(height, width, frames): weight}, found '%s'", mm, text)
  end
  return sizes
end

--- {image = 3, video = 0} of its JSON.
local function limits_of(text)
  local ok, found = pcall(json.decode, text)
  local out, is_map = {}, ok and type(found) == "table"
  for key, value in pairs(is_map and core.plain(found) or {}) do
    is_map = is_map and type(key) == "string" and type(value) == "number" and value >= 0 and value % 1 == 0
    out[key] = value
  end
  if not is_map then
    core.fail("--bench: --%slimit-mm-per-prompt: expected {\"image\": 3, \"video\": 0}, found '%s'", mm, text)
  end
  return out
end

--- RandomMultiModalDataset: so many items, of sizes that are drawn by weight; the text comes first.
local function of_pictures(values)
  local base, ratio = values[mm .. "base-items-per-request"] or 1, values[mm .. "num-mm-items-range-ratio"] or 0
  local limits = values[mm .. "limit-mm-per-prompt"]
  limits = limits and limits_of(limits) or { image = 255, video = 1 }
  local sizes, most = sizes_of(values[mm .. "bucket-config"] or "{(256, 256, 1): 0.5, (720, 1280, 1): 0.5}"), 0
  local has = {}
  for _, each in ipairs(sizes) do has[each.frames and "video" or "image"] = true end
  for name in pairs(has) do
    if not limits[name] then core.fail("--bench: --%slimit-mm-per-prompt: says nothing of %s", mm, name) end
    most = most + limits[name]
  end
  local low, high = math.max(0, math.floor(base * (1 - ratio))), math.min(most, math.ceil(base * (1 + ratio)))
  if low > high then core.fail("--bench: --%sbase-items-per-request: more than the limit of %d", mm, most) end
  return chunks.shipped "workloads.with_pictures" { of = of_random(values), behind = true, images = { sizes = sizes,
    most_videos = limits.video, count = low == high and low or { distribution = "uniform", min = low, max = high } } }
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
    ["prefix-repetition-output-len"] = "whole", ["random-mm-base-items-per-request"] = "whole",
    ["random-mm-num-mm-items-range-ratio"] = "number", ["random-mm-limit-mm-per-prompt"] = "text",
    ["random-mm-bucket-config"] = "text" },
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
    if name == "random-mm" then return of_pictures(values) end
    if name ~= "random" then loads.refuse_dataset(name) end
    return of_random(values)
  end,
}
