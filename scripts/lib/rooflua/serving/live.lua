-- Live simulations: a scenario that the engine runs, and what a script may do with it while it runs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local adapters = require "rooflua.machine.adapters"
local answers = require "rooflua.intervals.answers"
local bench = require "rooflua.serving.bench"
local breakdown = require "rooflua.serving.breakdown"
local encoding = require "rooflua.serving.encoding"
local failures = require "rooflua.serving.failures"
local fresh = require "rooflua.machine.fresh"
local idle = require "rooflua.scenario.idle"
local lookback = require "rooflua.serving.lookback"
local notes = require "rooflua.machine.notes"
local own_metrics = require "rooflua.measure.own"
local pieces = require "rooflua.serving.pieces"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local replicas = require "rooflua.serving.replicas"
local schema = require "rooflua.scenario.schema"
local shape = require "rooflua.scenario.shape"
local surroundings = require "rooflua.serving.surroundings"
local swaps = require "rooflua.serving.swaps"
local summaries = require "rooflua.serving.summaries"
local undone = require "rooflua.serving.undone"
local twins = require "rooflua.serving.twins"

local live = {}
local fail = core.fail

---@class rooflua.Live
local Live = {}
-- A simulation's state, {run, file, given, replicas, router, metrics, journal, history}, is in its own metatable, which
-- scripts cannot reach. Both are garbage together, also where a policy of the simulation refers to it.
local mark = {}
local metatable_of = debug.getmetatable

local function meta_of(simulation)
  local meta = type(simulation) == "table" and metatable_of(simulation)
  if meta and rawget(meta, mark) then return meta end
end

local function state_of(simulation)
  local meta = meta_of(simulation)
  if not meta then fail("expected a simulation from serve.open, found %s", core.describe(simulation)) end
  local state = meta[mark]
  if state.closed then fail "this simulation was closed" end
  return state
end

local function field_of(simulation, key)
  if key == "now_s" then return native.serve_now(state_of(simulation).run) end
  local method = Live[key]
  if method == nil then
    fail("a simulation: %s", core.unknown_name("field", key, core.sorted_keys(Live)))
  end
  return method
end

--- Gives a simulation another state, also as its own policies know it (`known`, of forks).
local function put(simulation, state)
  local meta = meta_of(simulation)
  meta[mark] = state
  if meta.known then meta.known[mark] = state end
end

local function refuse_assignment() fail "a simulation is read-only; use :set{scheduler = ..., steps = ...}" end

local function adopt(state)
  return setmetatable({}, { [mark] = state, __index = field_of, __newindex = refuse_assignment, __metatable = false })
end

-- Opening -----------------------------------------------------------------------------------------------------

local function exact_requests_of(reader, given)
  local value = given.metrics and given.metrics.exact_requests
  return value ~= nil and reader:at("metrics", core.whole, value, "exact_requests") or nil
end

--- Whether `metrics` asks for something: utilisation or requests.
local function asked(reader, given, name)
  local value = given.metrics and core.plain(given.metrics)[name]
  if value ~= nil and type(value) ~= "boolean" then
    reader:fail("metrics." .. name, "expected true or false, found %s", core.describe(value))
  end
  return value == true
end

