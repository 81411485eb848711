-- The list of measured cases: cases.csv of a validation folder, one runnable check per row.
--
--     case_id, rating, dataset, file, selector, model, gpu, tp, precision, engine, workload, metrics, measured, notes
--     sampling (optional): greedy | plain | filtered
--
-- rating A: known steps; B: a serving run; C: static batches or a closed loop. `measured` holds
-- figures as name_unit=value;... where there is no file of requests. `workload` is read by validate/words.lua,
-- `precision` by validate/precision.lua; of `notes` only "N-token shared prefix" is read. An error in a row affects
-- that case only.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"
local precision = require "rooflua.validate.precision"
local sampling = require "rooflua.validate.sampling"
local sets = require "rooflua.validate.sets"
local words = require "rooflua.validate.words"

local cases = {}

cases.required = { "case_id", "rating", "dataset", "file", "model", "gpu", "tp", "engine", "workload" }

--- Seconds per unit of a figure's suffix.
local suffixes = { { "_ms$", 1e-3 }, { "_us$", 1e-6 }, { "_s$", 1 } }

--- Names of figures in the sources, and their names here. Times are converted to seconds.
local figure_names = {
  e2e = "e2e_mean", ttft = "ttft_mean", tpot = "tpot_mean", itl = "tpot_mean", latency = "batch_latency",
  first_token = "ttft_mean", token_to_token = "step_time", tok = "output_tokens_per_s",
}
for _, figure in ipairs { "e2e", "ttft", "tpot" } do
  local of_vllm = figure == "e2e" and "e2el" or figure -- its spelling in results of vLLM's benchmark
  figure_names[figure .. "_mean"], figure_names["mean_" .. of_vllm] = figure .. "_mean", figure .. "_mean"
  figure_names["median_" .. of_vllm] = figure .. "_p50"
  for _, quantile in ipairs { "p50", "p90", "p99" } do
    local name = figure .. "_" .. quantile
    figure_names[name], figure_names[quantile .. "_" .. of_vllm] = name, name
  end
end

--- Rates, which have no unit of time at their end.
local rate_names = { output_throughput = true, tok_per_s = true, tokens_per_s = true, output_tokens_per_s = true }

--- A measured figure. It must be above 0, because errors are relative to it.
local function figure_value(name, text, where)
  local value = tonumber(text)
  if not value or not (value > 0) or value == math.huge then
    core.fail("%s: measured: %s: expected a number above 0, found '%s'", where, name, text)
  end
  return value
end

--- The name here of a figure, and seconds per unit of it; nil where nothing is called that.
local function figure_of(name)
  if rate_names[name] then return "output_tokens_per_s", 1 end
  for _, suffix in ipairs(suffixes) do
    local stem = name:match("^(.*)" .. suffix[1])
    local known = stem and figure_names[stem]
    if known then return known, known == "output_tokens_per_s" and 1 or suffix[2] end
  end
end

