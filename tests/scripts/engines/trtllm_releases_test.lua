-- What TensorRT-LLM's candidates of 1.3 and 1.4 do: windows in pools of their own.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.engines"

local function note(engine, model)
  local found = engines.capacity { model = model, hardware = "h100-sxm", engine = engine }
  return found.note and found.note:find("pools of their own", 1, true) ~= nil or false
end

test("pools of windows are said where the release has them, and not of models without windows", function()
  test.equal(note("trtllm 1.3.0rc10", "gpt-oss-20b"), false)
  test.equal(note("trtllm 1.3.0rc24", "gpt-oss-20b"), true)
  test.equal(note("trtllm 1.3.0rc24", "llama-4-scout"), false)
  test.equal(note("trtllm 1.4.0rc1", "gemma-3-12b"), true)
  test.equal(note("trtllm 1.4.0rc1", "qwen3-8b"), false)
  local second = "kv_cache_config.use_kv_cache_manager_v2"
  test.equal(note({ "trtllm 1.4.0rc4", [second] = false }, "gpt-oss-20b"), false)
  test.equal(note({ "trtllm 1.3.0rc10", [second] = true }, "gpt-oss-20b"), true)
end)

test("a candidate of 1.4 is known; without a release rules hold that were read in whole", function()
  local catalogue = require "rooflua.engines.catalogue"
  test.equal(catalogue.last(catalogue.of "trtllm"), "1.4.0rc4")
  test.equal(engines.of("trtllm").release, "1.3.0")
  local sources = engines.of("trtllm 1.4.0rc4", { hardware = "h100-sxm", model = "llama-3.1-8b" }).sources
  test.equal(sources["kv_cache_config.free_gpu_memory_fraction"]:find "not read", nil)
  test.equal(sources.max_batch_size:find "not read", nil)
  test.has(sources.pipeline_steps, "not read: as 1.3.0")
end)

test("the one-sided exchange is tried first from 1.2.0rc5 on, unless a variable says another", function()
  local function exchange(release)
    return engines.of("trtllm " .. release, { hardware = "gb200", model = "deepseek-v3" }).values.exchange
  end
  test.equal(exchange "1.2.0rc3", "nvlink_two_sided")
  test.equal(exchange "1.2.0rc6", "nvlink_one_sided")
  test.equal(exchange "1.4.0rc4", "nvlink_one_sided")
end)

test.finish()
