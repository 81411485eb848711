-- One request on several ranks (deployment.cp, deployment.dcp): what is refused, what ranks hold, laws of the price on
-- random batches, exchanges by their formulas, runs and plans.
local capacity = require "rooflua.serving.capacity"
local command = require "rooflua.applied.command"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local setup = dofile "tests/scripts/plan/setup.lua"
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"

math.randomseed(20)

local load = require "workloads.poisson" { rate_per_s = 2, num_requests = 20, prompt_tokens = 3000, output_tokens = 40 }

local function scenario(deployment, changes)
  return scene({ model = "deepseek-v3", hardware = "h200-sxm", engine = "sglang 0.5.14", deployment = deployment,
    seed = 4, steps = "kernels", workload = load }, changes)
end

-- What cannot be --------------------------------------------------------------------------------------------------

test("what does not divide, or is not combined, is refused by the names of its keys", function()
  local function deploy(model, options)
    options.model, options.hardware, options.kv_blocks = model, "h200-sxm", 1000
    return spec.deployment(options)
  end
  for message, case in pairs {
    ["deployment.dcp: 3 does not divide tp = 8"] = { "deepseek-v3", { tp = 8, dcp = 3 } },
    ["deployment.dcp: 2 does not divide the 1 copy of each of the 8 KV heads"] =
      { "llama-3.1-70b", { tp = 8, dcp = 2 } },
    ["deployment.dcp: 4 does not divide the 2 copies of each of the 4 KV heads"] =
      { "qwen3-235b-a22b", { tp = 8, dcp = 4 } },
    ["deployment.cp: with pp > 1 is not modelled"] = { "llama-3.1-70b", { tp = 2, cp = 2, pp = 2 } },
    ["deployment.cp: with dp > 1 is not modelled"] = { "deepseek-v3", { tp = 2, cp = 2, dp = 2 } },
    ["deployment.cp: with dcp > 1 is not modelled"] = { "deepseek-v3", { tp = 2, cp = 2, dcp = 2 } },
    ["deployment.cp: gpt-oss-120b has layers of the kind window"] = { "gpt-oss-120b", { tp = 2, cp = 2 } },
    ["deployment.dcp: qwen3-next-80b-a3b has layers of the kind delta"] =
      { "qwen3-next-80b-a3b", { tp = 8, dcp = 2 } },
    ["deployment.cp: expected"] = { "llama-3.1-8b", { cp = 0 } },
  } do
    test.raises(message, function() deploy(case[1], case[2]) end)
  end
end)

test("what a run does not combine with it is refused, and a step model that does not price it", function()
  local drafts = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {} }
  local tiers = { policy = require "tiers.vllm_cpu" {}, stores = { { name = "cpu", capacity_bytes = 1e11 } } }
  for message, case in pairs {
    ["deployment.dcp: with speculation is not modelled"] = { { tp = 8, dcp = 2 }, { speculation = drafts } },
    ["deployment.cp: with speculation is not modelled"] = { { tp = 4, cp = 2 }, { speculation = drafts } },
    ["deployment.dcp: with replicas[].role is not modelled"] = { { tp = 8, dcp = 2 },
      { replicas = { { role = "prefill" }, { role = "decode" } }, network = {} } },
    ["tiers: with deployment.dcp > 1 is not modelled"] = { { tp = 8, dcp = 2 },
      { tiers = tiers } },
    ["tiers: with deployment.cp > 1 is not modelled"] = { { tp = 4, cp = 2 },
      { tiers = tiers } },
    ["steps: roofline_v1 does not price deployment.dcp = 2; kernels does"] = { { tp = 8, dcp = 2 },
      { steps = "roofline_v1" } },
    ["deployment.cp: its groups lie in several nodes of 8 GPUs (16 ranks)"] = { { tp = 8, cp = 2 } },
    ["deployment.block_size: 100 tokens are on 8 ranks of dcp, 12.5 on each; a multiple of 8 is right"] =
      { { tp = 8, dcp = 8, block_size = 100 } },
  } do
    test.raises(message, function() serve.run(scenario(case[1], case[2])) end)
  end
