-- The rows of a file of measured closed loops: one row is one question about a deployment.
--
--     question, family, system, engine, engine_version, format, mode (agg | pd), widths_tp_dp_moetp_moeep, workers,
--     isl, osl, clients, ttft_ms, tpot_ms, measurements, source
--
-- A deployment is family, system, engine, format and widths. Its rows differ in lengths, clients and engine version. A
-- mistake in a row affects that question only.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"

local rows = {}

local widths_column = "widths_tp_dp_moetp_moeep"
local required = { "question", "family", "system", "engine", "engine_version", "format", "mode", widths_column, "isl",
  "osl", "clients", "ttft_ms", "tpot_ms" }
--- Columns that tell a file of closed loops from other tables.
local telling = { "family", "clients", "ttft_ms", "tpot_ms", widths_column }

--- InferenceX's exports are named by their date. Its client draws lengths; other sources send exact ones. Files named
--- MODEL-gap-analysis.csv, without a folder, repeat InferenceX's figures: 6 of their 29 rows in the file of the tests
--- stand there a second time, to the last digit, and none with other figures.
local exports = { "^source_file=%d%d%d%d%-%d%d%-%d%d%.csv", "^source_file=[^/]*%-gap%-analysis%.csv$", "^db%-dump/" }

local function whole(row, name, where)
  local value = row[name]
  if type(value) ~= "number" or value < 1 or value % 1 ~= 0 or value > 2 ^ 31 then
    core.fail("%s: %s: expected a whole number above 0, found %s", where, name, core.describe(value))
  end
  return value
end

local function time_s(row, name, where)
  local value = row[name]
  if type(value) ~= "number" or not (value > 0 and value < math.huge) then
    core.fail("%s: %s: expected milliseconds above 0, found %s", where, name, core.describe(value))
  end
  return value * 1e-3
end

--- "8,1,1,8" as widths. The attention's ranks and the experts' ranks are the same GPUs, so the products agree.
local function widths_of(text, where)
  local tp, dp, moe_tp, ep = text:match "^(%d+),(%d+),(%d+),(%d+)$"
  if not tp then
    core.fail("%s: %s: expected tp,dp,moe_tp,moe_ep, found '%s'", where, widths_column, text)
  end
  local out = { tp = tonumber(tp), dp = tonumber(dp), moe_tp = tonumber(moe_tp), ep = tonumber(ep), text = text }
  if out.tp * out.dp < 1 or out.tp * out.dp ~= out.moe_tp * out.ep then
    core.fail("%s: %s: tp %d x dp %d is not moe_tp %d x moe_ep %d; both are the GPUs of the engine", where,
      widths_column, out.tp, out.dp, out.moe_tp, out.ep)
  end
  return out
end

--- "1P4D" as numbers of prefill and decode engines.
local function engines_of(text, where)
  local prefill, decode = text:match "^(%d+)[Pp](%d+)[Dd]$"
  prefill, decode = tonumber(prefill), tonumber(decode)
  if not prefill or prefill < 1 or decode < 1 then
    core.fail("%s: workers: mode pd has engines for prefill and decode, as 1P4D; found '%s'", where, text)
  end
  return prefill, decode
end

--- The widths of a question: of its one role, or of prefill and decode.
local function roles_of(question, text, workers, where)
  if question.mode == "agg" then
    question.widths = widths_of(text, where)
  elseif question.mode == "pd" then
    local prefill, decode = text:match "^([^;]+);([^;]+)$"
    if not prefill then
      core.fail("%s: %s: mode pd has the widths of prefill;decode, found '%s'", where, widths_column, text)
    end
    question.prefill, question.decode = widths_of(prefill, where), widths_of(decode, where)
    question.prefill_engines, question.decode_engines = engines_of(workers, where)
  else
    core.fail("%s: mode: expected agg or pd, found '%s'", where, question.mode)
  end
end

--- A text without the spaces that surround it; "" if the cell is empty.
local function text_of(row, name) return (tostring(row[name] or ""):match "^%s*(.-)%s*$") end

local function is_export(source)
  for _, pattern in ipairs(exports) do
    if source:find(pattern) then return true end
  end
  return false
end

local function read(question, row, columns)
  local where = question.where
  if row.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", where, row.cells, columns)
  end
  for _, name in ipairs { "family", "system", "engine", "format", "mode" } do
    question[name] = text_of(row, name):lower()
    if question[name] == "" then core.fail("%s: column '%s' is empty", where, name) end
  end
  question.version, question.source = text_of(row, "engine_version"), text_of(row, "source")
  question.is_export = is_export(question.source)
  local widths = text_of(row, widths_column)
  question.key = table.concat({ question.family, question.system, question.engine, question.format,
    question.mode .. ":" .. widths }, "|")
  roles_of(question, widths, text_of(row, "workers"), where)
  for _, name in ipairs { "isl", "osl", "clients" } do question[name] = whole(row, name, where) end
  question.measured = { ttft = time_s(row, "ttft_ms", where), tpot = time_s(row, "tpot_ms", where) }
end

local function question_of(path, row, columns)
  local id = row.question
  local question = { where = path .. ":" .. row.line,
    id = type(id) == "number" and ("%.14g"):format(id) or tostring(id or "line " .. row.line) }
  local ok, problem = pcall(read, question, row, columns)
  if not ok then question.problem = tostring(problem) end
  return question
end

--- Every question of a file, in its order. One with a `problem` could not be read.
--- @return table list of {id, where, key, family, system, engine, version, format, mode, widths, prefill, decode,
---   prefill_engines, decode_engines, isl, osl, clients, is_export, measured = {ttft, tpot} in seconds}
function rows.read(path)
  local list, columns = native.csv_read(path, true)
  header.check(path, columns, required, "measured closed loops", "docs/VALIDATION.md", telling)
  local out, lines = {}, {}
  for i, row in ipairs(list) do
    local question = question_of(path, row, #columns)
    local line = lines[question.id]
    if line then
      question.problem = ("%s: question '%s' is that of line %d"):format(question.where, question.id, line)
    end
    out[i], lines[question.id] = question, line or row.line
  end
  if #out == 0 then core.fail("%s: has a header and no row; expected a measured closed loop per row", path) end
  return out
end

return rows
