-- Metrics by name: "ttft_s_p99", "output_tokens_per_s". One list, checked before anything runs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local metrics = {}

local plain = { "requests", "completed", "preemptions", "steps", "duration_s", "requests_per_s",
  "output_tokens_per_s", "goodput_per_s", "kv_used_frac_max", "prompt_tokens", "output_tokens", "cached_tokens",
  "peak_output_tokens_per_s", "peak_concurrency", "time_s" }
local groups = { "ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_s" }
local statistics = { "mean", "std", "min", "p50", "p90", "p95", "p99", "max" }

-- Metrics computed from others. Sweeps add the field `gpus` to a run.
local derived = {
  completed_frac = function(summary) return summary.completed / summary.requests end,
  slo_attainment_frac = function(summary)
    return math.floor(summary.goodput_per_s * summary.duration_s + 0.5) / summary.requests -- a count again
  end,
  requests_per_s_per_gpu = function(summary, run) return summary.requests_per_s / run.gpus end,
  output_tokens_per_s_per_gpu = function(summary, run) return summary.output_tokens_per_s / run.gpus end,
  goodput_per_s_per_gpu = function(summary, run) return summary.goodput_per_s / run.gpus end,
}

-- Metrics of which a higher value is better.
local higher = { completed = true, requests_per_s = true, output_tokens_per_s = true, goodput_per_s = true,
  completed_frac = true, slo_attainment_frac = true, requests_per_s_per_gpu = true,
  output_tokens_per_s_per_gpu = true, goodput_per_s_per_gpu = true, cached_tokens = true,
  peak_output_tokens_per_s = true }

local paths, names = {}, {} -- name -> {group, statistic} or {name}
for _, name in ipairs(plain) do paths[name] = { name } end
for _, group in ipairs(groups) do
  for _, statistic in ipairs(statistics) do paths[group .. "_" .. statistic] = { group, statistic } end
end
for name in pairs(paths) do names[#names + 1] = name end
for name in pairs(derived) do names[#names + 1] = name end
table.sort(names)
metrics.names = names

--- The name in its usual form: "ttft_s_p99" for "ttft_s.p99". An unknown name is an error with suggestions.
function metrics.check(name, what)
  if type(name) ~= "string" then core.fail("%s: expected the name of a metric, found %s", what, core.describe(name)) end
  local flat = name:gsub("%.", "_")
  if not paths[flat] and not derived[flat] then
    core.fail("%s: %s", what, native.unknown_name("metric", name, names))
  end
  return flat
end

--- Checks a list of metrics; `otherwise` is the default.
function metrics.list(given, what, otherwise)
  local out = {}
  for i, name in ipairs(core.plain(core.table(given or otherwise, what))) do out[i] = metrics.check(name, what) end
  if #out == 0 then core.fail("%s: expected at least one metric", what) end
  return out
end

function metrics.higher_is_better(name) return higher[name] == true end

--- The value of a metric in a run ({summary =, gpus =}); nil if the run has none.
function metrics.value(run, name)
  local summary = run.summary
  local path = paths[name]
  if not path then
    local ok, value = pcall(derived[name], summary, run)
    return ok and type(value) == "number" and value - value == 0 and value or nil
  end
  local value = summary[path[1]]
  if path[2] then value = type(value) == "table" and value[path[2]] or nil end
  return type(value) == "number" and value or nil
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