local keys_of_parts = {} -- keys that a part of the results alone reads
for _, entry in ipairs(schema.fields()) do
  if entry.part then keys_of_parts[#keys_of_parts + 1] = entry end
end

--- What summaries are told of the parts of a run, by their keys in documents (engine/measure/parts): true, or the
--- keys that the part reads. Links, pools and plays need no word: the engine knows them.
local function parts_of(reader, given, all)
  local parts = { disaggregation = all.disaggregation.config, gate = all.admission, clients = all.client,
    faults = all.faults, experts = all.experts, encoder = all.encoder,
    adapters = all.replicas[1].prepared.adapters, tiers = all.tiers }
  for _, each in ipairs(all.replicas) do parts.speculation = parts.speculation or each.speculation end
  local told = {}
  for name, part in pairs(parts) do told[name] = part and true or nil end
  for _, entry in ipairs(keys_of_parts) do
    local value = given[entry.name]
    if value ~= nil then
      local check = entry.type == "number" and schema.check_number or schema.check
      check(reader, entry.path, value)
      told[entry.part] = told[entry.part] or {}
      told[entry.part][entry.name] = value
    end
  end
  return next(told) and told
end

--- A scenario as a simulation at time 0. options go to the engine: journal, keep_requests, why, sketch, and the
--- paths of files that are written as it runs.
function live.begin(reader, given, options)
  local written = given
  given = fresh.of(reader, given)
  local all = pieces.of(reader, given)
  local list = all.replicas
  local source = reader:at("workload", function() return policy.fresh(all.workload):requests(all.streams) end)
  all.encoder, source = encoding.of(reader, given, all, source)
  local config = { bench = options.requests_path and bench.of(reader, given, list[1].prepared.model) or nil,
    replicas = replicas.each(list, "config"), frontend = all.frontend, slo = all.slo,
    class_slo = #all.class_slo > 0 and all.class_slo or nil,
    transfer = all.transfer, disaggregation = all.disaggregation.config, links = all.links,
    tiers = all.tiers and all.tiers.config, parts = parts_of(reader, given, all),
    adapters = adapters.choice(list[1].prepared.adapters),
    pools = all.pools and all.pools.config,
    exact_requests = exact_requests_of(reader, given),
    gap_per_token = given.metrics ~= nil and core.plain(given.metrics).itl == "token" or nil }
  for key, value in pairs(options) do config[key] = value end
  -- What notes touch, and how busy GPUs were, is priced from sampled steps when the run is over.
  if notes.touch(replicas.each(list, "prepared")) or asked(reader, given, "utilisation") then config.sketch = true end
  if asked(reader, given, "requests") then config.keep_requests = true end
  local router = pieces.router(reader, given, all)
  local around = surroundings.of(all, source)
  local metrics = own_metrics.start(all.metrics, policy.fresh, router, idle.asks(written) and idle.seen() or nil)
  local run = reader:at("", native.serve_open, config, replicas.each(list, "scheduler"), replicas.each(list, "steps"),
    router, source, metrics.observer, swaps.speculations(list), swaps.tier_bindings(all.tiers, list), around)
  return adopt { run = run, file = reader.file, given = written, replicas = list, router = router, metrics = metrics,
    encoders = all.encoders, encoding = all.encoder and function() return encoding.told(all.encoder) end or nil,
    tiers = all.tiers, surroundings = around, journal = config.journal, history = {} }
end

local function begin(file, given, options) return live.begin(Reader.new(file), given, options) end

--- The reader of a script's table: its keys are those of a scenario, and it is one variant.
---@param file string? the scenario's file, if it came from one
function live.reader(given, file)
  local reader = Reader.new(file or "scenario")
  shape.check_keys(reader, given)
  for _, key in ipairs { "vary", "sweep" } do
    if given[key] ~= nil then
      reader:fail(key, "one run has one variant; sweep.grid and sweep.sample run several, or set %s = nil", key)
    end
  end
  return reader
end

--- serve.open.
function live.open(given, options)
  core.table(given, "serve.open")
  options = options or {}
  core.check_keys(core.table(options, "serve.open: options"), { "remember", "file" }, "serve.open", "option")
  given = core.plain(given)
  local reader = options.file and Reader.new(options.file) or live.reader(given)
  return live.begin(reader, given, { journal = options.remember ~= false })
end

--- A scenario, a simulation's scenario or that of a result, run from its start to its end with one request or play
--- followed. Returns the engine's run.
---@param where string for errors
---@param options table of live.begin: why, why_play or plays
function live.follow(given, where, options)
  core.table(given, where .. ": scenario")
  local origin = meta_of(given) and state_of(given) or lookback.origin(given)
  local simulation = begin(origin and origin.file or "scenario", core.plain(origin and origin.given or given),
    options)
  simulation:run()
  return state_of(simulation).run
end

-- What the library asks of simulations --------------------------------------------------------------------------

function live.is_live(value) return meta_of(value) ~= nil end
function live.state(simulation) return state_of(simulation) end
function live.is_closed(simulation) return meta_of(simulation)[mark].closed == true end
--- What reports call a replica: "replica 3", "engine 1 rank 2".
function live.name_of(simulation, index)
  return state_of(simulation).replicas[index].config.name or "replica " .. index
end
--- Whether steps and requests are remembered.
function live.remembers(simulation) return state_of(simulation).journal end
--- A fork; nil where a policy keeps what cannot be copied.
function live.try_fork(simulation)
  local ok, fork = pcall(simulation.fork, simulation)
  return ok and fork or nil
end
--- Whether an error stopped it in the middle of a step.
function live.is_broken(simulation) return native.serve_is_broken(state_of(simulation).run) end

--- Gives a simulation the state of `saved`, a fork of it, after an error in the middle of a step.
function live.restore(simulation, saved) put(simulation, state_of(saved)) end
--- Goes on with policies whose files were read again (swaps.replace).
function live.replace_policies(simulation, successor) swaps.replace(state_of(simulation), successor) end

--- "Live:set" for a method of simulations; nil for any other function.
function live.method_name(call)
  for name, method in pairs(Live) do
    if method == call then return "Live:" .. name end
  end
end

-- Methods -------------------------------------------------------------------------------------------------------

--- Runs until everything is over.
function Live:run()
  native.serve_advance(state_of(self).run)
end

--- Runs every event up to that time.
function Live:run_until(time_s)
  native.serve_advance_until(state_of(self).run, core.number(time_s, "run_until"))
end

--- Runs up to the next end of a step, n times. False when nothing is left to happen.
function Live:step(n)
  for _ = 1, core.whole(n or 1, "step", 1) do
    if not native.serve_step(state_of(self).run) then return false end
  end
  return true
end

--- The state of a replica now: a copy.
function Live:replica(index)
  return native.serve_replica(state_of(self).run, index or 1)
end

--- The waiting requests of a replica, in queue order: a copy.
function Live:waiting(index)
  return native.serve_replica(state_of(self).run, index or 1).waiting
end

--- A live request by id: a copy, nil when it is done or has not arrived.
function Live:request(id)
  return native.serve_request(state_of(self).run, core.whole(id, "request"))
end

--- Ends a live request now, before its last token, as expired, timed_out, cancelled (if nothing is said) or
--- replica_lost. False: no such request is alive.
function Live:abort(id, outcome)
  local state = state_of(self)
  id, outcome = core.whole(id, "abort: request", 0), outcome or "cancelled"
  if type(outcome) ~= "string" then fail("abort: expected an outcome, found %s", core.describe(outcome)) end
  local was_live = native.serve_abort(state.run, id, outcome)
  if was_live then
    state.history[#state.history + 1] = { at_s = native.serve_now(state.run), abort = { id = id, outcome = outcome } }
  end
  return was_live
end

--- Other policies from the next plan on.
function Live:set(changes) swaps.set(state_of(self), changes) end

--- A fork of a simulation, whose policies may know it: they know the fork then. The engine holds the policies, so
--- that what they know it by must not hold its state: such a fork would never be collected.
---@param own table? the copies of the fork whose policies keep it
local function fork_of(simulation, own)
  if meta_of(simulation)[mark].closed then return simulation end
  local fork, known = adopt {}, adopt {}
  local own_meta, known_meta = meta_of(fork), setmetatable(meta_of(known), { __mode = "v" })
  own = own or twins.new()
  own:share(simulation, known)
  local state = swaps.fork(state_of(simulation), own)
  own_meta.known = known_meta
  put(fork, state)
  return fork
end
twins.fork_simulations(live.is_live, fork_of)

--- An independent copy: same policies in the same state, same random numbers, same future.
function Live:fork()
  state_of(self)
  return (fork_of(self))
end

--- Frees its memory. Whatever is called after it is an error.
function Live:close()
  local state = state_of(self)
  native.serve_close(state.run)
  put(self, { closed = true })
end

--- What is known so far.
function Live:result()
  local state = state_of(self)
  local run = state.run
  native.serve_finish(run)
  breakdown.tell(state)
  local summary = native.serve_summary(run)
  return lookback.note({ summary = summary, totals = native.serve_totals(run),
    requests = native.serve_requests(run), left_out = native.serve_left_out(run),
    intervals = answers.of_run(state, summary),
    notes = undone.notes(state, failures.of(state), summary), policies = summaries.of(state) },
    state.file, state.given, self)
end

lookback.add(Live, state_of, begin)

return live
