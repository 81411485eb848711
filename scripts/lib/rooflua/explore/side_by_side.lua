-- Two results as a table: a metric, both values, the change, and whether the change is noise. Of two documents of
-- `run --json`, of two files of `run --requests`, or of two results of benchmark tools.
local native = require "rooflua.native"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local levers = require "rooflua.intervals.levers"
local measured = require "rooflua.formats.measured_runs"
local metrics = require "rooflua.measure.metrics"
local statistics = require "rooflua.base.statistics"
local units = require "rooflua.text.units"

local side_by_side = {}

local shown = { "requests_per_s", "output_tokens_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p50", "tpot_s_p99",
  "e2e_s_mean", "goodput_per_s", "preemptions" }
local most_variants = 6

local function change_text(a, b)
  if a == b then return "the same" end
  if a == 0 then return "-" end
  local change = b / a - 1
  return ("%+.1f %%%s"):format(100 * change, math.abs(change) <= levers.flat_frac and ", noise" or "")
end

--- The rows of two runs, each {metric, a, b, change} as texts.
local function rows_of(a, b)
  local rows, own = {}, core.plain(metrics.own_of { a, b } or {})
  local names = {}
  for _, name in ipairs(shown) do names[#names + 1] = name end
  for _, name in ipairs(core.sorted_keys(own)) do names[#names + 1] = name end
  for _, name in ipairs(names) do
    local before, after = metrics.value(a, name), metrics.value(b, name)
    if type(before) == "number" and type(after) == "number" then
      local about = metrics.about(name) or own[name] or {}
      rows[#rows + 1] = { name, units.text(before, about.unit or "1"), units.text(after, about.unit or "1"),
        change_text(before, after) }
    end
  end
  return rows
end

--- "engine.max_num_seqs: - and 16" for each setting that two documents do not state alike.
---@param first table {set = {"key=value"}}
function side_by_side.settings(first, second)
  local values, out = {}, {}
  for i, of in ipairs { first.set or {}, second.set or {} } do
    for _, text in ipairs(of) do
      local path, value = text:match "^([^=]*)=(.*)$"
      values[path] = values[path] or {}
      values[path][i] = value
    end
  end
  for path, pair in core.sorted_pairs(values) do
    if pair[1] ~= pair[2] then
      out[#out + 1] = ("setting  %s: %s and %s"):format(path, pair[1] or "not set", pair[2] or "not set")
    end
  end
  return out
end

--- The lines of pairs of runs.
---@param pairs_of_runs table[] {run of the first, run of the second}
---@param files string[]
function side_by_side.of_runs(pairs_of_runs, files)
  local out = {}
  for i, pair in ipairs(pairs_of_runs) do
    if i > most_variants then
      out[#out + 1] = ("and %d variants more"):format(#pairs_of_runs - most_variants)
      break
    end
    local rows = { { pair[1].name ~= "" and pair[1].name or "metric", files[1], files[2], "change" } }
    for _, row in ipairs(rows_of(pair[1], pair[2])) do rows[#rows + 1] = row end
    if #rows > 1 then out[#out + 1] = columns.text(rows) end
  end
  return out
end

-- Files of requests ---------------------------------------------------------------------------------------------------

local times = { "ttft_s", "tpot_s", "e2e_s", "queue_s" }

local function read(path)
  local rows = native.csv_read(path)
  if not rows[1] or rows[1].outcome == nil or rows[1].arrival_s == nil then
    core.fail("%s: expected a document of run --json, or a file of run --requests (id, outcome, arrival_s, ...)", path)
  end
  return rows
end

local function completed(rows, field)
  local out = {}
  for _, row in ipairs(rows) do
    if row.outcome == "completed" and type(row[field]) == "number" then out[#out + 1] = row[field] end
  end
  return out
end

--- Requests of one number in both: how many became faster and slower by more than noise, and their mean difference.
local function matched_text(first, second)
  local by_id, faster, slower, sum, count = {}, 0, 0, 0, 0
  for _, row in ipairs(first) do by_id[row.id] = row.outcome == "completed" and row.e2e_s or nil end
  for _, row in ipairs(second) do
    local before, after = by_id[row.id], row.outcome == "completed" and row.e2e_s or nil
    if before and after and before > 0 then
      count, sum = count + 1, sum + after - before
      local change = after / before - 1
      if change < -levers.flat_frac then faster = faster + 1 end
      if change > levers.flat_frac then slower = slower + 1 end
    end
  end
  if count == 0 then return nil end
  return ("e2e_s of %s requests in both: %d faster, %d slower by more than %g %%; %s on average"):format(
    units.grouped(count), faster, slower, 100 * levers.flat_frac, units.text(sum / count, "s"))
end

--- {text, is_same} of two lists of requests.
---@param files string[]
local function of_rows(first, second, files)
  local rows = { { "metric", files[1], files[2], "change" },
    { "requests", tostring(#first), tostring(#second), change_text(#first, #second) },
    { "completed", tostring(#completed(first, "arrival_s")), tostring(#completed(second, "arrival_s")),
      change_text(#completed(first, "arrival_s"), #completed(second, "arrival_s")) } }
  local is_same = #first == #second
  for _, field in ipairs(times) do
    local a, b = completed(first, field), completed(second, field)
    for _, of in ipairs(#a > 0 and #b > 0 and { { "mean", statistics.mean }, { "p50", statistics.median },
      { "p99", function(list) return statistics.quantile(list, 0.99) end } } or {}) do
      local before, after = of[2](a), of[2](b)
      is_same = is_same and before == after
      rows[#rows + 1] = { field .. "_" .. of[1], units.text(before, "s"), units.text(after, "s"),
        change_text(before, after) }
    end
  end
  local text = columns.text(rows)
  local matched = matched_text(first, second)
  return { text = text .. "\n" .. (matched and matched .. "\n" or ""), is_same = is_same }
end

--- The same of two files of `run --requests`.
---@param files string[]
function side_by_side.of_requests(files) return of_rows(read(files[1]), read(files[2]), files) end

--- The requests of a benchmark tool's result in its order; nil for a file that has none.
local function requests_of(path)
  local ok, list = pcall(measured.read_all, path)
  if not ok or #list ~= 1 or list[1].mean_lengths then return nil end
  local rows = {}
  for i, each in ipairs(list[1].requests) do
    local done = each.ttft_s and each.e2e_s
    local decoded = done and each.output_tokens > 1
    rows[i] = { id = i, outcome = done and "completed" or "failed", arrival_s = i, ttft_s = each.ttft_s,
      e2e_s = each.e2e_s, tpot_s = decoded and (each.e2e_s - each.ttft_s) / (each.output_tokens - 1) or nil }
  end
  return rows
end

--- The text of two results of benchmark tools; "" where one of them is none.
---@param files string[]
function side_by_side.of_results(files)
  local first, second = requests_of(files[1]), requests_of(files[2])
  return first and second and of_rows(first, second, files).text or ""
end

return side_by_side
