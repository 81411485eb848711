-- Schedules of tables: a row, or an object of JSON, per step of an engine.
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local step_tables = {}

local fail = core.fail

-- Forward-pass metrics of Dynamo and SGLang ---------------------------------------------------------------------
--
-- An object per step, as a subscriber of the engine's socket decodes it: `wall_time` in seconds, and in
-- `scheduled_requests` how many prompts and decodes there are, their new tokens, and the tokens of the KV cache before
-- them. An idle engine sends zeros. [ai-dynamo/dynamo, dynamo.common.forward_pass_metrics, version 1;
-- sgl-project/sglang, srt/observability/forward_pass_metrics.py, whose fields are the same]

local function is_forward_pass(text)
  local first = text:match "^%s*(%b{})"
  return first ~= nil and first:find('"scheduled_requests"', 1, true) ~= nil
    and first:find('"wall_time"', 1, true) ~= nil
end

local counts = { "num_prefill_requests", "sum_prefill_tokens", "sum_prefill_kv_tokens", "num_decode_requests",
  "sum_decode_kv_tokens" }

local function step_of_object(where, value)
  local scheduled = value.scheduled_requests
  if type(scheduled) ~= "table" then fail("%s: scheduled_requests: expected a table", where) end
  for _, name in ipairs(counts) do core.not_negative(scheduled[name] or 0, where .. ": " .. name) end
  core.not_negative(value.wall_time, where .. ": wall_time")
  return { line = where, prefills = scheduled.num_prefill_requests or 0,
    prefill_tokens = scheduled.sum_prefill_tokens or 0, prefill_context_tokens = scheduled.sum_prefill_kv_tokens or 0,
    decodes = scheduled.num_decode_requests or 0, decode_tokens = scheduled.num_decode_requests or 0,
    context_tokens = scheduled.sum_decode_kv_tokens or 0, time_s = value.wall_time }
end

local function read_forward_pass(path, text)
  local steps, worker = {}, nil
  for _, each in ipairs(native.json_documents(text, path)) do
    local where = ("%s:%d"):format(path, each.line)
    if type(each.value) ~= "table" then fail("%s: expected an object", where) end
    local own = ("%s, dp_rank %s"):format(tostring(each.value.worker_id), tostring(each.value.dp_rank))
    worker = worker or own
    if own ~= worker then fail("%s: has steps of several workers (%s; %s); keep one", where, worker, own) end
    local step = step_of_object(where, each.value)
    if step.prefills + step.decodes > 0 then steps[#steps + 1] = step end
  end
  return { name = "forward-pass metrics", says = { contexts = true, prompt_contexts = true, time = true },
    steps = steps }
end

-- CSV -----------------------------------------------------------------------------------------------------------

--- Names of columns, and what they say in the unit of the field.
local columns = {
  time_s = {}, prefills = { prefills = 1, prefill_reqs = 1, prefill_requests = 1, num_prefill_requests = 1 },
  prefill_tokens = { prefill_tokens = 1, sum_prefill_tokens = 1 },
  prefill_context_tokens = { prefill_context_tokens = 1, sum_prefill_kv_tokens = 1 },
  decodes = { decodes = 1, decode_reqs = 1, decode_requests = 1, num_decode_requests = 1 },
  context_tokens = { decode_context_tokens = 1, sum_decode_kv_tokens = 1 },
}
for _, name in ipairs { "time", "step_time", "wall_time", "cycle", "elapsed" } do
  columns.time_s[name .. "_s"], columns.time_s[name .. "_ms"], columns.time_s[name .. "_us"] = 1, 1e-3, 1e-6
end
columns.time_s.wall_time = 1

--- {field = {column, factor}} of a header, and the columns that nothing reads.
local function places_of(header)
  local out, unread = {}, {}
  for _, name in ipairs(header) do
    local field
    for each, names in pairs(columns) do field = names[name] and each or field end
    if field and not out[field] then
      out[field] = { name, columns[field][name] }
    else
      unread[#unread + 1] = name
    end
  end
  return out, unread
end

local function header_of(text)
  local out = {}
  for name in (text:match "^[^\r\n]*" or ""):gmatch "[^,]+" do out[#out + 1] = (name:gsub('^%s*"?(.-)"?%s*$', "%1")) end
  return out
end

local function is_csv(text)
  local places = places_of(header_of(text))
  return places.time_s ~= nil and (places.decodes ~= nil or places.prefill_tokens ~= nil)
end

local function read_csv(path)
  local rows, header = native.csv_read(path)
  local places, unread = places_of(header)
  for _, field in ipairs { "prefill_tokens", "decodes" } do
    if not places[field] then
      fail("%s: a table of steps needs a column '%s' (found: %s)", path, field, core.join(header, ", "))
    end
  end
  local steps = {}
  for i, row in ipairs(rows) do
    local where = ("%s:%d"):format(path, row.line or i + 1)
    local step = { line = where, prefills = 0, prefill_tokens = 0, decodes = 0 }
    for field, place in pairs(places) do
      step[field] = place[2] * core.not_negative(row[place[1]], ("%s: column '%s'"):format(where, place[1]))
    end
    if not places.prefills then step.prefills = step.prefill_tokens > 0 and 1 or 0 end
    step.decode_tokens = step.decodes
    if step.prefills + step.decodes > 0 then steps[#steps + 1] = step end
  end
  return { name = "a CSV of steps", steps = steps, unread = unread,
    says = { contexts = places.context_tokens ~= nil, time = true,
      prompt_contexts = places.prefill_context_tokens ~= nil } }
end

step_tables.formats = {
  { tells = is_forward_pass, read = read_forward_pass },
  { tells = is_csv, read = read_csv },
}

return step_tables
