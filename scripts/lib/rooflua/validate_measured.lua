-- What was measured of a case: its file, read into one of three shapes.
--
--     {requests = {{arrival_s, prompt_tokens, output_tokens, ttft_s, e2e_s, prompt, scored}}}    one by one
--     {figures = {e2e_mean =, ...}}                                                           only totals
--     {steps = {{decodes, prefills, prefill_tokens, time_s}}}                              engine steps
--
-- with settings that the file states. The shape is told by the file's columns:
--     cycle_us                        engine steps
--     ttft_s, e2e_s (CSV)             requests; arrival_s or arrival_us, prompt_tokens or input_tokens,
--                                     output_tokens or output_tokens_true, prompt_id, stage, error
--     first_token_ts (JSONL)          requests with engine time stamps
--     ttfts (JSON)                    what `vllm bench serve --save-result --save-detailed` writes
--     per_request or summary (JSON)   an inference-perf report: totals only
--     anything else                   figures of the case's `measured` column
local native = require "rooflua.native"
local core = require "rooflua.core"
local json = require "rooflua.json"

local measured = {}

--- Requests of the first seconds are replayed and not scored: kernels are compiled there.
measured.warm_up_s = 5

local function first_of(row, ...)
  for _, name in ipairs { ... } do
    if row[name] ~= nil then return row[name] end
  end
end

local function number(row, path, ...)
  local value = first_of(row, ...)
  if type(value) ~= "number" then
    core.fail("%s:%s: column %s: expected a number, found %s", path, row.line or "?",
      table.concat({ ... }, " or "), core.describe(value))
  end
  return value
end

-- Requests -----------------------------------------------------------------------------------------

