-- Requests of `profile_export.jsonl`, which AIPerf writes with a line per request.
-- Source: github.com/ai-dynamo/aiperf, docs/tutorials/working-with-profile-exports.md, common/models/record_models.py
--
-- Times in `metadata` are nanoseconds since 1970. A number here has 53 bits, so a stamp is exact to 256 ns; latencies
-- are in `metrics` with their unit, and are taken from there.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local aiperf = {}
local fail = core.fail

local units_per_s = { ns = 1e9, us = 1e6, ms = 1e3, s = 1, sec = 1, seconds = 1 }

--- A latency in seconds, by the unit that stands beside it.
local function latency_s(where, line, name, hint)
  local key = "metrics." .. name
  if fields.at(line, key) == nil then fail("%s: %s: is missing%s", where, key, hint or "") end
  local unit = fields.at(line, key .. ".unit")
  local scale = units_per_s[unit]
  if not scale then
    fail("%s: %s.unit: expected ns, us, ms or s, found %s", where, key, core.describe(unit))
  end
  return fields.needed(where, line, key .. ".value", 1e18) / scale
end

--- Reasoning tokens are generated too: output_sequence_length counts them, output_token_count does not.
local function output_tokens(where, line)
  return fields.number(where, line, "metrics.output_sequence_length.value", fields.most_tokens)
    or fields.number(where, line, "metrics.output_token_count.value", fields.most_tokens)
end

--- What the prompt is: requests of the same conversation and turn of the data set send the same text.
local function prompt_of(line)
  local conversation = fields.at(line, "metadata.conversation_id")
  if conversation == nil then return nil end
  return ("%s/%s"):format(tostring(conversation), tostring(fields.at(line, "metadata.turn_index") or 0))
end

--- Numbers equal prompts, where there are any. The turns of one conversation share nothing here, because the file does
--- not say how much of a prompt is history.
local function number_prompts(requests)
  local numbers, distinct = {}, 0
  for _, each in ipairs(requests) do
    if each.prompt == nil then return end
    if not numbers[each.prompt] then numbers[each.prompt], distinct = distinct, distinct + 1 end
  end
  if distinct == #requests then return end
  for _, each in ipairs(requests) do each.prompt_id = numbers[each.prompt] end
end

local function request_of(where, line)
  local request = { prompt = prompt_of(line),
     failed = fields.at(line, "error") ~= nil or fields.at(line, "metadata.was_cancelled") == true,
    start_ns = fields.needed(where, line, "metadata.request_start_ns", 1e19) }
  request.prompt_tokens = fields.number(where, line, "metrics.input_sequence_length.value", fields.most_tokens)
    or fields.number(where, line, "metrics.error_isl.value", fields.most_tokens)
  request.output_tokens = output_tokens(where, line)
  if request.failed then return request end
  if not request.prompt_tokens then fail("%s: metrics.input_sequence_length: is missing", where) end
  if not request.output_tokens then fail("%s: metrics.output_sequence_length: is missing", where) end
  request.ttft_s = latency_s(where, line, "time_to_first_token", "; AIPerf measures it with --streaming")
  request.e2e_s = latency_s(where, line, "request_latency")
  return fields.in_order(where, request)
end

--- @param lines table list of {where, document}
--- @return table list with the one run
function aiperf.read(path, lines)
  local requests, warm_up, first_ns = {}, 0, math.huge
  for _, each in ipairs(lines) do
    local phase = fields.at(each.document, "metadata.benchmark_phase")
    if phase ~= nil and phase ~= "profiling" then
      warm_up = warm_up + 1
    else
      local request = request_of(each.where, each.document)
      requests[#requests + 1] = request
      first_ns = math.min(first_ns, request.start_ns)
    end
  end
  if #requests == 0 then fail("%s: no data: every request is of the warm-up", path) end
  number_prompts(requests)
  for _, each in ipairs(requests) do
    each.arrival_s, each.start_ns, each.prompt = (each.start_ns - first_ns) / 1e9, nil, nil
  end
  local notes = {}
  if fields.at(lines[1].document, "metadata.worker_id") == fields.simulated then notes[1] = fields.simulated_note end
  if warm_up > 0 then notes[#notes + 1] = ("%d requests of the warm-up are left out"):format(warm_up) end
  return { { requests = requests, notes = notes } }
end

return aiperf
