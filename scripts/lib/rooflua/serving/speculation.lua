-- Speculation of a replica: how many drafts requests bring to a step, which are accepted, and what drafting costs.
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local schema = require "rooflua.scenario.schema"

local speculation = {}

local most_drafts = 1000

--- A whole number that a policy declares as a field, or as a method.
local function declared(reader, key, instance, field, most)
  local value = instance[field]
  if type(value) == "function" then value = value(instance) end
  if type(value) ~= "number" or value % 1 ~= 0 or value < 0 or value > most then
    reader:fail(key, "%s: %s: expected a whole number from 0 to %d, found %s", tostring(instance.name), field, most,
      core.describe(value))
  end
  return value
end

--- The same for a number of tokens that may follow from the depth: "k" and "k-1".
local function of_depth(reader, instance, field, depth)
  if instance == nil or instance[field] == nil then return 0 end
  if instance[field] == "k" then return depth end
  if instance[field] == "k-1" then return math.max(depth - 1, 0) end
  return declared(reader, "speculation.drafter", instance, field, most_drafts)
end

--- Whether a hit of the prefix cache loses its last block.
local function drops_last_hit(reader, drafter)
  local value = drafter and drafter.drops_last_hit
  if value ~= nil and type(value) ~= "boolean" then
    reader:fail("speculation.drafter", "%s: drops_last_hit: expected true or false, found %s", tostring(drafter.name),
      core.describe(value))
  end
  return value == true
end

--- A new instance that knows what it is for.
local function bound(reader, key, instance, known)
  local own = policy.fresh(instance)
  if type(own.bind) == "function" then reader:at(key, own.bind, own, known) end
  return own
end

--- The policies of the group, checked.
local function read(reader, given)
  schema.check(reader, "speculation", given)
  reader:at("speculation", core.check_keys, core.plain(given), schema.names "speculation", "speculation")
  local group = core.plain(given)
  local out = {
    speculator = policies.with_method(reader, "speculation.speculator", group.speculator, "drafts"),
    acceptance = policies.of(reader, "speculation.acceptance", group.acceptance),
    drafter = group.drafter ~= nil
      and policies.with_method(reader, "speculation.drafter", group.drafter, "time") or nil,
  }
  if type(out.acceptance.curve) ~= "function" then
    reader:fail("speculation.acceptance", "%s has no curve method", tostring(out.acceptance.name))
  end
  local scope = out.acceptance.scope
  if scope ~= nil and scope ~= "request" and scope ~= "step" then
    reader:fail("speculation.acceptance", '%s: scope: expected "request" or "step", found %s',
      tostring(out.acceptance.name), core.describe(scope))
  end
  return out
end

--- The most drafts that requests of a replica bring to a step; nil where it does not speculate.
function speculation.depth(reader, given, role)
  if given == nil or role == "prefill" then return nil end
  return declared(reader, "speculation.speculator", read(reader, given).speculator, "depth", most_drafts)
end

--- Weights and cache of a drafter leave fewer KV blocks.
local function hold_memory(reader, prepared, drafter)
  local weight_bytes, kv_bytes = drafter:memory()
  for name, bytes in pairs { weight_bytes = weight_bytes, kv_bytes_per_token = kv_bytes } do
    if type(bytes) ~= "number" or not (bytes >= 0 and bytes < 1e15) then
      reader:fail("speculation.drafter", "%s:memory() returned %s as %s; expected bytes", tostring(drafter.name),
        core.describe(bytes), name)
    end
  end
  if type(weight_bytes) ~= "number" or type(kv_bytes) ~= "number" then
    reader:fail("speculation.drafter", "%s:memory() returns weight_bytes and kv_bytes_per_token; found %s and %s",
      tostring(drafter.name), core.describe(weight_bytes), core.describe(kv_bytes))
  end
  Prepared.hold_drafter(prepared, weight_bytes, kv_bytes)
end

