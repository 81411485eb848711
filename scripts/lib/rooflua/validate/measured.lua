-- The measurements of a case: its file, read into one of three shapes.
--
--     {requests = {{arrival_s, prompt_tokens, output_tokens, ttft_s, e2e_s, prompt, scored}}}    one by one
--     {figures = {e2e_mean =, ...}}                                                           only totals
--     {steps = {{decodes, prefills, prefill_tokens, time_s}}}                              engine steps
--
-- and the settings that the file states. The columns of the file decide the shape:
--     cycle_us                        engine steps
--     ttft_s and e2e_s, or arrival_s or arrival_us (CSV)     requests   (this and the next three rows:
--                                     formats/measured_requests.lua)
--     first_token_ts (JSONL)          requests with engine time stamps
--     a file of a tool of formats/tools.lua (JSON, JSONL, text)     requests where it has them with their arrivals,
--                                     else figures
--     anything else                   figures of the case's `measured` column, quantiles of its row
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local measured_requests = require "rooflua.formats.measured_requests"
local measured_runs = require "rooflua.formats.measured_runs"
local tools = require "rooflua.formats.tools"

local measured = {}

--- Requests of the first seconds are replayed but not scored, because the engine compiles kernels then.
measured.warm_up_s = 5

-- Requests -----------------------------------------------------------------------------------------

