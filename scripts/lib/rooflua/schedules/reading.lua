-- Schedules: which work each step of an engine had, from logs of rooflua and of engines' own simulators.
--
-- A schedule is {name, says = {chunks, contexts, prompt_contexts, time}, unread, steps = list of {line, prefills,
-- prefill_tokens, prefill_context_tokens, decodes, decode_tokens, chunks, context_tokens, time_s, kernels_s}}. `chunks`
-- is a sorted list of "context+new" of every prompt, `context_tokens` the sum of the decodes' contexts before the step,
-- `prefill_context_tokens` that of the prompts, `time_s` what the step took, and `kernels_s` for how long of it kernels
-- ran; they are nil where the log does not have them. `unread`: columns that nothing reads.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local step_tables = require "rooflua.schedules.step_tables"

local reading = {}

local fail = core.fail

--- A new step; the chunks of its prompts are added by `add_chunk`.
local function new_step(line)
  return { line = line, prefills = 0, prefill_tokens = 0, decodes = 0, decode_tokens = 0, chunks = {},
    context_tokens = 0 }
end

local function add_chunk(step, context_tokens, new_tokens)
  step.prefills, step.prefill_tokens = step.prefills + 1, step.prefill_tokens + new_tokens
  table.insert(step.chunks, ("%d+%d"):format(context_tokens, new_tokens))
end

-- The trace of `rooflua run --trace` -------------------------------------------------------------------------------

local function is_trace(text)
  return text:find '^%s*{%s*"[^"]*"' ~= nil and text:find('"traceEvents"', 1, true) ~= nil
end

local function step_of_trace(where, args)
  local step = new_step(where)
  for _, text in ipairs(args.prefills) do
    local context_tokens, new_tokens = tostring(text):match "^%d+: (%d+)%+(%d+)$"
    if not context_tokens then fail("%s: expected a prefill as in \"3: 0+512\", found '%s'", where, tostring(text)) end
    add_chunk(step, tonumber(context_tokens), tonumber(new_tokens))
  end
  step.decodes, step.context_tokens = args.decodes, args.decode_context_tokens
  step.decode_tokens = args.decodes
  return step
end

