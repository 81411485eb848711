-- Replicas that only encode: an entry of `replicas` with encoder = true. They have no scheduler and no KV cache, so the
-- list of replicas does not have them. Requests with items go there first (engine/serve/parts/encoder/encoders.h).
local core = require "rooflua.base.core"
local Prepared = require "rooflua.machine.prepared"
local schema = require "rooflua.scenario.schema"
local specs = require "rooflua.border.specs"

local encoders = {}

local known = { "encoder", "count", "node", "hardware", "deployment", "mfu", "steps", "engine" }

local function is_one(entry) return type(entry) == "table" and core.plain(entry).encoder == true end

--- Whether some replicas only encode.
function encoders.are_in(replicas)
  for _, each in ipairs(type(replicas) == "table" and core.plain(replicas) or {}) do
    if is_one(each) then return true end
  end
  return false
end

--- deployment.encoder, checked; nil where nothing is stated.
function encoders.asked(reader, given)
  if given == nil then return nil end
  local inside = reader:child "deployment.encoder"
  local out = core.copy(schema.check_group(reader, "deployment.encoder", given))
  for _, key in ipairs { "budget_tokens", "cache_tokens" } do
    if out[key] ~= nil then out[key] = inside:whole(key, out[key], 0, 2 ^ 30) end
  end
  for _, key in ipairs { "pixel_s", "item_s" } do
    local value, range = out[key], schema.entry("deployment.encoder." .. key).range
    if value ~= nil and not (type(value) == "number" and value >= range.min and value <= range.max) then
      inside:fail(key, "expected %g to %g seconds, found %s", range.min, range.max, core.describe(value))
    end
  end
  schema.check(reader, "deployment.encoder.mode", out.mode)
  return out
end

--- What `replicas` says of the others.
function encoders.left_out(replicas)
  if type(replicas) ~= "table" then return replicas end
  local out = {}
  for _, each in ipairs(core.plain(replicas)) do
    if not is_one(each) then out[#out + 1] = each end
  end
  return #out > 0 and out or replicas
end

--- The deployment of an encoder: what it says of ranks, and no KV cache whose room would be asked for.
local function without_cache(reader, deployment)
  if deployment == nil then return { kv_blocks = 1 } end
  if specs.is(deployment, "Deployment") then
    reader:fail("deployment", "of replicas that only encode: expected a table, found a Deployment")
  end
  local out = core.copy(core.plain(deployment), { kv_blocks = 1 })
  out.encoder = nil
  return out
end

--- GPUs that only encode; 0 where there are none.
---@param pool table? of encoders.of
function encoders.gpus(pool)
  if not pool then return 0 end
  local own = pool.prepared.deployment
  return pool.count * own.tp * own.cp * own.pp * own.dp
end

--- {prepared, count, node, asked, place} of the entry; nil where there is none.
function encoders.of(reader, given)
  local found
  for i, each in ipairs(type(given.replicas) == "table" and core.plain(given.replicas) or {}) do
    local where = "replicas[" .. i .. "]"
    if type(each) == "table" then schema.check(reader:child(where), "replicas[].encoder", core.plain(each).encoder) end
    if is_one(each) then
      local own, inside = core.plain(each), reader:child(where)
      reader:at(where, core.check_keys, own, known, where)
      if found then reader:fail(where .. ".encoder", "is stated a second time; one pool of encoders is modelled") end
      local deployment = own.deployment or given.deployment
      local base = core.copy(core.plain(given), own)
      base.deployment, base.replicas = without_cache(inside, deployment), nil
      schema.check(inside, "replicas[].node", own.node)
      found = { prepared = Prepared.of(inside, base), count = inside:whole("count", own.count or 1, 1, 4096),
        node = own.node,
        asked = encoders.asked(inside, core.plain(deployment or {}).encoder) or {},
        place = where }
    end
  end
  if found and #core.plain(encoders.left_out(given.replicas)) == #core.plain(given.replicas) then
    reader:fail("replicas", "all only encode; add an entry that computes prompts and answers")
  end
  return found
end

return encoders
