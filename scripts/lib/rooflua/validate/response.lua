-- Figures of many replicates of an interval from a few simulations. What a replicate changes is mostly how long steps
-- take, so that its figures are those of a run whose steps are all longer by one factor:
--
--     factor of a replicate = sum over ops of (share of the time of all steps) * (factor of the op) * (factor of steps)
--
-- One run keeps some of its steps, whose operations give the shares. A few runs with factors between the smallest and
-- the largest give each figure as a function of the factor, and a replicate is read between them (logarithms of factor
-- and figure). Replicates with another token budget have runs of their own. The front-end is added: it delays the first
-- token and the end, and in a closed loop also the next request.
-- Source: checked against one simulation per replicate, docs/VALIDATION.md, "How far errors may be off".
local interval = require "rooflua.intervals.table_errors"
local policy = require "rooflua.policy"
local statistics = require "rooflua.base.statistics"

local response = {}

--- Runs with different factors, per token budget. Where that is no fewer than the replicates (validate/run.lua), each
--- replicate is simulated.
response.nodes = 4

--- So many steps of the run are taken apart, at least, if it has as many.
local steps_kept = 32

--- What a step model prices a step by: a copy that outlives the step.
local function copy_of(batch)
  local prefills = {}
  for i = 1, #batch.prefills do
    local each = batch.prefills[i]
    prefills[i] = { new_tokens = each.new_tokens, context_tokens = each.context_tokens }
  end
  return { prefills = prefills, decodes = batch.decodes, decode_context_tokens = batch.decode_context_tokens }
end

--- A correction that changes nothing and keeps every n-th step; n doubles when there are twice as many as needed.
local function recorder()
  local kept, every, count = {}, 1, 0
  local class = policy.define { name = "validate_steps", doc = "Keeps some of the steps.", params = {} }
  function class:step(batch, time_s) -- luacheck: ignore 212
    count = count + 1
    if count % every == 0 then kept[#kept + 1] = copy_of(batch) end
    if #kept == 2 * steps_kept then
      for i = 1, steps_kept do kept[i] = kept[2 * i] end
      for i = 2 * steps_kept, steps_kept + 1, -1 do kept[i] = nil end
      every = 2 * every
    end
    return time_s
  end
  return class {}, kept
end

--- Shares of the time of all steps: list of {name, kind, evidence, share}, in a fixed order.
local function shares_of(simulate, explain)
  local correction, kept = recorder()
  simulate { correction = correction, step = 1, frontend = 1 }
  local keys, of_key, total_s = {}, {}, 0
  for _, batch in ipairs(kept) do
    for _, row in ipairs(explain(batch)) do
      local key = row.name .. "\0" .. row.evidence
      if not of_key[key] then
        keys[#keys + 1] = key
        of_key[key] = { name = row.name, kind = row.kind, evidence = row.evidence, share = 0 }
      end
      local time_s = row.time_s * row.count
      of_key[key].share, total_s = of_key[key].share + time_s, total_s + time_s
    end
  end
  table.sort(keys)
  local out = {}
  for i, key in ipairs(keys) do
    out[i] = of_key[key]
    out[i].share = out[i].share / total_s
  end
  return out
end

--- The factor of the mean step in a replicate.
function response.factor(shares, twist)
  local sum = 0
  for _, each in ipairs(shares) do sum = sum + each.share * twist.factor(each.name, each.kind, each.evidence) end
  return sum * twist.step
end

--- Factors to simulate: from the smallest to the largest, by rank.
local function nodes_of(factors)
  local out = {}
  for i = 1, response.nodes do
    local node = statistics.quantile(factors, (i - 1) / (response.nodes - 1))
    if node ~= out[#out] then out[#out + 1] = node end
  end
  return out
end

--- A figure at a factor, between the simulated ones.
local function read(nodes, figures, name, factor)
  local place = 1
  while place < #nodes - 1 and factor > nodes[place + 1] do place = place + 1 end
  local low, high = figures[place][name], figures[math.min(place + 1, #nodes)][name]
  if #nodes == 1 or not (low > 0 and high > 0) then return low end
  local part = math.log(factor / nodes[place]) / math.log(nodes[place + 1] / nodes[place])
  return low * (high / low) ^ part
end

--- Adds the front-end of a replicate to its figures.
local function delay(figures, delay_s, closed_loop)
  local cycle_s = figures.e2e_mean
  for name, value in pairs(figures) do
    if name:find "^ttft" or name:find "^e2e" then figures[name] = value + delay_s end
  end
  if closed_loop and cycle_s then figures.throughput = figures.throughput * cycle_s / (cycle_s + delay_s) end
end

--- @param twists table list of interval.replicate
--- @param simulate fun(twist): table figures of one simulation
--- @param about table {frontend_s, closed_loop, explain = fun(batch): rows of cost.explain}
--- @return table list of figures, one per replicate
function response.figures(twists, simulate, about)
  local shares, groups, out = shares_of(simulate, about.explain), {}, {}
  for i, twist in ipairs(twists) do
    local key = twist.budget or 0
    groups[key] = groups[key] or { budget = twist.budget }
    table.insert(groups[key], { number = i, factor = response.factor(shares, twist), twist = twist })
  end
  for _, group in pairs(groups) do
    local factors, figures = {}, {}
    for i, each in ipairs(group) do factors[i] = each.factor end
    local nodes = nodes_of(factors)
    for i, node in ipairs(nodes) do
      figures[i] = simulate { correction = interval.all_steps(node), step = node, frontend = 1, budget = group.budget }
    end
    for _, each in ipairs(group) do
      local one = {}
      for name in pairs(figures[1]) do one[name] = read(nodes, figures, name, each.factor) end
      delay(one, about.frontend_s * (each.twist.frontend - 1), about.closed_loop)
      out[each.number] = one
    end
  end
  return out
end

return response