--- Marks the requests whose measured figures count: those after the warm-up, of the stage that the selector names.
--- @param chosen boolean? whether the selector has chosen the run already
local function mark_scored(requests, case, chosen)
  local stage, scored = case.stage, 0
  if case.selection and not chosen then
    core.fail("%s: selector: picks rows of figures and of engine steps; of requests all are replayed, and 'stage N' "
      .. "scores one stage", case.where)
  end
  local last_s = requests[#requests].arrival_s
  local warm_up_s = last_s > 12 * measured.warm_up_s and measured.warm_up_s or 0
  for _, each in ipairs(requests) do
    each.scored = each.arrival_s >= warm_up_s and each.ttft_s ~= nil and (stage == nil or each.stage == stage)
    if each.scored then scored = scored + 1 end
  end
  if scored == 0 then
    core.fail("%s: no request to score in %s%s", case.where, case.path, stage and (": none of stage %d"):format(stage)
      or ": all of them failed")
  end
  return requests
end

--- Prepares requests for the replay. Failed ones are replayed too, but their figures do not count.
local function replayed(requests, path)
  for i, each in ipairs(requests) do
    if type(each.prompt_tokens) ~= "number" or type(each.output_tokens) ~= "number" or not each.arrival_s then
      core.fail("%s: request %d: no arrival, prompt tokens or output tokens; vllm bench serve writes them with "
        .. "--save-detailed", path, i)
    end
    each.output_tokens = math.max(1, each.output_tokens)
    each.prompt, each.stage = each.prompt_id, each.stage or 0
    if each.failed then each.ttft_s = nil end
  end
  measured_requests.sort(requests)
  return requests
end

-- Engine steps -----------------------------------------------------------------------------------------

local function count_of(path, row, name)
  local value = row[name]
  if type(value) ~= "number" or value < 0 or value % 1 ~= 0 then
    core.fail("%s:%d: column '%s': expected a whole number, 0 or more, found %s", path, row.line, name,
      core.describe(value))
  end
  return value
end

local function step_of(path, row)
  local cycle_us = row.cycle_us
  if type(cycle_us) ~= "number" or not (cycle_us > 0) then
    core.fail("%s:%d: column 'cycle_us': expected a number above 0, found %s", path, row.line, core.describe(cycle_us))
  end
  return { decodes = count_of(path, row, "decode_reqs"), prefills = count_of(path, row, "prefill_reqs"),
    prefill_tokens = count_of(path, row, "prefill_tokens"), time_s = cycle_us * 1e-6 }
end

local function fits(row, selection)
  for name, value in pairs(selection or {}) do
    if row[name] ~= value then return false end
  end
  return true
end

local function steps_of(path, rows, selection)
  local out = {}
  for _, row in ipairs(rows) do
    if fits(row, selection) then out[#out + 1] = step_of(path, row) end
  end
  return out
end

-- Settings beside the file -------------------------------------------------------------------------------

local setting_names = { "max_num_seqs", "max_num_batched_tokens", "max_model_len", "kv_blocks", "gpu_mem_util",
  "input_mean", "output_len", "stage" }

local function settings_from(row)
  local out = {}
  for _, name in ipairs(setting_names) do out[name] = row[name] ~= json.null and row[name] or nil end
  return out
end

--- The row of an index or table that a selection names.
local function row_of(rows, selection)
  for _, row in ipairs(rows) do
    if fits(row, selection) then return row end
  end
end

local function folder_of(path) return path:match "^(.*)/[^/]*$" end

--- Settings from the row of this file in an index.csv, in its folder or the folder above.
local function indexed(path, experiment)
  local folder = folder_of(path)
  for _, each in ipairs { folder, folder_of(folder) } do
    if native.file_exists(each .. "/index.csv") then
      local row = row_of(native.csv_read(each .. "/index.csv"), { experiment = experiment })
      return row and settings_from(row) or {}
    end
  end
  return {}
end

-- The file ------------------------------------------------------------------------------------------------

--- Settings of the run that the steps belong to, if that run is a case too; else the case of the steps states them.
local function run_behind(case, all)
  local experiment = case.selection and case.selection.experiment
  for _, each in ipairs(all) do
    local name = each.path:match "([^/]*)%.csv$"
    if name and name == experiment then return indexed(each.path, name) end
  end
  return {}
end

local quantiles = { "e2e_p50", "e2e_p90", "e2e_p99", "tpot_p50", "tpot_p90", "tpot_p99", "ttft_p50", "ttft_p90",
  "ttft_p99" }

--- The figures of a case, and the quantiles in its row, such as ttft_p99_ms.
local function stated(figures, row)
  local out = {}
  for _, name in ipairs(quantiles) do
    local value = row and row[name .. "_ms"]
    if type(value) == "number" then out[name] = value * 1e-3 end
  end
  for name, value in pairs(figures) do out[name] = value end
  return out
end

local function from_csv(case, all)
  local rows, header = native.csv_read(case.path)
  if #rows == 0 then core.fail("%s: no rows", case.path) end
  local there = core.set(header)
  if there.cycle_us then
    local out = { steps = steps_of(case.path, rows, case.selection) }
    if #out.steps == 0 then core.fail("%s: no row fits the selector of %s", case.path, case.where) end
    out.settings = run_behind(case, all)
    return out
  end
  if there.ttft_s and there.e2e_s or there.arrival_s or there.arrival_us then
    local requests, notes = measured_requests.of_rows(case.path, rows)
    if notes[1] and not notes[1]:find "read as s," then core.fail("%s: %s", case.path, notes[1]) end
    requests = replayed(requests, case.path)
    local name = case.path:match "([^/]*)%.csv"
    return { requests = mark_scored(requests, case), settings = indexed(case.path, name) }
  end
  local row = case.selection and row_of(rows, case.selection)
  if case.selection and not row then
    core.fail("%s: no row fits the selector of %s", case.path, case.where)
  end
  return { figures = stated(case.figures, row), stated = true, settings = row and settings_from(row) or {}, row = row,
    rows = rows }
end

--- The run that the selector names, by its number or its name, as run=2; the only one where the file has one.
local function chosen_run(case, runs)
  local wanted = case.selection and case.selection.run
  if wanted == nil and #runs == 1 then return runs[1] end
  for i, run in ipairs(runs) do
    if i == wanted or run.name == wanted then return run end
  end
  return core.fail("%s: selector: %s has %d runs; expected run=1 to run=%d, found '%s'", case.where, case.path, #runs,
    #runs, wanted or "")
end

--- The clients that a file states become those of the case, which may state the same.
local function take_clients(case, clients)
  if clients and not case.settings.rate_per_s then
    if case.settings.clients and case.settings.clients ~= clients then
      core.fail("%s: workload: closed loop c=%g, but %s had %g clients", case.where, case.settings.clients, case.path,
        clients)
    end
    case.settings.clients = clients
  end
end

local figure_of = { e2e_s_mean = "e2e_mean", ttft_s_mean = "ttft_mean", ttft_s_p50 = "ttft_p50",
  tpot_s_mean = "tpot_mean", tpot_s_p50 = "tpot_p50" }

--- The requests without those that failed before their lengths were known, which cannot be replayed.
local function with_lengths(requests)
  local out = {}
  for _, each in ipairs(requests) do
    if not each.failed or each.arrival_s and each.prompt_tokens and each.output_tokens then out[#out + 1] = each end
  end
  return out
end

--- The figures of requests without arrivals, which cannot be replayed one by one.
local function without_arrivals(run)
  local requests, prompt, output = {}, 0, 0
  for _, each in ipairs(run.requests) do
    if not each.failed then
      requests[#requests + 1], prompt, output = each, prompt + each.prompt_tokens, output + each.output_tokens
    end
  end
  local count = #requests
  if count == 0 then return run end
  return { metrics = measured_runs.metrics(requests, 1, count), prompt_tokens = prompt / count,
    output_tokens = output / count, count = count, rate_per_s = run.rate_per_s, clients = run.clients,
    burstiness = run.burstiness, output_tokens_per_s = run.output_tokens_per_s, refused = run.refused }
end

--- A run whose requests were all sent at once has their arrivals: they are 0.
local function add_arrivals(case, run)
  if run.rate_per_s or run.clients or run.refused or case.settings.rate_per_s or case.settings.clients then return end
  for _, each in ipairs(run.requests) do each.arrival_s = each.arrival_s or 0 end
end

--- The load must be known: the case states it, or the file does.
local function check_load(case, run)
  if case.settings.rate_per_s or case.settings.clients then return end
  if run.refused and not run.rate_per_s and not run.clients then core.fail("%s", run.refused) end
  if not run.rate_per_s and not run.clients then
    core.fail("%s: %s states no rate and no clients, and has no times of single requests; state the load in "
      .. "'workload', as 'Poisson 8 rps' or 'closed loop c=16'", case.where, case.path)
  end
  if run.rate_per_s and (run.burstiness or 1) ~= 1 then
    core.fail("%s: burstiness: totals are replayed with Poisson arrivals (1), found %g in %s", case.where,
      run.burstiness, case.path)
  end
end

--- A run of a tool: its requests where they have arrivals, else its figures and settings.
local function of_tool(case, runs)
  local run = chosen_run(case, runs)
  if run.requests then
    add_arrivals(case, run)
    if run.requests[1].arrival_s then
      return { requests = mark_scored(replayed(with_lengths(run.requests), case.path), case, #runs > 1),
        settings = {} }
    end
    run = without_arrivals(run)
  end
  check_load(case, run)
  local figures = { throughput = run.output_tokens_per_s }
  for metric, value in pairs(run.metrics) do figures[figure_of[metric]] = value end
  take_clients(case, run.clients)
  return { figures = figures, settings = { prompt_tokens = run.prompt_tokens, output_tokens = run.output_tokens,
    rate_per_s = run.rate_per_s,
    duration_s = run.duration_s or run.rate_per_s and run.count / run.rate_per_s } }
end

--- Whether inference-perf wrote it before it counted the tokens of prompts as prompt_tokens.
local function is_early_totals(parts)
  local part = parts[1]
  return #parts == 1 and part.format.name == "inference_perf" and part.document.successes
    and not part.document.successes.prompt_tokens
end

local function settings_beside(path)
  local meta = folder_of(path) .. "/meta.json"
  if not native.file_exists(meta) then return {} end
  return settings_from(json.decode(native.read_user_text(meta)).engine_kwargs or {})
end

--- A file of a tool, whatever it is called.
local function from_tool(case)
  local parts = tools.parts(case.path, native.read_user_text(case.path))
  if not parts then core.fail("%s: is no file of a known tool (%s)", case.path, tools.tools()) end
  if is_early_totals(parts) then
    local figures, settings = measured_requests.inference_perf(case.path, parts[1].document)
    return { figures = figures, settings = settings }
  end
  local out = of_tool(case, tools.read(case.path, parts))
  if #parts == 1 and parts[1].format.name == "stamps" then out.settings = settings_beside(case.path) end
  return out
end

local readers = { csv = from_csv, json = from_tool, jsonl = from_tool, ndjson = from_tool, txt = from_tool,
  prom = from_tool }

--- @param case table from validate/cases.lua
--- @param all table every case of the folder
function measured.of(case, all)
  if not native.file_exists(case.path) then core.fail("%s: there is no such file", case.path) end
  local reader = readers[case.path:gsub("%.gz$", ""):match "%.(%w+)$"]
  if not reader then core.fail("%s: expected a .csv, .json, .jsonl, .txt or .prom file, or one of them with .gz",
    case.path) end
  return reader(case, all)
end

return measured
