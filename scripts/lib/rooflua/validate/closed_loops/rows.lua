-- The rows of a file of measured closed loops: one row is one question about a deployment.
--
--     always      question, family, system, engine, engine_version, format, mode (agg | pd), isl, osl, clients,
--                 ttft_ms, tpot_ms
--     widths      "tp,dp,ep" of one engine; of mode pd "P:tp,dp,ep D:tp,dp,ep", with workers "P:n D:m". Or
--                 widths_tp_dp_moetp_moeep as "tp,dp,moe_tp,ep", of mode pd two with ";", with workers "1P4D"
--     settings    options ("name=value;name=value", of mode pd "P: ... D: ...") and env of the same form; or command
--                 (or server_command), a launch command
--     client      client, a text that client.lua reads; or requests, range_ratio, lengths_file and others of it
--     more        date, speculation, draft_tokens, accept_length (tokens of a round, where a run printed them), config,
--                 warmup, saturated, model, scored, scored_why; ttft_median_ms, in which first requests that compile
--                 do not count
--
-- What is absent is not stated. A deployment is family, system, engine, format, mode, widths and whether it drafts. Its
-- rows differ in lengths, clients and version. A mistake in a row affects that question only.
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"
local native = require "rooflua.native"

local rows = {}

rows.required = { "question", "family", "system", "engine", "engine_version", "format", "mode", "isl", "osl",
  "clients", "ttft_ms", "tpot_ms" }
--- Columns whose cells are no numbers, even if they read as one: release 0.10 is not 0.1.
local texts = { "question", "family", "engine_version", "model" }
local either = { "widths", "widths_tp_dp_moetp_moeep" }
--- Columns that tell a file of closed loops from other tables.
local telling = { "family", "clients", "ttft_ms", "tpot_ms" }

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

--- A text without the spaces that surround it; "" if the cell is empty or absent.
local function text_of(row, name) return (tostring(row[name] or ""):match "^%s*(.-)%s*$") end

-- Widths -----------------------------------------------------------------------------------------------------------

local function widths_of(tp, dp, ep, moe_tp, where, text)
  local out = { tp = tonumber(tp), dp = tonumber(dp), ep = tonumber(ep), moe_tp = tonumber(moe_tp) }
  local ranks = out.tp * out.dp
  if ranks < 1 or out.ep < 1 or ranks % out.ep ~= 0 or out.moe_tp and out.moe_tp * out.ep ~= ranks then
    core.fail("%s: widths '%s': tp %d x dp %d ranks are not divided by ep %d", where, text, out.tp, out.dp, out.ep)
  end
  out.moe_tp = ranks / out.ep
  return out
end

--- "8,1,8" as tp, dp, ep; of the older column "8,1,1,8" as tp, dp, moe_tp, ep.
local function read_widths(text, is_old, where)
  if is_old then
    local tp, dp, moe_tp, ep = text:match "^(%d+),(%d+),(%d+),(%d+)$"
    if tp then return widths_of(tp, dp, ep, moe_tp, where, text) end
    core.fail("%s: %s: expected tp,dp,moe_tp,moe_ep, found '%s'", where, either[2], text)
  end
  local tp, dp, ep = text:match "^(%d+),(%d+),(%d+)$"
  if not tp then core.fail("%s: widths: expected tp,dp,ep, found '%s'", where, text) end
  return widths_of(tp, dp, ep, nil, where, text)
end

--- The two parts of a text of mode pd: "P:a D:b".
local function parts_of(text) return text:match "^P:%s*(.-)%s+D:%s*(.*)$" end

local function both(row, name, where)
  local text = text_of(row, name)
  local prefill, decode = parts_of(text)
  if not prefill then core.fail("%s: %s: mode pd has P:... D:..., found '%s'", where, name, text) end
  return prefill, decode
end

local function two_numbers(row, where)
  local text = text_of(row, "workers")
  local prefill, decode = text:match "^P:(%d+) D:(%d+)$"
  if not prefill then prefill, decode = text:match "^(%d+)[Pp](%d+)[Dd]$" end
  prefill, decode = tonumber(prefill), tonumber(decode)
  if not prefill or prefill < 1 or decode < 1 then
    core.fail("%s: workers: mode pd has engines for prefill and decode, as P:1 D:4; found '%s'", where, text)
  end
  return prefill, decode
end

-- Settings -----------------------------------------------------------------------------------------------------------