--- The speculation of a replica: {speculator, acceptance, drafter, depth, lookahead, reserve, drops_last_hit, again}.
--- again() makes the same for a replica that is alike. nil without the key, and for a replica that only prefills.
---@param given any the scenario's `speculation`
---@param prepared table of the replica (machine/prepared.lua)
---@param steps table its bound step model
function speculation.of(reader, given, prepared, steps, role)
  if given == nil then return nil end
  local chosen = read(reader, given)
  if role == "prefill" then return nil end
  local known = { model = prepared.model, deployment = prepared.deployment, hardware = prepared.hardware,
    engine = prepared.engine,
    mfu = prepared.mfu, async_depth = Prepared.host_depth(prepared), draft_depth = prepared.draft_depth, steps = steps }
  local drafter = chosen.drafter and bound(reader, "speculation.drafter", chosen.drafter, known)
  if drafter and type(drafter.memory) == "function" then hold_memory(reader, prepared, drafter) end
  known.drafter = drafter
  local function make()
    local acceptance = bound(reader, "speculation.acceptance", chosen.acceptance, known)
    known.acceptance = acceptance
    local out = { speculator = bound(reader, "speculation.speculator", chosen.speculator, known),
      acceptance = acceptance, drafter = drafter, known = known, again = nil }
    out.depth = declared(reader, "speculation.speculator", out.speculator, "depth", most_drafts)
    out.lookahead = of_depth(reader, drafter, "lookahead", out.depth)
    out.reserve = of_depth(reader, drafter, "reserve", out.depth)
    out.drops_last_hit = drops_last_hit(reader, drafter)
    return out
  end
  local out = make()
  out.again = make
  return out
end

--- The same speculation with another speculator, for a simulation that runs: its rows stay within the old depth.
---@param given any a speculator, its class or its name
function speculation.with_speculator(reader, own, given)
  local out = core.copy(own)
  local chosen = policies.with_method(reader, "speculation.speculator", given, "drafts")
  out.speculator = bound(reader, "speculation.speculator", chosen, own.known)
  local depth = declared(reader, "speculation.speculator", out.speculator, "depth", most_drafts)
  if depth > own.depth then
    reader:fail("speculation.speculator", "%s asks for up to %d drafts, and this simulation was opened with %d",
      tostring(chosen.name), depth, own.depth)
  end
  return out
end

--- The same speculation over another step model or with another drafter, whose price counts from then on; memory and
--- lookahead stay those that the simulation was opened with. Policies that were bound to the old ones are bound again,
--- so that a speculator that learns begins anew.
---@param changes table {steps = a bound step model, drafter = an instance}
function speculation.with(reader, own, changes)
  local out, known = {}, {}
  for key, value in pairs(own) do out[key] = value end
  for key, value in pairs(own.known) do known[key] = value end
  known.steps, out.known = changes.steps or known.steps, known
  if changes.drafter or type(own.drafter and own.drafter.bind) == "function" then
    local key = "speculation.drafter"
    out.drafter = bound(reader, key, changes.drafter or own.drafter, known)
    for _, field in ipairs { "lookahead", "reserve" } do
      local asked = of_depth(reader, out.drafter, field, own.depth)
      if asked ~= own[field] then
        reader:fail(key, "%s: %s: %d tokens, and this simulation was opened with %d", tostring(out.drafter.name), field,
          asked, own[field])
      end
    end
    known.drafter = out.drafter
  end
  if type(own.speculator.bind) == "function" then
    out.speculator = bound(reader, "speculation.speculator", own.speculator, known)
  end
  return out
end

--- What is left of a step's token budget when the drafter has taken its slots.
---@param limits table {max_num_seqs, max_num_batched_tokens}
function speculation.budget(reader, own, limits)
  local budget = limits.max_num_batched_tokens
  if own == nil or own.reserve == 0 or budget == 0 then return budget end
  if limits.max_num_seqs == 0 then
    reader:fail("speculation.drafter", "it takes %d tokens of the budget per seat, and max_num_seqs is not limited",
      own.reserve)
  end
  local left = budget - own.reserve * limits.max_num_seqs
  if left < 1 then
    reader:fail("speculation.drafter", "it takes %d tokens of the budget for each of %d seats, and %d of "
      .. "max_num_batched_tokens = %d are left; expected at least 1", own.reserve, limits.max_num_seqs, left, budget)
  end
  return left
end

return speculation
