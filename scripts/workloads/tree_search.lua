--- Programs that search a tree: a root call, and after each call several that depend on its answer.
---
--- A program has a number of calls, of which few programs have many. A call repeats the prompt and the answer of the
--- one
--- that it depends on, and adds tokens of its own. When a call ends, calls after it are sent, `branching` of them
--- or as
--- many as the program has left. A call that does not complete has none after it.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.TreeSearch: rooflua.Workload
---@field rate_per_s number
---@field num_programs integer
---@field branching integer
---@field large_calls integer
local TreeSearch = policy.define {
  name = "tree_search",
  doc = "Programs of calls that branch, as a search over thoughts sends them; classes: small and large programs.",
  source = "tree of thoughts: arXiv 2305.10601 (b = 5 states per step, depth 3); sizes with a heavy tail are assumed",
  params = {
    rate_per_s = { default = 1.0, unit = "programs/s", min = 0, exclusive_min = true, doc = "Programs that begin." },
    num_programs = { default = 100, unit = "programs", min = 1, integer = true, doc = "How many." },
    calls = { default = { distribution = "lognormal", mean = 12, sigma = 1.2, max = 400 }, type = "any", unit = "calls",
      doc = "Calls of a program: a number or { distribution = ... }." },
    branching = { default = 3, unit = "calls", min = 1, integer = true, doc = "Calls after each." },
    prompt_tokens = { default = 800, type = "any", unit = "tokens", doc = "Prompt of the root." },
    step_tokens = { default = 60, type = "any", unit = "tokens", doc = "What a call adds to the one in front of it." },
    output_tokens = { default = 150, type = "any", unit = "tokens", doc = "Answer of a call." },
    max_output_tokens = arrivals.limit_parameter(),
    large_calls = { default = 30, unit = "calls", min = 1, integer = true,
      doc = "Programs of so many calls are of the class large, others of small." },
    max_prompt_tokens = { default = 16384, unit = "tokens", min = 1, integer = true,
      doc = "A branch ends where the next prompt would be longer." },
  },
}

local SMALL, LARGE = 0, 1

local function new_content(state)
  state.contents = state.contents + 1
  return state.contents
end

--- A call after `parent`; nil: its prompt would be too long.
local function call_of(state, program, parent, at_s)
  local own = parent and state.step(state.prompts) or state.prompt(state.prompts)
  local content, prompt = {}, own
  for i, segment in ipairs(parent and parent.content or {}) do
    content[i] = { segment[1], segment[2] }
    prompt = prompt + segment[2]
  end
  if prompt > state.max_prompt then return nil end
  content[#content + 1] = { new_content(state), own }
  local output = arrivals.limited(state.limit, state.output(state.outputs))
  state.session = state.session + 1
  local call = { program = program, content = {}, output = output, output_content = new_content(state) }
  for i, segment in ipairs(content) do call.content[i] = { segment[1], segment[2] } end
  state.open[state.session] = call
  program.left = program.left - 1
  return { at_s, prompt, output, { session = state.session, program = program.id, class = program.class,
    content = content, output_content = call.output_content,
    max_output_tokens = state.limit == "exact" and output or state.limit > 0 and state.limit or nil } }
end

local function next_request(state)
  if state.begun >= state.programs then return nil end
  state.clock_s = state.clock_s + state.gaps:exponential(state.rate)
  local calls = math.max(1, state.calls(state.sizes))
  local program = { id = state.begun, left = calls, class = calls >= state.large and LARGE or SMALL }
  state.begun = state.begun + 1
  local call = call_of(state, program, nil, state.clock_s)
  if not call then error("workload.prompt_tokens: longer than workload.max_prompt_tokens", 0) end
  return call[1], call[2], call[3], call[4]
end

local function answered(state, now_s, session, _, completed)
  local call = state.open[session]
  state.open[session] = nil
  if not completed then return nil end
  call.content[#call.content + 1] = { call.output_content, call.output }
  local out = {}
  for _ = 1, math.min(state.branching, call.program.left) do
    out[#out + 1] = call_of(state, call.program, call, now_s)
  end
  return out
end

---@param rng rooflua.Random
function TreeSearch:requests(rng)
  return {
    next = next_request,
    done = answered,
    shares_content = true,
    classes = { "small", "large" },
    rate = self.rate_per_s,
    programs = self.num_programs,
    calls = lengths.sampler(self.calls, "workload.calls"),
    branching = self.branching,
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    step = lengths.sampler(self.step_tokens, "workload.step_tokens"),
    limit = arrivals.limit(self),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    large = self.large_calls,
    max_prompt = self.max_prompt_tokens,
    gaps = rng:stream "arrivals",
    sizes = rng:stream "calls",
    prompts = rng:stream "prompt_tokens",
    outputs = rng:stream "output_tokens",
    clock_s = 0,
    begun = 0,
    session = -1,
    contents = 0,
    open = {},
  }
end

return TreeSearch
