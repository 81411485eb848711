-- How a plan's figures read: times, rates, money and metrics in words of a report.
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local outcomes = require "rooflua.measure.outcomes"
local units = require "rooflua.text.units"

local words = {}

--- "212 ms", "1.20 s".
function words.time(seconds)
  if not seconds then return "-" end
  if seconds < 1e-3 then return units.significant(seconds * 1e6, 3) .. " us" end
  if seconds < 1 then return units.significant(seconds * 1e3, 3) .. " ms" end
  return units.significant(seconds, 3) .. " s"
end

local function is_time(metric) return metric:find "^%a+%d?%a*_s_%a" ~= nil or metric:find "_s$" ~= nil end

--- The value of a metric, with its unit where that is time.
function words.value(metric, value)
  if not value then return "-" end
  if is_time(metric) and not metric:find "per_s" then return words.time(value) end
  return units.significant(value, 4)
end

--- "TTFT p99" of "ttft_s_p99".
function words.metric(metric)
  local name, figure = metric:match "^(%a%d?%a*)_s_(%w+)$"
  if not name then name, figure = metric:match "^(%a+)_s_(%w+)$" end
  if not name then return (metric:gsub("_", " ")) end
  return name:upper() .. " " .. figure
end

--- "TTFT p99 <= 500 ms and TPOT p99 <= 25 ms".
function words.slo(bounds)
  local parts = {}
  for _, bound in ipairs(bounds) do
    local name = words.metric(bound.metric)
    if bound.max then parts[#parts + 1] = name .. " <= " .. words.value(bound.metric, bound.max) end
    if bound.min then parts[#parts + 1] = name .. " >= " .. words.value(bound.metric, bound.min) end
  end
  return table.concat(parts, " and ")
end

--- "$15.00", "$1,234".
function words.dollars(value)
  if not value then return "-" end
  if value >= 1000 then return "$" .. units.grouped(value) end
  return value >= 1 and ("$%.2f"):format(value) or "$" .. units.significant(value, 3)
end

--- How the figures read that objectives compare: text(value); what a deployment is that has less of it, and what is
--- said of one that has more.
words.figures = {
  cost_per_hour = { text = function(value) return words.dollars(value) .. "/h" end, less = "cheaper",
    more = "costs more", same = "costs the same" },
  gpus = { text = function(value) return units.counted(value, "GPU") end, less = "fewer GPUs",
    more = "needs more GPUs", same = "needs as many GPUs" },
  joules_per_token = { text = function(value) return units.significant(value, 3) .. " J/token" end,
    less = "less energy", more = "draws more", same = "draws the same" },
  rate_per_s = { text = function(value) return units.significant(value, 4) .. "/s" end, less = "more" },
  output_tokens_per_s_per_gpu = { less = "more per GPU", more = "gives less per GPU", same = "gives the same per GPU",
    text = function(value) return units.significant(value, 4) .. " tokens/s per GPU" end },
}

--- "103/s" of a rate, "206 clients" of clients, "1.2 x the load" of a recorded load.
function words.load(question, scale)
  local load = question.load
  if load.kind == "rate" then return units.significant(load.value * load.peak * scale, 3) .. "/s" end
  if load.kind == "clients" then return ("%.0f clients"):format(load.value * load.peak * scale) end
  return ("%.2f x the load"):format(scale)
end

--- The largest load that a deployment holds: "103/s", or "more than 103/s" where no larger one was looked for.
---@param item table holds_to, holds_more
function words.held(question, item)
  return (item.holds_more and "more than " or "") .. words.load(question, item.holds_to)
end

--- What is asked: "96 requests/s of llama-3.1-8b".
function words.asked(question)
  local load, name = question.load, question.model.name
  if question.objective.seeks == "load" then
    return ("the most requests/s of %s (at least %s)"):format(name, units.significant(load.value * load.peak, 4))
  end
  local peak = load.peak ~= 1 and load.value and (" (a peak of %s x %s)"):format(units.significant(load.peak, 3),
    units.significant(load.value, 4)) or ""
  if load.kind == "rate" then
    return ("%s requests/s%s of %s"):format(units.significant(load.value * load.peak, 4), peak, name)
  end
  if load.kind == "clients" then return ("%.0f clients%s of %s"):format(load.value * load.peak, peak, name) end
  if load.peak == 1 then return "the recorded load of " .. name end
  return ("%s x the recorded load of %s"):format(units.significant(load.peak, 3), name)
end

local width_axes = axes.rows(function(axis) return axis.width end)
local formats = axes.rows(function(axis) return axis.type == "format" end)

--- "tp 4 x ep 4", without what is 1 but tp.
function words.widths(candidate)
  local parts = {}
  for _, axis in ipairs(width_axes) do
    local name, none = axis.name, axis.none or axis.default
    if axis.width == "always" or (candidate[name] or none) > none then
      parts[#parts + 1] = ("%s %d"):format(name, candidate[name])
    end
  end
  return table.concat(parts, " x ")
end

--- What tells deployments apart for a reader: not the seats and budgets.
function words.shape(candidate)
  local parts = { candidate.family, words.widths(candidate) }
  for _, axis in ipairs(formats) do parts[#parts + 1] = tostring(candidate[axis.name]) end
  local split = candidate.split
  parts[#parts + 1] = split and ("%d:%d:%s"):format(split.prefill, split.decode,
    words.widths(deploy.pool(candidate, "prefill"))) or ""
  parts[#parts + 1] = tostring(candidate.encoders)
  return table.concat(parts, "|")
end

--- "2 encoders": GPUs that only encode.
function words.encoders(candidate) return units.counted(candidate.encoders, "encoder") end

--- The replicas of a deployment and their widths: counts are products.
local function replicas_text(candidate, count, widths)
  local split, pool = candidate.split, deploy.pool(candidate, "prefill")
  if not split then return ("%s x %s"):format(units.counted(count, "replica"), widths) end
  if pool ~= candidate then
    return ("%d x [%d prefill x %s + %d decode x %s]"):format(count, split.prefill, words.widths(pool), split.decode,
      widths)
  end
  return ("%d x [%d prefill + %d decode] x %s"):format(count, split.prefill, split.decode, widths)
end

--- "5 x H100 (5 replicas x tp 1)", "6 x H100 (5 replicas x tp 1 + 1 encoder)".
function words.gpus(question, candidate, result, widths)
  return ("%d x %s (%s%s)"):format(result.gpus, question.gpus[candidate.gpu].label,
    replicas_text(candidate, result.replicas, widths), candidate.encoders and " + " .. words.encoders(candidate) or "")
end

local settings = axes.rows(function(axis) return axis.word end)

--- How a name has a value; nil for nothing.
local function setting(axis, value)
  if type(axis.word) == "function" then return value ~= nil and axis.word(value) or nil end
  return value and axis.word:format(value) or nil
end

--- Engine, formats, seats, budget and what else its generator chose of a candidate.
function words.settings(candidate)
  local parts = {}
  for _, axis in ipairs(settings) do parts[#parts + 1] = setting(axis, candidate[axis.name]) end
  if candidate.label then parts[#parts + 1] = tostring(candidate.label) end
  return table.concat(parts, ", ")
end

--- "TTFT p99 in 3, a queue that grows in 2".
local function missed_text(missed)
  local parts = {}
  for _, metric in ipairs(core.sorted_keys(missed)) do
    parts[#parts + 1] = ("%s in %d"):format(metric == "steady" and "a queue that grows" or words.metric(metric),
      missed[metric])
  end
  return table.concat(parts, ", ")
end

--- "SLO met in 11 of 20 replicates: 55 % (37-72); missed: TTFT p99 in 9".
---@param sure table? of confidence.of
function words.sure(sure)
  if not sure then return "one run meets the SLO; no replicates" end
  local text = ("SLO met in %d of %d replicates: %.0f %% (%.0f-%.0f)"):format(sure.met, sure.of, 100 * sure.p,
    100 * sure.low, 100 * sure.high)
  if sure.missed then text = ("%s; missed: %s"):format(text, missed_text(sure.missed)) end
  if not sure.lost then return text end
  return ("%s; %d did not complete all requests: %s"):format(text, sure.lost.runs, outcomes.list(sure.lost.by))
end

--- Breaks a text at a width; further lines are indented. A line that fits keeps its spaces.
function words.wrapped(text, width, indent)
  if #text <= width then return { text } end
  local lines, line = {}, ""
  for gap, word in text:gmatch "(%s*)(%S+)" do
    if #line > 0 and #line + #gap + #word > width then
      lines[#lines + 1], line = line, indent .. word
    else
      line = #line == 0 and word or line .. gap .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

return words
