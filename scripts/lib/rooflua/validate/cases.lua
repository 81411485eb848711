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
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local precision = require "rooflua.validate.precision"
local sampling = require "rooflua.validate.sampling"
local sets = require "rooflua.validate.sets"
local words = require "rooflua.validate.words"

local cases = {}

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

local function case_of(case, cells)
  if not case.rating:find "^[ABC]$" and not case.rating:find "^[ABC]%+[ABC]$" then
    core.fail("%s: rating: expected A (known steps), B (a serving run), C (static batches or a closed loop) or two of "
      .. "them as A+B, found '%s'", case.where, case.rating)
  end
  local selector = cells.selector or ""
  case.path, case.selection = sets.split(case.path) .. "/" .. cells.file, selection_of(selector)
  case.stage = tonumber((selector:match "^stage (%d+)"))
  case.weights, case.kv = precision.read(cells.precision, case.where)
  case.figures, case.unread = figures_of(cells.measured, case.where)
  case.settings = settings_of(cells.workload, case.notes, case.where)
  case.widths = widths_of(case.tp, case.settings, case.where)
  case.sampling = sampling.read(cells.sampling, case.where)
end

cases.kind = columns.of({ what = "measured cases", manual = "docs/VALIDATION.md", id = "case_id", unique = true,
  empty = "", case = case_of, broken = function() return { path = "" } end }, {
  { names = "case_id", type = "text", required = true, own = true },
  { names = "rating dataset", type = "text", required = true, filled = true },
  { names = "file", type = "text", required = true, filled = true },
  { names = "model gpu", type = "text", required = true, filled = true },
  { names = "tp", type = "whole", least = 1, required = true, filled = true },
  { names = "engine workload", type = "text", required = true, filled = true },
  { names = "notes metrics", type = "text" },
  { names = "selector precision measured sampling", type = "text", own = true },
})

--- Every case of a folder, in the order of its list.
---@param name string? of the list; else cases.csv
function cases.read(folder, name)
  local path = folder .. "/" .. (name or "cases.csv")
  if not native.file_exists(path) then
    core.fail("%s: there is no cases.csv; expected a folder of measured cases (docs/VALIDATION.md)", folder)
  end
  return (columns.read(path, cases.kind))
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
