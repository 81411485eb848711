--- Serving: a scenario becomes replicas, policies and a workload; the engine runs them.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local lookback = require "rooflua.measure.lookback"
local notes = require "rooflua.scenario.notes"
local random = require "rooflua.random"
local scenario = require "rooflua.scenario.reader"
local serving = require "rooflua.border.views"
local spec = require "rooflua.spec"

local serve = {}
local fail = core.fail

-- From a scenario to what the engine needs -----------------------------------------------------------

local replica_keys = { "hardware", "model", "deployment", "mfu", "steps", "scheduler", "role", "count" }

--- One description per replica: what it says itself stands before what the scenario says.
local function replica_list(file, scenario_table)
  local given = scenario_table.replicas or 1
  local list = {}
  if type(given) == "number" then
    for i = 1, scenario.at(file, "replicas", core.whole, given, "replicas", 1) do list[i] = {} end
    return list
  end
  if type(given) ~= "table" then
    scenario.wrong(file, "replicas", "expected a number or a list, found %s", core.describe(given))
  end
  for i, each in ipairs(core.plain(given)) do
    local where = "replicas[" .. i .. "]"
    scenario.at(file, where, core.check_keys, core.table(each, where), replica_keys, where)
    local count = scenario.at(file, where, core.whole, each.count or 1, "count", 1)
    for _ = 1, count do list[#list + 1] = each end
  end
  if #list == 0 then scenario.wrong(file, "replicas", "expected at least one") end
  return list
end

--- A policy with the method that its folder promises.
local function need(file, key, given, method)
  local instance = scenario.policy(file, key, given)
  if type(instance[method]) ~= "function" then
    scenario.wrong(file, key, "%s has no %s method", tostring(instance.name), method)
  end
  return instance
end

--- What only serving reads of a deployment.
local engine_keys = { prefix_caching = true, max_model_len = true }

--- The scenario as this replica sees it, with the scheduler's seats and budget in its deployment.
local function merge(file, scenario_table, own)
  local merged = {}
  for key, value in pairs(scenario_table) do merged[key] = value end
  for key, value in pairs(core.plain(own)) do merged[key] = value end
  local scheduler = need(file, "scheduler", merged.scheduler, "plan")
  local parameters = policy.parameters(scheduler)
  local engine, options = {}, {}
  local given = merged.deployment
  if given ~= nil and type(given) ~= "table" and not spec.is(given, "Deployment") then
    scenario.wrong(file, "deployment", "expected a table, found %s", core.describe(given))
  end
  if not spec.is(merged.deployment, "Deployment") then
    for _, key in ipairs { "max_num_seqs", "max_num_batched_tokens" } do options[key] = parameters[key] end
    for key, value in pairs(core.plain(merged.deployment or {})) do
      if engine_keys[key] then engine[key] = value else options[key] = value end
    end
    merged.deployment = options
  end
  return merged, scheduler, parameters, engine
end

local function step_corrections(prepared)
  local steps = {}
  for _, each in ipairs(prepared.corrections) do
    if each.step then steps[#steps + 1] = scenario.bind(prepared, each, "corrections") end
  end
  return #steps > 0 and steps or nil
end

--- What rooflua.pricing is called with.
local function bound_steps(prepared)
  return { steps = scenario.bind_steps(prepared), corrections = step_corrections(prepared),
    all = prepared.corrections }
end

--- The pieces of one replica.
local function build_replica(file, scenario_table, own)
  local merged, scheduler, parameters, engine = merge(file, scenario_table, own)
  local prepared = scenario.prepare(merged, file)
  local deployment = prepared.deployment
  return {
    prepared = prepared,
    scheduler = policy.fresh(scheduler),
    steps = bound_steps(prepared),
    deployment = deployment,
    config = {
      kv_blocks = deployment.kv_blocks,
      block_size = deployment.block_size,
      max_num_seqs = parameters.max_num_seqs or 0,
      max_num_batched_tokens = parameters.max_num_batched_tokens or 0,
      max_model_len = engine.max_model_len or 0,
      async_depth = prepared.async_depth,
      prefix_caching = engine.prefix_caching ~= false,
      role = own.role or "both",
    },
  }
end

local function instances(replicas, key)
  local out = {}
  for i, each in ipairs(replicas) do out[i] = each[key] end
  return out
end

--- The same policy with a copy of what it keeps in fields of its own: counts, random streams, tables.
local function twin(instance)
  local copy = policy.fresh(instance)
  for key, value in pairs(instance) do
    if not policy.is_instance(value) then copy[key] = serving.copy(value) end
  end
  return copy
end

local function started_router(file, given, replicas, streams)
  if #replicas == 1 and given == nil then return nil end
  local router = policy.fresh(need(file, "router", given, "route"))
  scenario.at(file, "router", require("rooflua.border.routing").declared, router)
  if router.start then router:start(streams) end
  return router
end

--- KV transfer between prefill and decode replicas: over the link of the first, unless said otherwise.
local function transfer_of(given, replicas)
  given = given or {}
  local deployment = replicas[1].deployment
  return {
    alpha_s = given.alpha_s or 0,
    bytes_per_s = given.bytes_per_s or replicas[1].prepared.hardware.link_bytes_per_s,
    bytes_per_token = given.bytes_per_token or replicas[1].prepared.model:kv_bytes_per_token(deployment.kv),
  }
end

local longest_s = 9.2e6 -- the clock shows 106 days
local group_keys = {
  frontend = { "base_s", "per_prompt_token_s", "per_output_token_s" },
  slo = { "ttft_s", "tpot_s", "e2e_s" },
  network = { "alpha_s", "bytes_per_s", "bytes_per_token" },
}

--- A table of times, rates or sizes, all of them >= 0 and no time longer than the clock.
local function numbers(file, given, key)
  local group = given[key]
  if group == nil then return nil end
  if type(group) ~= "table" then scenario.wrong(file, key, "expected a table, found %s", core.describe(group)) end
  local out = {}
  scenario.at(file, key, core.check_keys, core.plain(group), group_keys[key], key)
  for name, value in pairs(core.plain(group)) do
    out[name] = scenario.at(file, key, core.not_negative, value, key .. "." .. name)
    if value > longest_s and name:find "_s$" and not name:find "_per_s$" then
      scenario.wrong(file, key .. "." .. name, "expected at most %g s, found %.14g", longest_s, value)
    end
  end
  return out
end

--- Everything of a run but the run.
local function prepare(file, given)
  local seed = given.seed or 0
  local streams = random.streams(scenario.at(file, "seed", core.whole, seed, "seed"))
  local replicas = {}
  for i, own in ipairs(replica_list(file, given)) do replicas[i] = build_replica(file, given, own) end
  if given.workload == nil then
    scenario.wrong(file, "workload", 'is missing; for example require "workloads.poisson" { rate_per_s = 1 }')
  end
  local workload = need(file, "workload", given.workload, "requests")
  return { streams = streams, replicas = replicas, workload = workload,
    frontend = numbers(file, given, "frontend"), slo = numbers(file, given, "slo"),
    transfer = transfer_of(numbers(file, given, "network"), replicas) }
end

--- Finds what is wrong with a scenario of this kind without running it; returns the pieces.
function serve.check(file, given)
  local prepared = prepare(file, given)
  started_router(file, given.router, prepared.replicas, prepared.streams)
  return prepared
end

-- Live simulations ------------------------------------------------------------------------------------

---@class rooflua.Live
local Live = {}
local runs = setmetatable({}, { __mode = "k" }) -- live object -> {run, scenario, replicas, streams}

local function state_of(live)
  local state = runs[live]
  if not state then fail("expected a simulation from serve.open, found %s", core.describe(live)) end
  if state.closed then fail "this simulation is over" end
  return state
end

local live_meta = {
  __index = function(live, key)
    if key == "now_s" then return native.serve_now(state_of(live).run) end
    local method = Live[key]
    if method == nil then
      fail("a simulation: %s", native.unknown_name("field", tostring(key), core.sorted_keys(Live)))
    end
    return method
  end,
  __newindex = function() fail "a simulation is read-only; use :set{scheduler = ..., steps = ...}" end,
  __metatable = false,
}

local function adopt(state)
  local live = {}
  runs[live] = state
  return setmetatable(live, live_meta)
end

--- The traffic as vLLM's benchmark would have been told of it, as far as the workload says.
local function bench(given, file, replicas)
  local workload = need(file, "workload", given.workload, "requests")
  local parameters = policy.parameters(workload)
  local burstiness = { poisson = 1, gamma = parameters.shape, constant = math.huge,
    vllm_bench = parameters.burstiness }
  local function number(value) return type(value) == "number" and (value < math.huge and value or "inf") or nil end
  local most, ramp = parameters.clients or parameters.max_concurrency, parameters.ramp_up_strategy or ""
  return { model = replicas[1].prepared.model.name, label = given.title,
    request_rate = ramp ~= "" and "inf" or number(parameters.request_rate or parameters.rate_per_s),
    burstiness = number(burstiness[workload.name]), max_concurrency = most ~= 0 and number(most) or nil }
end

local function open(file, given, options)
  local prepared = prepare(file, given)
  local replicas = prepared.replicas
  local config = { bench = options and options.requests_path and bench(given, file, replicas) or nil,
    replicas = {}, frontend = prepared.frontend, slo = prepared.slo, transfer = prepared.transfer,
    exact_requests = given.metrics and given.metrics.exact_requests }
  for i, each in ipairs(replicas) do config.replicas[i] = each.config end
  for key, value in pairs(options or {}) do config[key] = value end
  for _, each in ipairs(replicas) do each.steps.all = replicas[1].prepared.corrections end
  local router = started_router(file, given.router, replicas, prepared.streams)
  local source = scenario.at(file, "workload", function()
    return policy.fresh(prepared.workload):requests(prepared.streams)
  end)
  local run = scenario.at(file, "", native.serve_open, config, instances(replicas, "scheduler"),
    instances(replicas, "steps"), router, source)
  return adopt { run = run, file = file, given = given, replicas = replicas, router = router,
    journal = config.journal, history = {} }
end

--- A scenario as a live simulation, at time 0. It remembers its steps and requests unless told not to.
function serve.open(given, options)
  core.table(given, "serve.open")
  options = options or {}
  core.check_keys(core.table(options, "serve.open: options"), { "remember", "file" }, "serve.open", "option")
  return open(options.file or "scenario", core.plain(given), { journal = options.remember ~= false })
end

function serve.is_live(value) return type(value) == "table" and runs[value] ~= nil end

--- The run of a scenario (or of a live simulation's, or a result's) from its start to its end, one request followed.
function serve.follow(given, id)
  core.table(given, "measure.why: scenario")
  local state = runs[given] or lookback.origin(given)
  local live = open(state and state.file or "scenario", core.plain(state and state.given or given), { why = id })
  live:run()
  return runs[live].run
end

--- One variant for the program: {summary = JSON text, text = report, evidence is in the summary}. A run that Ctrl-C
--- or the time limit stopped has `partial` as well: what is known so far.
function serve.run_variant(file, given, options)
  local outputs = {}
  for _, key in ipairs { "requests_path", "trace_path", "progress", "why" } do outputs[key] = options[key] end
  outputs.sketch = options.sketch or options.explain or nil
  local live = open(file, given, outputs)
  local run = runs[live].run
  local partial = native.serve_run_or_stop(run)
  native.serve_finish(run)
  local why_text, why = native.serve_why(run)
  if options.why and not (why or partial) then
    scenario.wrong(file, "--why " .. options.why, "no such request; %d were sent", native.serve_totals(run).arrived)
  end
  local result = { kind = "serve", summary = native.serve_document(run), text = native.serve_report(run), why = why,
    partial = partial, why_text = why_text, left_out = native.serve_left_out(run), notes = notes.of_run(runs[live]) }
  local sketch, steps = native.serve_sketch(run)
  local breakdown = sketch and require "rooflua.measure.breakdown"
  if options.sketch then result.sketch, result.breakdown = sketch, breakdown.of_steps(steps, runs[live].replicas) end
  if options.explain then result.explained, result.explain_text = breakdown.typical(steps, runs[live].replicas) end
  return result
end

--- The whole run. options: requests = true keeps the times of every request.
---@return table result {summary = ..., totals = ..., requests = ...}
function serve.run(given, options)
  core.check_keys(core.table(options or {}, "serve.run: options"), { "requests" }, "serve.run")
  core.table(given, "serve.run")
  local live = open("scenario", core.plain(given), { keep_requests = options and options.requests or nil })
  live:run()
  return lookback.note(live:result(), "scenario", core.plain(given))
end

--- Until everything is over.
function Live:run()
  native.serve_advance(state_of(self).run)
end

--- Every event up to that time.
function Live:run_until(time_s)
  native.serve_advance(state_of(self).run, core.number(time_s, "run_until"))
end

--- Up to the next end of a step, n times. False when nothing is left to happen.
function Live:step(n)
  for _ = 1, core.whole(n or 1, "step", 1) do
    if not native.serve_step(state_of(self).run) then return false end
  end
  return true
end

--- What a replica looks like now: a copy.
function Live:replica(index)
  return native.serve_replica(state_of(self).run, index or 1)
end

--- The waiting requests of a replica, in queue order: a copy.
function Live:waiting(index)
  return native.serve_replica(state_of(self).run, index or 1).waiting
end

--- A live request by id: a copy, nil when it is done or not there yet.
function Live:request(id)
  return native.serve_request(state_of(self).run, core.whole(id, "request"))
end

--- A scheduler for a replica that runs already, whose seats and budget are fixed. One given by name takes
--- them over; an instance must not want more.
local function seated(given, config)
  local scheduler = need("set", "scheduler", given, "plan")
  local parameters, taken = policy.parameters(scheduler), {}
  for _, key in ipairs { "max_num_seqs", "max_num_batched_tokens" } do
    local limit = config[key]
    if parameters[key] and limit > 0 then
      if not policy.is_instance(given) then
        taken[key] = limit
      elseif parameters[key] > limit then
        fail("set: scheduler: its %s of %g is more than the %g that this simulation was opened with", key,
          parameters[key], limit)
      end
    end
  end
  return policy.with(scheduler, taken)
end

--- Other policies from the next plan on.
function Live:set(changes)
  local state = state_of(self)
  core.check_keys(core.table(changes, "set"), { "scheduler", "steps" }, "set")
  local schedulers, steps
  if changes.scheduler then
    for _, each in ipairs(state.replicas) do each.scheduler = seated(changes.scheduler, each.config) end
    schedulers = instances(state.replicas, "scheduler")
  end
  if changes.steps then
    for _, each in ipairs(state.replicas) do
      local prepared = {}
      for key, value in pairs(each.prepared) do prepared[key] = value end
      prepared.step_policy = need("set", "steps", changes.steps, "time")
      each.prepared, each.steps = prepared, bound_steps(prepared)
    end
    steps = instances(state.replicas, "steps")
  end
  state.history[#state.history + 1] = { at_s = native.serve_now(state.run),
    changes = { scheduler = changes.scheduler, steps = changes.steps } }
  native.serve_set(state.run, schedulers, steps)
end

--- An independent copy from here on: same policies in the same state, same random numbers, same future.
function Live:fork()
  local state = state_of(self)
  local replicas = {}
  for i, each in ipairs(state.replicas) do
    replicas[i] = {}
    for key, value in pairs(each) do replicas[i][key] = value end
    replicas[i].scheduler = twin(each.scheduler)
  end
  local router = state.router and twin(state.router)
  local run = native.serve_fork(state.run, instances(replicas, "scheduler"), instances(replicas, "steps"), router)
  return adopt { run = run, file = state.file, given = state.given, replicas = replicas, router = router,
    journal = state.journal, history = { core.unpack(state.history) } }
end

--- What the library knows of a live simulation, for the prompt.
function serve.state(live) return state_of(live) end
--- "Live:set" of a method of simulations.
function serve.method_name(call)
  for name, method in pairs(Live) do
    if method == call then return "Live:" .. name end
  end
end
--- Whether its state can be copied: not where the workload is a function.
function serve.can_fork(live) return native.serve_can_fork(state_of(live).run) end
--- Whether an error left it in the middle of a step.
function serve.is_broken(live) return native.serve_is_broken(state_of(live).run) end
--- Gives its memory back now.
function serve.close(live)
  local state = state_of(live)
  state.closed = true
  native.serve_close(state.run)
end
function serve.remembers(live) return state_of(live).journal end

--- Goes on with other policies: `successor(instance)` is the one that follows it, or nothing.
function serve.replace_policies(live, successor)
  local state = state_of(live)
  if type(successor) ~= "function" then
    fail("serve.replace_policies: expected a function, found %s", core.describe(successor))
  end
  for _, each in ipairs(state.replicas) do
    each.scheduler = successor(each.scheduler) or each.scheduler
    local prepared = {}
    for key, value in pairs(each.prepared) do prepared[key] = value end
    prepared.step_policy = successor(each.prepared.step_policy) or each.prepared.step_policy
    each.prepared = prepared
    each.steps = bound_steps(prepared)
    each.steps.all = state.replicas[1].prepared.corrections
  end
  if state.router then state.router = successor(state.router) or state.router end
  state.history[#state.history + 1] = { at_s = native.serve_now(state.run) } -- cannot be done once more
  native.serve_set(state.run, instances(state.replicas, "scheduler"), instances(state.replicas, "steps"), state.router)
end

--- The simulation is what `saved`, a fork of it, is: taken back after an error in the middle of a step.
function serve.restore(live, saved) runs[live] = state_of(saved) end

--- What is known so far.
function Live:result()
  local state, run = state_of(self), state_of(self).run
  native.serve_finish(run)
  local result = { summary = native.serve_summary(run), totals = native.serve_totals(run), notes = notes.of_run(state),
    requests = native.serve_requests(run), left_out = native.serve_left_out(run) }
  return lookback.note(result, state.file, state.given, self)
end

lookback.add(Live, state_of, open)

return serve