--- Whether the measured figures of a request count. A single stage of a load that drops requests
--- is scored as far as it is complete: its first.
local function mark_scored(requests, stages_are_partial)
  local last_s = requests[#requests].arrival_s
  local warm_up_s = last_s > 12 * measured.warm_up_s and measured.warm_up_s or 0
  for _, each in ipairs(requests) do
    each.scored = each.arrival_s >= warm_up_s and each.ttft_s ~= nil and not (stages_are_partial and each.stage > 0)
  end
  return requests
end

local function csv_requests(rows, path)
  local out = {}
  for i, row in ipairs(rows) do
    local failed = row.error ~= nil and row.error ~= 0
    out[i] = {
      arrival_s = row.arrival_s or number(row, path, "arrival_us") * 1e-6,
      prompt_tokens = number(row, path, "prompt_tokens", "input_tokens"),
      output_tokens = number(row, path, "output_tokens_true", "output_tokens"),
      prompt = row.prompt_id, stage = row.stage or 0, queue_s = row.queue_s,
      ttft_s = not failed and row.ttft_s or nil, e2e_s = row.e2e_s,
    }
  end
  return out
end

--- Time stamps of the engine. Arrivals are of another clock: the first request aligns them.
local function jsonl_requests(path)
  local out, first = {}, nil
  for line in native.read_file(path):gmatch "[^\r\n]+" do
    local row = json.decode(line)
    first = first or row
    local arrival_s = row.arrival_time - first.arrival_time
    local function since(stamp) return stamp - first.queued_ts - arrival_s end
    out[#out + 1] = { arrival_s = arrival_s, prompt_tokens = row.input_toks, output_tokens = row.output_toks,
      stage = 0, ttft_s = since(row.first_token_ts), e2e_s = since(row.last_token_ts) }
  end
  return out
end

--- vllm bench serve: lists by request, in order of sending.
local function bench_requests(document, path)
  local out = {}
  local starts = document.start_times
  if type(starts) ~= "table" or type(document.itls) ~= "table" and type(document.e2els) ~= "table" then
    core.fail("%s: no start_times and itls; run vllm bench serve with --save-detailed", path)
  end
  for i, start in ipairs(starts) do
    local e2e_s = document.e2els and document.e2els[i]
    if not e2e_s then
      e2e_s = document.ttfts[i]
      for _, gap in ipairs(document.itls[i]) do e2e_s = e2e_s + gap end
    end
    out[i] = { arrival_s = start - starts[1], prompt_tokens = document.input_lens[i],
      output_tokens = math.max(1, document.output_lens[i]), stage = 0, ttft_s = document.ttfts[i], e2e_s = e2e_s }
  end
  table.sort(out, function(a, b) return a.arrival_s < b.arrival_s end)
  return out
end

-- Reports of inference-perf: totals -------------------------------------------------------------------

local function mean_of(report, ...)
  local found = report
  for _, key in ipairs { ... } do found = type(found) == "table" and found[key] or nil end
  return type(found) == "table" and found.mean or nil
end

local function inference_perf(document)
  local successes = document.successes or {}
  local ttft = successes.latency and successes.latency.time_to_first_token
  return {
    e2e_mean = mean_of(successes, "latency", "request_latency"),
    ttft_mean = mean_of(successes, "latency", "time_to_first_token"), ttft_p50 = ttft and (ttft.median or ttft.p50),
    tpot_mean = mean_of(successes, "latency", "time_per_output_token"),
  }, {
    prompt_tokens = mean_of(successes, "prompt_len"), output_tokens = mean_of(successes, "output_len"),
    rate_per_s = document.load_summary and document.load_summary.achieved_rate,
    duration_s = document.load_summary and document.load_summary.send_duration,
  }
end

-- Engine steps -----------------------------------------------------------------------------------------

local function steps_of(rows, selection)
  local out = {}
  for _, row in ipairs(rows) do
    if not selection or row.experiment == selection.experiment then
      out[#out + 1] = { decodes = row.decode_reqs, prefills = row.prefill_reqs, prefill_tokens = row.prefill_tokens,
        time_s = row.cycle_us * 1e-6 }
    end
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
    local same = true
    for name, value in pairs(selection) do same = same and row[name] == value end
    if same then return row end
  end
end

local function folder_of(path) return path:match "^(.*)/[^/]*$" end

--- An index.csv in the folder or above, with a row for this file.
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

--- Steps are of a run that is a case of its own: its settings.
local function run_behind(case, all)
  local experiment = case.selection and case.selection.experiment
  for _, each in ipairs(all) do
    local name = each.path:match "([^/]*)%.csv$"
    if name and name == experiment then return indexed(each.path, name) end
  end
  return {}
end

local function from_csv(case, all)
  local rows = native.csv_read(case.path)
  local first = rows[1] or core.fail("%s: no rows", case.path)
  if first.cycle_us then
    local out = { steps = steps_of(rows, case.selection) }
    if #out.steps == 0 then core.fail("%s: no row fits the selector of %s", case.path, case.where) end
    out.settings = run_behind(case, all)
    return out
  end
  if first.ttft_s and first.e2e_s then
    local requests = csv_requests(rows, case.path)
    local name = case.path:match "([^/]*)%.csv$"
    return { requests = mark_scored(requests, case.rating:find "A" ~= nil), settings = indexed(case.path, name) }
  end
  local row = case.selection and row_of(rows, case.selection)
  if case.selection and not row then
    core.fail("%s: no row with %s", case.path, case.where)
  end
  return { figures = case.figures, settings = row and settings_from(row) or {}, row = row, rows = rows }
end

local function from_json(case)
  local document = json.decode(native.read_file(case.path))
  if document.ttfts then return { requests = mark_scored(bench_requests(document, case.path)), settings = {} } end
  local figures, settings = inference_perf(document)
  return { figures = figures, settings = settings }
end

local function from_jsonl(case)
  local settings, meta = {}, folder_of(case.path) .. "/meta.json"
  if native.file_exists(meta) then settings = settings_from(json.decode(native.read_file(meta)).engine_kwargs or {}) end
  return { requests = mark_scored(jsonl_requests(case.path)), settings = settings }
end

local readers = { csv = from_csv, json = from_json, jsonl = from_jsonl }

--- @param case table of validate_cases
--- @param all table every case of the folder
function measured.of(case, all)
  if not native.file_exists(case.path) then core.fail("%s: there is no such file", case.path) end
  local reader = readers[case.path:match "%.(%w+)$"]
  if not reader then core.fail("%s: expected a .csv, .json or .jsonl file", case.path) end
  return reader(case, all)
end

return measured
