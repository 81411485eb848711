-- Reads requests of measured runs from the files of several tools: a CSV with a row per request, the result file of
-- `vllm bench serve`, the time stamps of an engine; and the totals that inference-perf reports.
--
-- A request is {arrival_s, prompt_tokens, output_tokens, ttft_s, e2e_s, failed} and what its row says besides
-- (prompt_id, stage, queue_s). A failed request may lack every number. Arrivals count from the first one; a file that
-- records none gives none. The list is in the order of the file.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local json = require "rooflua.json"

local measured_requests = {}
local fail = core.fail

-- What a file may say: tokens that a request can have, times that the clock can show, stamps of any clock.
local most_tokens, most_s, most_stamp_s = 2147483647, native.latest_s, 1e15
local most_of = { prompt_tokens = most_tokens, output_tokens = most_tokens, arrival_s = most_stamp_s,
  input_lens = most_tokens, output_lens = most_tokens, start_times = most_stamp_s }

-- A CSV -----------------------------------------------------------------------------------------------------

-- Names of columns, and how many of their unit a second has; 0: the name does not say it, and the stamps tell.
local columns = {
  arrival_s = { { "arrival_s", 1 }, { "start_time_s", 1 }, { "start_time", 0 }, { "arrived_at", 0 },
    { "arrival_ms", 1e3 }, { "arrival_us", 1e6 } },
  prompt_tokens = { { "prompt_tokens", 1 }, { "input_tokens", 1 }, { "input_len", 1 }, { "prompt_len", 1 } },
  output_tokens = { { "output_tokens_true", 1 }, { "output_tokens", 1 }, { "output_len", 1 },
    { "completion_tokens", 1 } },
  ttft_s = { { "ttft_s", 1 }, { "ttft_ms", 1e3 }, { "ttft", 1 } },
  e2e_s = { { "e2e_s", 1 }, { "e2e_ms", 1e3 }, { "e2el", 1 }, { "latency_s", 1 }, { "latency_ms", 1e3 } },
  prompt_id = { { "prompt_id", 1 } },
}
local optional = { "stage", "queue_s" }
--- The same fields in the spellings of workloads.trace (engine/serve/traces/columns.cpp).
local field_of_role = { arrival = "arrival_s", prompt = "prompt_tokens", output = "output_tokens" }

--- A column that occurs twice says two things: which of them is meant is not known.
function measured_requests.check_header(path, header)
  local seen = {}
  for _, name in ipairs(header) do
    if seen[name] then fail("%s:1: column '%s' occurs twice", path, name) end
    seen[name] = true
  end
end

--- field -> {name of the column, its units per second}, and the column that says what failed.
local function find_columns(path, rows)
  local names, found = {}, {}
  for _, row in ipairs(rows) do
    for name in pairs(row) do names[name:lower()] = name end
  end
  names.line = nil
  for field, known in pairs(columns) do
    for _, each in ipairs(known) do
      if not found[field] and names[each[1]] then found[field] = { names[each[1]], each[2] } end
    end
  end
  for _, name in ipairs(core.sorted_keys(names)) do
    local role, units_per_s = native.trace_column(name)
    local field = field_of_role[role]
    if field and not found[field] then
      found[field] = { names[name], field == "arrival_s" and units_per_s or 1 }
    end
  end
  for _, field in ipairs { "prompt_tokens", "output_tokens", "ttft_s", "e2e_s" } do
    if not found[field] then
      local known = {}
      for i, each in ipairs(columns[field]) do known[i] = each[1] end
      fail("%s: has no column for %s (known: %s; found: %s)", path, field, core.join(known, ", "),
        core.join(core.sorted_keys(names), ", "))
    end
  end
  return found, names.error or names.outcome or names.status
end

--- A time or a count: a number >= 0.
local function number_of(path, row, field, name, scale)
  local value = row[name]
  if type(value) ~= "number" then
    fail("%s:%d: column '%s': expected a number, found %s", path, row.line, name,
      value == nil and "nothing" or core.describe(value))
  elseif value < 0 then
    fail("%s:%d: column '%s': expected 0 or more, found %g", path, row.line, name, value)
  elseif value / scale > (most_of[field] or most_s) then
    fail("%s:%d: column '%s': expected at most %g, found %g", path, row.line, name, (most_of[field] or most_s) * scale,
      value)
  end
  return value
