-- `vllm bench serve` and benchmark_serving.py. Flags and defaults: vllm/benchmarks/serve.py and datasets, main of 2026
-- (009e6d4a), and benchmarks/benchmark_serving.py before (0049e29c).
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local flags = require "rooflua.bench.flags"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"

--- What all datasets have in common, as loads.of takes it.
local function about_of(values)
  local rate, most = values["request-rate"] or math.huge, values["max-concurrency"]
  return { count = values["num-prompts"] or 1000, rate_per_s = rate, most_in_flight = most,
    clients = rate == math.huge and most or nil }
end

--- A ratio of lengths: one number, or {input, output} of JSON.
local function ratio_of(text)
  local ok, found = pcall(json.decode, text)
  local of = ok and type(found) == "table" and core.plain(found)
  if of and tonumber(of.input) and tonumber(of.output) then return { input = of.input, output = of.output } end
  return tonumber(text) or core.fail("--bench: --random-range-ratio: expected a number from 0 to below 1, or "
    .. "{\"input\": R, \"output\": R}, found '%s'", text)
end

local function of_random(values, told)
  local ratio = values["random-range-ratio"] and ratio_of(values["random-range-ratio"])
  if ratio == 1 and values.start:find "benchmark_serving" then
    ratio = 0
    told[#told + 1] = "--bench: --random-range-ratio 1: lengths as stated, as releases of before 2025 had it"
  elseif ratio and ratio ~= 0 and values.start:find "benchmark_serving" then
    told[#told + 1] = "--bench: --random-range-ratio: from 1 - ratio to 1 + ratio; before 2025 from ratio to 1"
  end
  return chunks.shipped "workloads.vllm_bench" { num_prompts = values["num-prompts"] or 1000,
    request_rate = values["request-rate"] or math.huge, burstiness = values.burstiness,
    max_concurrency = values["max-concurrency"],
    random_input_len = values["input-len"] or values["random-input-len"],
    random_output_len = values["output-len"] or values["random-output-len"],
    random_range_ratio = ratio, random_prefix_len = values["random-prefix-len"],
    ramp_up_strategy = values["ramp-up-strategy"], ramp_up_start_rps = values["ramp-up-start-rps"],
    ramp_up_end_rps = values["ramp-up-end-rps"] }
end

local function of_prefixes(values, told)
  local about, prefixes = about_of(values), values["prefix-repetition-num-prefixes"] or 10
  about.groups, about.prompts_per_group = prefixes, math.max(1, math.floor(about.count / prefixes))
  about.prefix_tokens = values["prefix-repetition-prefix-len"] or 256
  about.prompt_tokens = values["prefix-repetition-suffix-len"] or 256
  about.output_tokens = values["output-len"] or values["prefix-repetition-output-len"] or 128
  return loads.of(about, told)
end

--- SonnetDataset: lines of poems up to the stated length, of which the first are the same.
local function of_sonnet(values, told)
  local about, prefix = about_of(values), values["sonnet-prefix-len"] or 200
  local length = values["sonnet-input-len"] or 550
  if length <= prefix then core.fail "--bench: --sonnet-input-len: expected more than --sonnet-prefix-len" end
  about.groups, about.prompts_per_group, about.prefix_tokens = 1, about.count, prefix
  about.prompt_tokens, about.output_tokens = length - prefix, values["sonnet-output-len"] or 150
  told[#told + 1] = "--bench: sonnet: prompts have whole lines: they are up to a line longer or shorter"
  return loads.of(about, told)
end

local sharegpt_most = 1024 -- tokens of a prompt, is_valid_sequence

local function of_sharegpt(values, told)
  local about = about_of(values)
  about.prompt_tokens, about.output_tokens = loads.sharegpt(told, sharegpt_most)
  about.output_tokens = values["output-len"] or values["sharegpt-output-len"] or about.output_tokens
  return loads.of(about, told)
end

--- TimedTrace: a file of Mooncake's form, at its own times.
local function of_trace(values, told)
  if values["self-timed"] == false or values["no-self-timed"] then
    core.fail "--bench: --no-self-timed: lengths of a trace at another rate: give them as a workload of the scenario"
  end
  local times = { [1] = "s", [0.001] = "ms", [1e-6] = "us" }
  local factor = values["timed-trace-sec-multiplier"] or 1
  if values["max-concurrency"] then loads.tell(told, "not followed, and changes the load", { "--max-concurrency" }) end
  return loads.trace(values["dataset-path"], "--dataset-path", { format = "mooncake",
    limit = values["num-prompts"] or 1000, hash_block_tokens = values["timed-trace-chunk-hash-size"] or 16,
    time_unit = times[factor] or "s", time_scale = not times[factor] and factor or nil })
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
local function of_pictures(values, told)
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
  return chunks.shipped "workloads.with_pictures" { of = of_random(values, told), behind = true,
    images = { sizes = sizes, most_videos = limits.video,
      count = low == high and low or { distribution = "uniform", min = low, max = high } } }
end

local by_dataset = { random = of_random, prefix_repetition = of_prefixes, ["random-mm"] = of_pictures,
  sonnet = of_sonnet, sharegpt = of_sharegpt, timed_trace = of_trace }

return {
  title = "vllm bench serve",
  starts = { "vllm bench serve", "python benchmark_serving.py", "benchmark_serving.py",
    "python -m vllm.benchmarks.serve", "python -m vllm.entrypoints.cli.main bench serve" },
  flags = flags.of {
    text = "dataset-name dataset-path backend ramp-up-strategy random-range-ratio random-mm-limit-mm-per-prompt "
      .. "random-mm-bucket-config",
    number = "request-rate burstiness ramp-up-start-rps ramp-up-end-rps random-mm-num-mm-items-range-ratio "
      .. "timed-trace-sec-multiplier",
    whole = "num-prompts max-concurrency random-input-len random-output-len input-len output-len random-prefix-len "
      .. "prefix-repetition-prefix-len prefix-repetition-suffix-len prefix-repetition-num-prefixes "
      .. "prefix-repetition-output-len random-mm-base-items-per-request sonnet-input-len sonnet-output-len "
      .. "sonnet-prefix-len sharegpt-output-len timed-trace-chunk-hash-size",
    switch = "self-timed no-self-timed" },
  lost = flags.of { value = "config lora-assignment probe-request-rate timed-trace-label-timestamp "
    .. "timed-trace-label-input-length timed-trace-label-output-length timed-trace-label-hash-ids",
    values = "lora-modules", switch = "use-beam-search" },
  -- The last lines are those of datasets that are refused.
  without_effect = flags.of {
    value = "base-url host port endpoint endpoint-type model tokenizer served-model-name tokenizer-mode "
      .. "percentile-metrics metric-percentiles result-dir result-filename label seed num-warmups "
      .. "ready-check-timeout-sec extra-body temperature top-p top-k min-p frequency-penalty presence-penalty "
      .. "repetition-penalty request-id-prefix logprobs random-batch-size chat-template-kwargs timeline-itl-thresholds "
      .. "dataset custom-output-len spec-bench-output-len spec-bench-category speed-bench-dataset-subset "
      .. "speed-bench-output-len speed-bench-category blazedit-min-distance blazedit-max-distance "
      .. "asr-min-audio-len-sec asr-max-audio-len-sec hf-subset hf-split hf-name hf-output-len bfcl-categories",
    values = "goodput metadata header",
    switch = "trust-remote-code ignore-eos save-result save-detailed append-result disable-tqdm profile insecure "
      .. "skip-tokenizer-init no-stream disable-shuffle plot-timeline plot-dataset-stats no-oversample "
      .. "skip-chat-template custom-skip-chat-template custom-ensure-client-side-data no-reranker "
      .. "enable-multimodal-chat" },
  has_prefixes = true,
  workload = function(values, told)
    loads.check_answers("--backend", values.backend)
    local name = values["dataset-name"] or values.start:find "benchmark_serving" and "sharegpt" or "random"
    local of = by_dataset[name] or loads.refuse_dataset(name)
    return of(values, told)
  end,
}
