--- What every open-loop workload does: gaps from one stream, prompt and answer lengths from two others,
--- so that changing a distribution does not shift the rest. The state is a plain table that can be copied.
local core = require "rooflua.core"
local lengths = require "rooflua.lengths"

local arrivals = {}

--- Parameters that open-loop workloads share.
function arrivals.parameters(more)
  local params = {
    rate_per_s = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Mean arrival rate." },
    num_requests = { default = 1000, unit = "requests", min = 1, integer = true,
      doc = "How many." },
    prompt_tokens = { default = 512, type = "any", unit = "tokens",
      doc = "Prompt length: a number or { distribution = ... }." },
    output_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Answer length, likewise." },
    prefix_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Prompt tokens that requests of one prefix group share, in front of prompt_tokens." },
    prefix_groups = { default = 1, unit = "groups", min = 1, integer = true,
      doc = "Prefix groups, drawn with equal probability." },
  }
  for name, declaration in pairs(core.table(more or {}, "arrivals.parameters")) do
    params[name] = declaration
  end
  return params
end

local function next_request(state)
  if state.sent >= state.count then return nil end
  state.sent = state.sent + 1
  state.clock_s = state.clock_s + state.gap(state)
  local prompt, output = state.prompt(state.prompts), state.output(state.outputs)
  if state.prefix_tokens == 0 then return state.clock_s, prompt, output end
  local group = state.groups:integer(1, state.prefix_groups)
  local content = { { group, state.prefix_tokens }, { 0, prompt } }
  return state.clock_s, prompt + state.prefix_tokens, output, { content = content }
end

--- The iterator of an open-loop workload.
--- @param gap function of the state: seconds to the next arrival, drawn from state.gaps
function arrivals.open_loop(workload, rng, gap)
  core.table(workload, "arrivals.open_loop: workload")
  if type(core.table(rng, "arrivals.open_loop: rng").stream) ~= "function" then
    core.fail "arrivals.open_loop: rng: expected the random streams that requests(rng) was given"
  end
  if type(gap) ~= "function" then
    core.fail("arrivals.open_loop: gap: expected a function, found %s", core.describe(gap))
  end
  return {
    next = next_request,
    gap = gap,
    gaps = rng:stream("arrivals"),
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    groups = rng:stream("prefix_groups"),
    prompt = lengths.sampler(workload.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(workload.output_tokens, "workload.output_tokens"),
    rate = workload.rate_per_s,
    prefix_tokens = workload.prefix_tokens or 0,
    prefix_groups = workload.prefix_groups or 1,
    shares_content = (workload.prefix_tokens or 0) > 0,
    workload = workload,
    count = workload.num_requests,
    sent = 0,
    clock_s = 0,
  }
end

return arrivals
