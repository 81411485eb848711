-- The rows of a file of measured start-ups: one row is one engine that started, or refused to, with what its log says
-- of the memory of a GPU.
--
--     settings   engine, release, model, hardware, memory_gib, gpus, tp, pp, dp, ep, weights_format, kv_format,
--                utilization, static_fraction, max_model_len, max_num_seqs, max_num_batched_tokens, chunk, eager,
--                speculation, notes ("d:name=value" is a default that the row does not state)
--     measured   weights_gib, activation_gib, nontorch_gib, kv_gib, kv_tokens, block_size, max_concurrency, starts
--     scored     yes or no
--
-- An empty cell is not stated. A mistake in a row affects that row only.
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"
local measured_rows = require "rooflua.validate.rows"

local rows = { ids = measured_rows.ids }

rows.required = { "case", "engine", "release", "model", "hardware", "memory_gib", "tp", "weights_format", "kv_format",
  "utilization", "static_fraction", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "chunk", "eager",
  "speculation", "weights_gib", "kv_gib", "kv_tokens", "max_concurrency", "starts", "scored", "notes" }
--- Columns that tell such a file from other tables.
local telling = { "kv_tokens", "weights_gib", "starts" }

--- Whether a file has columns of measured start-ups.
function rows.is_file(path, columns) return header.tells(path, telling, columns) end

--- The text of a cell; nil where it is empty.
local function text(row, name)
  local value = row[name]
  if value == nil or value == "" then return nil end
  return tostring(value)
end

local number = measured_rows.number

--- A number of the row, or of its notes as a default: "d:utilization=0.90".
local function stated(row, name)
  return number(row, name) or tonumber((text(row, "notes") or ""):match("d:" .. name .. "=([%d.]+)"))
end

local function whole(row, name, where)
  local value = stated(row, name)
  if value ~= nil and (value < 1 or value % 1 ~= 0) then
    core.fail("%s: %s: expected a whole number above 0, found %s", where, name, core.describe(row[name]))
  end
  return value
end

--- The kind of a model by the note of the file; of several the one that matters most for the memory.
local function kind_of(row)
  local note = (text(row, "family_note") or ""):lower()
  if text(row, "speculation") and row.speculation ~= "none" then return "draft" end
  if note:find("hybrid g", 1, true) or note:find("hybrid m", 1, true) then return "hybrid" end
  if note:find("window", 1, true) then return "window" end
  if note:find("mla", 1, true) then return "MLA" end
  if note:find("vision", 1, true) then return "vision" end
  return note:find("moe", 1, true) and "MoE" or "dense"
end

local function case_of(row, where)
  local out = { engine = text(row, "engine"), release = text(row, "release"),
    model = text(row, "model"), hardware = text(row, "hardware"), notes = text(row, "notes") or "",
    is_scored = row.scored == "yes", kind = kind_of(row), weights = text(row, "weights_format") or "",
    kv = text(row, "kv_format") or "", eager = row.eager == "yes", speculation = text(row, "speculation") or "none",
    memory_gib = number(row, "memory_gib"), name = text(row, "model_hf") }
  out.share = stated(row, "static_fraction") or stated(row, "utilization")
  for _, name in ipairs { "tp", "pp", "dp", "ep", "max_model_len", "max_num_seqs", "max_num_batched_tokens",
    "chunk" } do
    out[name] = whole(row, name, where)
  end
  out.measured = { starts = text(row, "starts") }
  for _, name in ipairs { "weights_gib", "activation_gib", "nontorch_gib", "kv_gib", "kv_tokens", "max_concurrency" } do
    out.measured[name] = number(row, name)
  end
  return out
end

local function broken(row)
  return { is_scored = row.scored == "yes", measured = {}, kind = "unknown", engine = text(row, "engine") }
end

--- Every row; one that cannot be read has a `problem`.
function rows.read(path)
  return measured_rows.read(path, { required = rows.required, what = "measured start-ups",
    manual = "docs/VALIDATION.md", id = "case", texts = { "case", "release", "model" }, case = case_of,
    broken = broken })
end

return rows
