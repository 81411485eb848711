-- A run as a row of InferenceX (before: InferenceMAX), as an `agg_*.json` has it.
-- Source: github.com/SemiAnalysisAI/InferenceX, utils/process_result.py
--
-- Times are seconds. Throughputs are per GPU: of all GPUs, but the output's of the decode GPUs only where prefill and
-- decode are split. The framework is "rooflua (simulated)".
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local inferencex = {}

local metrics = { ttft = "ttft_s", tpot = "tpot_s", itl = "itl_s", e2el = "e2e_s" }
local statistics = { mean = "mean", median = "p50", std = "std", p90 = "p90", p95 = "p95", p99 = "p99" }

--- Raises an error for a load that no row can state.
function inferencex.ready(facts)
  if not facts.clients then
    core.fail("--write inferencex: a row states a number of clients (conc), and the workload '%s' has none; use "
      .. "workloads.closed_loop, or workloads.vllm_bench with max_concurrency", facts.workload)
  end
  if facts.rate_per_s then
    core.fail("--write inferencex: a row has no place for a rate, and the workload '%s' has %g requests/s and "
      .. "clients; leave it out (request_rate = math.huge)", facts.workload, facts.rate_per_s)
  end
  if facts.gpus.both > 0 and facts.gpus.prefill + facts.gpus.decode > 0 then
    core.fail "--write inferencex: a row has no place for replicas that do both where others only prefill or decode"
  end
end

--- How the GPUs are used: one engine on one node, or several, which InferenceX calls multinode.
local function machine_of(facts)
  local gpus, engines = facts.gpus, facts.engines
  local is_split = gpus.decode > 0
  local attention = facts.dp > 1 and "true" or "false"
  if not is_split and engines.both == 1 and (engines.encode or 0) == 0 then
    return { is_multinode = false, disagg = false, tp = gpus.both, ep = facts.ep, dp_attention = attention }
  end
  return { is_multinode = true, disagg = is_split, prefill_tp = facts.tp, prefill_ep = facts.ep,
    prefill_dp_attention = attention, prefill_num_workers = engines.prefill + engines.both,
    decode_num_workers = engines.decode, num_prefill_gpu = gpus.prefill + gpus.both, num_decode_gpu = gpus.decode }
end

--- GPUs of all replicas, of those that decode, and of those that prefill.
local function divisors(facts)
  local gpus = facts.gpus
  local all = gpus.both + gpus.prefill + gpus.decode + (gpus.encode or 0)
  return all, gpus.decode > 0 and gpus.decode or all, gpus.prefill > 0 and gpus.prefill or all
end

--- @param variant table {summary} of kind serve
--- @param facts table {build} and serving/facts.lua
function inferencex.row(variant, facts)
  inferencex.ready(facts)
  local summary = variant.summary
  local completed = math.max(1, summary.completed)
  local per_s = summary.duration_s > 0 and 1 / summary.duration_s or 0
  local input, output = summary.prompt_tokens * per_s, summary.output_tokens_per_s
  local all, decode, prefill = divisors(facts)
  local row = machine_of(facts)
  row.hw, row.framework, row.image = facts.hardware, fields.simulated, "rooflua " .. facts.build
  row.model, row.precision = facts.model, facts.precision
  row.spec_decoding = facts.speculates and "draft" or "none"
  row.conc = facts.clients
  row.isl = math.floor(summary.prompt_tokens / completed + 0.5)
  row.osl = math.floor(summary.output_tokens / completed + 0.5)
  row.tput_per_gpu, row.output_tput_per_gpu = (input + output) / all, output / decode
  row.input_tput_per_gpu = input / prefill
  for theirs, ours in pairs(metrics) do
    for name, of in pairs(statistics) do
      local value = summary[ours].count > 0 and summary[ours][of] or nil
      row[name .. "_" .. theirs] = value
      if theirs == "tpot" and name ~= "std" and value and value > 0 then row[name .. "_intvty"] = 1 / value end
    end
  end
  return row
end

return inferencex
