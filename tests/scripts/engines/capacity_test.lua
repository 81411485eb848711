-- The memory of a GPU as engines divide it (engines.capacity): laws of the ledger, worked examples of the rules, and
-- what would make a deployment start.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local chunks = require "rooflua.sandbox.chunks"
local engines, spec = rooflua.engines, rooflua.spec
local core = chunks.require "rooflua.base.core"
local native = chunks.require "rooflua.native"
local capacity = chunks.require "rooflua.serving.capacity"
local Reader = chunks.require "rooflua.scenario.reader"
local replicas = chunks.require "rooflua.serving.replicas"
local full_run = chunks.require "rooflua.serving.full_run"
local pages = chunks.require "engines.memory.pages"

local gib = 2 ^ 30

--- Deployments of all engines and kinds of models.
local deployments = {
  { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.11.0" },
  { model = "llama-3.1-8b", hardware = "rtx-3090", engine = "vllm 0.6.4" },
  { model = "qwen3-32b", hardware = "h100-sxm", engine = "vllm 0.22", deployment = { tp = 2 } },
  { model = "llama-3.1-70b", hardware = "h100-sxm", engine = "vllm 0.19", deployment = { tp = 2, pp = 3 } },
  { model = "gpt-oss-120b", hardware = "h200-sxm", engine = "vllm 0.22" },
  { model = "gemma-3-27b", hardware = "a100-sxm-80gb", engine = "vllm 0.15.1" },
  { model = "qwen3-next-80b-a3b", hardware = "h200-sxm", engine = "vllm 0.10.2", deployment = { tp = 2 } },
  { model = "deepseek-v3", hardware = "b200", engine = "vllm 0.24", deployment = { dp = 8, ep = 8 } },
  { model = "deepseek-v4-flash", hardware = "gb300", engine = "vllm 0.24", deployment = { tp = 4 } },
  { model = "qwen3-32b", hardware = "h100-sxm", engine = "sglang 0.5.9", deployment = { tp = 2 } },
  { model = "qwen3.5-27b", hardware = "h200-sxm", engine = "sglang 0.5.12" },
  { model = "gpt-oss-20b", hardware = "h100-sxm", engine = "sglang 0.5.9" },
  { model = "deepseek-v3", hardware = "b200", engine = "trtllm 1.2.0rc6", deployment = { tp = 8, kv = "fp8" } },
  { model = "llama-3.1-8b", hardware = "rtx-5090", engine = "trtllm 0.20.0", deployment = { weights = "fp8" } },
}

local function changed(given, deployment)
  local out = {}
  for key, value in pairs(given) do out[key] = value end
  out.deployment = {}
  for key, value in pairs(given.deployment or {}) do out.deployment[key] = value end
  for key, value in pairs(deployment) do out.deployment[key] = value end
  return out
end

local function name_of(given) return given.model .. ", " .. given.engine end

test("parts and KV cache sum to the memory that the engine divides, and none is negative", function()
  for _, given in ipairs(deployments) do
    local found, sum = engines.capacity(given), 0
    for _, part in ipairs(found.parts) do
      sum = sum + part.bytes
      test.check(part.bytes >= 0, "%s: %s is %g", name_of(given), part.name, part.bytes)
    end
    test.near(sum + found.kv_bytes, found.budget_bytes, 1e-12, name_of(given))
    test.check(found.budget_bytes <= found.total_bytes, name_of(given))
  end
end)

test("a larger share of the memory never gives fewer tokens", function()
  for _, given in ipairs(deployments) do
    local before = -1
    for share = 0.3, 0.99, 0.03 do
      local found = engines.capacity(changed(given, { memory_utilization = share }))
      test.check(found.kv_tokens >= before, "%s: %g tokens at %g, %g before", name_of(given), found.kv_tokens, share,
        before)
      before = found.kv_tokens
    end
  end
end)

test("a larger GPU never gives fewer bytes; a format of half the size about twice the tokens", function()
  for _, given in ipairs(deployments) do
    local base = spec.hardware(given.hardware)
    local more = {}
    for key, value in pairs(given) do more[key] = value end
    more.hardware = spec.hardware { from = base, name = base.name, memory_bytes = base.memory_bytes + 8 * gib,
      usable_memory_bytes = base.usable_memory_bytes + 4 * gib }
    test.check(engines.capacity(more).kv_bytes > engines.capacity(given).kv_bytes, name_of(given))
  end
  local given = deployments[1]
  local bf16, fp8 = engines.capacity(given), engines.capacity(changed(given, { kv = "fp8" }))
  test.near(fp8.kv_tokens, 2 * bf16.kv_tokens, 1e-3)
end)

test("more seats and a larger budget never give more bytes in vLLM", function()
  local before = math.huge
  for _, seats in ipairs { 8, 64, 256, 1024, 4096 } do
    local found = engines.capacity { model = "qwen3-8b", hardware = "h100-sxm",
      engine = { "vllm 0.11.0", max_num_seqs = seats, max_num_batched_tokens = 8192 } }
    test.check(found.kv_bytes <= before, "seats %d", seats)
    before = found.kv_bytes
  end
  before = math.huge
  for _, budget in ipairs { 2048, 8192, 32768, 131072 } do
    local found = engines.capacity { model = "qwen3-8b", hardware = "h100-sxm",
      engine = { "vllm 0.11.0", max_num_seqs = 256, max_num_batched_tokens = budget } }
    test.check(found.kv_bytes <= before, "budget %d", budget)
    before = found.kv_bytes
  end
end)

test("counts of a rank are the weights that a deployment has", function()
  for _, each in ipairs { { "qwen3-32b", { tp = 4 } }, { "deepseek-v3", { tp = 1, dp = 8, ep = 8 } },
    { "gpt-oss-120b", { tp = 2 } }, { "qwen3.5-35b-a3b", { tp = 2 } }, { "nemotron-h-56b", { tp = 2 } } } do
    local model = spec.model(each[1])
    local counts, bytes = native.rank_counts(model, each[2]), 0
    for class, elements in pairs(counts.stages[1].weights) do
      bytes = bytes + elements * counts.element_bytes[class]
    end
    local given = { model = model, hardware = "b300", kv_blocks = 10 }
    for key, value in pairs(each[2]) do given[key] = value end
    test.near(bytes, spec.deployment(given).weight_bytes, 1e-12, each[1])
  end
end)

-- Worked examples of the rules ----------------------------------------------------------------------------------

local function layout_of(given)
  local found = capacity.of(given)
  return pages.layout(found.facts, 1, 16, 16), found.facts
end

test("gpt-oss-120b has two groups of 18 layers, and windows weigh more at short lengths", function()
  local given = { model = "gpt-oss-120b", hardware = "h200-sxm",
    engine = { "vllm 0.22", max_num_seqs = 4, max_model_len = 9472, max_num_batched_tokens = 8192 } }
  local layout, facts = layout_of(given)
  test.equal(layout.groups, 2)
  test.equal(layout.block_bytes, 18 * 32768)
  test.equal(pages.blocks_of(layout, 9472, facts), 592 + 521)
  test.equal(pages.blocks_of(layout, 2068, facts), 130 + 131)
  local blocks = 104203
  test.near(blocks / pages.blocks_of(layout, 9472, facts) * 9472, 886768, 1e-4)
  test.near(blocks / pages.blocks_of(layout, 9472, facts), 93.62, 1e-4)
  test.near(blocks / pages.blocks_of(layout, 2068, facts), 399.2, 1e-3)
end)

test("Qwen3-Next: pages of attention grow to 544 tokens, four groups share the pool", function()
  local layout, facts = layout_of { model = "qwen3-next-80b-a3b", hardware = "h200-sxm",
    engine = { "vllm 0.10.2", max_model_len = 262144 }, deployment = { tp = 2 } }
  test.equal(layout.block_size, 544)
  test.equal(layout.groups, 4)
  test.equal(math.floor(7162 / layout.groups) * layout.block_size, 973760)
  test.equal(pages.blocks_of(layout, 262144, facts), 482 + 3)
  test.near(7162 / pages.blocks_of(layout, 262144, facts), 14.77, 1e-3)
end)

test("Gemma-4-31B: a page of windows holds twice the tokens in full layers; six groups", function()
  local layout = layout_of { model = "gemma-4-31b", hardware = "a100-sxm-80gb", engine = "vllm 0.20",
    deployment = { weights = "int4_group128" } }
  test.equal(layout.groups, 6)
  for _, each in ipairs(layout.list) do test.equal(each.block_size, each.kind == "full" and 32 or 16) end
end)

test("a drafter's layers fill a group up with those of the other kind, by release", function()
  --- Layers of a group of 12 layers with windows and 17 others, of which 5 are a drafter's.
  local function size_of(release)
    local found = capacity.of { model = "gpt-oss-20b", hardware = "h100-sxm", engine = "vllm " .. release }
    local token_bytes = found.facts.counts.kinds[2].growing_bytes
    local facts = core.copy(found.facts, { drafter = { kv_bytes_per_token = 5 * token_bytes } })
    return pages.layout(facts, 1, 16, 16).layers
  end
  test.equal(size_of "0.11.0", 12, "vllm-project/vllm#29303, before")
  test.equal(size_of "0.17", 12, "17 layers are more than 1.25 x 12: vllm-project/vllm#36684")
  test.equal(size_of "0.18", 17)
end)

test("before 0.21 vLLM prints blocks over groups, from 0.21 on requests times their length", function()
  local given = { model = "gpt-oss-120b", hardware = "h200-sxm", engine = "vllm 0.20",
    deployment = { max_model_len = 9472 } }
  local before = engines.capacity(given)
  test.equal(before.kv_tokens, math.floor(before.kv_blocks / 2) * 16)
  given.engine = "vllm 0.21"
  local after = engines.capacity(given)
  test.equal(after.kv_tokens, math.floor(after.max_concurrency * 9472))
end)

test("the dummy run's sampler costs 4.7 GiB with PyTorch and a third of it with FlashInfer", function()
  local function activations(release)
    local found = engines.capacity { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm " .. release }
    return found.parts[2].bytes / gib
  end
  local hidden = 8192 * 4096 * 2 / gib
  test.near(activations "0.11.0", 4.76, 0.01)
  test.near(activations "0.19" - hidden, (activations "0.11.0" - hidden) * 14 / 38.3, 0.02)
end)

test("SGLang's rest: free after loading less the part that mem_fraction_static leaves", function()
  local found = engines.capacity { model = "nvidia/DeepSeek-R1-0528-NVFP4-v2", hardware = "b200",
    engine = { "sglang 0.5.9", tp_size = 4, mem_fraction_static = 0.85 } }
  local before = 178.35 - 1.8
  test.near(found.kv_bytes / gib, before - found.parts[1].bytes / gib - 0.15 * before, 1e-9)
  test.near(found.kv_tokens, 1466126, 0.03)
end)

test("TensorRT-LLM counts windows as whole layers, and keeps a part of what is free", function()
  local found = engines.capacity { model = "gpt-oss-120b", hardware = "b200",
    engine = { "trtllm 1.3.0rc10", ["kv_cache_config.free_gpu_memory_fraction"] = 0.8,
      ["kv_cache_config.dtype"] = "fp8" } }
  test.near(found.kv_bytes / found.kv_tokens, 36864, 1e-4)
  local free = 0
  for _, part in ipairs(found.parts) do free = part.name == "left free" and part.bytes or free end
  test.near(free, 0.25 * found.kv_bytes, 1e-9)
end)

-- What would start ------------------------------------------------------------------------------------------------

test("a refusal says why, and what it names starts", function()
  local given = { model = "qwen3-32b", hardware = "h100-sxm", engine = "vllm 0.19" }
  local found = engines.capacity(given)
  test.equal(found.starts, false)
  test.check(found.reason:find("max_model_len 40,960 needs 10.00 GiB", 1, true), found.reason)
  for _, deployment in ipairs { { max_model_len = found.fits.max_model_len }, { memory_utilization = found.fits.share },
    { tp = found.fits.tp } } do
    test.check(engines.capacity(changed(given, deployment)).starts, next(deployment))
  end
  test.equal(engines.capacity(changed(given, { max_model_len = found.fits.max_model_len + 16 })).starts, false)
  test.equal(engines.capacity(changed(given, { memory_utilization = found.fits.share - 0.01 })).starts, false)
end)

test("where weights fill the memory no length fits", function()
  local found = engines.capacity { model = "llama-3.1-70b", hardware = "h100-sxm", engine = "vllm 0.19" }
  test.equal(found.starts, false)
  test.equal(found.fits.max_model_len, nil)
  test.check(found.reason:find("no memory is left", 1, true), found.reason)
  test.check(found.fits.tp ~= nil, "tp helps")
end)

test("the text has the words of the engine's log", function()
  local found = engines.capacity { model = "llama-3.1-8b", hardware = "h100-sxm",
    engine = { "vllm 0.11.0", max_model_len = 16000 } }
  test.check(found.text:find("GPU KV cache size: 421,024 tokens", 1, true), found.text)
  test.check(found.text:find("Maximum concurrency for 16,000 tokens per request: 26.31x", 1, true), found.text)
end)

test("options of the engine and keys of a deployment that mean the same give the same", function()
  local a = engines.capacity { model = "qwen3-32b", hardware = "h100-sxm",
    engine = { "vllm 0.19", tensor_parallel_size = 2, gpu_memory_utilization = 0.8, max_model_len = 4096 } }
  local b = engines.capacity { model = "qwen3-32b", hardware = "h100-sxm", engine = "vllm 0.19",
    deployment = { tp = 2, memory_utilization = 0.8, max_model_len = 4096 } }
  test.equal(a.text, b.text)
end)

test("stated tokens of the KV cache are the most of it", function()
  for engine, name in pairs { ["sglang 0.5.9"] = "max_total_tokens",
    ["trtllm 1.2.0rc2"] = "kv_cache_config.max_tokens" } do
    local function tokens(most)
      return engines.capacity({ model = "llama-3.1-8b", hardware = "h100-sxm", engine = { engine, [name] = most },
        deployment = { max_model_len = 1000 } }).kv_tokens
    end
    test.equal(tokens(6400), 6400, engine)
    test.equal(tokens(1e8), tokens(nil), engine)
  end
end)

test("mistakes name what is wrong", function()
  test.raises("engines.capacity: model", function() engines.capacity { hardware = "h100-sxm" } end)
  test.raises("unknown key 'modle'", function() engines.capacity { modle = "x" } end)
  test.raises("did you mean 'qwen3-32b'", function()
    engines.capacity { model = "qwen3-32", hardware = "h100-sxm" }
  end)
  test.raises("do not divide by tp = 3", function()
    engines.capacity { model = "qwen3-32b", hardware = "h100-sxm", deployment = { tp = 3 } }
  end)
  test.raises("max_num_seq", function()
    engines.capacity { model = "qwen3-32b", hardware = "h100-sxm", engine = { "vllm 0.19", max_num_seq = 3 } }
  end)
end)

local function scenario(given)
  local out = { rooflua = 1, seed = 1, workload = require "workloads.constant" { rate_per_s = 5, num_requests = 20,
    prompt_tokens = 100, output_tokens = 5 } }
  for key, value in pairs(given) do out[key] = value end
  return out
end

test("a run has the blocks that the engine would print, less the null block", function()
  for _, given in ipairs { deployments[1], deployments[3], deployments[10] } do
    local reader = Reader.new "scenario"
    local deployment = replicas.deployment(reader, scenario(given))
    local found = engines.capacity(given)
    test.equal(deployment.kv_blocks, found.kv_blocks - 1, name_of(given))
    test.equal(deployment.memory_utilization, found.deployment.share, name_of(given))
  end
end)

test("a run of several kinds of layers has the same bytes", function()
  for _, i in ipairs { 5, 7, 11 } do
    local given = deployments[i]
    local deployment = replicas.deployment(Reader.new "scenario", scenario(given))
    local found, states = engines.capacity(given), 0
    for _, part in ipairs(found.parts) do states = part.name == "states" and part.bytes or states end
    local bytes = deployment.kv_blocks * deployment.kv_bytes_per_block
    test.check(bytes <= found.kv_bytes + states, name_of(given))
    test.near(bytes, found.kv_bytes + states, 2 * deployment.kv_bytes_per_block / bytes, name_of(given))
  end
end)

test("blocks that a scenario states are not computed", function()
  local given = scenario(changed(deployments[1], { kv_blocks = 77 }))
  test.equal(replicas.deployment(Reader.new "scenario", given).kv_blocks, 77)
end)

test("what fits by no rule is refused with the engine's reason", function()
  local given = scenario { model = "llama-3.1-70b", hardware = "h100-sxm", engine = "vllm 0.19" }
  test.raises("does not fit on h100-sxm", function() replicas.deployment(Reader.new "scenario", given) end)
  given = scenario { model = "qwen3-32b", hardware = "h100-sxm", engine = { "vllm 0.11.0", max_num_seqs = 2000 } }
  test.raises("does not fit on h100-sxm", function() replicas.deployment(Reader.new "scenario", given) end)
end)

test("a run that states its engine begins with the engine's line; another does not", function()
  local given = scenario { model = "qwen3-8b", hardware = "h100-sxm", engine = "vllm 0.19" }
  local said = full_run.run(Reader.new "scenario", given, {}).text
  test.check(said:find("^memory    vllm 0.19: GPU KV cache size: [%d,]+ tokens, [%d.]+x of 40,960 tokens"), said)
  given.engine = nil
  said = full_run.run(Reader.new "scenario", given, {}).text
  test.check(said:find "^requests ", said)
end)

test("a vision encoder takes memory unless only the language model is loaded", function()
  local function capacity_of(only)
    return engines.capacity { model = "qwen3.5-27b", hardware = "h200-sxm",
      engine = { "vllm 0.22", language_model_only = only } }
  end
  local all, only = capacity_of(false), capacity_of(true)
  test.near(all.parts[1].bytes - only.parts[1].bytes, 460.5e6 * 2, 1e-9)
  test.check(all.kv_bytes < only.kv_bytes)
end)

test("SGLang keeps place for graphs of all ranks of divided attention, and divides stated requests", function()
  local function capacity_of(more)
    local options = { "sglang 0.5.9", tp_size = 8, cuda_graph_max_bs = 512 }
    for key, value in pairs(more) do options[key] = value end
    local found = engines.capacity { model = "deepseek-v3", hardware = "b200", engine = options }
    for _, part in ipairs(found.parts) do
      if part.name == "activations and graphs" then return part.bytes / gib, found.max_running_requests end
    end
  end
  local divided, running = capacity_of { dp_size = 8, enable_dp_attention = true }
  local undivided, together = capacity_of {}
  test.near(divided - undivided, 512 * 8 * 4.5 / 1024, 0.02)
  test.equal(running, 2048)
  local _, stated = capacity_of { dp_size = 8, enable_dp_attention = true, max_running_requests = 2048 }
  test.equal(stated, 2048 / 8)
  test.at_least(together, 2048)
end)

test("stores outside of the GPU hold whole chunks of what the layers keep", function()
  local about = { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.24", tiers = { policy = "lmcache",
    stores = { { name = "cpu", capacity_bytes = 1e9 }, { name = "ssd", capacity_bytes = 1e9, chunk_tokens = 16,
      per = "node" } } } }
  local found = engines.capacity(about)
  test.equal(found.tiers[1].tokens, math.floor(1e9 / 131072 / 256) * 256)
  test.equal(found.tiers[2].tokens, math.floor(1e9 / 131072 / 16) * 16)
  test.equal(found.tiers[2].per, "node")
  test.check(found.text:find("KV in ssd: 7,616 tokens (1.00 GB per node)", 1, true), "%s", found.text)
  about.tiers.bytes_per_token = 1000
  test.equal(engines.capacity(about).tiers[2].tokens, 1e6)
  about.tiers = nil
  test.equal(engines.capacity(about).tiers, nil)
end)

test("options of an engine say stores as well, of all ranks, and not beside those of the question", function()
  local about = { model = "llama-3.1-8b", hardware = "h100-sxm", deployment = { tp = 2 },
    engine = { "sglang", enable_hierarchical_cache = true, hicache_ratio = 3 } }
  local found = engines.capacity(about)
  test.near(found.tiers[1].tokens, 3 * found.kv_tokens, 1e-9)
  about.engine = { "vllm", kv_offloading_size = 10 }
  test.near(engines.capacity(about).tiers[1].capacity_bytes, 10 * gib, 1e-12)
  about.tiers = { stores = { { name = "cpu", capacity_bytes = 1e9 } } }
  test.raises("the scenario states tiers as well", function() engines.capacity(about) end)
  about.engine = nil
  about.tiers = { stores = { { name = "cpu", capacity_bytes = 0 } } }
  test.raises("capacity_bytes", function() engines.capacity(about) end)
end)

test.finish()
