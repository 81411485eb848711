-- The rows of CSVs of measured clusters: one row is one figure set of one run, or of a stage of it.
--
-- docs/CLUSTERS.md describes the columns. A mistake in a row affects that row only.
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"
local metrics = require "rooflua.validate.clusters.metrics"
local native = require "rooflua.native"

local rows = {}

rows.required = { "id", "kind", "deployment", "quality", "model", "gpu", "engine" }
--- Columns that tell such a file from other tables.
local telling = { "id", "kind", "deployment", "quality", "model", "gpu" }

--- Columns that are texts, even where they read as a number: release 0.10 is not 0.1.
local texts = core.set { "id", "kind", "deployment", "pair", "arm", "arm_role", "quality", "needs", "missing", "source",
  "licence", "model", "weights_format", "kv_dtype", "gpu", "layout", "engine", "engine_version", "kv_tokens_basis",
  "prefix_caching", "speculation", "other_settings", "offload", "offload_connector", "offload_basis", "router",
  "router_settings", "transport", "workload", "load_kind", "stage_index", "client", "phase", "notes" }

--- Columns of settings and loads that are numbers.
local numbers = core.set { "gpus", "replicas", "tp", "dp", "pp", "ep", "prefill_replicas", "prefill_tp", "prefill_dp",
  "decode_replicas", "decode_tp", "decode_dp", "memory_utilization", "kv_tokens_per_replica", "block_tokens",
  "max_num_seqs", "max_num_batched_tokens", "max_model_len", "offload_bytes_per_replica", "offload_tokens_per_replica",
  "offload_blocks_per_replica", "rate_rps", "concurrency", "stage_duration_s", "requests", "groups",
  "prompts_per_group", "shared_prefix_tokens", "question_tokens", "prompt_tokens", "output_tokens", "timeout_s" }

--- How the names of measured columns begin.
local measured = { "completed", "failed", "cancelled", "duration_s", "send_rate_rps", "requests_s", "output_tok",
  "input_tok", "total_tok", "prompt_tokens_mean", "output_tokens_mean", "ttft_", "tpot_", "itl_", "server_", "ntpot",
  "e2e_", "session_", "hit_", "gpu_hit", "tier_hit", "pulls", "restored_", "stored_", "pulled_", "preemptions",
  "queue_", "kv_used_", "gpus_peak", "replicas_peak", "prefill_tok_s", "transfer_", "phase_", "steps", "step_",
  "theoretical_" }

local function is_measured(name)
  for _, begin in ipairs(measured) do
    if name:sub(1, #begin) == begin then return true end
  end
  return name:find("_hit_share", 1, true) ~= nil
end

--- Columns that this program does not know.
local function unknown_columns(columns)
  local out = {}
  for _, name in ipairs(columns) do
    if not (texts[name] or numbers[name] or is_measured(name)) then out[#out + 1] = name end
  end
  return out
end

function rows.is_file(path, columns) return header.tells(path, telling, columns) end

-- Cells -------------------------------------------------------------------------------------------------------------

local function trimmed(value) return (tostring(value == nil and "" or value):match "^%s*(.-)%s*$") end

local function number_of(row, name, where)
  local text = trimmed(row[name])
  if text == "" then return nil end
  local value = tonumber(text)
  if not value or value ~= value or value < 0 or value == math.huge then
    core.fail("%s: %s: expected a number, found '%s'", where, name, text)
  end
  return value
end

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

local function check(row)
  if qualities[row.quality] == nil then
    core.fail("%s: quality: expected A, B, C or D, found '%s'", row.where, row.quality)
  end
  if row.kind ~= "starts" and not core.is_among(row.kind, metrics.kinds) then
    core.fail("%s: kind: %s", row.where, core.unknown_name("kind", row.kind, metrics.kinds))
  end
  for _, name in ipairs { "deployment", "model", "gpu", "engine" } do
    if row[name] == "" then core.fail("%s: column '%s' is empty", row.where, name) end
  end
end

local function read(row, given, columns)
  local where = row.where
  if given.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", where, given.cells,
      #columns)
  end
  -- What was measured is read first: a row whose settings are wrong counts as one that did not run.
  for _, name in ipairs(columns) do
    if is_measured(name) and name ~= "phase" then row.measured[name] = number_of(given, name, where) end
  end
  check(row)
  for _, name in ipairs(core.sorted_keys(numbers)) do row[name] = number_of(given, name, where) end
  row.measured.tpot_formed_s, row.formed_of = formed(row.measured, row.output_tokens)
end

local function row_of(path, given, columns)
  local row = { where = ("%s:%d"):format(path, given.line), path = path, measured = {} }
  for name in pairs(texts) do row[name] = trimmed(given[name]) end
  if row.id == "" then row.id = "line " .. given.line end
  row.counts = qualities[row.quality] or false
  local ok, problem = pcall(read, row, given, columns)
  if not ok then row.problem = tostring(problem) end
  return row
end

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
  local list, columns = native.csv_read(path, true, core.sorted_keys(texts))
  header.check(path, columns, rows.required, "measured clusters", "docs/CLUSTERS.md", telling)
  local out, lines = {}, {}
  for i, given in ipairs(list) do
    local row = row_of(path, given, columns)
    local line = lines[row.id]
    if line then row.problem = ("%s: id '%s' is that of line %d"):format(row.where, row.id, line) end
    out[i], lines[row.id] = row, line or given.line
  end
  mark_counted_blocks(out)
  if #out == 0 then core.fail("%s: has a header and no row; expected a measured run per row", path) end
  return out, unknown_columns(columns)
end

return rows
