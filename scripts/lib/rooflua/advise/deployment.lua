-- What a changed setting makes of a deployment before anything runs: a text that is the same for deployments that are
-- the same, its memory, its GPUs, and the least that no run of it can fall below.
local bounds = require "rooflua.plan.bounds"
local changes = require "rooflua.applied.changes"
local core = require "rooflua.base.core"
local encoders = require "rooflua.serving.encoders"
local load = require "rooflua.machine.load"
local pieces = require "rooflua.serving.pieces"
local policy = require "rooflua.policy"
local run_text = require "rooflua.scenario.run_text"
local spec = require "rooflua.spec"

local deployment = {}

--- Each replica of a list that differs from the one before it.
local function different(list)
  local out = {}
  for i, each in ipairs(list) do
    local last = out[#out]
    local is_same = last and last.prepared == each.prepared
    if i == 1 or not is_same then out[#out + 1] = each end
  end
  return out
end

local function text_of(all)
  local out = { count = #all.replicas, tiers = all.tiers }
  for i, each in ipairs(different(all.replicas)) do
    local prepared = each.prepared
    out[i] = { config = each.config, scheduler = each.scheduler, steps = prepared.step_policy,
      corrections = prepared.corrections, deployment = each.deployment, dp_sync_s = each.dp_sync_s,
      router = prepared.router }
  end
  return (run_text.of(out))
end

--- Tokens that the KV caches of all replicas hold.
local function kv_tokens_of(list)
  local sum = 0
  for _, each in ipairs(list) do
    sum = sum + math.max(0, each.config.kv_blocks - each.config.seat_blocks) * each.config.block_size
  end
  return sum
end

--- GPUs of all replicas, and of those that only encode. A data-parallel rank is a replica of its own.
local function gpus_of(all)
  local sum = encoders.gpus(all.encoders)
  for _, each in ipairs(all.replicas) do
    local own = each.deployment
    sum = sum + own.tp * own.pp * own.cp + (each.rank == 1 and own.expert_gpus or 0)
  end
  return sum
end

--- What the bounds of plans ask of a question: lengths and limits.
---@param given table a scenario of kind "serve"
---@param limits table[] {metric, min, max}
function deployment.question(reader, given, workload, limits)
  local clients = policy.parameters(workload).clients
  local question = { reader = reader, workload = workload, seed = given.seed or 0, bounds = limits,
    model = spec.model(given.model),
    load = { kind = clients and "clients" or "recorded", value = clients, peak = 1 } }
  local ok, drawn = pcall(load.drawn, question)
  question.drawn = ok and drawn or nil
  return question
end

--- The least of each metric of the SLO that has one: {latency = {metric = seconds}, rate_per_s}; nil where engines
--- differ, or where no bound is known.
local function least_of(question, all)
  local first = all.replicas[1]
  if not question.drawn or first.config.role ~= "both" or #different(all.replicas) > 1 or all.experts then
    return nil
  end
  local config, own = first.config, first.deployment
  if type(config.max_num_batched_tokens) ~= "number" or config.max_num_batched_tokens < 1 then return nil end
  local asked = core.copy(question, { model = first.prepared.model, gpus = { { hardware = first.prepared.hardware } } })
  local ok, found = pcall(bounds.of, asked, { name = "this deployment", gpu = 1, deployment = own,
    max_num_seqs = config.max_num_seqs, max_num_batched_tokens = config.max_num_batched_tokens, dp = own.dp,
    pp = own.pp, speculation = first.speculation or nil }, first, bounds.pricer(first))
  if not ok or found.off then return nil end
  local engines = #all.replicas / own.dp
  return { latency = found.latency, rate_per_s = found.rate_per_s and found.rate_per_s * engines }
end

--- The metric of the SLO that no run of a deployment can meet, and its least or most value; nil where there is none.
local function never(question, least)
  for _, bound in ipairs(question.bounds) do
    local value = least.latency[bound.metric]
    if value and bound.max and value > bound.max then return bound.metric, value end
    local most = bound.min and least.rate_per_s and (bound.metric == "requests_per_s" and least.rate_per_s
      or bound.metric == "output_tokens_per_s" and least.rate_per_s * question.drawn.mean_output)
    if most and most < bound.min then return bound.metric, most end
  end
end

--- {text, kv_tokens, gpus, replica, workload, least, never, bound}; {problem} of a deployment that is refused.
---@param list table[] changes {path, value}
---@param question table? of deployment.question; nil: no bounds
function deployment.of(reader, given, list, question)
  local all
  local ok, problem = pcall(function()
    all = pieces.check(reader, changes.apply(reader, given, list))
  end)
  if not ok then return { problem = tostring(problem) } end
  local out = { text = text_of(all), kv_tokens = kv_tokens_of(all.replicas), gpus = gpus_of(all),
    replica = all.replicas[1], workload = all.workload }
  out.least = question and least_of(question, all) or nil
  if out.least then out.never, out.bound = never(question, out.least) end
  return out
end

return deployment
