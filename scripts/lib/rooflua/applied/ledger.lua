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
--     most_blocks               the most blocks of the KV cache
--     eager, largest_graph      no graphs; tokens of the largest
--     tokens_travel             whether an exchange is stated by which tokens of data-parallel ranks travel to their
--                               experts, instead of to all ranks
--     prefix_caching, images    whether equal prefixes share blocks; whether the vision encoder is loaded
--     adapter_bytes             of slots of adapters
--     redundant_expert_bytes    of copies of experts
--     drafter, drafts           {weight_bytes, kv_bytes_per_token}; drafts of a step
--     blocks, pool_bytes        of the KV cache, where its blocks or their bytes are stated
--     is_stated(name)           whether an option is stated
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local figures = require "rooflua.scenario.figures"
local policy = require "rooflua.policy"
local processors = require "rooflua.border.processors"
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
local function share_of(applied, deployment)
  if applied.memory then return applied.memory[2] end
  local stated, resolved = deployment.memory_utilization, applied.engine
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

--- What drafts take: the prediction layers of the model itself, where it has some and they draft; else what a drafter
--- of its own says.
local function drafter_of(facts, more)
  local drafts = facts.resolved.facts
  if not drafts.drafts then return nil end
  local is_own = drafts.drafter == "mtp" and next(facts.counts.predictor) ~= nil
  return is_own and predictor_of(facts) or more.drafter
end

--- The facts of a deployment that application.of resolved, or served.of, with the keys that only serving reads.
---@param more table {drafter?, adapter_bytes?, redundant_expert_bytes?, blocks?, pool_bytes?}
function ledger.facts(applied, model, hardware, more)
  local deployment = core.copy(core.plain(applied.given.deployment), applied.serving)
  local resolved, scheduler = applied.engine, applied.scheduler or applied.given.scheduler
  local params = scheduler and policy.parameters(scheduler) or {}
  local counted = {}
  for _, name in ipairs(widths) do counted[name] = deployment[name] end
  for _, name in ipairs(pool) do counted[name] = deployment[name] end
  counted.weights, counted.kv = deployment.weights, deployment.kv
  local facts = { engine = resolved.engine, release = resolved.release, values = resolved.values, model = model,
    hardware = hardware, counts = native.rank_counts(model, counted), share = share_of(applied, deployment),
    blocks = more.blocks, pool_bytes = more.pool_bytes, most_blocks = applied.keys["engine.most_kv_blocks"],
    prefix_caching = deployment.prefix_caching ~= false, images = applied.options.language_model_only ~= true,
    image_tokens = processors.largest(model),
    drafts = resolved.facts.drafts, counted = counted, resolved = resolved, scheduler = scheduler }
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
  facts.drafter = drafter_of(facts, more)
  return facts
end

--- Where the KV cache is too small for the longest request of an engine that then stops.
local function too_long(facts, found)
  local needs = "max_model_len " .. units.grouped(facts.max_model_len)
  if facts.blocks then
    return ("%s needs %s KV blocks of %d tokens, and %s are stated"):format(needs,
      units.grouped(math.ceil(found.request_bytes / found.block_bytes)), found.block_size, units.grouped(found.blocks))
  end
  local there = facts.pool_bytes and "and the KV blocks that are stated have" or "and there are"
  return ("%s needs %.2f GiB of KV cache, %s %.2f"):format(needs, found.request_bytes / gib, there,
    (facts.pool_bytes or found.kv_bytes) / gib)
end

--- Why an engine would not start, and what is too small or missing: "kernels", "memory", "scheduler", "length" or
--- "seats"; nil where it would.
local function refusal(facts, found)
  local rules, scheduler = facts.values, facts.scheduler
  if rules.no_kernels then
    return ("%s %s has no kernels for %s on %s"):format(facts.engine.title, facts.release, rules.no_kernels,
      facts.hardware.name), "kernels"
  end
  local is_stated = facts.blocks or facts.pool_bytes
  if not is_stated and found.kv_bytes <= 0 or found.blocks < 1 then
    return ("no memory is left for the KV cache: %.2f GiB too little"):format(math.max(0, -found.kv_bytes) / gib),
      "memory"
  end
  local total = facts.hardware.usable_memory_bytes
  if found.budget_bytes > total then
    return ("weights, activations and the KV cache that is stated need %.2f GiB, and the GPU has %.2f"):format(
      found.budget_bytes / gib, total / gib), "memory"
  end
  local problem = scheduler and type(scheduler.start_problem) == "function"
    and scheduler:start_problem(facts.max_model_len)
  if problem then return problem:match "does not start: (.*)$" or problem, "scheduler" end
  if (found.is_short or found.concurrency < 1) and rules.holds_longest then return too_long(facts, found), "length" end
  local is_bound = found.state_blocks and rules.states_hold_seats and not facts.eager
  if is_bound and facts.seats > found.state_blocks then
    return ("max_num_seqs %s is more than the %s KV blocks for states"):format(units.grouped(facts.seats),
      units.grouped(found.state_blocks)), "seats"
  end
end

--- The ledger of a deployment.
---@param facts table of ledger.facts
---@return table {facts, parts, budget_bytes, kv_bytes, blocks, block_size, block_bytes, groups, tokens, concurrency,
---  longest_tokens, request_bytes, stage, starts, reason, lacks}
function ledger.of(facts)
  local rule = facts.engine.memory or core.fail("%s: memory: its file has no rule", facts.engine.name)
  local found = rule(facts)
  found.facts = facts
  found.reason, found.lacks = refusal(facts, found)
  found.starts = found.reason == nil
  return found
end

return ledger
