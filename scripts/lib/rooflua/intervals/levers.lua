-- How often a change of one setting had the measured direction: words for the counts of intervals/directions.lua. A
-- lever is called as the engine's own option is ("max-num-batched-tokens"), or system (the GPU), widths, format (of the
-- weights), engine, routers, tiers, pd, scaling.
local core = require "rooflua.base.core"
local directions = require "rooflua.intervals.directions"

local levers = {}

--- Changes up to this share are none: what the measured pairs call flat.
levers.flat_frac = 0.03
--- The same of what an engine prints at its start: tokens and bytes of the KV cache.
levers.printed_flat_frac = 0.005
levers.flat_text = ("at most %g %%"):format(100 * levers.flat_frac)

--- Levers of keys that are called otherwise there. Each part of the widths counts under its own name, too.
local called = { hardware = { "system" }, weights = { "format" }, replicas = { "scaling" }, router = { "routers" },
  autoscaler = { "scaling" }, kv = { "kv-cache-dtype" }, kv_cache = { "kv-cache-dtype" },
  tp = { "tp", "widths" }, dp = { "dp", "widths" }, pp = { "pp", "widths" },
  ep = { "ep", "enable-expert-parallel" }, enable_expert_parallel = { "enable-expert-parallel", "ep" },
  moe_tp = { "widths" }, disaggregation = { "pd" } }

--- Keys of a scenario that say what is served, asked or assumed, and are no settings of a server.
local others = core.set { "workload", "model", "seed", "steps", "mfu", "frontend", "title", "intervals", "slo",
  "client", "corrections", "faults", "limits", "metrics", "kind", "point", "sweep", "vary", "duration_s", "users" }

--- Adds the counts of several levers.
local function sum_of(names)
  local right, pairs_count, sizes = 0, 0, {}
  for _, name in ipairs(names) do
    local own = directions[name]
    if own then right, pairs_count = right + own.right, pairs_count + own.pairs end
    if own and own.size then sizes[#sizes + 1] = own.size end
  end
  return right, pairs_count, sizes[1]
end

--- What is known of a key path: {lever, right, pairs, size (median error of such gains; nil: none), text}; nil of a key
--- that is no setting of a server.
---@param path string "deployment.ep"
function levers.of(path)
  path = tostring(path)
  if others[path:match "^[^.]+"] then return nil end
  local key = path:match "[^.]+$"
  local names = called[key] or { (key:gsub("_", "-")) }
  local right, count, size = sum_of(names)
  local text = count > 0 and ("%s: %d of %d"):format(key, right, count) or key .. ": nobody has measured it"
  return { lever = key, right = count > 0 and right or nil, pairs = count, size = size, text = text }
end

--- The levers of key paths, each once, in the order of the paths.
---@param paths string[]
function levers.list(paths)
  local out, seen = {}, {}
  for _, path in ipairs(paths) do
    local one = levers.of(path)
    if one and not seen[one.lever] then out[#out + 1], seen[one.lever] = one, true end
  end
  return out
end

local most_single = 3 -- of unmeasured levers; more stand together

--- "direction right in measured pairs: ep: 5 of 10; tp: 4 of 6"; nil of none.
---@param list table[] of levers.list
function levers.text(list)
  local parts, unmeasured = {}, {}
  for _, each in ipairs(list) do
    if each.pairs == 0 then unmeasured[#unmeasured + 1] = each.lever end
  end
  local joins = #unmeasured > most_single
  for _, each in ipairs(list) do
    if each.pairs > 0 or not joins then parts[#parts + 1] = each.text end
  end
  if joins then parts[#parts + 1] = "nobody has measured " .. table.concat(unmeasured, ", ") end
  return #parts > 0 and "how often the direction of such a change was right, of measured pairs: "
    .. table.concat(parts, "; ") or nil
end

return levers
