-- Searches, sensitivities and comparisons over seeds as text for people.
local core = require "rooflua.base.core"
local paired = require "rooflua.explore.paired"
local tables_text = require("rooflua.text.columns").values

local texts = {}

function texts.is_duration(metric)
  return metric:find "^%a+%d?%a*_s_[mps]" ~= nil and not metric:find "per_s" or metric == "duration_s" or
    metric == "time_s"
end

--- A metric's value in a unit that reads well: 0.0123 s is "12.3 ms".
function texts.shown(metric, value)
  if value == nil then return "-" end
  if not texts.is_duration(metric) then return ("%.5g"):format(value) end
  local size = math.abs(value)
  if size == 0 then return "0" end
  if size < 1e-3 then return ("%.4g us"):format(value * 1e6) end
  if size < 1 then return ("%.4g ms"):format(value * 1e3) end
  return ("%.4g s"):format(value)
end

local shown = texts.shown

function texts.slo(bounds)
  local parts = {}
  for _, bound in ipairs(bounds) do
    if bound.max then parts[#parts + 1] = bound.metric .. " <= " .. shown(bound.metric, bound.max) end
    if bound.min then parts[#parts + 1] = bound.metric .. " >= " .. shown(bound.metric, bound.min) end
  end
  return table.concat(parts, ", ")
end

local function columns_of(result, more)
  local columns, seen = {}, {}
  local function add(metric)
    if not seen[metric] then columns[#columns + 1] = metric end
    seen[metric] = true
  end
  for _, bound in ipairs(result.slo) do add(bound.metric) end
  for _, metric in ipairs(more or {}) do add(metric) end
  return columns
end

local function rows_of(entries, columns, header, cells)
  local rows = { header }
  for _, metric in ipairs(columns) do header[#header + 1] = metric end
  for _, entry in ipairs(entries) do
    local row = cells(entry)
    for _, metric in ipairs(columns) do row[#row + 1] = shown(metric, entry.metrics[metric]) end
    if entry.problem then row[#row + 1] = entry.problem end
    rows[#rows + 1] = row
  end
  return rows
end

local searches = {}

function searches.rate(result)
  local line = "no load meets the SLO"
  if result.value then
    line = ("highest %s that meets the SLO: %.4g"):format(result.parameter, result.value)
    if result.missed_at then line = line .. (" (missed at %.4g)"):format(result.missed_at) end
    if result.reached_max then
      line = ("%s: the SLO is met up to max, %.4g; the highest that meets it is not known"):format(result.parameter,
        result.value)
    end
  end
  local body = rows_of(result.tried, columns_of(result, result.show), { result.parameter, "meets" }, function(entry)
    return { ("%.5g"):format(entry.value), entry.meets and "yes" or "no" }
  end)
  return line, body
end

function searches.cheapest(result)
  local line = "no deployment meets the SLO"
  if result.value then
    line = ("cheapest deployment that meets the SLO: %s, %.4g per hour"):format(result.value, result.cost_per_hour)
  end
  local body = rows_of(result.tried, columns_of(result, result.show),
    { "deployment", "GPUs", "per hour", "per 1M output tokens", "meets" }, function(entry)
      local per_million = entry.cost_per_million_output_tokens
      return { entry.name, entry.gpus or "-", entry.cost_per_hour, per_million and ("%.4g"):format(per_million) or "-",
        entry.meets and "yes" or "no" }
    end)
  return line, body
end

function searches.pareto(result)
  local line = ("Pareto front of %s: %d of %d"):format(table.concat(result.objectives, " and "), #result.front,
    #result.tried)
  local more = {}
  for _, list in ipairs { result.objectives, result.show or {} } do
    for _, metric in ipairs(list) do more[#more + 1] = metric end
  end
  local body = rows_of(result.tried, columns_of(result, more), { "variant", "front" }, function(entry)
    return { entry.name, entry.on_front and "yes" or "" }
  end)
  return line, body
end

--- The answer of a search as one line, and rows of cells with every load or variant that was tried.
function texts.search_rows(result) return searches[result.goal](result) end

--- The text of a search: its answer, and every load or variant that was tried.
function texts.search(result)
  local line, body = texts.search_rows(result)
  local parts = { line }
  if #result.slo > 0 then parts[#parts + 1] = "SLO: " .. texts.slo(result.slo) end
  parts[#parts + 1] = ("%d runs, seeds %s"):format(#result.runs, table.concat(result.seeds, " "))
  if result.note then parts[#parts + 1] = "note: " .. result.note end
  return table.concat(parts, "\n") .. "\n\n" .. tables_text(body) .. "\n"
end

local function signed(metric, value)
  if value == nil then return "-" end
  return (value > 0 and "+" or "") .. shown(metric, value)
end

--- A sensitivity as rows of cells. The parameter with the largest effect on the first metric comes first.
function texts.sensitivity_rows(result)
  local header = { "parameter", "value", "moved" }
  for _, metric in ipairs(result.metrics) do
    header[#header + 1] = metric
    header[#header + 1] = ""
  end
  local base = { "(as it is)", "", "" }
  for _, metric in ipairs(result.metrics) do
    base[#base + 1] = shown(metric, result.base[metric])
    base[#base + 1] = ""
  end
  local rows = { header, base }
  for _, each in ipairs(result.rows) do
    local row = { each.path, ("%.6g"):format(each.value) .. (each.unit and each.unit ~= "1" and " " .. each.unit or ""),
      each.how }
    for _, metric in ipairs(result.metrics) do
      row[#row + 1] = signed(metric, each.change[metric])
      row[#row + 1] = each.percent[metric] and ("%+.3f %%%s"):format(each.percent[metric],
        each.clear[metric] and "" or " ?") or "-"
    end
    rows[#rows + 1] = row
  end
  return rows
end

function texts.sensitivity_line(result)
  return ("change per 1 %% of each parameter, %d runs, seeds %s"):format(result.run_count,
    table.concat(result.seeds, " "))
end
texts.unclear = "?: the 95 % interval over the seeds holds 0"

function texts.sensitivity(result)
  local text = ("%s\n\n%s\n"):format(texts.sensitivity_line(result), tables_text(texts.sensitivity_rows(result)))
  if #result.seeds > 1 then text = text .. texts.unclear .. "\n" end
  if #result.fixed == 0 then return text end
  local lines = {}
  for i, each in ipairs(result.fixed) do lines[i] = ("  %s: %s"):format(each.path, each.why) end
  return text .. "\nnot varied:\n" .. core.join(lines, "\n") .. "\n"
end

--- The text of a search or a sensitivity; nil for anything else.
function texts.of_search(result)
  if result.rows and result.fixed then return texts.sensitivity(result) end
  return result.goal and texts.search(result) or nil
end

--- Differences from the first variant over seeds, with confidence intervals: rows of cells.
function texts.compared_rows(rows, level)
  local header = { "metric", "variant", "baseline", "mean", "difference", ("%g %% from"):format(100 * level), "to", "" }
  local out = { header }
  for _, each in ipairs(rows) do
    out[#out + 1] = { each.metric, each.variant, shown(each.metric, each.baseline), shown(each.metric, each.mean),
      signed(each.metric, each.difference), signed(each.metric, each.low), signed(each.metric, each.high),
      each.low == nil and "one seed" or each.clear and "" or "not clear" }
  end
  return out
end

--- Those differences for the results of `rooflua run`: rows of cells, the name of the first variant, how many seeds;
--- nil where nothing can be compared.
function texts.over_seeds_rows(results)
  local groups = paired.groups(results)
  if #groups < 2 or #groups[1].seeds < 2 then return nil end
  local rows = paired.compare(results, { metrics = { "ttft_s_p50", "ttft_s_p99", "tpot_s_p50", "tpot_s_p99",
    "e2e_s_mean", "output_tokens_per_s" }, level = 0.95, method = "t" })
  return texts.compared_rows(rows, 0.95), groups[1].name, #groups[1].seeds
end

--- Those differences as text; "" where nothing can be compared.
function texts.over_seeds(results)
  local rows, baseline, seeds = texts.over_seeds_rows(results)
  if not rows then return "" end
  return ("differences from %s over %d seeds, the same random numbers in every variant\n\n%s"):format(baseline,
    seeds, tables_text(rows))
end

return texts
