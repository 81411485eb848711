-- `python -m sglang.bench_serving`. Flags, defaults and lengths: python/sglang/bench_serving.py, today
-- sglang/benchmark/serving.py (00f9ec47): sample_random_requests draws whole lengths from LENGTH x ratio to LENGTH;
-- get_request has exponential gaps.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local flags = require "rooflua.bench.flags"
local loads = require "rooflua.bench.loads"

local function uniform(length, ratio)
  local low = math.max(1, math.floor(length * ratio))
  return low >= length and length or { distribution = "uniform", min = low, max = length }
end

local function of_random(values, about, told)
  local ratio = values["random-range-ratio"] or 0
  about.prompt_tokens = uniform(values["random-input-len"] or 1024, ratio)
  about.output_tokens = uniform(values["random-output-len"] or 1024, ratio)
  return loads.of(about, told)
end

local resolutions = { ["4k"] = { 3840, 2160 }, ["1080p"] = { 1920, 1080 }, ["720p"] = { 1280, 720 },
  ["360p"] = { 640, 360 } }

--- sample_image_requests: so many images of one size in front of a random text.
local function of_images(values, about, told)
  local text, count = values["image-resolution"] or "1080p", values["image-count"] or 1
  local height, width = text:match "^(%d+)x(%d+)$"
  local size = resolutions[text:lower()] or height and { tonumber(width), tonumber(height) }
  if not size then
    core.fail("--bench: --image-resolution: expected 4k, 1080p, 720p, 360p or HEIGHTxWIDTH, found '%s'", text)
  end
  if values["random-image-count"] and count > 1 then
    count = { distribution = "uniform", min = 1, max = count }
  end
  return chunks.shipped "workloads.with_pictures" { of = of_random(values, about, told),
    images = { count = count, sizes = { size } } }
end

local function of_prefixes(values, about, told)
  if (values["gsp-num-turns"] or 1) > 1 or values["gsp-group-distribution"] == "zipf" then
    core.fail("--bench: --%s: such a load is not read: give it as a workload of the scenario",
      (values["gsp-num-turns"] or 1) > 1 and "gsp-num-turns" or "gsp-group-distribution zipf")
  end
  local ratio = values["gsp-range-ratio"] or 1
  about.groups = values["gsp-num-groups"] or 64
  about.prompts_per_group = values["gsp-prompts-per-group"] or 16
  about.count = about.groups * about.prompts_per_group
  about.prefix_tokens = values["gsp-system-prompt-len"] or 2048
  if ratio < 1 then told[#told + 1] = "--bench: --gsp-range-ratio: prefixes have their greatest length here" end
  about.prompt_tokens = uniform(values["gsp-question-len"] or 128, ratio)
  about.output_tokens = uniform(values["gsp-output-len"] or 256, ratio)
  return loads.of(about, told)
end

local function of_sharegpt(values, about, told)
  about.prompt_tokens, about.output_tokens = loads.sharegpt(told)
  about.output_tokens = values["sharegpt-output-len"] or about.output_tokens
  return loads.of(about, told)
end

--- A file of Mooncake's at its own times, which alone count.
local function of_trace(values)
  if (values["mooncake-num-rounds"] or 1) > 1 then
    core.fail "--bench: --mooncake-num-rounds: such a load is not read: give it as a workload of the scenario"
  end
  return loads.trace(values["dataset-path"], "--dataset-path", { format = "mooncake",
    limit = values["num-prompts"] or 1000, time_scale = values["mooncake-slowdown-factor"] })
end

local by_dataset = { random = of_random, ["random-ids"] = of_random, image = of_images, mooncake = of_trace,
  ["generated-shared-prefix"] = of_prefixes, sharegpt = of_sharegpt }

return {
  title = "sglang.bench_serving",
  starts = { "python -m sglang.bench_serving", "bench_serving.py", "python bench_serving.py",
    "python -m sglang.benchmark.serving" },
  aliases = flags.aliases "random-input=random-input-len random-output=random-output-len num-prompt=num-prompts",
  flags = flags.of { text = "dataset-name dataset-path backend image-resolution gsp-group-distribution",
    number = "request-rate random-range-ratio gsp-range-ratio mooncake-slowdown-factor",
    whole = "num-prompts max-concurrency random-input-len random-output-len gsp-num-groups gsp-prompts-per-group "
      .. "gsp-system-prompt-len gsp-question-len gsp-output-len gsp-num-turns image-count sharegpt-output-len "
      .. "mooncake-num-rounds", switch = "random-image-count use-trace-timestamps" },
  lost = flags.of { value = "lora-request-distribution lora-zipf-alpha prompt-suffix sharegpt-context-len "
    .. "gsp-zipf-alpha", values = "lora-name", switch = "fake-prefill gsp-ordered" },
  without_effect = flags.of {
    value = "base-url host port ready-check-timeout-sec model served-model-name tokenizer output-file seed "
      .. "extra-request-body temperature top-p top-logprobs-num logprob-start-len warmup-requests flush-cache-timeout "
      .. "image-format image-content profile-start-step profile-steps profile-num-steps profile-output-dir "
      .. "profile-prefix tag dataset-offset agentic-max-turns speed-bench-category speed-bench-output-len "
      .. "mooncake-workload",
    values = "header token-ids-logprob profile-activities profile-stages profile-prefill-url profile-decode-url",
    switch = "output-details print-requests disable-tqdm disable-stream return-logprob return-routed-experts "
      .. "cache-report disable-ignore-eos apply-chat-template profile profile-by-stage plot-throughput pd-separated "
      .. "flush-cache tokenize-prompt gsp-fast-prepare gsp-send-routing-key" },
  has_prefixes = true,
  workload = function(values, told)
    loads.check_answers("--backend", values.backend)
    local name, rate = values["dataset-name"] or "sharegpt", values["request-rate"] or math.huge
    local most = values["max-concurrency"]
    local about = { count = values["num-prompts"] or 1000, rate_per_s = rate, most_in_flight = most,
      clients = rate == math.huge and most or nil }
    if by_dataset[name] == of_trace then return of_trace(values) end
    local of = by_dataset[name] or loads.refuse_dataset(name)
    return of(values, about, told)
  end,
}
