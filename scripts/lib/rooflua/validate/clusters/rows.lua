-- The rows of CSVs of measured clusters: one row is one figure set of one run, or of a stage of it.
--
-- docs/CLUSTERS.md describes the columns. A mistake in a row affects that row only.
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local metrics = require "rooflua.validate.clusters.metrics"

--- The qualities of a row whose score counts, and of one that is printed beside.
local qualities = { A = true, B = true, C = false, D = false }

--- (E2E - TTFT) / (n - 1) where the row has both of one statistic; figures of clients that average over streamed events
--- cannot be used.
local function formed(out, row_output)
  local tokens = out.output_tokens_mean or row_output
  if not tokens or tokens <= 1 then return nil end
  for _, statistic in ipairs { "mean", "p50" } do
    local e2e, ttft = out["e2e_" .. statistic .. "_s"], out["ttft_" .. statistic .. "_s"]
    if e2e and ttft and e2e > ttft then return (e2e - ttft) / (tokens - 1), statistic end
  end
end

local function case_of(row)
  row.counts = qualities[row.quality]
  if qualities[row.quality] == nil then
    core.fail("%s: quality: expected A, B, C or D, found '%s'", row.where, row.quality)
  end
  if row.kind ~= "starts" and not core.is_among(row.kind, metrics.kinds) then
    core.fail("%s: kind: %s", row.where, core.unknown_name("kind", row.kind, metrics.kinds))
  end
  for _, name in ipairs { "deployment", "model", "gpu", "engine" } do
    if row[name] == "" then core.fail("%s: column '%s' is empty", row.where, name) end
  end
  row.measured.tpot_formed_s, row.formed_of = formed(row.measured, row.output_tokens)
end

local rows = columns.of({ what = "measured clusters", manual = "docs/CLUSTERS.md", id = "id", unique = true, empty = "",
  case = case_of, broken = function(cells) return { counts = qualities[cells.quality] or false } end }, {
  { names = "id", type = "text", required = true, tells = true, own = true },
  { names = "kind deployment quality model gpu", type = "text", required = true, tells = true },
  { names = "engine", type = "text", required = true },
  { names = "pair arm arm_role needs missing source licence weights_format kv_dtype layout engine_version "
    .. "kv_tokens_basis prefix_caching speculation other_settings offload offload_connector offload_basis router "
    .. "router_settings transport workload load_kind stage_index client phase notes trace_file", type = "text" },
  { begin = "completed failed cancelled duration_s send_rate_rps requests_s output_tok input_tok total_tok "
    .. "prompt_tokens_mean output_tokens_mean ttft_ tpot_ itl_ server_ ntpot e2e_ session_ hit_ gpu_hit tier_hit pulls "
    .. "restored_ stored_ pulled_ preemptions queue_ kv_used_ gpus_peak replicas_peak prefill_tok_s transfer_ phase_ "
    .. "steps step_ theoretical_ prefix_hit_share cross_hit_share", type = "number", least = 0, measured = true },
  { names = "gpus replicas tp dp pp ep prefill_replicas prefill_tp prefill_dp decode_replicas decode_tp decode_dp "
    .. "memory_utilization kv_tokens_per_replica block_tokens max_num_seqs max_num_batched_tokens max_model_len "
    .. "offload_bytes_per_replica offload_tokens_per_replica offload_blocks_per_replica rate_rps concurrency "
    .. "stage_duration_s requests groups prompts_per_group shared_prefix_tokens question_tokens prompt_tokens "
    .. "output_tokens timeout_s users first_token_timeout_s accept_len", type = "number", least = 0 },
})

--- Runs of one deployment have one engine: whether one of them says the memory of the engine's own connector in blocks.
local function mark_counted_blocks(list)
  local counted = {}
  for _, row in ipairs(list) do
    if row.offload_blocks_per_replica and row.offload_connector == "OffloadingConnector" then
      counted[row.deployment] = true
    end
  end
  for _, row in ipairs(list) do row.deployment_counts_blocks = counted[row.deployment] end
end

--- The rows of a file, in its order, and its columns that are not known. A row with a `problem` could not be read.
--- @return table list of {where, path, id, kind, deployment, pair, arm, arm_role, quality, counts, texts and numbers of
---   the settings by their columns, measured = {column = number}}
function rows.read(path)
  local out, there = columns.read(path, rows)
  mark_counted_blocks(out)
  return out, columns.unknown(rows, there)
end

return rows
