-- The rows of a file of measured closed loops: one row is one question about a deployment.
--
--     widths      "tp,dp,ep" of one engine; of mode pd "P:tp,dp,ep D:tp,dp,ep", with workers "P:n D:m". Or
--                 widths_tp_dp_moetp_moeep as "tp,dp,moe_tp,ep", of mode pd two with ";", with workers "1P4D"
--     options     "name=value;name=value", of mode pd "P: ... D: ...", and env of the same form; or command (or
--                 server_command), a launch command
--     client      a text that client.lua reads; or requests, range_ratio, lengths_file and others of it
--
-- What is absent is not stated. A deployment is family, system, engine, format, mode, widths and whether it drafts. Its
-- rows differ in lengths, clients and version. A mistake in a row affects that question only.
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"

local either = { "widths", "widths_tp_dp_moetp_moeep" }

--- The text of a cell; "" if the cell is empty or absent.
local function text_of(row, name) return row[name] or "" end

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
local function parts_of_row(question, row, there)
  local where, is_old = question.where, not there.widths
  local name = is_old and either[2] or "widths"
  local function settings(part, options, environment)
    part.options = pairs_of(options, "options", where)
    part.environment = pairs_of(environment, "env", where)
    return part
  end
  if question.mode == "agg" then
    local engines = columns.cell({ type = "whole", least = 1 }, "workers", row.workers or "", where) or 1
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

local function key_of(question)
  local drafts = question.speculation == "mtp" and "|mtp" or ""
  return table.concat({ question.family, question.system, question.engine, question.format,
    question.mode .. ":" .. question.widths }, "|") .. drafts
end

local function case_of(question, cells, there, kind)
  question.command = text_of(cells, there.command and "command" or "server_command")
  if question.config == "" then
    question.config = (question.command ~= "" or text_of(cells, "options") ~= "") and "exact" or "none"
  end
  question.widths = text_of(cells, there.widths and "widths" or either[2])
  question.key = key_of(question)
  if not columns.is_read(question, kind) then question.measured = nil
  else question.parts = parts_of_row(question, cells, there) end
end

local rows = columns.of({ what = "measured closed loops", manual = "docs/VALIDATION.md", id = "question", unique = true,
  empty = "", case = case_of }, {
  { names = "question", type = "text", required = true, own = true },
  { names = "family", type = "lower", required = true, tells = true, filled = true },
  { names = "system engine", type = "lower", required = true, filled = true },
  { names = "engine_version", type = "text", required = true, setting = "version" },
  { names = "format mode", type = "lower", required = true, filled = true },
  { names = "date", type = "day" },
  { names = "warmup saturated scored", type = "answer" },
  { names = "speculation draft_tokens config client model scored_why lengths_file requests range_ratio request_rate "
    .. "isl_command osl_command dataset accept_length concurrency_mean client_command kv_type", type = "text" },
  { names = "widths widths_tp_dp_moetp_moeep workers options env command server_command", type = "text", own = true },
  { names = "isl osl", type = "whole", least = 1, unit = "tokens", required = true, filled = true, scored = true },
  { names = "clients", type = "whole", least = 1, required = true, tells = true, filled = true, scored = true },
  { names = "ttft_ms", type = "time_ms", above = 0, required = true, tells = true, filled = true, scored = true,
    measured = { ttft_ms = "ttft" } },
  { names = "tpot_ms", type = "time_ms", above = 0, required = true, tells = true, scored = true,
    measured = { tpot_ms = "tpot" } },
  { names = "duration_s", type = "number", above = 0, unit = "s", scored = true,
    measured = { duration_s = "makespan_s" } },
  { names = "total_tok_per_s", type = "number", above = 0, unit = "tokens/s", scored = true,
    measured = { total_tok_per_s = "total_tokens_per_s" } },
  { names = "ttft_median_ms", type = "time_ms", above = 0, scored = true, measured = { ttft_median_ms = "ttft_p50" } },
})

--- Every question of a file, in its order. A row may leave tpot_ms empty: then TTFT alone is compared.
--- @param needed table<string, boolean>? questions that are read though the file does not score them
--- @return table list of {id, where, key, family, system, engine, version, format, mode, parts, command, isl, osl,
---   clients, measured = {ttft, tpot} in seconds, and texts of the other columns}
function rows.read(path, needed)
  local out, there = columns.read(path, core.copy(rows, { needed = needed }))
  if #columns.missing(there, either) == 2 then
    core.fail("%s:1: a column is missing: widths (docs/VALIDATION.md)", path)
  end
  return out
end

return rows
