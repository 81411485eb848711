-- The memory of one GPU of a deployment, in named parts, as its engine divides it: its `memory(facts)` in
-- scripts/engines, with exact counts of the program. facts are:
--
--     engine, release, values   of engines/values.lua
--     model, hardware, counts   objects, and native.rank_counts
--     tp, dp, pp, ep, cp, dcp   widths
--     expert_gpus               GPUs of the routed experts alone; 0: they are on those of the attention
--     seats, budget, chunk      most requests, tokens of a step, and tokens of a chunk
--     max_model_len, block_size tokens; those of a block are on all ranks of dcp together
--     share                     of the memory, as the engine means it
--     blocks, most_blocks       of the KV cache, where they are given; the most of them
--     eager, largest_graph      no graphs; tokens of the largest
--     tokens_travel             whether an exchange is stated by which tokens of data-parallel ranks travel to their
--                               experts, instead of to all ranks
--     prefix_caching, images    whether equal prefixes share blocks; whether the vision encoder is loaded
--     adapter_bytes             of slots of adapters
--     redundant_expert_bytes    of copies of experts
--     drafter, drafts           {weight_bytes, kv_bytes_per_token}; drafts of a step
--     is_stated(name)           whether an option is stated
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local figures = require "rooflua.scenario.figures"
local policy = require "rooflua.policy"
local units = require "rooflua.text.units"
local values = require "rooflua.engines.values"

local ledger = {}

local widths = { "tp", "dp", "pp", "ep", "moe_tp", "cp", "dcp" }
local pool = { "expert_gpus", "micro_batches" }
local gib = 2 ^ 30

--- What a drafter of the model itself takes: layers like its own for multi-token prediction, run again for each draft.
--- Embedding and LM head are the model's.
local function predictor_of(facts)
  local counts, bytes = facts.counts, 0
  for class, elements in pairs(counts.predictor) do
    bytes = bytes + elements * counts.element_bytes[class]
  end
  return { weight_bytes = bytes, kv_bytes_per_token = counts.predictor_kv_bytes }
end

--- What is stated, or what the rules of the release say.
---@param applied table of application.of
local function share_of(applied)
  if applied.memory then return applied.memory[2] end
  local stated, resolved = core.plain(applied.given.deployment).memory_utilization, applied.engine
  if stated then return stated end
  for name, option in pairs(resolved.engine.option) do
    if option.memory then return resolved.values[name] end
  end
  return resolved.values.gpu_memory_utilization
end

--- The same facts with others in place of some.
function ledger.changed(facts, changes) return core.copy(facts, changes) end

--- The same deployment on more ranks: what is counted on one of them, and what rules say of them.
function ledger.with_tp(facts, tp)
  local is_whole = facts.ep > 1 and facts.ep == facts.tp * facts.dp * facts.cp
  local ep = is_whole and facts.ep / facts.tp * tp or facts.ep
  local counted = ledger.changed(facts.counted, { tp = tp, ep = ep })
  local about = ledger.changed(facts.resolved.facts, { tp = tp, ep = ep })
  local found = values.of(facts.engine, facts.release, about, facts.resolved.stated)
  return ledger.changed(facts, { tp = tp, ep = ep, values = found.values, counted = counted,
    counts = native.rank_counts(facts.model, counted) })
end

--- What holds of an option of a deployment that nothing states.
local function default(name) return figures.row("deployment", name).default end
local function number_or(value, otherwise) return type(value) == "number" and value or otherwise end

--- The facts of a deployment that application.of resolved.
---@param more table {drafter?, drafts?, images?, adapter_bytes?, redundant_expert_bytes?}
function ledger.facts(applied, model, hardware, more)
  local deployment, resolved = core.plain(applied.given.deployment), applied.engine
  local params = applied.given.scheduler and policy.parameters(applied.given.scheduler) or {}
  local counted = {}
  for _, name in ipairs(widths) do counted[name] = deployment[name] end
  for _, name in ipairs(pool) do counted[name] = deployment[name] end
  counted.weights, counted.kv = deployment.weights, deployment.kv
  local facts = { engine = resolved.engine, release = resolved.release, values = resolved.values, model = model,
    hardware = hardware, counts = native.rank_counts(model, counted), share = share_of(applied),
    blocks = deployment.kv_blocks, most_blocks = applied.keys["engine.most_kv_blocks"],
    prefix_caching = deployment.prefix_caching ~= false, images = more.images ~= false, drafts = more.drafts,
    counted = counted, resolved = resolved }
  for _, name in ipairs(widths) do facts[name] = deployment[name] or 1 end
  for _, name in ipairs(pool) do facts[name] = deployment[name] or default(name) end
  facts.seats = number_or(params.max_num_seqs, number_or(deployment.max_num_seqs, default "max_num_seqs"))
  facts.chunk = params.chunked_prefill_size
  facts.budget = number_or(params.max_num_batched_tokens, number_or(deployment.max_num_batched_tokens,
    number_or(params.max_prefill_tokens, default "max_num_batched_tokens")))
  facts.max_model_len = number_or(deployment.max_model_len, model.max_model_len > 0 and model.max_model_len or 8192)
  facts.block_size = deployment.block_size or default "block_size"
  facts.largest_graph = applied.keys["steps.largest_graph"]
  facts.eager = facts.largest_graph == 0
  local exchange = applied.keys["steps.exchange"]
  facts.tokens_travel = facts.dp > 1 and exchange ~= nil and exchange ~= "gathered"
  function facts.is_stated(name) return resolved.sources[name] == "stated" end
  facts.adapter_bytes = more.adapter_bytes
  facts.redundant_expert_bytes = more.redundant_expert_bytes
  facts.drafter = more.drafter or more.drafts and predictor_of(facts) or nil
  return facts
end

--- Why an engine would not start; nil where it would.
local function refusal(facts, found)
  if found.kv_bytes <= 0 or found.blocks < 1 then
    return ("no memory is left for the KV cache: %.2f GiB too little"):format(math.max(0, -found.kv_bytes) / gib)
  end
  local total = facts.hardware.usable_memory_bytes
  if found.budget_bytes > total then
    return ("weights, activations and the KV cache that is stated need %.2f GiB, and the GPU has %.2f"):format(
      found.budget_bytes / gib, total / gib)
  end
  if found.concurrency < 1 then
    return ("max_model_len %s needs %.2f GiB of KV cache, and there are %.2f"):format(
      units.grouped(facts.max_model_len),
      found.request_bytes / gib, found.kv_bytes / gib)
  end
  return nil
end

--- The ledger of a deployment.
---@param facts table of ledger.facts
---@return table {parts, budget_bytes, kv_bytes, blocks, block_size, block_bytes, groups, tokens, concurrency,
---  longest_tokens, request_bytes, stage, starts, reason}
function ledger.of(facts)
  local rule = facts.engine.memory or core.fail("%s: memory: its file has no rule", facts.engine.name)
  local found = rule(facts)
  found.reason = refusal(facts, found)
  found.starts = found.reason == nil
  return found
end

return ledger
