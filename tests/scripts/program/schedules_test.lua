-- Schedules of two logs, compared step by step (`rooflua diff --schedule`).
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local differences = require "rooflua.schedules.differences"

local function written(text, suffix)
  local path = test.file(suffix or ".json")
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

--- Random steps as SGLang's batches are: prompts alone or decodes alone. A step is {chunks = {{context, new}},
--- contexts = {of each decode}}.
local function random_steps(count, random)
  local steps = {}
  for i = 1, count do
    local step = { chunks = {}, contexts = {} }
    local list = random:uniform() < 0.3 and step.chunks or step.contexts
    for k = 1, 1 + math.floor(random:uniform() * 5) do
      local context = math.floor(random:uniform() * 1000)
      list[k] = list == step.chunks and { context, 2 + math.floor(random:uniform() * 500) } or context
    end
    steps[i] = step
  end
  return steps
end

local function sum(list)
  local total = 0
  for _, each in ipairs(list) do total = total + each end
  return total
end

local function as_trace(steps)
  local events = json.array { { ph = "M", pid = 7, name = "process_name", args = { name = "replica" } } }
  for i, step in ipairs(steps) do
    local prefills = json.array {}
    for k, chunk in ipairs(step.chunks) do prefills[k] = ("%d: %d+%d"):format(k, chunk[1], chunk[2]) end
    events[#events + 1] = { ph = "X", pid = 7, args = { step = i - 1, decodes = #step.contexts,
      decode_context_tokens = sum(step.contexts), prefills = prefills } }
  end
  return json.encode { traceEvents = events }
end

local function as_sglang(steps)
  local lines = {}
  for i, step in ipairs(steps) do
    local requests = json.array {}
    for _, chunk in ipairs(step.chunks) do requests[#requests + 1] = json.array { chunk[2], chunk[1] } end
    for _, context in ipairs(step.contexts) do requests[#requests + 1] = json.array { 1, context + 1 } end
    lines[i] = json.encode { requests = requests, forward_latency = 0.01, cpu_overhead = 0 }
  end
  return table.concat(lines, "\n") .. "\n"
end

local function as_vllm(steps, engine)
  local lines = { "INFO 12-22 21:44:39 [core.py:1] Initializing a V1 LLM engine" }
  for i, step in ipairs(steps) do
    local tokens = 0
    for _, chunk in ipairs(step.chunks) do tokens = tokens + chunk[2] end
    lines[#lines + 1] = ("(%s pid=20) INFO 12-22 21:44:40 [core.py:349] Iteration(%d): %d context requests, %d context "
      .. "tokens, %d generation requests, %d generation tokens, iteration elapsed time: 10.99 ms"):format(
      engine or "EngineCore_DP0", i - 1, #step.chunks, tokens, #step.contexts, #step.contexts)
    if i % 7 == 0 then
      lines[#lines + 1] = lines[#lines]:gsub("%d+ (%a+ %a+)", "0 %1") .. " (dummy)"
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local random = rooflua.random.streams(3):stream "schedules"
local steps = random_steps(60, random)
local trace, sglang = written(as_trace(steps)), written(as_sglang(steps), ".jsonl")
local vllm = written(as_vllm(steps), ".log")

test("one schedule is the same in all logs", function()
  for _, other in ipairs { trace, sglang, vllm } do
    local found = differences.of(trace, other)
    test.check(found.is_same, "%s", found.text)
    test.check(found.text:find "the same schedule: 60 steps", "%s", found.text)
    test.check(differences.of(other, trace).is_same, "%s the other way round", other)
  end
  test.check(differences.of(sglang, vllm).is_same, "SGLang against vLLM")
  test.check(differences.of(trace, vllm).text:find "not compared", "what vLLM's log does not say is told")
end)

test("a token more in any step is found there", function()
  for i = 1, #steps do
    local changed = {}
    for k, step in ipairs(steps) do changed[k] = step end
    local step = { chunks = {}, contexts = {} }
    for k, chunk in ipairs(steps[i].chunks) do step.chunks[k] = { chunk[1], chunk[2] + (k == 1 and 1 or 0) } end
    for k, context in ipairs(steps[i].contexts) do step.contexts[k] = context + (k == 1 and 1 or 0) end
    changed[i] = step
    for _, write in ipairs { as_trace, as_sglang, as_vllm } do
      local is_blind = write == as_vllm and #step.chunks == 0 -- its log has no contexts
      local found = differences.of(trace, written(write(changed)))
      test.equal(found.is_same, is_blind)
      if not is_blind then
        test.check(found.text:find("step " .. i .. "\n", 1, true), "step %d: %s", i, found.text)
        test.check(found.text:find "1 of 60 steps differ", "%s", found.text)
      end
    end
  end
end)

test("missing steps are told", function()
  local shorter = {}
  for i = 1, 55 do shorter[i] = steps[i] end
  local found = differences.of(trace, written(as_sglang(shorter)))
  test.equal(found.is_same, false)
  test.check(found.text:find "A has 5 steps more", "%s", found.text)
end)

test("files that are no schedules of one engine are refused", function()
  local function refused(text, words)
    local path = written(text)
    local ok, problem = pcall(differences.of, path, trace)
    test.check(not ok and tostring(problem):find(words, 1, true) and tostring(problem):find(path, 1, true), "%s: %s",
      words, tostring(problem))
  end
  refused("nothing", "is no schedule that is known")
  refused('{"traceEvents": []}', "has no steps")
  refused('{"requests": [[1]], "forward_latency": 0}\n', "requests[1]")
  refused('{"requests": [], "forward_latency": 0}\n', "has no steps")
  refused(as_vllm(steps) .. as_vllm(steps, "EngineCore_DP1"), "several engines")
  local one = json.decode(as_trace(steps))
  one.traceEvents[3].pid = 8
  refused(json.encode(one), "several replicas")
  one.traceEvents[3].pid, one.traceEvents[3].args.rows = 7, json.array {}
  refused(json.encode(one), "verify drafts")
  one.traceEvents[3].args.rows, one.traceEvents[3].args.prefills = nil, json.array { "x" }
  refused(json.encode(one), "expected a prefill")
  local ok, problem = pcall(differences.of, "/nowhere", trace)
  test.check(not ok and tostring(problem):find "/nowhere", "%s", tostring(problem))
end)


test.finish()
