-- Where the time of a served run goes, and what limits it now: parts of the time of a request, what steps wait for, how
-- full the engine is.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local limits = {}

--- What a part of the time of a request is called (docs/SERVING.md has them).
local called = { seat = "waits for a seat", budget = "waits for the budget of a step", kv = "waits for KV blocks",
  prefill = "steps with its prompt", decodes = "steps with its answer", transfer = "transfers of KV",
  frontend = "the front end", gate = "waits at the gate", route = "waits at the router" }
--- Parts that are waits, with what would end them.
local waits = { seat = "seats", budget = "the budget of a step", kv = "the KV cache", gate = "the gate",
  transfer = "the transfer of KV", frontend = "the front end" }
local of_bound = { memory = "bandwidth of the memory", compute = "arithmetic", link = "links" }
local fixed = "the host and fixed times"

local least_wait, mostly_idle = 0.1, 0.3 -- shares

local function sorted(shares)
  local out = json.array {}
  for name, share in pairs(shares) do out[#out + 1] = { name = name, share = share } end
  table.sort(out, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.name < b.name
  end)
  return out
end

local function parts_of(summary)
  local out, sum = {}, 0
  for _, value in pairs(summary.e2e_parts_s or {}) do sum = sum + value end
  for name, value in pairs(summary.e2e_parts_s or {}) do
    if sum > 0 and value > 0 then out[name] = value / sum end
  end
  return out
end

local function steps_of(breakdown)
  local out = {}
  for _, row in ipairs(breakdown and breakdown.rows or {}) do
    local name = of_bound[row.bound] or fixed
    out[name] = (out[name] or 0) + row.share
  end
  return sorted(out)
end

--- The one sentence: what limits the run.
local function sentence(summary, parts, steps)
  local worst, most = nil, least_wait
  for name, share in core.sorted_pairs(parts) do
    if waits[name] and share > most then worst, most = name, share end
  end
  if worst then
    local what = waits[worst]
    return ("%s: %.0f %% of the time of a request is spent in front of it"):format(what, 100 * most), what
  end
  local idle = summary.idle_frac or 0
  if idle > mostly_idle then
    return ("the load: the engine is idle for %.0f %% of the time"):format(100 * idle), "load"
  end
  local first = steps[1]
  if not first then return "not known: no step was sampled", "unknown" end
  return ("%s: %.0f %% of the time of steps"):format(first.name, 100 * first.share), first.name
end

--- {text, by, parts = {{name, share}}, steps = {{name, share}}, idle_frac, kv_used_frac_max}.
---@param run table of runs/single.lua, with its breakdown
function limits.of(run)
  local parts, named = parts_of(run.summary), {}
  for name, share in pairs(parts) do named[called[name] or name] = share end
  local steps = steps_of(run.breakdown)
  local text, by = sentence(run.summary, parts, steps)
  return { text = text, by = by, parts = sorted(named), steps = steps, idle_frac = run.summary.idle_frac,
    kv_used_frac_max = run.summary.kv_used_frac_max }
end

return limits
