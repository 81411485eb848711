-- Rows of InferenceX (before: InferenceMAX): an `agg_*.json` is one row, a list of them several.
-- Source: github.com/SemiAnalysisAI/InferenceX, utils/process_result.py
--
-- Times are seconds. Throughputs are per GPU: of all GPUs, but the output's of the decode GPUs only where prefill and
-- decode run on several nodes; 0 decode GPUs there say that all GPUs do both. A row states no number of requests;
-- `conc` clients are replayed.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local inferencex = {}
local fail = core.fail

--- Requests per client in a replay: the benchmark sends so many. Source: num_prompts of its launch scripts.
inferencex.requests_per_client = 10

local figures = { ttft_s_mean = "mean_ttft", ttft_s_p50 = "median_ttft", tpot_s_mean = "mean_tpot",
  tpot_s_p50 = "median_tpot", e2e_s_mean = "mean_e2el" }

--- GPUs by which the throughput of the output was divided.
local function gpus_of_output(where, row)
  if row.is_multinode == true or row.disagg == true then
    local decode = fields.needed(where, row, "num_decode_gpu", 1e6)
    if decode > 0 then return decode end -- 0: several nodes whose GPUs all do both
    return fields.needed(where, row, "num_prefill_gpu", 1e6)
  end
  return fields.needed(where, row, "tp", 1e6)
end

local function run_of(where, row)
  local run = { metrics = {}, notes = {}, failed = 0 }
  for metric, key in core.sorted_pairs(figures) do run.metrics[metric] = fields.positive(where, row, key) end
  run.clients = fields.needed(where, row, "conc", fields.most_requests / inferencex.requests_per_client)
  run.count = inferencex.requests_per_client * run.clients
  local hint = "rows before InferenceX wrote isl and osl cannot be replayed"
  run.prompt_tokens = fields.needed(where, row, "isl", fields.most_tokens, hint)
  run.output_tokens = fields.needed(where, row, "osl", fields.most_tokens, hint)
  local per_gpu = fields.positive(where, row, "output_tput_per_gpu", fields.most_rate)
  run.output_tokens_per_s = per_gpu and per_gpu * gpus_of_output(where, row)
  if row.framework == fields.simulated then run.notes[1] = fields.simulated_note end
  run.name = ("%s %s %s conc %g"):format(tostring(row.hw), tostring(row.framework), tostring(row.precision), row.conc)
  return run
end

--- @param rows table one row, or a list of them
function inferencex.read(path, rows)
  if rows.conc ~= nil then
    local run = run_of(path, rows)
    run.name = nil
    return { run }
  end
  local runs = {}
  for i, row in ipairs(rows) do
    if type(row) ~= "table" then fail("%s: [%d]: expected a row, found %s", path, i, core.describe(row)) end
    runs[i] = run_of(("%s: [%d]"):format(path, i), row)
  end
  return runs
end

return inferencex
