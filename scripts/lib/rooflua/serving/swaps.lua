-- Other policies in a simulation that runs already, and copies of policies with what they remember.
local native = require "rooflua.native"
local application = require "rooflua.applied.application"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local own_metrics = require "rooflua.measure.own"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local prefill_price = require "rooflua.serving.prefill_price"
local replicas = require "rooflua.serving.replicas"
local speculation = require "rooflua.serving.speculation"
local surroundings = require "rooflua.serving.surroundings"
local tiering = require "rooflua.border.tiering"
local twins = require "rooflua.serving.twins"
local views = require "rooflua.border.views"

local swaps = {}
local fail = core.fail
local reader = Reader.new "set"

--- A scheduler for a replica whose limits are fixed, because it runs. A scheduler given by name takes the limits
--- over; an instance may not ask for more.
---@param applied table what follows from the replica's engine
local function within_limits(given, config, applied)
  local scheduler = application.scheduler(reader, policies.with_method(reader, "scheduler", given, "plan"), applied)
  local parameters, taken = policy.parameters(scheduler), {}
  for _, key in ipairs { "max_num_seqs", "max_num_batched_tokens" } do
    local limit = config[key]
    if parameters[key] and limit > 0 then
      if not policy.is_given(scheduler, key) then
        if not policy.is_instance(given) or parameters[key] > limit then taken[key] = limit end
      elseif parameters[key] > limit then
        fail("set: scheduler: its %s of %g is more than the %g that this simulation was opened with", key,
          parameters[key], limit)
      end
    end
  end
  return policy.with(scheduler, taken)
end

--- The same prepared pieces with another step model.
local function with_steps(prepared, steps)
  local out = core.copy(prepared)
  out.step_policy = steps
  return out
end

--- Speculation of a replica over another step model, or with another drafter, whose price is part of a step's.
local function respeculate(each, changes)
  each.speculation = speculation.with(reader, each.speculation, changes)
  each.steps.drafter = each.speculation.drafter
end

--- Binds other step models. Ranks of one engine share theirs, as they share what was prepared for them.
---@param steps_of function entry of the list -> step policy
local function rebind(list, steps_of)
  local known = {}
  for _, each in ipairs(list) do
    local before = each.prepared
    if not known[before] then
      local prepared = with_steps(before, steps_of(each))
      known[before] = { prepared = prepared, steps = replicas.bound_steps(prepared) }
    end
    each.prepared, each.steps = known[before].prepared, known[before].steps
    if each.speculation then respeculate(each, { steps = each.steps.steps }) end
  end
end

--- Copies of what the library knows of each replica: nothing changes before the engine has taken a change.
local function copies(list)
  local out = {}
  for i, each in ipairs(list) do
    out[i] = {}
    for key, value in pairs(each) do out[i][key] = value end
  end
  return out
end