end)

test("an engine is refused what its release does not divide, and the error names one that does", function()
  for message, case in pairs {
    ["deployment.dcp: vllm 0.10.0 divides the KV of no request in latent attention"] =
      { "vllm 0.10.0", { tp = 8, dcp = 8 } },
    ["deployment.dcp: vllm 0.11.0 divides the KV of no request in full attention"] =
      { "vllm 0.11.0", { tp = 8, dcp = 2 }, "qwen3-235b-a22b" },
    ["deployment.dcp: sglang 0.5.14 divides the KV of no request in full attention"] =
      { "sglang 0.5.14", { tp = 8, dcp = 2 }, "qwen3-235b-a22b" },
    ["; vllm 0.24.0 does"] = { "sglang 0.5.14", { tp = 8, dcp = 2 }, "qwen3-235b-a22b" },
    ["deployment.cp: vllm 0.24 divides no prompts of latent attention"] = { "vllm 0.24", { tp = 4, cp = 2 } },
    ["; sglang 0.5.14 does"] = { "vllm 0.24", { tp = 4, cp = 2 } },
    ["deployment.cp: sglang 0.5.9 divides no prompts of latent"] = { "sglang 0.5.9", { tp = 4, cp = 2 } },
    ["deployment.dcp: trtllm 1.3 divides the KV"] = { "trtllm 1.3", { tp = 8, dcp = 2 } },
  } do
    test.raises(message, function() serve.run(scenario(case[2], { engine = case[1], model = case[3] })) end)
  end
end)

-- Memory ----------------------------------------------------------------------------------------------------------

test("tokens of the KV cache grow with dcp as copies are divided, and cp adds none", function()
  for _, case in ipairs { { "deepseek-v3", 8, { 1, 2, 4, 8 } }, { "qwen3-235b-a22b", 8, { 1, 2 } },
    { "llama-3.1-70b", 16, { 1, 2 } } } do
    local one
    for _, dcp in ipairs(case[3]) do
      local own = spec.deployment { model = case[1], hardware = "h200-sxm", tp = case[2], dcp = dcp }
      local tokens = (own.kv_blocks + 1) * own.block_size -- with the null block
      one = one or own
      test.near(own.kv_bytes_per_block * dcp, one.kv_bytes_per_block, 1e-6)
      test.near(tokens / ((one.kv_blocks + 1) * one.block_size), dcp, 1e-3 * dcp, case[1])
      test.equal(own.weight_bytes, one.weight_bytes)
    end
  end
  local one = spec.deployment { model = "llama-3.1-70b", hardware = "h200-sxm", tp = 4 }
  local two = spec.deployment { model = "llama-3.1-70b", hardware = "h200-sxm", tp = 4, cp = 2 }
  test.equal(two.kv_blocks, one.kv_blocks)
  test.equal(two.weight_bytes, one.weight_bytes, "attention and dense MLPs are on every rank of cp")
  local moe = spec.deployment { model = "qwen3-235b-a22b", hardware = "h200-sxm", tp = 4, cp = 2, kv_blocks = 1000 }
  local alone = spec.deployment { model = "qwen3-235b-a22b", hardware = "h200-sxm", tp = 4, kv_blocks = 1000 }
  test.check(moe.weight_bytes < 0.6 * alone.weight_bytes, "experts are divided over all ranks")
end)

test("engines count as many tokens: blocks of dcp times the size, and what their logs say grows dcp-fold", function()
  for _, engine in ipairs { "vllm 0.24", "sglang 0.5.14" } do
    local one
    for _, dcp in ipairs { 1, 2, 4, 8 } do
      local found = capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = engine,
        deployment = { tp = 8, dcp = dcp } }
      one = one or found
      test.equal(found.block_size, dcp * one.block_size)
      test.near(found.tokens / one.tokens, dcp, 2e-3 * dcp, engine)
    end
  end
  local stated = capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = { "vllm 0.24", block_size = 32 },
    deployment = { tp = 8, dcp = 4 } }
  test.equal(stated.block_size, 128)