--- Parts of "a=1;b={"c":2}": {{"a", "1"}, ...}. JSON in them has no ";".
local function pairs_of(text, name, where)
  local out = {}
  for part in text:gmatch "[^;]+" do
    local key, value = part:match "^%s*([%w_.%-]+)=(.*)$"
    if not key then core.fail("%s: %s: expected name=value, found '%s'", where, name, part) end
    out[#out + 1] = { key, value }
  end
  return out
end

--- The engines of a question: {role, engines, widths, options, environment}, one of mode agg, two of mode pd.
local function parts_of_row(question, row, columns)
  local where, is_old = question.where, not columns.widths
  local name = is_old and either[2] or "widths"
  local function settings(part, options, environment)
    part.options = pairs_of(options, "options", where)
    part.environment = pairs_of(environment, "env", where)
    return part
  end
  if question.mode == "agg" then
    local engines = row.workers ~= nil and row.workers ~= "" and whole(row, "workers", where) or 1
    return { settings({ engines = engines, widths = read_widths(text_of(row, name), is_old, where) },
      text_of(row, "options"), text_of(row, "env")) }
  end
  if question.mode ~= "pd" then core.fail("%s: mode: expected agg or pd, found '%s'", where, question.mode) end
  local first, second
  if is_old then
    first, second = text_of(row, name):match "^([^;]+);([^;]+)$"
    if not first then
      core.fail("%s: %s: mode pd has the widths of prefill;decode, found '%s'", where, name, text_of(row, name))
    end
  else
    first, second = both(row, name, where)
  end
  local prefill, decode = two_numbers(row, where)
  local out = { { role = "prefill", engines = prefill, widths = read_widths(first, is_old, where) },
    { role = "decode", engines = decode, widths = read_widths(second, is_old, where) } }
  local options, environment = { "", "" }, { "", "" }
  if text_of(row, "options") ~= "" then options = { both(row, "options", where) } end
  if text_of(row, "env") ~= "" then environment = { both(row, "env", where) } end
  for i, part in ipairs(out) do settings(part, options[i], environment[i]) end
  return out
end

-- Rows ---------------------------------------------------------------------------------------------------------------

local details = { "date", "speculation", "draft_tokens", "config", "warmup", "saturated", "client", "model",
  "scored", "scored_why", "lengths_file", "requests", "range_ratio", "request_rate", "isl_command", "osl_command",
  "dataset", "accept_length", "concurrency_mean" }

--- Raises an error for details that are neither yes, no, unknown nor left out, and for a date that is none.
local function check_details(question)
  if question.date ~= "" and not question.date:find "^20%d%d%-[01]%d%-[0-3]%d$" then
    core.fail("%s: date: expected a day as in 2026-03-25, found '%s'", question.where, question.date)
  end
  for _, name in ipairs { "warmup", "saturated", "scored" } do
    local value = question[name]:lower()
    if value ~= "" and value ~= "yes" and value ~= "no" and value ~= "unknown" then
      core.fail("%s: %s: expected yes, no or unknown, found '%s'", question.where, name, question[name])
    end
    question[name] = value
  end
end

local function key_of(question, row, columns)
  local widths = text_of(row, columns.widths and "widths" or either[2])
  local drafts = question.speculation == "mtp" and "|mtp" or ""
  return table.concat({ question.family, question.system, question.engine, question.format,
    question.mode .. ":" .. widths }, "|") .. drafts
end

local function read(question, row, columns, count)
  local where = question.where
  if row.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", where, row.cells, count)
  end
  for _, name in ipairs { "family", "system", "engine", "format", "mode" } do
    question[name] = text_of(row, name):lower()
    if question[name] == "" then core.fail("%s: column '%s' is empty", where, name) end
  end
  for _, name in ipairs(details) do question[name] = text_of(row, name) end
  check_details(question)
  question.version = text_of(row, "engine_version")
  question.command = text_of(row, columns.command and "command" or "server_command")
  if question.config == "" then
    question.config = (question.command ~= "" or text_of(row, "options") ~= "") and "exact" or "none"
  end
  question.key = key_of(question, row, columns)
  if question.scored == "no" then return end
  question.parts = parts_of_row(question, row, columns)
  for _, name in ipairs { "isl", "osl", "clients" } do question[name] = whole(row, name, where) end
  local has_tpot = row.tpot_ms ~= nil and row.tpot_ms ~= ""
  question.measured = { ttft = time_s(row, "ttft_ms", where), tpot = has_tpot and time_s(row, "tpot_ms", where) or nil }
  local median = row.ttft_median_ms
  if median ~= nil and median ~= "" then question.measured.ttft_p50 = time_s(row, "ttft_median_ms", where) end
end

local function question_of(path, row, columns, count)
  local question = { where = path .. ":" .. row.line, id = row.question or "line " .. row.line }
  local ok, problem = pcall(read, question, row, columns, count)
  if not ok then question.problem = tostring(problem) end
  return question
end

--- Whether a file has the columns of closed loops.
function rows.is_file(path, columns) return header.tells(path, telling, columns) end

--- A row may leave tpot_ms empty: then TTFT alone is compared.
--- Every question of a file, in its order. One with a `problem` could not be read.
--- @return table list of {id, where, key, family, system, engine, version, format, mode, parts, command, isl, osl,
---   clients, measured = {ttft, tpot} in seconds, and texts of the other columns}
function rows.read(path)
  local list, columns = native.csv_read(path, true, texts)
  header.check(path, columns, rows.required, "measured closed loops", "docs/VALIDATION.md", telling)
  if #header.missing(columns, either) == 2 then
    core.fail("%s:1: a column is missing: widths (docs/VALIDATION.md)", path)
  end
  local there = core.set(columns)
  local out, lines = {}, {}
  for i, row in ipairs(list) do
    local question = question_of(path, row, there, #columns)
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
