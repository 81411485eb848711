-- Images in prompts as a part of a run: tokens, passes, the encoder's cache, pools of encoders.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.bench.command"
local measure = require "rooflua.measure"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"

local function scenario(images, more)
  local out = { model = "qwen3-vl-30b-a3b", hardware = "h200-sxm", engine = "vllm 0.24", seed = 3,
    workload = require "workloads.pictures" { rate_per_s = 8, num_requests = 24, prompt_tokens = 200,
      output_tokens = 20, images = images, distinct = more and more.distinct or 0 } }
  for key, value in pairs(more or {}) do out[key] = key ~= "distinct" and value or out[key] end
  return out
end

local two = { { 1280, 720 }, { 640, 480 } }
local two_tokens = 40 * 22 + 20 * 15 -- sides in units of 32 pixels

local function row(given) return sweep.grid({ given, seeds = { 3 } })[1] end
local function summary(given) return measure.summary(serve.run(given)) end

test("a workload of pictures without images is the plain one", function()
  local plain = scenario {}
  plain.workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 24, prompt_tokens = 200,
    output_tokens = 20 }
  local found, expected = summary(scenario {}), summary(plain)
  test.equal(found.encoder, nil)
  test.equal(found.ttft_s.mean, expected.ttft_s.mean)
  test.equal(found.e2e_s.p99, expected.e2e_s.p99)
end)

test("images are tokens of the prompt, and each is computed once", function()
  local found = summary(scenario(two))
  test.equal(found.prompt_tokens, 24 * (200 + two_tokens))
  test.equal(found.encoder.items, 48)
  test.equal(found.encoder.encoded, 48)
  test.equal(found.encoder.cache_hits, 0)
  test.check(found.encoder.encode_s > 0, "passes take time")
end)

test("an image that comes again is found in the encoder's cache, or its KV is", function()
  local found = summary(scenario(two, { distinct = 2 }))
  test.equal(found.encoder.items, 48)
  test.check(found.encoder.encoded < 12, "few are computed")
  local apart = summary(scenario(two, { distinct = 2, engine = { "vllm 0.10.1", enable_prefix_caching = false } }))
  test.equal(apart.encoder.encoded, 48)
  local kept = summary(scenario(two, { distinct = 2, engine = { "vllm 0.24", enable_prefix_caching = false } }))
  test.equal(kept.encoder.encoded, 4)
  test.equal(kept.encoder.cache_hits, 44)
end)

test("other engines encode too", function()
  for _, engine in ipairs { "sglang 0.5.9", "sglang 0.5.14", "trtllm 1.3.0" } do
    local found = summary(scenario(two, { engine = engine }))
    test.equal(found.encoder.items, 48, engine)
    test.equal(found.encoder.encoded, 48, engine)
  end
end)

test("a pass has no more embeddings than its budget", function()
  local small = summary(scenario(two, { deployment = { encoder = { budget_tokens = 100, cache_tokens = 2000 } } }))
  test.equal(small.encoder.encoded, 48)
  test.check(small.ttft_s.mean >= summary(scenario(two)).ttft_s.mean, "prompts wait for passes")
end)

test("the operations of passes explain a request's time", function()
  local report = measure.why(scenario(two), 3)
  test.has(report, "encoder_attention", "encoder_qkv", "frontend")
end)

test("a pool of encoders encodes for the others", function()
  local found = summary(scenario(two, { replicas = { { count = 2 }, { encoder = true, count = 1 } },
    router = require "routers.round_robin" {} }))
  test.equal(found.encoder.encoded, 48)
  test.equal(found.completed, 24)
  local again = summary(scenario(two, { distinct = 1, replicas = { { count = 2 }, { encoder = true } },
    router = require "routers.round_robin" {} }))
  test.equal(again.encoder.encoded, 2)
end)

test("times of the host on items are the scenario's to state, and intervals leave room where none is known", function()
  local plain = row(scenario(two))
  local wide = plain.intervals
  test.has(table.concat(wide.text, " "), "wider: passes of the encoder", "host's work on each item is not known")
  test.check(wide.passes.host_s > 0 and wide.passes.low < 1 and wide.passes.high > 1, "ends of passes")
  local stated = row(scenario(two, { deployment = { encoder = { item_s = 0.002, pixel_s = 0 } } }))
  test.equal(stated.intervals.passes.host_s, 0)
  test.check(not table.concat(stated.notes, " "):find("no source states", 1, true), "a stated time is not known")
  test.has(table.concat(plain.notes, " "), "no source states the host's work")
  test.near(stated.summary.encoder.encode_s - plain.summary.encoder.encode_s, 48 * 0.002, 0.3)
  local none = row(scenario {}).intervals
  test.equal(none.passes, nil)
  for _, key in ipairs { "item_s", "pixel_s" } do
    test.raises("deployment.encoder." .. key, function()
      serve.run(scenario(two, { deployment = { encoder = { [key] = -1 } } }))
    end)
  end
end)

test("a fork goes on as the original does", function()
  local live = serve.open(scenario(two, { distinct = 3 }))
  live:run_until(1)
  local fork = live:fork()
  live:run()
  fork:run()
  test.equal(measure.summary(fork).encoder.encode_s, measure.summary(live).encoder.encode_s)
  test.equal(measure.summary(fork).e2e_s.mean, measure.summary(live).e2e_s.mean)
end)

test("another scheduler asks for the room of images as well", function()
  local small = { deployment = { encoder = { budget_tokens = 900, cache_tokens = 2000 } } }
  local alone, swapped = serve.open(scenario(two, small)), serve.open(scenario(two, small))
  swapped:set { scheduler = require "schedulers.vllm_v1" {} }
  alone:run()
  swapped:run()
  test.equal(measure.summary(swapped).ttft_s.mean, measure.summary(alone).ttft_s.mean)
  test.equal(measure.summary(swapped).encoder.encode_s, measure.summary(alone).encoder.encode_s)
end)

test("a model without an encoder takes no image", function()
  test.raises("has no encoder", function() serve.run(scenario(two, { model = "llama-3.1-8b" })) end)
end)

test("benchmarks with images are workloads with pictures", function()
  local found = policy.parameters(command.read("vllm bench serve --dataset-name random-mm --num-prompts 10 "
    .. "--random-input-len 300 --random-mm-base-items-per-request 2 --random-mm-limit-mm-per-prompt "
    .. "'{\"image\": 3, \"video\": 0}' --random-mm-bucket-config '{(256, 256, 1): 0.7, (720, 1280, 1): 0.3}'"))
  test.equal(found.images.count, 2)
  test.equal(found.images.sizes[2][1], 1280)
  test.equal(found.of.random_input_len, 300)
  test.equal(found.behind, true)
  found = policy.parameters(command.read("python -m sglang.bench_serving --dataset-name image --image-count 3 "
    .. "--image-resolution 720p --random-input-len 64 --num-prompts 8"))
  test.equal(found.images.count, 3)
  test.equal(found.images.sizes[1][1], 1280)
end)

test.finish()