local function read_trace(path, text)
  local steps, process = {}, nil
  for i, event in ipairs(json.decode(text).traceEvents or {}) do
    local args = type(event) == "table" and event.ph == "X" and event.args
    if args and args.step ~= nil then
      if args.rows ~= nil then
        fail("%s: its steps verify drafts, whose schedules depend on what is accepted; compare runs without "
          .. "speculation", path)
      end
      process = process or event.pid
      if event.pid ~= process then fail("%s: has steps of several replicas; trace a run of one", path) end
      local step = step_of_trace(("%s: event %d"):format(path, i), args)
      step.time_s = event.dur and 1e-6 * core.not_negative(event.dur, step.line .. ": dur")
      steps[#steps + 1] = step
    end
  end
  return { name = "rooflua run --trace", says = { chunks = true, contexts = true, time = true }, steps = steps }
end

-- The document of `rooflua trace` --------------------------------------------------------------------------------
--
-- Of each step the times in which kernels ran, and in which none did.

local function is_profile(text) return text:find('"schema"%s*:%s*"rooflua%.trace/') ~= nil end

local function read_profile(path, text)
  local steps = {}
  for i, each in ipairs(json.decode(text).steps or {}) do
    local where = ("%s: steps[%d]"):format(path, i)
    local step = step_of_trace(where, { prefills = {}, decodes = each.decodes or 0,
      decode_context_tokens = each.decode_context_tokens or 0 })
    for _, chunk in ipairs(each.prefills or {}) do
      local context_tokens, new_tokens = tostring(chunk):match "^(%d+)%+(%d+)$"
      if not context_tokens then fail("%s: prefills: expected \"0+512\", found '%s'", where, tostring(chunk)) end
      add_chunk(step, tonumber(context_tokens), tonumber(new_tokens))
    end
    step.time_s = core.not_negative(each.duration_s, where .. ": duration_s")
    step.kernels_s = math.max(0, step.time_s - core.not_negative(each.idle_s, where .. ": idle_s"))
    steps[i] = step
  end
  return { name = "rooflua trace", says = { chunks = true, contexts = true, time = true, kernels = true },
    steps = steps }
end

-- iteration.jsonl of SGLang's simulator ------------------------------------------------------------------------------
--
-- A line per batch; `requests` are pairs of new tokens and of tokens before them. A batch whose pairs all have one new
-- token decodes; another one is of prompts. The tokens before a decode's count its last sampled token, which the step
-- computes. [sgl-project/sglang tools/sglang-simulator, simulation/sglang/scheduler.py and time_predictor/base.py,
-- validated there with v0.5.16 to v0.5.18]

local function is_sglang(text)
  local first = text:match "^%s*(%b{})"
  return first ~= nil and first:find('"requests"', 1, true) ~= nil and first:find('"forward_latency"', 1, true) ~= nil
end

local function step_of_sglang(where, requests)
  local step, is_decode = new_step(where), true
  for i, pair in ipairs(requests) do
    if type(pair) ~= "table" or type(pair[1]) ~= "number" or type(pair[2]) ~= "number" then
      fail("%s: requests[%d]: expected [new tokens, tokens before], found %s", where, i, core.describe(pair))
    end
    is_decode = is_decode and pair[1] <= 1
  end
  for _, pair in ipairs(requests) do
    if is_decode then
      step.decodes, step.decode_tokens = step.decodes + 1, step.decode_tokens + 1
      step.context_tokens = step.context_tokens + pair[2] - 1
    else
      add_chunk(step, pair[2], pair[1])
    end
  end
  return step
end

local function read_sglang(path, text)
  local steps = {}
  for _, each in ipairs(native.json_documents(text, path)) do
    local where = ("%s:%d"):format(path, each.line)
    local requests = type(each.value) == "table" and each.value.requests
    if type(requests) ~= "table" then fail("%s: requests: is missing", where) end
    if #requests > 0 then steps[#steps + 1] = step_of_sglang(where, requests) end
  end
  return { name = "SGLang's simulator", says = { chunks = true, contexts = true }, steps = steps }
end

-- The log of vLLM with --enable-logging-iteration-details -------------------------------------------------------
--
-- A line per step: requests whose prompt is not yet computed and their tokens, the others and theirs, and the time.
-- Steps marked as dummy have no requests of their own. [vllm-project/vllm, pull request 31193; vllm/v1/engine/core.py,
-- log_iteration_details]

local iteration = "Iteration%(%d+%): (%d+) context requests?, (%d+) context tokens?, (%d+) generation requests?, "
  .. "(%d+) generation tokens?"

local function is_vllm(text) return text:find(iteration) ~= nil end

local function read_vllm(path, text)
  local steps, number, engine = {}, 0, nil
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local prompts, prompt_tokens, decodes, decode_tokens = line:match(iteration)
    if prompts and not line:find("(dummy)", 1, true) then
      local own = line:match "EngineCore[%w_]*" or ""
      engine = engine or own
      local elapsed = line:match "elapsed time: ([%d.]+) ms"
      if own ~= engine then fail("%s:%d: has steps of several engines (%s, %s); log one", path, number, engine, own) end
      steps[#steps + 1] = { line = ("%s:%d"):format(path, number), prefills = tonumber(prompts),
        prefill_tokens = tonumber(prompt_tokens), decodes = tonumber(decodes), decode_tokens = tonumber(decode_tokens),
        time_s = elapsed and 1e-3 * tonumber(elapsed) or nil }
    end
  end
  return { name = "vLLM's iteration log", says = { time = #steps > 0 and steps[1].time_s ~= nil }, steps = steps }
end

reading.formats = {
  { tells = is_profile, read = read_profile },
  { tells = is_trace, read = read_trace },
  { tells = is_sglang, read = read_sglang },
  { tells = is_vllm, read = read_vllm },
}
for _, format in ipairs(step_tables.formats) do table.insert(reading.formats, format) end

--- The format of a text; nil if it is no schedule.
local function format_of(text)
  for _, format in ipairs(reading.formats) do
    if format.tells(text) then return format end
  end
end

--- Whether a file is a schedule; false too if it cannot be read.
function reading.tells(path)
  local text = native.read_file(path)
  return text ~= nil and format_of(text) ~= nil
end

--- The schedule of a file.
function reading.of(path)
  local text, problem = native.read_file(path)
  if not text then fail("%s", problem) end
  local format = format_of(text)
  if not format then
    fail("%s: is no schedule that is known: the trace of rooflua run --trace, iteration.jsonl of SGLang's simulator, "
      .. "a log of vLLM with --enable-logging-iteration-details, forward-pass metrics as lines of JSON, or a CSV of "
      .. "steps, or the document of rooflua trace --json", path)
  end
  local schedule = format.read(path, text)
  if #schedule.steps == 0 then fail("%s: has no steps", path) end
  for _, step in ipairs(schedule.steps) do
    if step.chunks then table.sort(step.chunks) end
  end
  return schedule
end

return reading