end)

-- Prices ----------------------------------------------------------------------------------------------------------

local function priced(deployment, batch, changes)
  local given = scenario(deployment, changes)
  given.workload, given.price, given.replicas = nil, { batch }, nil
  given.deployment.kv_blocks = 100000
  return prices.price(Prepared.of(Reader.new "test", given)).batches[1]
end

local function random_batch(with_prompts, with_decodes)
  local batch = { prefills = {}, decodes = 0, decode_context_tokens = 0 }
  for i = 1, with_prompts and math.random(1, 3) or 0 do
    batch.prefills[i] = { new_tokens = math.random(2, 6000),
      context_tokens = math.random(0, 3) * math.random(0, 20000) }
  end
  if with_decodes then
    batch.decodes = math.random(1, 64)
    batch.decode_context_tokens = batch.decodes * math.random(1200, 40000)
  end
  return batch
end

local function sum(rows, pattern, field)
  local out = 0
  for _, row in ipairs(rows) do
    if row.name:find(pattern) then out = out + (row[field] or 0) * (row.count or 1) end
  end
  return out
end

test("cp = 1 and dcp = 1 are the price without them, to the last bit", function()
  for _, model in ipairs { "deepseek-v3", "qwen3-30b-a3b", "llama-3.1-8b" } do
    for _ = 1, 4 do
      local batch, changes = random_batch(true, true), { model = model }
      test.equal(priced({ tp = 2, cp = 1, dcp = 1 }, batch, changes).time_s, priced({ tp = 2 }, batch, changes).time_s)
    end
  end
end)

