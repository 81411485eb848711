-- A measured start-up as a question to serving/capacity.lua: the settings that its row states in the engine's own
-- options, and nothing that was measured.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local capacity = require "rooflua.serving.capacity"
local choice = require "rooflua.engines.choice"
local release = require "rooflua.engines.release"
local spec = require "rooflua.spec"

local setup = {}

local gib = 2 ^ 30

--- A GPU without a name: its memory is all that rules ask of it.
local unnamed = "l4"

local function hardware_of(case)
  if not case.hardware and not case.memory_gib then core.fail("neither a GPU nor its memory is stated") end
  local base = spec.hardware(case.hardware or unnamed)
  if not case.memory_gib then return base end
  local bytes = case.memory_gib * gib
  return spec.hardware { from = base, name = base.name, usable_memory_bytes = bytes,
    memory_bytes = math.max(bytes, base.memory_bytes) }
end

--- A file of the row lies beside the CSV.
local function model_of(case, folder)
  if not case.model then core.fail("no model is stated") end
  if case.model:find "%.json$" then return spec.model(folder .. case.model) end
  return spec.model(case.model)
end

--- Words of the column weights_format, the first that is found: {word, format}.
local format_words = { { "nvfp4", "nvfp4" }, { "mxfp4", "mxfp4" }, { "g32", "int4_group32" },
  { "awq", "int4_group128" }, { "gptq", "int4_group128" }, { "int4", "int4_group128" }, { "w4a16", "int4_group128" },
  { "int8", "int8" }, { "fp8 block", "fp8_block" }, { "fp8", "fp8" }, { "bf16", "bf16" }, { "fp16", "fp16" } }

--- Formats that a word of a row may mean.
local same = { mxfp4 = { "mxfp4" }, int4_group128 = { "int4", "int4_group32", "int4_group128" },
  fp8 = { "fp8", "fp8_block" }, fp8_block = { "fp8_block" }, bf16 = { "bf16", "fp16" }, fp16 = { "bf16", "fp16" } }

--- Whether a model is published in a format of these words: it then has the formats of its file.
local function is_own(model, format)
  return core.is_among(native.rank_counts(model, {}).weights, same[format] or { format })
end

--- Whether a model has weights of several formats, and all of the named ones.
local function has_all(model, named)
  local own = {}
  for _, format in pairs(native.rank_counts(model, {}).formats) do own[format] = true end
  for _, format in ipairs(named) do
    local found = false
    for _, each in ipairs(same[format] or { format }) do found = found or own[each] == true end
    if not found then return false end
  end
  return #named > 1
end

local function weights_of(case, model)
  if model.asked_format ~= "" then return nil end
  local text, named = case.weights:lower(), {}
  for _, each in ipairs(format_words) do
    if text:find(each[1], 1, true) then named[#named + 1] = each[2] end
  end
  if #named == 0 or is_own(model, named[1]) or has_all(model, named) then return nil end
  return named[1]
end

local function kv_of(case) return case.kv:lower():match "^[%w_]+" end

--- Options of the engine's release by what rows state.
local function options_of(case, chosen)
  local engine = chosen.engine
  local wanted = { tp = case.tp, pp = case.pp, max_num_seqs = case.max_num_seqs, max_model_len = case.max_model_len,
    memory_utilization = case.share, static_fraction = case.share, free_fraction = case.share,
    max_num_batched_tokens = case.chunk or case.max_num_batched_tokens,
    expert_parallel = (case.ep or 1) > 1 or nil, ep = case.ep, dp = case.dp,
    dp_attention = (case.dp or 1) > 1 or nil }
  local out = {}
  for _, option in ipairs(engine.options) do
    local value = option.parameter and wanted[option.parameter]
    if value ~= nil and (option.key or option.read_by) and release.holds(option, chosen.release) then
      out[option.name] = value
    end
  end
  for _, name in ipairs { "enforce_eager", "disable_cuda_graph" } do
    if case.eager and engine.option[name] then out[name] = true end
  end
  if case.notes:find("--language-model-only", 1, true) then out.language_model_only = true end
  return out
end

--- The ledger of a row.
---@param folder string that of the file, with a slash after it
function setup.answer(case, folder)
  if not case.release then core.fail("no release is stated") end
  local model, hardware = model_of(case, folder), hardware_of(case)
  local chosen = choice.parse(case.engine .. " " .. case.release)
  local engine = options_of(case, chosen)
  engine[1] = case.engine .. " " .. case.release
  local drafts = tonumber(case.speculation:match "^mtp (%d+)")
  return capacity.of { model = model, hardware = hardware, engine = engine,
    deployment = { weights = weights_of(case, model), kv = kv_of(case) },
    speculation = drafts and { drafts = drafts } or nil }
end

return setup
