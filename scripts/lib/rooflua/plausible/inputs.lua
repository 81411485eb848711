-- Inputs of a scenario that may be wrong, each with other values: what the measured run says of its load, the settings
-- of the engine, the number of GPUs, formats, speculation, a share of prefixes, and how fast the hardware is.
local altered = require "rooflua.plausible.altered"
local core = require "rooflua.base.core"
local moves = require "rooflua.advise.moves"
local policy = require "rooflua.policy"

local inputs = {}

local factors = { 0.5, 2, 0.25, 4 }
local shares = { 0.25, 0.5, 0.75, 0.9 }
local drafts, accepted = { 1, 3 }, 0.7

local function add(out, kind, set, before, after, changes)
  out[#out + 1] = { kind = kind, set = set, before = before, after = after, changes = changes }
end

--- The workload with lengths multiplied.
local function with_lengths(about, field, factor)
  return { { path = "workload", value = altered { base = about.workload, [field] = factor } } }
end

--- What sets a part of the load to a value; nil where nothing does.
local function load_changes(about, name, value)
  local own = about.load
  if name == "prompt" or name == "output" then return with_lengths(about, name, value / own[name]) end
  local path = own.path[name]
  return path and own[name] and { { path = path, value = value } } or nil
end

--- What the measured run says otherwise of its load.
local function of_result(out, about)
  for _, each in ipairs(about.differences) do
    local changes = each.name ~= "kind" and load_changes(about, each.name, each.measured)
    if changes then add(out, "result", each.set, each.scenario, each.measured, changes) end
  end
  if #about.differences > 1 then
    add(out, "result", "workload", "as stated", "that of the result", { { path = "workload", value = about.replay } })
  end
end

--- Parts of the load that the result does not state.
local function of_load(out, about)
  for _, name in ipairs { "rate_per_s", "clients", "prompt", "output" } do
    local value = about.sent[name] == nil and about.load[name] or nil
    for _, factor in ipairs(value and factors or {}) do
      local after = value * factor
      if name ~= "rate_per_s" then after = math.max(1, math.floor(after + 0.5)) end
      local changes = load_changes(about, name, after)
      if changes then add(out, "load", about.load.path[name] or "workload." .. name, value, after, changes) end
    end
  end
end

local function of_engine(out, reader, given, about)
  for _, move in ipairs((moves.of(reader, given, about))) do
    add(out, "setting", move.set, move.before, move.after, { { path = move.path, value = move.value } })
  end
  local count = given.replicas or 1
  if type(count) == "number" then
    for _, after in ipairs { count * 2, count > 1 and math.floor(count / 2) or nil } do
      add(out, "setting", "replicas", count, after, { { path = "replicas", value = after } })
    end
  end
end

--- Speculation that the scenario does not have, or has.
local function of_drafts(out, given, about)
  if given.speculation ~= nil then
    return add(out, "speculation", "speculation", "as stated", "none", { { path = "speculation" } })
  end
  local model = about.replica.prepared.model
  for _, count in ipairs(drafts) do
    local value = { speculator = require "speculators.fixed" { draft_tokens = count },
      drafter = model.mtp_layers > 0 and "mtp" or "free",
      acceptance = require "acceptance.constant" { rate = accepted } }
    add(out, "speculation", "speculation.speculator.draft_tokens", 0, count,
      { { path = "speculation", value = value } })
  end
end

--- Prompts that begin alike, where the engine keeps prefixes.
local function of_prefixes(out, about)
  if about.replica.config.prefix_caching == false then return end
  for _, share in ipairs(shares) do
    add(out, "prefixes", "prefix cache hit rate", 0, share,
      { { path = "workload", value = altered { base = about.workload, shared = share } } })
  end
end

--- Every input with another value: {kind, set, before, after, changes}. Of two that explain a run alike the first is
--- likelier.
---@param about table {replica, workload, load: of loads.scenario, sent: of loads.measured, differences,
--- replay: the workload of the result, gpus, is_command}
function inputs.of(reader, given, about)
  local out = {}
  if about.load then of_result(out, about) end
  of_engine(out, reader, given, core.copy(about, { with_formats = true }))
  of_drafts(out, given, about)
  if policy.is_instance(about.workload) then of_prefixes(out, about) end
  if about.load then of_load(out, about) end
  return out
end

--- The scenario on hardware whose steps take `slower` times as long: its clock runs slower, so times of the run are to
--- be multiplied.
function inputs.slower(workload, slower)
  return { { path = "workload", value = altered { base = workload, slower = slower } } }
end

return inputs