test("dcp leaves the flop of a rank's attention and divides the bytes that it reads", function()
  for _, case in ipairs { { "deepseek-v3", 8, { 2, 4, 8 } }, { "qwen3-235b-a22b", 8, { 2 } },
    { "qwen3-235b-a22b", 16, { 2, 4 }, "gb200" } } do
    for _ = 1, 3 do
      local batch = random_batch(false, true)
      local changes = { model = case[1], engine = "vllm 0.24", hardware = case[4] }
      local one = priced({ tp = case[2] }, batch, changes).rows
      for _, dcp in ipairs(case[3]) do
        local own = priced({ tp = case[2], dcp = dcp }, batch, changes).rows
        test.near(sum(own, "^attention_decode", "flop") / sum(one, "^attention_decode", "flop"), 1, 1e-9, case[1])
        test.near(dcp * sum(own, "^attention_decode", "bytes") / sum(one, "^attention_decode", "bytes"), 1, 1e-9)
        test.equal(#one + 4, #own, "three exchanges and a correction")
        for _, row in ipairs(own) do
          if row.name:find "^attention_decode" then
            test.check(row.shape:find(("tp=%d$"):format(case[2] / dcp)), "%s: heads of the group", row.shape)
          end
        end
      end
    end
  end
end)

test("exchanges of dcp move the bytes of their formulas", function()
  local function moved(bytes, dcp) return bytes * (dcp - 1) / dcp end
  for _, case in ipairs { { "deepseek-v3", 61, 128, 576, 512 }, { "qwen3-235b-a22b", 94, 64, 128, 128 } } do
    for _, dcp in ipairs(case[1] == "deepseek-v3" and { 2, 8 } or { 2 }) do
      local batch = random_batch(false, true)
      local n, layers, heads = batch.decodes, case[2], case[3] / 8
      local rows = priced({ tp = 8, dcp = dcp }, batch, { model = case[1], engine = "vllm 0.24" }).rows
      test.near(sum(rows, "^dcp_query_gather", "bytes"), layers * moved(2 * n * heads * dcp * case[4], dcp), 1e-9)
      test.near(sum(rows, "^dcp_lse_gather", "bytes"), layers * moved(4 * n * heads * dcp * dcp, dcp), 1e-9)
      test.near(sum(rows, "^dcp_output_scatter", "bytes"), layers * moved(2 * n * heads * dcp * case[5], dcp), 1e-9)
      local other = priced({ tp = 8, dcp = dcp }, batch,
        { model = case[1], engine = { "vllm 0.24", dcp_comm_backend = "a2a" } }).rows
      test.near(sum(other, "^dcp_output_exchange", "bytes"),
        layers * moved(n * heads * dcp * (2 * case[5] + 4), dcp), 1e-9)
      test.equal(sum(other, "^dcp_lse_gather", "count") + sum(other, "^dcp_output_scatter", "count"), 0)
    end
  end
end)

test("a prompt after cached tokens gathers them where attention is latent, and its queries where it is not", function()
  local batch = { prefills = { { new_tokens = 1000, context_tokens = 5000 } }, decodes = 0 }
  local rows = priced({ tp = 8, dcp = 4 }, batch, { engine = "vllm 0.24" }).rows
  test.near(sum(rows, "^dcp_context_gather", "bytes"), 61 * 5000 * 576 * 2 * 3 / 4, 1e-9)
  rows = priced({ tp = 8, dcp = 2 }, batch, { engine = "vllm 0.24", model = "qwen3-235b-a22b" }).rows
  test.near(sum(rows, "^dcp_query_gather", "bytes"), 94 * 2 * 1000 * 8 * 2 * 128 / 2, 1e-9)
  batch.prefills[1].context_tokens = 0
  test.equal(sum(priced({ tp = 8, dcp = 4 }, batch, { engine = "vllm 0.24" }).rows, "^dcp_", "count"), 0)
end)

local function padded(t, cp) return 2 * cp * math.ceil(t / (2 * cp)) end

test("ranks of cp divide the query-key pairs of a prompt between them, up to its padding", function()
  for _, model in ipairs { "llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3" } do
    for _, cp in ipairs { 2, 4 } do
      for _ = 1, 4 do
        local batch, whole = random_batch(true, false), { prefills = {}, decodes = 0 }
        local tokens = 0
        for i, each in ipairs(batch.prefills) do
          tokens = tokens + padded(each.new_tokens, cp)
          whole.prefills[i] = { new_tokens = padded(each.new_tokens, cp), context_tokens = each.context_tokens }
        end
        local own = priced({ tp = 2, cp = cp }, batch, { model = model }).rows
        local one = priced({ tp = 2 }, whole, { model = model }).rows
        test.near(cp * sum(own, "^attention_prefill", "flop") / sum(one, "^attention_prefill", "flop"), 1, 1e-9, model)
        local qkv = model == "deepseek-v3" and "^qkv_a" or "^qkv"
        test.near(cp * sum(own, qkv, "flop") / sum(one, qkv, "flop"), 1, 1e-9, "rows of a rank")
        local hidden = ({ ["llama-3.1-8b"] = 4096, ["qwen3-30b-a3b"] = 2048, ["deepseek-v3"] = 7168 })[model]
        local kv = ({ ["llama-3.1-8b"] = 32 * 4 * 256, ["qwen3-30b-a3b"] = 48 * 2 * 256,
          ["deepseek-v3"] = 61 * 576 })[model]
        test.near(sum(own, "^cp_kv_gather", "bytes"), 2 * kv * tokens * (cp - 1) / cp, 1e-9, model)
        test.near(sum(own, "^cp_hidden_gather", "bytes"), 2 * hidden * tokens * (cp - 1) / cp, 1e-9)
      end
    end
  end
end)

test("experts see the rows of all ranks of cp, decodes from each of them", function()
  local batch = random_batch(true, true)
  local tokens = 4 * batch.decodes
  for _, each in ipairs(batch.prefills) do tokens = tokens + padded(each.new_tokens, 4) end
  local rows = priced({ tp = 2, cp = 4 }, batch, { model = "qwen3-30b-a3b" }).rows
  test.near(sum(rows, "^experts", "flop"), 48 * tokens * 8 * 6 * 2048 * 768 / 8, 1e-9)
  test.near(sum(rows, "^expert_exchange", "bytes"), 48 * tokens * 2048 * 2, 1e-9)
end)

test("what prompts take besides their kernels is that of the rows of a rank", function()
  local batch = { prefills = { { new_tokens = 8000, context_tokens = 0 } }, decodes = 0 }
  local function beside(deployment)
    local rows = priced(deployment, batch, { model = "llama-3.1-70b", hardware = "b200" }).rows
    return sum(rows, "^prompts_beside", "time_s")
  end
  test.check(beside { tp = 2 } > 0)
  test.near(beside { tp = 2, cp = 4 } / beside { tp = 2 }, 0.25, 0.2)
end)

test("decodes run on all ranks of cp as they do on one", function()
  for _, model in ipairs { "llama-3.1-8b", "llama-3.1-70b" } do
    local batch = random_batch(false, true)
    test.equal(priced({ tp = 2, cp = 4 }, batch, { model = model }).time_s,
      priced({ tp = 2 }, batch, { model = model }).time_s)
  end
end)

test("more requests, tokens and context never make a step cheaper", function()
  for _, case in ipairs { { { tp = 8, dcp = 4 }, "deepseek-v3", "vllm 0.24" },
    { { tp = 8, dcp = 2 }, "qwen3-235b-a22b", "vllm 0.24" }, { { tp = 2, cp = 4 }, "llama-3.1-8b", "sglang 0.5.14" },
    { { tp = 2, cp = 2 }, "qwen3-30b-a3b", "sglang 0.5.14" } } do
    for _ = 1, 6 do
      local batch = random_batch(true, true)
      local base_s = priced(case[1], batch, { model = case[2], engine = case[3] }).time_s
      local function check(what)
        local time_s = priced(case[1], batch, { model = case[2], engine = case[3] }).time_s
        test.check(time_s >= base_s * (1 - 1e-4), "%s: %s: %.9g after %.9g", case[2], what, time_s, base_s)
      end
      local first = batch.prefills[1]
      first.new_tokens = first.new_tokens + math.random(1, 50)
      check "a longer chunk"
      first.context_tokens = first.context_tokens + math.random(1, 5000)
      check "more cached tokens"
      batch.decodes, batch.decode_context_tokens = batch.decodes + 1, batch.decode_context_tokens + 2000
      check "a further decode"
    end
  end
end)

-- Runs ------------------------------------------------------------------------------------------------------------

test("runs end every request with the same tokens, and long prompts start sooner with cp", function()
  local long = { model = "llama-3.1-8b", metrics = { utilisation = true },
    workload = require "workloads.closed_loop" { clients = 1, num_requests = 8, prompt_tokens = 60000,
      output_tokens = 20 } }
  local before
  for _, cp in ipairs { 1, 2, 4 } do
    local summary = serve.run(scenario({ tp = 2, cp = cp }, long)).summary
    test.equal(summary.completed, 8)
    test.equal(summary.output_tokens, 160)
    test.check(not before or summary.ttft_s.p50 < 0.7 * before, "cp %d", cp)
    test.check(summary.overall_mfu > 0.2 and summary.overall_mfu < 0.8, "work over the GPUs of all ranks")
    before = summary.ttft_s.p50
  end
end)

test("steps of a run with dcp cost what they cost one by one", function()
  local live = serve.open(scenario({ tp = 8, dcp = 8 }, { engine = "vllm 0.24" }))
  for _ = 1, 40 do
    live:step(1)
    local last = live:last_step(1)
    if last then
      local rows = live:explain(1)
      test.near(rows.time_s, last.time_s, 1e-9 * last.time_s)
    end
  end
  test.equal(live:replica(1).block_size, 8 * 16)
end)

test("dcp and stages of layers go together", function()
  local one = serve.run(scenario({ tp = 8, pp = 2 }, { engine = "vllm 0.24" })).summary
  local two = serve.run(scenario({ tp = 8, pp = 2, dcp = 8 }, { engine = "vllm 0.24" })).summary
  test.equal(two.output_tokens, one.output_tokens)
  local function blocks(dcp)
    return spec.deployment({ model = "deepseek-v3", hardware = "h200-sxm", tp = 8, pp = 2, dcp = dcp }).kv_blocks
  end
  test.near(blocks(8) / blocks(1), 8, 0.01)
end)

test("prefill engines may divide prompts, and decode engines of another width go on with their KV", function()
  local summary = serve.run(scenario({ tp = 4, cp = 2 }, { replicas = { { role = "prefill" },
    { role = "decode", deployment = { tp = 8 } } }, network = {} })).summary
  test.equal(summary.completed, 20)
end)

-- Commands and plans ----------------------------------------------------------------------------------------------

test("flags of engines say both, and a command is read back", function()
  local function keys(text)
    local found = command.keys(command.read(text))
    return capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = found.engine }.facts
  end
  local facts = keys "vllm serve deepseek-ai/DeepSeek-V3 -tp 8 -dcp 4"
  test.equal(facts.tp .. " " .. facts.dcp .. " " .. facts.block_size, "8 4 64")
  facts = keys("python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --attn-cp-size 2 "
    .. "--enable-prefill-context-parallel")
  test.equal(facts.tp .. " " .. facts.cp, "4 2")
  facts = keys "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --dcp-size 8"
  test.equal(facts.tp .. " " .. facts.dcp, "8 8")
  test.raises("deployment.cp: vllm 0.24.0 divides no prompts", function()
    keys "vllm serve deepseek-ai/DeepSeek-V3 -tp 4 -pcp 2"
  end)
end)

