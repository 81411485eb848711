-- `python -m sglang.bench_serving`. Flags, defaults and lengths: python/sglang/bench_serving.py: sample_random_requests
-- draws whole lengths from LENGTH x ratio to LENGTH; get_request has exponential gaps.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
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
  about.groups = values["gsp-num-groups"] or 64
  about.prompts_per_group = values["gsp-prompts-per-group"] or 16
  about.count = about.groups * about.prompts_per_group
  about.prefix_tokens = values["gsp-system-prompt-len"] or 2048
  about.prompt_tokens, about.output_tokens = values["gsp-question-len"] or 128, values["gsp-output-len"] or 256
  return loads.of(about, told)
end

return {
  title = "sglang.bench_serving",
  starts = { "python -m sglang.bench_serving", "bench_serving.py", "python bench_serving.py" },
  flags = { ["dataset-name"] = "text", ["num-prompts"] = "whole", ["request-rate"] = "number",
    ["max-concurrency"] = "whole", ["random-input-len"] = "whole", ["random-output-len"] = "whole",
    ["random-range-ratio"] = "number", ["gsp-num-groups"] = "whole", ["gsp-prompts-per-group"] = "whole",
    ["gsp-system-prompt-len"] = "whole", ["gsp-question-len"] = "whole", ["gsp-output-len"] = "whole",
    ["image-count"] = "whole", ["image-resolution"] = "text", ["random-image-count"] = "switch" },
  aliases = { ["random-input"] = "random-input-len", ["random-output"] = "random-output-len",
    ["num-prompt"] = "num-prompts" },
  without_effect = { backend = "value", ["base-url"] = "value", host = "value", port = "value", model = "value",
    tokenizer = "value", ["dataset-path"] = "value", ["output-file"] = "value", ["output-details"] = "switch",
    ["disable-tqdm"] = "switch", ["disable-stream"] = "switch", ["return-logprob"] = "switch", seed = "value",
    ["disable-ignore-eos"] = "switch", ["extra-request-body"] = "value", ["apply-chat-template"] = "switch",
    profile = "switch", ["pd-separated"] = "switch", ["flush-cache"] = "switch", ["warmup-requests"] = "value",
    ["tokenize-prompt"] = "switch", ["served-model-name"] = "value", header = "values",
    ["image-content"] = "value", ["image-format"] = "value" },
  workload = function(values, told)
    local name, rate = values["dataset-name"] or "sharegpt", values["request-rate"] or math.huge
    local most = values["max-concurrency"]
    local about = { count = values["num-prompts"] or 1000, rate_per_s = rate, most_in_flight = most,
      clients = rate == math.huge and most or nil }
    if name == "random" or name == "random-ids" then return of_random(values, about, told) end
    if name == "image" then return of_images(values, about, told) end
    if name == "generated-shared-prefix" then return of_prefixes(values, about, told) end
    return loads.refuse_dataset(name)
  end,
}
