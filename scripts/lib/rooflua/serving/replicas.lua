-- The replicas of a scenario: what each of them runs, and the numbers that the engine needs of it. An entry of the
-- scenario is an engine. An engine whose attention has data-parallel ranks (deployment.dp) consists of as many
-- replicas, which step together.
local adapters = require "rooflua.machine.adapters"
local core = require "rooflua.base.core"
local encoders = require "rooflua.serving.encoders"
local figures = require "rooflua.scenario.figures"
local fits = require "rooflua.machine.fits"
local held = require "rooflua.serving.held"
local memory = require "rooflua.applied.memory"
local policy = require "rooflua.policy"
local pools = require "rooflua.serving.pools"
local Prepared = require "rooflua.machine.prepared"
local runs = require "rooflua.border.runs"
local schema = require "rooflua.scenario.schema"
local shared = require "rooflua.machine.shared"
local served = require "rooflua.applied.served"
local speculation = require "rooflua.serving.speculation"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local has_states = require "engines.rules.states"

local replicas = {}

--- Every replica has policies of its own. A scenario with this many is checked in about a second.
local most_replicas = schema.entry("replicas").range.max
local most_ranks = 8 * most_replicas -- a replica of data-parallel ranks counts for each of them

--- What each replica says of itself, one table per replica. Replicas that are alike have the same table; it is empty
--- where only their number is given. Of a pool all replicas that it may have. Returns also where each entry begins:
--- {own, first, engines}.
local function own_tables(reader, given)
  local list, empty, spans = {}, {}, {}
  if type(given) == "number" then
    for i = 1, reader:whole("replicas", given, 1, most_replicas) do list[i] = empty end
    return list
  end
  if type(given) ~= "table" then
    reader:fail("replicas", "expected a number or a list, found %s", core.describe(given))
  end
  local keys = schema.names "replicas"
  for i, each in ipairs(core.plain(given)) do
    local where = "replicas[" .. i .. "]"
    if type(each) ~= "table" then reader:fail(where, "expected a table, found %s", core.describe(each)) end
    reader:at(where, core.check_keys, each, keys, where)
    local inside, own = reader:child(where), core.plain(each)
    schema.check(inside, "replicas[].role", own.role)
    schema.check(inside, "replicas[].node", own.node)
    local count = pools.is_pool(own) and pools.built(inside, own, most_replicas)
      or inside:whole("count", own.count or 1, 1, most_replicas)
    if #list + count > most_replicas then
      reader:fail("replicas", "expected at most %d, found more", most_replicas)
    end
    spans[i] = { own = own, first = #list + 1, engines = count }
    for _ = 1, count do list[#list + 1] = each end
  end
  if #list == 0 then reader:fail("replicas", "expected at least one") end
  return list, spans
end

--- The Deployment of a scenario's engine with slots of adapters, copies of experts and a drafter, and the ledger of its
--- memory. An error, as spec.deployment has it, where it does not fit.
function replicas.deployment(reader, given)
  local merged, _, _, _, applied = served.of(reader, given, {})
  local options = memory.options(merged.deployment, spec.model(merged.model), spec.hardware(merged.hardware),
    held.of(reader, merged, applied))
  options.block_size = memory.block_size(applied, options) or options.block_size
  if options.kv_blocks ~= nil then return spec.deployment(options), memory.ledger(applied, options) end
  local own = core.copy(options)
  local blocks, share, found = memory.blocks(applied, options)
  own.kv_blocks, own.memory_utilization = blocks, share or own.memory_utilization
  return spec.deployment(own), found or memory.ledger(applied, options)
end

local function step_corrections(prepared)
  local steps = {}
  for _, each in ipairs(prepared.corrections) do
    if each.step then steps[#steps + 1] = Prepared.bind(prepared, each, "corrections") end
  end
  return #steps > 0 and steps or nil
end

--- What rooflua.border.pricing is called with.
function replicas.bound_steps(prepared)
  local steps = Prepared.steps(prepared)
  return { steps = steps, settled = false, corrections = step_corrections(prepared) or false, drafter = false,
           all = prepared.corrections, runs = runs.may_price(steps, prepared.corrections) }
end

--- Whether requests have states, as the replica's engine keeps them.
local function keeps_states(prepared)
  return has_states(prepared.model, prepared.engine and prepared.engine.values.states_as_windows)
end

--- KV blocks that a state takes which is kept: as many as one of a request that runs.
local function state_blocks_of(prepared, serving)
  local engine = prepared.engine
  local takes = engine and engine.values.states_take_blocks and serving.prefix_caching ~= false
  return takes and keeps_states(prepared) and prepared.deployment.seat_blocks or nil
end

--- The stages as the engine gets them.
--- @param batches integer? deployment.pp_batches, where it is given
local function stages_of(prepared, batches)
  local stages, engine = prepared.stages, prepared.engine
  if not stages then return nil end
  return { pp_batches = batches or engine and engine.values.pipeline_steps or #stages.shares, shares = stages.shares,
    links = stages.links }
end

--- The scheduler with the budget that drafting leaves.
local function within_budget(scheduler, left)
  local own = policy.parameters(scheduler).max_num_batched_tokens
  if type(own) ~= "number" or own == left then return scheduler end
  return policy.with(scheduler, { max_num_batched_tokens = left })
end

--- The scheduler that cuts prompts a block earlier, where a drafter loses the last block of a hit.
local function with_margin(scheduler, speculates)
  local own = policy.parameters(scheduler)
  local is_open = own.align_states and not policy.is_given(scheduler, "state_margin")
  return is_open and speculates and speculates.drops_last_hit and policy.with(scheduler, { state_margin = 1 })
    or scheduler
end

--- The scheduler with as many seats as the engine has slots for states, where these are fewer.
--- @param limits table {max_num_seqs, max_num_batched_tokens}
local function within_states(prepared, scheduler, limits)
  local found = prepared.served and Prepared.ledger(prepared)
  local seats = found and found.state_seats
  if not seats or seats >= limits.max_num_seqs or policy.parameters(scheduler).max_num_seqs == nil then
    return scheduler, limits
  end
  return policy.with(scheduler, { max_num_seqs = seats }), core.copy(limits, { max_num_seqs = seats })
end

--- Refuses what is not combined with one request on several ranks, or with experts on GPUs of their own.
local function check_context(reader, own, deployment, speculates)
  for _, key in ipairs { "cp", "dcp" } do
    local problem
    if deployment[key] == 1 then
      problem = nil
    elseif speculates then
      problem = "speculation"
    elseif key == "dcp" and (own.role or "both") ~= "both" then
      problem = "replicas[].role"
    end
    if problem then
      reader:fail("deployment." .. key, "with %s is not modelled; leave one of them out", problem)
    end
  end
  if deployment.expert_gpus > 0 and speculates then
    reader:fail("deployment.expert_gpus", "with speculation is not modelled; leave one of them out")
  end
end

--- One replica. One that is like a replica before it has the same model, GPU and tables: they are read once.
---@param before table? what prepared.of returned for that replica
local function build(reader, given, own, before)
  local merged, scheduler, limits, serving, applied = served.of(reader, given, own)
  if before then merged.model, merged.hardware, merged.mfu = before.model, before.hardware, before.mfu end
  local prepared = Prepared.of(reader, merged, applied)
  scheduler, limits = within_states(prepared, scheduler, limits)
  prepared.said, prepared.router = own.deployment or given.deployment, applied.router
  if prepared.adapters and not scheduler.follows_adapters then
    reader:fail("adapters", "the scheduler %s has no rule for requests whose adapter has no slot; vllm_v1 and those "
      .. "that extend it have", tostring(scheduler.name))
  end
  prepared.draft_depth = speculation.depth(reader, merged.speculation, own.role)
  local steps = (reader.bind_steps or replicas.bound_steps)(prepared)
  local speculates = speculation.of(reader, merged.speculation, prepared, steps.steps, own.role)
  if speculates and prepared.stages then
    reader:fail("speculation", "drafts through several stages (deployment.pp) are not modelled; leave one of them out")
  end
  local deployment = prepared.deployment
  check_context(reader, own, deployment, speculates)
  steps.drafter = speculates and speculates.drafter or false
  local budget = speculation.budget(reader, speculates, limits)
  local most = serving.max_model_len or fits.longest(prepared, nil)
  local cut = fits.cut(prepared.engine, deployment, most)
  local running = budget ~= limits.max_num_batched_tokens and within_budget(scheduler, budget) or scheduler
  local out = {
    prepared = prepared,
    scheduler = policy.fresh(with_margin(running, speculates)),
    steps = steps,
    speculation = speculates or false,
    deployment = deployment,
    encoder = encoders.asked(reader, serving.encoder),
    is_cut = cut ~= nil,
    config = {
      kv_blocks = deployment.kv_blocks,
      seat_blocks = deployment.seat_blocks,
      block_size = deployment.block_size,
      max_num_seqs = limits.max_num_seqs,
      max_num_batched_tokens = budget,
      max_model_len = cut or most,
      async_depth = prepared.async_depth,
      context_caps = prepared.context_caps,
      context_chunk = prepared.context_chunk,
      prefix_caching = serving.prefix_caching,
      content_from = scheduler.content_from,
      partial_reuse = serving.partial_reuse,
      role = own.role or schema.entry("replicas[].role").default,
      node = own.node,
      stages = stages_of(prepared, serving.pp_batches),
      lookahead = speculates and speculates.lookahead or nil,
      drops_last_hit = speculates and speculates.drops_last_hit or nil,
      keeps_states = keeps_states(prepared) or nil,
      state_blocks = state_blocks_of(prepared, serving),
      adapters = adapters.config(prepared.adapters),
    },
    dp_sync_s = serving.dp_sync_s or figures.row("replica", "dp_sync_s").default,
  }
  local problems
  problems, out.doubts = fits.start_problems(out, scheduler, serving.max_model_len)
  if problems[1] then reader:fail(problems[1].key, "%s", problems[1].text) end
  return out
end

--- Whether a further replica can have the step model of this one: a pure function of the batch. A correction or a
--- method `summary` may tell replicas apart, and experts that move have loads of their own.
local function can_share(prepared)
  return #prepared.corrections == 0 and prepared.step_policy.summary == nil and not prepared.experts
end

--- Keys of a scenario that no replica is made of: variants that differ in nothing else have replicas that are alike.
local of_load = { workload = true, seed = true, slo = true }

--- A replica as another variant has it, with policies of its own. What a run adds to its notes is its own as well.
local function again(reader, like)
  local prepared = core.copy(like.prepared, { reader = reader })
  return core.copy(like, { prepared = prepared, scheduler = policy.fresh(like.scheduler),
    steps = (reader.bind_steps or replicas.bound_steps)(prepared), config = core.copy(like.config) })
end

--- The first replica of an entry. It is made of the scenario without its load and without the number of replicas; a
--- variant that has all else in common with one before it has the same machine.
---@param before table? what prepared.of returned for the replica of the same entry before it
local function first_of(reader, given, own, before)
  local base = {}
  for key, value in pairs(core.plain(given)) do
    if not of_load[key] and not (key == "replicas" and type(value) == "number") then base[key] = value end
  end
  -- The drift of experts is drawn, and they are not shared.
  if (own.experts or base.experts) ~= nil then base.seed = core.plain(given).seed end
  if before then return build(reader, base, own, before) end
  local built
  local like = shared.of_variants(reader, "replicas", { base, core.plain(own) }, function()
    built = build(reader, base, own)
    if not can_share(built.prepared) or built.speculation then return false end
    return core.copy(built, { prepared = core.copy(built.prepared), config = core.copy(built.config) })
  end)
  return built or like and again(reader, like) or build(reader, base, own)
end

-- From this many replicas on their schedulers share what they have in common: tables of their own no longer fit into
-- the processor's cache. Fewer find their methods faster in tables of their own.
local few = 64

--- Adds the ranks of one engine to a list. They share all but the scheduler and the speculator.
---@param engine integer which engine of the scenario, from 1
---@param is_copy boolean the first rank has a scheduler of its own as well
local function add_ranks(list, first, engine, is_copy)
  local count = first.deployment.dp
  for rank = 1, count do
    local each, config = core.copy(first), core.copy(first.config)
    each.rank, each.config = rank, config
    if count > 1 then
      config.group, config.dp_sync_s = engine - 1, first.dp_sync_s
      config.name = ("engine %d rank %d"):format(engine, rank)
    end
    if rank > 1 or is_copy then
      each.scheduler = #list < few and policy.fresh(first.scheduler) or policy.fresh_of_many(first.scheduler)
      each.speculation = first.speculation and first.speculation.again()
    end
    list[#list + 1] = each
  end
end

--- A decode replica goes on with the KV cache that a prefill replica made: both have the same model.
local function check_stages(reader, list)
  local prefill
  for _, each in ipairs(list) do prefill = prefill or each.config.role == "prefill" and each or nil end
  if not prefill then return end
  for i, each in ipairs(list) do
    if each.config.role ~= "both" and not specs.same(each.prepared.model, prefill.prepared.model) then
      reader:fail("replicas[" .. i .. "].model", "a %s replica of %s beside a prefill replica of %s; the KV cache of a "
        .. "prompt is of one model", each.config.role, each.prepared.model.name, prefill.prepared.model.name)
    end
  end
end

--- Where replicas run different models, the name of each says which.
local function name_models(list)
  local differs = false
  for _, each in ipairs(list) do
    differs = differs or not specs.same(each.prepared.model, list[1].prepared.model)
  end
  for i, each in ipairs(differs and list or {}) do
    each.config.name = ("%s %s"):format(each.config.name or tostring(i), each.prepared.model.name)
  end
end

--- Of an entry: which replicas it has, once it is known how many ranks an engine has.
local function place_spans(spans, begins, count)
  for _, span in ipairs(spans or {}) do
    local behind = begins[span.first + span.engines] or count + 1
    span.first = begins[span.first]
    span.replicas = behind - span.first
  end
  return spans
end

--- Every replica of a scenario: {prepared, scheduler, steps, deployment, config, rank}. `rank` counts from 1 within an
--- engine; config.name is what reports call one of several ranks. Replicas that are alike share all but the scheduler.
--- Returns also the entries of the scenario: {own, first, replicas, engines}.
function replicas.of(reader, given)
  local out, made, begins = {}, {}, {}
  local tables, spans = own_tables(reader, encoders.left_out(given.replicas or 1))
  for i, own in ipairs(tables) do
    begins[i] = #out + 1
    local before = made[own]
    local is_copy = before ~= nil and can_share(before.prepared)
    local first = is_copy and before or first_of(reader, given, own, before and before.prepared)
    first.config.seed = given.seed
    made[own] = first
    if #out + first.deployment.dp > most_ranks then
      reader:fail("replicas", "with deployment.dp these are more than %d ranks in all", most_ranks)
    end
    add_ranks(out, first, i, is_copy)
  end
  check_stages(reader, out)
  name_models(out)
  return out, place_spans(spans, begins, #out)
end

--- One field of every replica, as a list.
function replicas.each(list, field)
  local out = {}
  for i, each in ipairs(list) do out[i] = each[field] end
  return out
end

return replicas