test("options that change nothing are told", function()
  local function told(engine, deployment)
    return table.concat(serve.run(scenario(deployment, { engine = engine })).notes or {}, "\n")
  end
  local switch = { "sglang 0.5.14", enable_prefill_context_parallel = true, dcp_comm_backend = "a2a" }
  test.check(told(switch, { tp = 8 }):find("--enable-prefill-context-parallel: it divides no prompt without", 1, true))
  test.check(told(switch, { tp = 8 }):find("--dcp-comm-backend: it changes nothing without ranks of dcp", 1, true))
  test.check(not told(switch, { tp = 4, cp = 2 }):find("divides no prompt", 1, true))
  test.check(not told(switch, { tp = 8, dcp = 2 }):find("--dcp-comm-backend", 1, true))
end)

test("a plan tries both, counts their GPUs and says why others do not fit", function()
  local function searched(ladder, top)
    local gpus = { { "h200-sxm", most = 16, price_per_hour = 4 } }
    local all = { steps = "kernels",
      workload = require "workloads.poisson" { prompt_tokens = 4000, output_tokens = 40 } }
    for key, value in pairs(top) do all[key] = value end
    ladder.max_num_seqs, ladder.max_num_batched_tokens = { 64 }, { 4096 }
    return setup.searched({ load = { rate_per_s = 0.5 }, slo = { ttft_s_p99 = 20 }, gpus = gpus, requests = 20,
      candidates = require "candidates.ladder"(ladder) }, all)
  end
  local done = searched({ tp = { 2, 4 }, cp = { 1, 2, 4 } }, { model = "llama-3.1-70b", engine = "sglang 0.5.14" })
  local names = {}
  for _, each in ipairs(done.found.list or done.found.candidates or {}) do names[each.name] = each end
  local seen = 0
  for name, each in pairs(names) do
    if each.cp then
      seen = seen + 1
      test.check(name:find("cp " .. each.cp, 1, true), name)
      if each.result and each.result.deployment then
        test.equal(each.result.deployment.gpus % (each.tp * each.cp), 0, name)
      elseif each.tp * each.cp > 8 then
        test.check(each.problem:find "tp 4 x cp 4 is more than the 8 GPUs", each.problem)
      end
    end
  end
  test.equal(seen, 4)
end)

test.finish()
