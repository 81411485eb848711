-- Rows as runs: rows that differ only in their stage are stages of one run.
--
-- The stages of a run are those that its profile lists. Where it lists none they are the stages of its rows, in the
-- order of stage_index; a row without one is a run of its own.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local load = require "rooflua.validate.clusters.load"
local profiles = require "rooflua.validate.clusters.profiles"
local scaling = require "rooflua.validate.clusters.scaling"

local runs = {}

--- Columns that tell two deployments apart, or two settings of one.
local settings = { "model", "weights_format", "kv_dtype", "gpu", "gpus", "layout", "replicas", "tp", "dp", "pp", "ep",
  "prefill_replicas", "prefill_tp", "prefill_dp", "decode_replicas", "decode_tp", "decode_dp", "engine",
  "engine_version", "memory_utilization", "kv_tokens_per_replica", "block_tokens", "max_num_seqs",
  "max_num_batched_tokens", "max_model_len", "prefix_caching", "speculation", "other_settings", "offload",
  "offload_connector", "offload_bytes_per_replica", "offload_tokens_per_replica", "offload_blocks_per_replica",
  "router", "router_settings", "transport", "client", "first_token_timeout_s", "accept_len" }

local function check_needs(row)
  if scaling.is_scaled(row) then scaling.pool(row, {}) end
end

--- What a row is run as: its description, and a text that is equal for rows of one run.
local function describe(row, set)
  if row.load_kind == "trace" then core.fail("%s: needs a trace that is not among the data", row.where) end
  local is_recording = row.kind == "agents" and row.missing:find "trace" and not profiles.has(set, row.workload)
  local profile = is_recording and { kind = "trace" }
    or row.workload ~= "" and profiles.read(set, row.workload, row.path) or nil
  check_needs(row)
  local about = load.of(row, profile)
  local parts = { row.workload, json.encode(about.prompts), about.arrivals, about.gap_s, about.timeout_s,
    about.in_flight, tostring(scaling.is_scaled(row)) }
  for _, name in ipairs(settings) do parts[#parts + 1] = tostring(row[name]) end
  if about.own and about.stage == nil then parts[#parts + 1] = json.encode(about.own) end
  return about, table.concat(parts, "\0")
end

--- The stages of the rows of a run, by stage_index; the place of each row among them.
local function stages_of_rows(run)
  local by_index, indices, stages = {}, {}, {}
  for _, each in ipairs(run.members) do
    local index = each.about.stage or 0
    if not by_index[index] then
      indices[#indices + 1], by_index[index] = index, each.about.own
    end
  end
  table.sort(indices)
  local place = {}
  for i, index in ipairs(indices) do
    place[index], stages[i] = i, by_index[index]
  end
  for _, each in ipairs(run.members) do each.place = place[each.about.stage or 0] end
  return stages
end

--- The stages that a profile lists, as far as rows ask for them.
local function stages_of_profile(run)
  local listed, last = run.members[1].about.stages, 0
  for _, each in ipairs(run.members) do
    local stage = each.about.stage
    each.place = type(stage) == "number" and stage + 1 or nil
    last = math.max(last, each.place or #listed)
  end
  local out = {}
  for i = 1, last do out[i] = listed[i] end
  return out
end

--- @param rows table list of rows.read
--- @param set table of profiles.of
--- @return table list of {members = list of {row, about, place of its stage, nil: all}, stages, id}; a row that is none
---   gets `problem`
function runs.of(rows, set)
  local out, by_key = {}, {}
  for _, row in ipairs(rows) do
    local ok, about, key
    if row.kind ~= "starts" and not row.problem then
      ok, about, key = pcall(describe, row, set)
      if not ok then row.problem = tostring(about) end
    end
    if ok then
      local run = by_key[key]
      if not run then
        run = { members = {}, id = row.id }
        by_key[key], out[#out + 1] = run, run
      end
      table.insert(run.members, { row = row, about = about })
    end
  end
  for _, run in ipairs(out) do
    run.stages = run.members[1].about.stages and stages_of_profile(run) or stages_of_rows(run)
  end
  return out
end

return runs
