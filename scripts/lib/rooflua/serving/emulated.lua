-- A scenario that is served over HTTP: what clients send is served in place of its workload (engine/emulate).
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local encoder = require "rooflua.machine.encoder"
local catalogue = require "rooflua.engines.catalogue"
local changes = require "rooflua.serving.changes"
local choice = require "rooflua.engines.choice"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local kv_events = require "rooflua.serving.served_kv_events"
local policy = require "rooflua.policy"
local rehearsal = require "rooflua.serving.rehearsal"
local release = require "rooflua.engines.release"
local schema = require "rooflua.serving.served_metrics"
local statuses = require "rooflua.base.statuses"
local full_run = require "rooflua.serving.full_run"
local startup_logs = require "rooflua.serving.startup_logs"

local emulated = {}

--- Blocks that prompts are cut into: as those of the KV cache, and no shorter.
local shortest_block = 16
local most_unused = 8 -- blocks that an engine counts and gives to no request: vLLM's null block, SGLang's page 0

--- Headers by which clients name the conversation that a request belongs to.
-- llm-d router, session affinity (x-session-token); Codex codex-rs/core/src/client.rs (session_id); Claude Code
-- (x-claude-code-session-id)
local session_headers = { "x-session-id", "x-session-token", "session_id", "x-claude-code-session-id" }

--- A workload that sends nothing, where the scenario has none.
local Silent = policy.define { name = "silent", doc = "Sends nothing.", params = {} }
function Silent:requests()
  return function() return nil end
end

