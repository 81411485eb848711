-- What is hidden in synthetic traces is found: slow operations, kernels that run twice, kernels of older GPUs, gaps of
-- the host. 30 traces; with ROOFLUA_SCENARIOS=300 so many.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.profile.command"
local random = require "rooflua.random"
local synthetic = dofile "tests/scripts/profile/synthetic.lua"

local count = tonumber(os.getenv "ROOFLUA_SCENARIOS" or 30)
local stream = random.streams(85):stream "hidden"
local function pick(list) return list[stream:integer(1, #list)] end

local path = os.tmpname()
local models = { { "llama-3.1-8b", 1 }, { "llama-3.1-8b", 2 }, { "qwen3-32b", 2 }, { "qwen3-30b-a3b", 1 },
  { "gpt-oss-20b", 1 }, { "qwen3-30b-a3b", 2 } }
local priced_by_key = {}

local function drawn()
  local model = pick(models)
  local decodes, context = pick { 8, 32, 64 }, pick { 500, 4000 }
  local has_prompt = stream:uniform() < 0.25
  local given = { decode_contexts = {}, prefills = has_prompt and { { new_tokens = 1024, context_tokens = 0 } } or nil }
  for i = 1, decodes do given.decode_contexts[i] = context end
  local key = table.concat({ model[1], model[2], decodes, context, tostring(has_prompt) }, " ")
  local priced = priced_by_key[key] or synthetic.price(model[1], "h200-sxm", model[2], given)
  priced_by_key[key] = priced
  return { model = model, decodes = decodes, context = context, priced = priced, key = key, given = given,
    said = { decodes = decodes, prompts = has_prompt and 1 or 0, prompt_tokens = has_prompt and 1024 or 0 } }
end

--- An operation of the step that takes at least 2 % of it.
local function operation_of(case)
  local names, step_s = {}, case.priced.priced.time_s
  for _, each in ipairs(case.priced.of.list) do
    local is_merged = each.class == "attention" and case.priced.of.by_name.attention_decode
      and case.priced.of.by_name.attention_prefill
    if each.table_s > 0.02 * step_s then names[#names + 1] = is_merged and "attention" or each.name end
  end
  return pick(names)
end

local function hide(case)
  local hidden = { steps = 3, graphs = stream:uniform() < 0.5, ranges = stream:uniform() < 0.8 }
  local kind = pick { "slow", "slow", "gap", "twice", "old" }
  hidden.kind = kind
  if kind == "gap" then
    local host_s = case.priced.of.host_s -- which the step model has itself
    hidden.gap_us = 1e6 * (case.priced.priced.time_s * stream:uniform(0.1, 0.5) + 2 * host_s)
    hidden.call = "schedule_next_batch"
  else
    hidden.operation, hidden.factor = operation_of(case), stream:uniform(1.3, 3)
    if kind == "twice" then
      local class = (case.priced.of.by_name[hidden.operation] or {}).class
      if class ~= "gemm" and class ~= "all_reduce" then kind, hidden.kind = "slow", "slow" end
    end
    if kind == "old" and (case.priced.of.by_name[hidden.operation] or {}).class ~= "gemm" then hidden.kind = "slow" end
    if hidden.kind == "twice" then hidden.twice = hidden.operation else hidden.slow = hidden.operation end
    if hidden.kind == "old" then hidden.old = hidden.operation end
  end
  return hidden
end

local function seconds_hidden(hidden, case)
  if hidden.kind == "gap" then
    return hidden.gap_us * 1e-6 * (hidden.steps - 1) / hidden.steps - case.priced.of.host_s
  end
  local of = case.priced.of.by_name
  local table_s = of[hidden.operation] and of[hidden.operation].table_s
    or of.attention_decode.table_s + of.attention_prefill.table_s
  return hidden.kind == "twice" and table_s or (hidden.factor - 1) * table_s
end

local function wrong_of(answer, hidden, case)
  local first = answer.causes[1]
  if not first then return "no cause is found" end
  local expected_s = seconds_hidden(hidden, case)
  local name = hidden.kind == "gap" and hidden.call or hidden.operation
  local said = ("first is %s %s, %.4g us"):format(first.kind, first.name, 1e6 * first.saves_s)
  if hidden.kind == "twice" then
    if first.kind ~= "twice" and first.name ~= name then return said end
  elseif first.name ~= name then
    return said
  end
  if hidden.kind == "old" and first.kind ~= "fallback" then return said .. ", no fallback" end
  if math.abs(first.saves_s - expected_s) > 0.05 * expected_s + 2e-6 then return said end
  local sum = answer.gaps_s + answer.between_s + answer.unknown_s
  for _, each in ipairs(answer.operations) do sum = sum + each.measured_s end
  if math.abs(sum - answer.step_s) > 1e-3 * answer.step_s then
    return ("operations and idle times are %.4g us, the step %.4g us"):format(1e6 * sum, 1e6 * answer.step_s)
  end
  return nil
end

test(("what is hidden in %d traces is found"):format(count), function()
  local missed = {}
  for i = 1, count do
    local case = drawn()
    local hidden = hide(case)
    local file = assert(io.open(path, "w"))
    file:write((synthetic.trace(case.priced, case.said, hidden)))
    file:close()
    local given = { files = { path }, context = case.context,
      engine = { prepared = case.priced.prepared, bound = case.priced.bound } }
    if not hidden.ranges then
      given.batch = { decode_contexts = case.given.decode_contexts, prefills = case.given.prefills }
    end
    local ok, answer = pcall(command.answer, given)
    local wrong = not ok and tostring(answer) or wrong_of(answer, hidden, case)
    if wrong then
      missed[#missed + 1] = ("%d: %s, %s of %s (%.4g us)%s%s: %s"):format(i, case.key, hidden.kind,
        tostring(hidden.operation or hidden.call), 1e6 * seconds_hidden(hidden, case),
        hidden.graphs and ", graphs" or "", hidden.ranges and "" or ", no ranges", wrong)
    end
  end
  test.check(#missed == 0, "%d of %d are not found:\n%s", #missed, count, table.concat(missed, "\n"))
end)

os.remove(path)
test.finish()
