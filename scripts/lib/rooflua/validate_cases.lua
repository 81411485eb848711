-- The list of measured cases: cases.csv of a validation folder, one runnable check per row.
--
--     case_id, rating, dataset, file, selector, model, gpu, tp, precision, engine, workload, metrics, measured, notes
--     sampling (optional): greedy | plain | filtered
--
-- rating A: known steps; B: a serving run; C: static batches or a closed loop. `measured` holds
-- figures as name_unit=value;... where there is no file of requests. `workload` is read for what a
-- run needs to know (see settings_of); the rest of it is prose.
local native = require "rooflua.native"
local core = require "rooflua.core"
local sampling = require "rooflua.validate_sampling"

local cases = {}

local required = { "case_id", "rating", "dataset", "file", "model", "gpu", "tp", "engine", "workload" }

--- Seconds per unit of a figure's suffix.
local suffixes = { { "_ms$", 1e-3 }, { "_us$", 1e-6 }, { "_s$", 1 } }

--- What a source calls a figure, and what it is here. Times end up in seconds.
local figure_names = {
  e2e = "e2e_mean", e2e_mean = "e2e_mean", ttft = "ttft_mean", ttft_mean = "ttft_mean", ttft_p50 = "ttft_p50",
  tpot = "tpot_mean", tpot_mean = "tpot_mean", itl = "tpot_mean", latency = "batch_latency",
  first_token = "ttft_mean", token_to_token = "step_time", tok = "output_tokens_per_s",
}

--- "e2e_ms=12;tok_s=3" as figures in seconds; unknown names are left out.
local function figures_of(text)
  local out = {}
  if type(text) ~= "string" then return out end
  for name, value in text:gmatch "([%w_]+)=([%-%d.eE+]+)" do
    for _, suffix in ipairs(suffixes) do
      local stem = name:match("^(.*)" .. suffix[1])
      local known = stem and figure_names[stem]
      if known and tonumber(value) then
        out[known] = tonumber(value) * (known == "output_tokens_per_s" and 1 or suffix[2])
        break
      end
    end
  end
  return out
end

local function number_after(text, ...)
  for _, pattern in ipairs { ... } do
    local found = tonumber((text:match(pattern)))
    if found then return found end
  end
end

--- What the text of a workload says, in words that validation data use.
local function settings_of(text, notes)
  local out = {
    clients = number_after(text, "closed loop c=(%d+)"),
    batch = number_after(text, "static batch (%d+)"),
    prompt_tokens = number_after(text, "isl=(%d+)", "in[=~]([%d.]+)"),
    output_tokens = number_after(text, "osl=(%d+)", "out[=~]([%d.]+)"),
    max_num_seqs = number_after(text, "max_num_seqs (%d+)"),
    max_num_batched_tokens = number_after(text, "max_num_batched_tokens (%d+)", "mbt (%d+)"),
    kv_blocks = number_after(text, "kv_blocks (%d+)"),
    shared_prefix_tokens = number_after(notes, "(%d+)%-token shared prefix"),
  }
  local rate, duration = text:match "Poisson ([%d.]+) rps ([%d.]+) s"
  out.rate_per_s, out.duration_s = tonumber(rate), tonumber(duration)
  local extra = number_after(text, "in=%d+%+~(%d+)")
  if extra then out.prompt_tokens = out.prompt_tokens + extra end
  return out
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

--- Columns that a case needs are there, whether or not rows are.
local function check_header(path, header)
  local there, missing = {}, {}
  for _, name in ipairs(header) do there[name] = true end
  for _, name in ipairs(required) do
    if not there[name] then missing[#missing + 1] = name end
  end
  if #missing == 0 then return end
  core.fail("%s:1: %s missing: %s; a case needs %s (docs/VALIDATION.md), found %s", path,
    #missing == 1 and "a column is" or "columns are", core.join(missing, ", "), core.join(required, ", "),
    #header == 0 and "no header" or core.join(header, ", "))
end

local function check_row(row, where)
  for _, name in ipairs(required) do
    if row[name] == nil then core.fail("%s: column '%s' is empty", where, name) end
  end
  if type(row.tp) ~= "number" or row.tp < 1 or row.tp % 1 ~= 0 then
    core.fail("%s: tp: expected a whole number >= 1, found %s", where, core.describe(row.tp))
  end
end

local function case_of(folder, row, where)
  local notes, workload = tostring(row.notes or ""), tostring(row.workload)
  return {
    where = where, id = tostring(row.case_id), rating = tostring(row.rating), dataset = row.dataset,
    path = folder .. "/" .. row.file, selection = selection_of(row.selector), model = row.model,
    gpu = tostring(row.gpu), tp = row.tp, engine = tostring(row.engine),
    precision = tostring(row.precision or "bf16"), metrics = tostring(row.metrics or ""), notes = notes,
    figures = figures_of(row.measured), settings = settings_of(workload, notes),
    sampling = sampling.read(row.sampling, where),
  }
end

--- Every case of a folder, in the order of its cases.csv.
function cases.read(folder)
  local path = folder .. "/cases.csv"
  if not native.file_exists(path) then
    core.fail("%s: there is no cases.csv; expected a folder of measured cases (docs/VALIDATION.md)", folder)
  end
  local out = {}
  local rows, header = native.csv_read(path)
  check_header(path, header)
  for i, row in ipairs(rows) do
    local where = path .. ":" .. row.line
    check_row(row, where)
    out[i] = case_of(folder, row, where)
  end
  if #out == 0 then core.fail("%s: has a header and no case; expected a row per measured case", path) end
  return out
end

return cases