--- "e2e_ms=12;tok_s=3" as figures in seconds, and the names that are none.
local function figures_of(text, where)
  local out, unread = {}, {}
  if type(text) ~= "string" then return out, unread end
  for name, value in text:gmatch "([%w_]+)%s*=%s*([^;,%s]+)" do
    local known, factor = figure_of(name)
    if known then
      out[known] = figure_value(name, value, where) * factor
    elseif figure_names[name] then
      core.fail("%s: nothing to compare with '%s=%s' of `measured`: it has no unit; say %s", where, name, value,
        name == "tok" and "tok_s" or ("%s_ms, %s_us or %s_s"):format(name, name, name))
    else
      unread[#unread + 1] = name
    end
  end
  return out, unread
end

--- "experiment=a,stage=0" as a table; nil where the selector is prose.
local function selection_of(text)
  local out
  for name, value in tostring(text or ""):gmatch "([%w_]+)=([^,]+)" do
    out = out or {}
    out[name] = tonumber(value) or value
  end
  return out
end

--- Raises an error if a required column is missing, even if there are no rows.
local function check_header(path, columns)
  local missing = header.missing(columns, cases.required)
  if #missing == 0 then return end
  core.fail("%s:1: %s missing: %s; a case needs %s (docs/VALIDATION.md), found %s", path,
    #missing == 1 and "a column is" or "columns are", core.join(missing, ", "), core.join(cases.required, ", "),
    #columns == 0 and "no header" or core.join(columns, ", "))
end

local function check_row(row, where, columns)
  if row.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", where, row.cells, columns)
  end
  for _, name in ipairs(cases.required) do
    if row[name] == nil then core.fail("%s: column '%s' is empty", where, name) end
  end
  if type(row.tp) ~= "number" or row.tp < 1 or row.tp % 1 ~= 0 then
    core.fail("%s: tp: expected a whole number >= 1, found %s", where, core.describe(row.tp))
  end
  if not tostring(row.rating):find "^[ABC]$" and not tostring(row.rating):find "^[ABC]%+[ABC]$" then
    core.fail("%s: rating: expected A (known steps), B (a serving run), C (static batches or a closed loop) or two of "
      .. "them as A+B, found '%s'", where, tostring(row.rating))
  end
end

--- The settings that the workload and the notes of a case state.
local function settings_of(workload, notes, where)
  local out = words.read(workload, where .. ": workload")
  out.shared_prefix_tokens = out.shared_prefix_tokens or tonumber((notes:match "(%d+)%-token shared prefix"))
  return out
end

--- The widths of a case: whole experts if `ep` says so, else every expert is split over the GPUs.
local function widths_of(tp, settings, where)
  local dp, ep = settings.dp or 1, settings.ep or 1
  if tp * dp % ep ~= 0 then
    core.fail("%s: workload: ep %d does not divide the %d GPUs of tp %d x dp %d", where, ep, tp * dp, tp, dp)
  end
  return { tp = tp, dp = dp, ep = ep, moe_tp = tp * dp / ep }
end

--- Fills a case from its row.
local function read_row(case, folder, row, columns)
  check_row(row, case.where, columns)
  local notes, selector = tostring(row.notes or ""), tostring(row.selector or "")
  case.path, case.selection, case.model = folder .. "/" .. row.file, selection_of(selector), tostring(row.model)
  case.stage = tonumber((selector:match "^stage (%d+)"))
  case.gpu, case.tp, case.engine = tostring(row.gpu), row.tp, tostring(row.engine)
  case.metrics, case.notes = tostring(row.metrics or ""), notes
  case.weights, case.kv = precision.read(row.precision, case.where)
  case.figures, case.unread = figures_of(row.measured, case.where)
  case.settings = settings_of(tostring(row.workload), notes, case.where)
  case.widths = widths_of(row.tp, case.settings, case.where)
  case.sampling = sampling.read(row.sampling, case.where)
end

--- A case; it has a `problem` if its row cannot be read.
local function case_of(folder, row, where, columns)
  local case = { where = where, id = tostring(row.case_id or "line " .. row.line), rating = tostring(row.rating or ""),
    dataset = row.dataset, path = "" }
  local ok, problem = pcall(read_row, case, folder, row, columns)
  if not ok then case.problem = tostring(problem) end
  return case
end

--- Every case of a folder, in the order of its list.
---@param name string? of the list; else cases.csv
function cases.read(folder, name)
  local path = folder .. "/" .. (name or "cases.csv")
  if not native.file_exists(path) then
    core.fail("%s: there is no cases.csv; expected a folder of measured cases (docs/VALIDATION.md)", folder)
  end
  local out, lines = {}, {}
  local rows, columns = native.csv_read(path, true)
  check_header(path, columns)
  for i, row in ipairs(rows) do
    local case = case_of(folder, row, path .. ":" .. row.line, #columns)
    local line = lines[case.id]
    if line then case.problem = ("%s: case_id '%s' is that of line %d"):format(case.where, case.id, line) end
    out[i], lines[case.id] = case, line or row.line
  end
  if #out == 0 then core.fail("%s: has a header and no case; expected a row per measured case", path) end
  return out
end

--- Files that the cases of a list refer to, and indexes beside or above these.
function cases.files(path)
  local out = {}
  for _, case in ipairs(cases.read(sets.split(path))) do
    if case.path ~= "" then
      local own = sets.split(case.path)
      for _, each in ipairs { case.path, own .. "/index.csv", own .. "/../index.csv" } do out[#out + 1] = each end
    end
  end
  return out
end

return cases