--- The scenario without what its clients do, and sentences on that.
local function without_clients(given)
  local out, told = core.copy(given), {}
  if given.workload == nil then
    out.workload = Silent {}
  else
    told[1] = "the workload is not sent: its lengths are those of the answers to clients"
  end
  if given.client ~= nil then
    out.client = nil
    told[#told + 1] = "client has no effect: the clients are real"
  end
  return out, told
end

--- The engine that the scenario states, else the newest that is known: {engine, release}.
local function engine_of(given)
  local stated = given.engine
  if type(stated) == "table" then stated = core.plain(stated)[1] end
  if type(stated) == "string" then return choice.parse(stated) end
  return choice.parse(catalogue.default_name())
end

--- The rows of an engine's series that its release has; where they are not known those of the default engine, with a
--- note.
---@param first table the first replica
local function metrics_of(reader, given, chosen, first, told)
  local engine, longest = chosen.engine, first.config.max_model_len
  if not engine.metrics then
    local other = catalogue.default()
    told[#told + 1] = ("what %s calls its series is not known: /metrics has the names of %s"):format(engine.name,
      other.name)
    engine = other
    chosen = { release = catalogue.newest(engine) }
  end
  local families, options = json.array {}, nil
  local metrics = catalogue.said(engine, "metrics")
  local function asked()
    options = options or startup_logs.options(reader, given)
    return options
  end
  for _, row in ipairs(metrics) do
    if release.holds(row, chosen.release) then
      families[#families + 1] = schema.family(row, longest, asked)
      if row.quantity:find "^total_" then asked() end -- as the engine counts
    end
  end
  local unused = options and options.blocks - first.config.kv_blocks or 0
  return { families = families, labels = metrics.labels,
    unused_blocks = unused > 0 and unused <= most_unused and unused or nil }
end

local function statuses_by_outcome()
  local out = {}
  for _, outcome in ipairs(statuses.outcomes()) do out[outcome] = statuses.of(outcome) end
  return out
end

--- The options of the engine's server.
---@param asked table options of the command: port, host, speed, ports_each, record, drain_s, ...
local function server_options(reader, given, state, asked, told)
  local first, chosen = state.replicas[1], engine_of(given)
  local longest = first.config.max_model_len
  local kv, assumed
  if asked.kv_events then kv, assumed = kv_events.options(reader, asked.kv_events, chosen, state.replicas) end
  told[#told + 1] = assumed
  local models = json.array {}
  for _, name in ipairs { asked.model_name or first.prepared.model.name,
    type(given.model) == "string" and given.model or nil } do
    if not core.is_among(name, models) then models[#models + 1] = name end
  end
  return { host = asked.host, port = asked.port, ports_each = asked.ports_each, admin = asked.admin,
    speed = asked.speed, drain_s = asked.drain_s, record = asked.record, models = models, owner = chosen.engine.name,
    version = chosen.release, max_model_len = longest, bytes_per_token = asked.bytes_per_token,
    block_tokens = kv and kv.block_tokens or math.max(shortest_block, first.config.block_size), kv_events = kv,
    default_tokens = asked.answer_tokens,
    tool_share = asked.tool_share, seed = given.seed or 0, session_headers = json.array(core.copy(session_headers)),
    statuses = statuses_by_outcome(), metrics = metrics_of(reader, given, chosen, first, told),
    most_streams = asked.most_streams, request_s = asked.request_s }
end

--- Counts an image or a sound of a request by the rule of the model's processor: tokens, or nil and why not. Nil where
--- the model takes text alone.
local function item_tokens(model)
  local own = encoder.of(model)
  if not own then return nil end
  return function(kind, width, height, seconds)
    local item = kind == "audio" and { seconds = seconds } or { width = width, height = height }
    local ok, found = pcall(encoder.item, own, item)
    if not ok then return nil, tostring(found) end
    return found.tokens, nil
  end
end

--- What cannot be served.
local function check(reader, given, asked)
  if not asked.ports_each then return end
  if asked.record then
    reader:fail("--record", "says when requests came and not to which port; leave out --ports each")
  end
  if given.disaggregation ~= nil then
    reader:fail("--ports each", "a prompt of this scenario goes through two replicas; leave it out")
  end
end

--- In an address: IPv6 stands in brackets.
local function host_name(host)
  return host:find(":", 1, true) and "[" .. host .. "]" or host
end

local function announce(asked, ports, options, quiet)
  for i, port in ipairs(ports) do
    io.stdout:write(("listening on http://%s:%d%s, model %s\n"):format(host_name(asked.host), port,
      #ports > 1 and (" for replica %d"):format(i) or "", options.models[1]))
  end
  if not quiet then
    io.stdout:write(("speed %g; Ctrl-C or TERM ends it, and the report follows\n"):format(asked.speed))
  end
  io.stdout:flush()
end

--- The body of /admin/set: {"scheduler.max_num_seqs": 8}, as `:set` of the prompt has it.
local function set(simulation, body)
  local given = json.decode(body)
  if type(given) ~= "table" then core.fail('expected {"scheduler.max_num_seqs": 8}') end
  local words = {}
  for key, value in core.sorted_pairs(given) do words[#words + 1] = ("%s=%s"):format(key, tostring(value)) end
  if #words == 0 then core.fail('expected {"scheduler.max_num_seqs": 8}, found nothing to change') end
  simulation:set(changes.of(simulation, words))
  return words
end

local function answer(run, server, simulation, asked)
  local ok, found = pcall(set, simulation, asked.body)
  local status, out = 200, { set = ok and json.array(found) or nil }
  if not ok then status, out = 400, { error = { message = tostring(found), type = "BadRequestError", code = 400 } } end
  native.emulate_answer(run, server, status, json.encode(out))
end

--- Sentences on what happened to clients.
local function outcomes(found, options, told)
  if found.left > 0 then told[#told + 1] = ("%d clients left before the end, or did not read"):format(found.left) end
  if found.refused > 0 then told[#told + 1] = ("%d requests were answered with an error"):format(found.refused) end
  if found.dropped > 0 then told[#told + 1] = ("%d answers broke off"):format(found.dropped) end
  if found.late_s > 0 then
    told[#told + 1] = ("in %d s tokens left late, by up to %.3g ms: the machine was too slow"):format(found.late_s,
      1e3 * found.most_late_s)
  end
  local unread = {}
  for name, times in core.sorted_pairs(found.unread) do unread[#unread + 1] = ("%s (%d)"):format(name, times) end
  if unread[1] then
    told[#told + 1] = "fields of requests that change nothing here, and how many had them: "
      .. table.concat(unread, ", ")
  end
  if found.kv then kv_events.tell(found.kv, told) end
  if options.record then
    told[#told + 1] = ('%s replays with require "workloads.trace" { path = "%s", hash_block_tokens = %d }'):format(
      options.record, options.record, options.block_tokens)
  end
end

--- Serves clients until it is stopped; then the result of the run, as `run` has it.
---@param options table of full_run.run, and emulate = {port, host, ...}
function emulated.run(reader, given, options)
  local asked = options.emulate
  check(reader, given, asked)
  local served, told = without_clients(given)
  for _, sentence in ipairs(asked.startup_log and startup_logs.write(reader, given, asked) or {}) do
    told[#told + 1] = sentence
  end
  rehearsal.run(reader, served)
  local simulation = live.begin(reader, served, { inbox = true, requests_path = options.requests_path,
    trace_path = options.trace_path })
  local state = live.state(simulation)
  local run = state.run
  local own = server_options(reader, given, state, asked, told)
  local server, ports, kv_addresses = native.emulate_open(run, own, item_tokens(state.replicas[1].prepared.model))
  announce(asked, ports, own, asked.quiet)
  if own.kv_events then kv_events.announce(own.kv_events, kv_addresses, asked.quiet) end
  while true do
    local question = native.emulate_serve(run, server)
    if not question then break end
    answer(run, server, simulation, question)
  end
  local found = native.emulate_finish(run, server)
  local partial = found.streams > 0 and { stopped_by = "interrupt", clock_s = found.clock_s,
    finished = native.serve_totals(run).arrived - found.streams, sent = native.serve_totals(run).arrived } or nil
  outcomes(found, own, told)
  local result = full_run.finish(reader, served, options, { state = state, followed = {}, partial = partial })
  result.notes = result.notes or {}
  for _, sentence in ipairs(told) do result.notes[#result.notes + 1] = sentence end
  return result
end

return emulated