--- Notes what the engine has taken. Without `changes` it cannot be repeated.
local function note(state, list, router, changes)
  state.replicas, state.router = list, router
  state.history[#state.history + 1] = { at_s = native.serve_now(state.run), changes = changes }
end

--- Another speculator for every replica that speculates.
local function swap_speculator(list, given)
  local any = false
  for _, each in ipairs(list) do
    if each.speculation then
      each.speculation, any = speculation.with_speculator(reader, each.speculation, given), true
    end
  end
  if not any then fail("set: speculator: this simulation does not speculate; it was opened without `speculation`") end
end

--- Other policies from the next plan on, for every replica. changes: {scheduler, steps, speculator}.
function swaps.set(state, changes)
  core.check_keys(core.table(changes, "set"), { "scheduler", "steps", "speculator" }, "set")
  local list = copies(state.replicas)
  if changes.scheduler then
    for _, each in ipairs(list) do
      local encodes = each.scheduler.encodes -- requests may have images, whoever schedules them
      each.scheduler = within_limits(changes.scheduler, each.config, each.prepared.applied)
      each.scheduler.encodes = encodes
    end
  end
  if changes.steps then
    rebind(list, function(each)
      local steps = policies.with_method(reader, "steps", changes.steps, "time")
      return application.steps(reader, steps, each.prepared.applied)
    end)
  end
  if changes.speculator then swap_speculator(list, changes.speculator) end
  local drafts = changes.speculator or changes.steps
  native.serve_set(state.run, changes.scheduler and replicas.each(list, "scheduler"),
    changes.steps and replicas.each(list, "steps"), nil, drafts and swaps.speculations(list) or nil)
  if changes.steps then swaps.tier_bindings(state.tiers, list) end -- whose policies ask for prices
  note(state, list, state.router,
    { scheduler = changes.scheduler, steps = changes.steps, speculator = changes.speculator })
end

--- What the engine gets of the speculation of each replica; nil where none speculates.
function swaps.speculations(list)
  local out, any = {}, false
  for i, each in ipairs(list) do
    out[i], any = each.speculation or false, any or each.speculation
  end
  return any and out or nil
end

--- What the engine asks of tiers: {tier_policies, evictions}; nil where there are none.
function swaps.tier_bindings(own, list)
  if not own then return nil end
  local names = {}
  for i, store in ipairs(own.config.stores) do names[i] = store.name .. ":" .. store.per end
  for i, each in ipairs(list) do
    if own.policies[i] then
      tiering.set_prefill_time(own.policies[i],
        prefill_price.of(each.steps.steps, each.config.max_num_batched_tokens))
    end
  end
  return { tier_policies = own.policies, evictions = own.evictions, stores = names }
end

--- A list of policies, each replaced by change(policy); false stays.
local function changed(list, change)
  local out = {}
  for i, each in ipairs(list) do out[i] = each and change(each) end
  return out
end

--- Tiers with other instances of their policies; nil where there are none.
local function with_policies(own, change)
  if not own then return nil end
  return core.copy(own, { policies = changed(own.policies, change), evictions = changed(own.evictions, change) })
end

--- The speculation of a replica with other instances of its policies.
local function changed_speculation(own, change)
  local out, known = core.copy(own), core.copy(own.known)
  out.speculator, out.acceptance = change(own.speculator), change(own.acceptance)
  known.acceptance, out.known = out.acceptance, known
  return out
end

--- Replaces policies whose files were read again. successor(instance) is the one that follows it; nil keeps it.
function swaps.replace(state, successor)
  if type(successor) ~= "function" then
    fail("serve.replace_policies: expected a function, found %s", core.describe(successor))
  end
  local list = copies(state.replicas)
  rebind(list, function(each) return successor(each.prepared.step_policy) or each.prepared.step_policy end)
  for _, each in ipairs(list) do
    local encodes = each.scheduler.encodes
    each.scheduler = successor(each.scheduler) or each.scheduler
    each.scheduler.encodes = encodes
    each.steps.all = list[1].prepared.corrections
    if each.speculation then
      local own = changed_speculation(each.speculation, function(before) return successor(before) or before end)
      each.speculation = own
      local drafter = own.drafter and successor(own.drafter)
      if drafter then respeculate(each, { drafter = drafter }) end
    end
  end
  local router = state.router and (successor(state.router) or state.router)
  local tiers = with_policies(state.tiers, function(own) return successor(own) or own end)
  local around = surroundings.changed(state.surroundings, function(own) return successor(own) or own end)
  native.serve_set(state.run, replicas.each(list, "scheduler"), replicas.each(list, "steps"), router,
    swaps.speculations(list), swaps.tier_bindings(tiers, list), around)
  state.tiers, state.surroundings = tiers, around
  if state.metrics.router then state.metrics.router.instance = router end
  note(state, list, router)
end

--- The step model of a replica for a fork, with its corrections and drafter. Prices follow from batches alone: those of
--- the program's own policies are shared.
local function twin_steps(steps, twin)
  local is_shared = true
  local function own(instance)
    if not instance or not chunks.is_own_class(policy.class_of(instance)) then return instance end
    is_shared = false
    return twin(instance)
  end
  local out = core.copy(steps, { settled = false, steps = own(steps.steps), drafter = own(steps.drafter),
    corrections = steps.corrections and changed(steps.corrections, own), all = changed(steps.all, own) })
  return is_shared and steps or out
end

--- Lets the replicas of a fork have policies of their own.
---@param list table copies of what the library knows of each
local function twin_replicas(list, own, twin)
  local known = {}
  for _, each in ipairs(list) do
    own:share(each.prepared)
    own:share(each.prepared.step_policy)
    known[each.steps] = known[each.steps] or twin_steps(each.steps, twin)
    each.steps = known[each.steps]
    own:share(each.steps.steps)
    own:share(each.steps.drafter)
  end
  for _, each in ipairs(list) do
    local before = each.scheduler
    each.scheduler = twin(before)
    views.copy_reasons(before, each.scheduler)
    if each.speculation then
      each.speculation = changed_speculation(each.speculation, twin)
      each.speculation.drafter = each.steps.drafter or nil
    end
  end
end

--- The state of a fork: the same simulation, whose policies go on independently.
---@param own table? the copies of the fork that keeps this simulation
function swaps.fork(state, own)
  own = own or twins.new()
  local function twin(instance) return instance and own:of(instance, "the policy " .. tostring(instance.name)) end
  local list = copies(state.replicas)
  twin_replicas(list, own, twin)
  local router = twin(state.router)
  local metrics = own_metrics.start(state.metrics, twin, router, twin(state.metrics.seen))
  local tiers, around = with_policies(state.tiers, twin), surroundings.changed(state.surroundings, twin)
  local run = twins.within(own, native.serve_fork, state.run, replicas.each(list, "scheduler"),
    replicas.each(list, "steps"), router, metrics.observer, swaps.speculations(list), swaps.tier_bindings(tiers, list),
    around)
  return { run = run, file = state.file, given = state.given, replicas = list, router = router, metrics = metrics,
    encoders = state.encoders, encoding = state.encoding, tiers = tiers, surroundings = around,
    journal = state.journal, history = { core.unpack(state.history) } }
end

return swaps