end

--- Tells the unit of arrivals whose column does not name it.
--- @return string[] notes
local function tell_unit(path, rows, column)
  if not column or column[2] > 0 then return {} end
  local stamps = {}
  for _, row in ipairs(rows) do
    if type(row[column[1]]) == "number" then stamps[#stamps + 1] = row[column[1]] end
  end
  local units_per_s, note = native.trace_time_unit(path, stamps)
  column[2] = units_per_s
  if note == "" then return {} end
  return { (note:sub(#path + 3):gsub("workload%.time_unit states another", "a name such as %%s_s or %%s_ms states it"))
    :format(column[1], column[1]) }
end

--- A note on columns that nothing reads, in a list; none where all are read.
local function unread_columns(header, at, failure)
  if not header then return {} end
  local read, unread = { line = true, [failure or ""] = true }, {}
  for _, column in pairs(at) do read[column[1]] = true end
  for _, name in ipairs(optional) do read[name] = true end
  for _, name in ipairs(header) do
    if not read[name] then unread[#unread + 1] = name end
  end
  return #unread > 0 and { "columns that are not read: " .. core.join(unread, ", ") } or {}
end

local fine = { ["0"] = true, completed = true, ok = true, success = true, ["200"] = true }

--- Requests of the rows of a CSV, and notes on them.
--- @param header string[]? its columns: notes name those that nothing reads
function measured_requests.of_rows(path, rows, header)
  if #rows == 0 then fail("%s: no data: it has no rows", path) end
  local at, failure = find_columns(path, rows)
  local notes = tell_unit(path, rows, at.arrival_s)
  for _, note in ipairs(unread_columns(header, at, failure)) do notes[#notes + 1] = note end
  local requests, names = {}, core.sorted_keys(at)
  for i, row in ipairs(rows) do
    local request = { failed = failure ~= nil and row[failure] ~= nil and not fine[tostring(row[failure])] }
    for _, field in ipairs(names) do
      local column = at[field]
      if not request.failed or type(row[column[1]]) == "number" then
        request[field] = number_of(path, row, field, column[1], column[2]) / column[2]
      end
    end
    if not request.failed and request.e2e_s < request.ttft_s then
      fail("%s:%d: column '%s': %g is before the first token ('%s': %g)", path, row.line, at.e2e_s[1],
        row[at.e2e_s[1]], at.ttft_s[1], row[at.ttft_s[1]])
    end
    for _, name in ipairs(optional) do request[name] = row[name] end
    requests[i] = request
  end
  return requests, notes
end

-- vllm bench serve ----------------------------------------------------------------------------------------------

--- A checked list with one entry per request; nil where the document has no such list or an empty one.
---@param kind string "number", or "table" for a list of numbers each
local function per_request(path, document, key, count, kind)
  local list = document[key]
  if list == nil or list == json.null or type(list) == "table" and #list == 0 then return nil end
  if type(list) ~= "table" then fail("%s: %s: expected a list, found %s", path, key, core.describe(list)) end
  count = count or #list
  if #list ~= count then
    fail("%s: %s: expected an entry for each of %d requests, found %d", path, key, count, #list)
  end
  for i, each in ipairs(list) do
    local where = ("%s: %s[%d]"):format(path, key, i)
    if type(each) ~= kind then
      fail("%s: expected a %s, found %s", where, kind == "table" and "list" or kind, core.describe(each))
    end
    for _, value in ipairs(kind == "table" and each or { each }) do
      core.not_negative(value, where)
      local most = most_of[key] or most_s
      if value > most then fail("%s: expected at most %g, found %g", where, most, value) end
    end
  end
  return list
end

local function with_gaps(time_s, gaps)
  for _, gap in ipairs(gaps) do time_s = time_s + gap end
  return time_s
end

--- Requests from the lists that `--save-detailed` writes, one per position; nil where they are missing. Older versions
--- always write them.
function measured_requests.of_bench(path, document)
  if type(document) ~= "table" then return nil end
  local inputs = per_request(path, document, "input_lens", nil, "number")
  if not inputs then
    if per_request(path, document, "ttfts", nil, "number") then
      fail("%s: input_lens: is missing, and ttfts is there", path)
    end
    return nil
  end
  local function of(key, kind) return per_request(path, document, key, #inputs, kind or "number") end
  local outputs, ttfts = of "output_lens", of "ttfts"
  if not outputs or not ttfts then
    fail("%s: %s: is missing, and input_lens is there", path, outputs and "ttfts" or "output_lens")
  end
  local starts, gaps, ends = of "start_times", of("itls", "table"), of "e2els"
  local errors = document.errors ~= json.null and document.errors or {}
  if type(errors) ~= "table" or #errors ~= 0 and #errors ~= #inputs then
    fail("%s: errors: expected an entry for each of %d requests, found %s", path, #inputs,
      type(errors) == "table" and #errors or core.describe(errors))
  end
  local first = starts and starts[1]
  for _, each in ipairs(starts or {}) do first = math.min(first, each) end
  local requests = {}
  for i, prompt in ipairs(inputs) do
    local problem = errors[i]
    requests[i] = { arrival_s = starts and starts[i] - first or nil, prompt_tokens = prompt, output_tokens = outputs[i],
      ttft_s = ttfts[i], e2e_s = ends and ends[i] or gaps and with_gaps(ttfts[i], gaps[i]) or nil,
      failed = type(problem) == "string" and problem ~= "" or outputs[i] == 0 }
  end
  return requests
end

-- Others ---------------------------------------------------------------------------------------------------------

local stamps = { "arrival_time", "queued_ts", "first_token_ts", "last_token_ts" }

--- Requests from the JSONL of an engine's time stamps. Its arrivals are of another clock, so the first request aligns
--- the two.
--- @param lines table list of {where, document}
function measured_requests.of_stamps(lines)
  local requests, first = {}, lines[1].document
  for i, line in ipairs(lines) do
    local row = line.document
    for _, key in ipairs(stamps) do fields.needed(line.where, row, key, most_stamp_s) end
    local arrival_s = row.arrival_time - first.arrival_time
    local function since(stamp) return stamp - first.queued_ts - arrival_s end
    requests[i] = fields.in_order(line.where, { arrival_s = arrival_s, failed = false,
      prompt_tokens = fields.needed(line.where, row, "input_toks", most_tokens),
      output_tokens = fields.needed(line.where, row, "output_toks", most_tokens),
      ttft_s = since(row.first_token_ts), e2e_s = since(row.last_token_ts) })
  end
  return requests
end

local function mean_of(report, ...)
  local found = report
  for _, key in ipairs { ... } do found = type(found) == "table" and found[key] or nil end
  return type(found) == "table" and found.mean or nil
end

--- The totals of an inference-perf report: figures, and the settings of the run.
---@param document any what the file at `path` holds
function measured_requests.inference_perf(path, document)
  local successes = type(document) == "table" and document.successes
  if type(successes) ~= "table" or type(successes.latency) ~= "table" then
    fail("%s: expected what vllm bench serve writes with --save-detailed (input_lens, output_lens, ttfts and itls), "
      .. "or a report of inference-perf (successes.latency); it has neither", path)
  end
  local ttft = successes.latency.time_to_first_token
  return {
    e2e_mean = mean_of(successes, "latency", "request_latency"),
    ttft_mean = mean_of(successes, "latency", "time_to_first_token"), ttft_p50 = ttft and (ttft.median or ttft.p50),
    tpot_mean = mean_of(successes, "latency", "time_per_output_token"),
  }, {
    prompt_tokens = mean_of(successes, "prompt_len"), output_tokens = mean_of(successes, "output_len"),
    rate_per_s = document.load_summary and document.load_summary.achieved_rate,
    duration_s = document.load_summary and document.load_summary.send_duration,
  }
end

--- The requests in order of arrival; those of one instant keep the order of the file.
function measured_requests.sort(requests)
  local place = {}
  for i, request in ipairs(requests) do place[request] = i end
  table.sort(requests, function(a, b)
    if a.arrival_s ~= b.arrival_s then return a.arrival_s < b.arrival_s end
    return place[a] < place[b]
  end)
end

return measured_requests
