-- What tests of AFD share.
local Kernels = require "steps.kernels" -- of this environment, in which mutations_test.lua changes it
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"

local setup = {}

local load = require "workloads.poisson" { rate_per_s = 4, num_requests = 20, prompt_tokens = 2000, output_tokens = 40 }

function setup.scenario(deployment, changes)
  local out = { model = "deepseek-v3", hardware = "h200-sxm", engine = "sglang 0.5.14", deployment = deployment,
    seed = 4, steps = Kernels { sorted_logit_s = 1.4e-10 }, workload = load }
  for key, value in pairs(changes or {}) do out[key] = value end
  return out
end

function setup.priced(deployment, batch, changes)
  local given = setup.scenario(deployment, changes)
  given.workload, given.price, given.replicas = nil, { batch }, nil
  deployment.kv_blocks = 100000
  return prices.price(Prepared.of(Reader.new "test", given)).batches[1]
end

function setup.merged(given, more)
  local out = {}
  for key, value in pairs(given) do out[key] = value end
  for key, value in pairs(more) do out[key] = value end
  return out
end

function setup.sum(rows, pattern, field)
  local out = 0
  for _, row in ipairs(rows) do
    if row.name:find(pattern) then out = out + (row[field] or 0) * (row.count or 1) end
  end
  return out
end

function setup.random_batch(with_prompts, with_decodes)
  local batch = { prefills = {}, decodes = 0, decode_context_tokens = 0 }
  for i = 1, with_prompts and math.random(1, 3) or 0 do
    batch.prefills[i] = { new_tokens = 24 * math.random(1, 100),
      context_tokens = math.random(0, 3) * math.random(0, 9000) }
  end
  if with_decodes then
    batch.decodes = 12 * math.random(1, 10)
    batch.decode_context_tokens = batch.decodes * math.random(1200, 20000)
  end
  return batch
end

setup.cases = {
  { "deepseek-v3", { dp = 4, ep = 16, expert_gpus = 16 } },
  { "deepseek-v3", { tp = 4, ep = 8, moe_tp = 2, expert_gpus = 16 }, "gb200" },
  { "qwen3-30b-a3b", { tp = 2, ep = 4, expert_gpus = 4 } },
  { "qwen3-235b-a22b", { dp = 8, ep = 8, expert_gpus = 8 } },
  { "gpt-oss-120b", { tp = 1, ep = 2, expert_gpus = 2 } },
}

return setup
