-- Metrics by name: "ttft_s_p99", "output_tokens_per_s". The engine declares them (engine/measure/record/metrics.cpp);
-- a scenario may add its own (rooflua.measure.own). Names are checked before anything runs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local metrics = {}

local declared = native.metrics()
metrics.declared = declared

local paths, derived, names = {}, {}, {} -- paths: name -> {group, figure} or {name}
local known = {}                         -- name -> its declaration
for _, metric in ipairs(declared.run) do
  if metric.kind == "number" then
    paths[metric.name], known[metric.name] = { metric.name }, metric
  elseif metric.kind == "distribution" then
    for _, figure in ipairs(declared.figures) do
      local name = metric.name .. "_" .. figure
      paths[name], known[name] = { metric.name, figure }, metric
    end
  end
end
for _, metric in ipairs(declared.derived) do derived[metric.name], known[metric.name] = metric, metric end
for name in pairs(known) do names[#names + 1] = name end
local reserved = {} -- keys of a summary and names of metrics
for _, metric in ipairs(declared.run) do reserved[metric.name] = true end
for _, name in ipairs(names) do reserved[name] = true end
table.sort(names)
metrics.names = names

--- Names of the metrics that single requests have: "e2e_s", "queue_s", "tpot_s", "ttft_s".
metrics.of_requests = {}
for _, metric in ipairs(declared.run) do
  if metric.of_requests then table.insert(metrics.of_requests, metric.name) end
end
table.sort(metrics.of_requests)

--- Whether a metric of every run has that name, or a part of the summary.
function metrics.is_known(name) return reserved[name] == true end

--- The declaration of the metric of that name: {name, unit, better, help, ...}; nil where there is none.
function metrics.about(name) return known[name] end

--- What people read for a metric whose name holds a unit that its values are not shown in: "TTFT p99" of
--- "ttft_s_p99", "wait" of an own metric "wait_s". Other metrics are called by their name.
---@param unit string of the metric
function metrics.label(name, unit)
  if unit ~= "s" then return name end
  local about, path = known[name], paths[name]
  if about and about.label and about.label ~= "" then
    return path and path[2] and about.label .. " " .. path[2] or about.label
  end
  return (name:gsub("_s$", ""))
end

--- The name as it is known: "ttft_s.p99" is "ttft_s_p99". Unknown names are errors with suggestions.
---@param own table? the scenario's own metrics by name
function metrics.check(name, what, own)
  if type(name) ~= "string" then core.fail("%s: expected the name of a metric, found %s", what, core.describe(name)) end
  if own and own[name] then return name end
  local flat = name:gsub("%.", "_")
  if known[flat] then return flat end
  local all = core.sorted_keys(own or {})
  for _, each in ipairs(names) do all[#all + 1] = each end
  return core.fail("%s: %s", what, native.unknown_name("metric", name, all))
end

--- A list of metrics, checked.
function metrics.list(given, what, otherwise, own)
  local out = {}
  for i, name in ipairs(core.plain(core.table(given or otherwise, what))) do out[i] = metrics.check(name, what, own) end
  if #out == 0 then core.fail("%s: expected at least one metric", what) end
  return out
end

--- The scenario's own metrics that some runs have, by name.
function metrics.own_of(runs)
  local out = {}
  for _, run in ipairs(runs) do
    for name in pairs(run.summary.own or {}) do out[name] = out[name] or {} end
  end
  return out
end

---@param own table? the scenario's own metrics by name: {better =}
function metrics.higher_is_better(name, own)
  if own and own[name] then return own[name].better == "more" end
  return known[name] ~= nil and known[name].better == "more"
end

local function number(value) return type(value) == "number" and value or nil end

--- The product of the factors over the divisor; "gpus" is a field of the run that sweeps add.
local function derive(about, run)
  local summary, product = run.summary, 1
  for _, factor in ipairs(about.factors) do
    local value = number(summary[factor])
    if not value then return nil end
    product = product * value
  end
  if about.whole then product = math.floor(product + 0.5) end
  local divisor = number(about.divisor == "gpus" and run.gpus or summary[about.divisor])
  local value = divisor and product / divisor
  return value and value - value == 0 and value or nil
end

--- The value of a metric in a run ({summary =, gpus =}); nil where the run has none.
function metrics.value(run, name)
  local summary = run.summary
  if derived[name] then return derive(derived[name], run) end
  local path = paths[name]
  if not path then return number(type(summary.own) == "table" and summary.own[name]) end
  local value = summary[path[1]]
  if path[2] then value = type(value) == "table" and value[path[2]] or nil end
  return number(value)
end

--- The mean of a metric over runs; nil where there are none, or one of them has no value.
function metrics.mean(runs, name)
  local sum = 0
  for _, run in ipairs(runs) do
    local value = metrics.value(run, name)
    if not value then return nil end
    sum = sum + value
  end
  return #runs > 0 and sum / #runs or nil
end

return metrics
