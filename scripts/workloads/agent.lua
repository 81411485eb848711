--- Coding agents: plays of many turns whose prompts repeat the context, with tools, agents that turns start, and users
--- who pause.
---
--- The defaults are those of public captures of a coding agent: medians, 90th and 99th percentiles of prompts, answers,
--- growth, pauses and turns, and the share of prompt tokens that a cache without end would hit.
local contexts = require "workloads.agents.contexts"
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Agent: rooflua.Workload
---@field plays integer
---@field lanes integer
local Agent = policy.define {
  name = "agent",
  doc = "Sessions of a coding agent, with tools and agents that it starts; requests wait for each other.",
  source = "statistics of semianalysisai/cc-traces-weka-051926 and -062126 (Apache-2.0)",
  params = {
    plays = { default = 100, unit = "plays", min = 1, integer = true, doc = "How many." },
    lanes = { default = 8, unit = "plays", min = 1, integer = true,
      doc = "Plays at once: the next one begins when one ends.", idle = { play_rate_per_s = { above = 0 } } },
    play_rate_per_s = { default = 0, unit = "plays/s", min = 0,
      doc = "Plays begin as Poisson at this rate, whatever still runs; 0: lanes." },
    turns = { default = { distribution = "lognormal", mean = 166, sigma = 0.94, max = 2000 }, type = "any",
      unit = "turns", doc = "Turns of the main agent: a number or { distribution = ... }." },
    system_tokens = { default = 20000, unit = "tokens", min = 0, integer = true,
      doc = "Tools and system prompt in front of every context of a main agent." },
    shared_system = { default = true, doc = "All plays have the same system prompt; false: each its own." },
    first_tokens = { default = { distribution = "lognormal", mean = 6600, sigma = 1.0, max = 200000 }, type = "any",
      unit = "tokens", doc = "First message: a number or { distribution = ... }." },
    growth_tokens = { default = { distribution = "lognormal", mean = 810, sigma = 1.95, max = 100000 }, type = "any",
      unit = "tokens", doc = "What tools and the user add after an answer: a number or { distribution = ... }." },
    output_tokens = { default = { distribution = "lognormal", mean = 768, sigma = 1.33, max = 32000 }, type = "any",
      unit = "tokens", doc = "Answer with its reasoning: a number or { distribution = ... }." },
    max_output_tokens = arrivals.limit_parameter(),
    reasoning_share = { default = 0, unit = "1", min = 0, max = 1,
      doc = "Part of an answer that is reasoning." },
    keep_reasoning = { default = false,
      doc = "The next prompt repeats the reasoning. False: it repeats the visible answer, which is computed again.",
      idle = { reasoning_share = 0 } },
    max_context_tokens = { default = 1000000, unit = "tokens", min = 1024, integer = true,
      doc = "A context that would exceed this is replaced by the system prompt and a summary." },
    summary_tokens = { default = 20000, unit = "tokens", min = 1, integer = true, doc = "Length of a summary." },
    tool_time_s = { default = 1.9, unit = "s", min = 0,
      doc = "Median time from an answer to the next turn; lognormal." },
    tool_time_sigma = { default = 1.8, unit = "1", min = 0, max = 10, doc = "Sigma of its logarithm.",
      idle = { tool_time_s = 0 } },
    pause_probability = { default = 0.025, unit = "1", min = 0, max = 1,
      doc = "Share of turns that wait for the user, not for a tool." },
    pause_s = { default = 500, unit = "s", min = 0, doc = "Median of such a pause; lognormal with a sigma of 1.",
      idle = { pause_probability = 0 } },
    edit_probability = { default = 0.028, unit = "1", min = 0, max = 1,
      doc = "Share of turns before which the harness changes something in the context; all after it is computed "
        .. "again." },
    edit_within = { default = 0.5, unit = "1", min = 0, max = 1,
      doc = "The change is within this front part of the context.", idle = { edit_probability = 0 } },
    side_probability = { default = 0.012, unit = "1", min = 0, max = 1,
      doc = "Share of turns with a short request beside them that has nothing of the context, as for a title." },
    sub_agent_probability = { default = 0.046, unit = "1", min = 0, max = 1,
      doc = "Share of turns that start agents; the next turn waits for them." },
    sub_agents = { default = 1, type = "any", unit = "agents",
      doc = "Agents that such a turn starts: a number or { distribution = ... }.",
      idle = { sub_agent_probability = 0 } },
    sub_agent_event = { default = "done", values = { "sent", "first_token", "done" },
      doc = "When they start: with the turn, at its first token, or when it is done.",
      idle = { sub_agent_probability = 0 } },
    sub_agent_turns = { default = { distribution = "lognormal", mean = 23, sigma = 1.55, max = 500 }, type = "any",
      unit = "turns", doc = "Requests of an agent that was started: a number or { distribution = ... }.",
      idle = { sub_agent_probability = 0 } },
    sub_agent_system_tokens = { default = 12000, unit = "tokens", min = 0, integer = true,
      doc = "Tools and system prompt of such an agent, the same for all.", idle = { sub_agent_probability = 0 } },
    sub_agent_task_tokens = { default = { distribution = "lognormal", mean = 5000, sigma = 1.0, max = 200000 },
      type = "any", unit = "tokens", doc = "Its task: a number or { distribution = ... }.",
      idle = { sub_agent_probability = 0 } },
    cancel_probability = { default = 0, unit = "1", min = 0, max = 1, doc = "Share of turns that the user stops." },
    cancel_after_s = { default = 5, unit = "s", min = 0, exclusive_min = true,
      doc = "Mean time from the first token to the stop; exponential.", idle = { cancel_probability = 0 } },
  },
}

--- Times of tools, and of users who pause.
local function tool_times(agent)
  local mu, pause = math.log(agent.tool_time_s), math.log(agent.pause_s)
  local sigma, probability = agent.tool_time_sigma, agent.pause_probability
  return function(stream)
    if probability > 0 and stream:uniform() < probability then
      return agent.pause_s > 0 and stream:lognormal(pause, 1) or 0
    end
    return agent.tool_time_s > 0 and stream:lognormal(mu, sigma) or 0
  end
end

local function next_play(state)
  if state.begun >= state.count then return nil end
  state.begun = state.begun + 1
  local play = contexts.play(state.own, state.begun)
  local sent = { name = play.name, rows = play.rows }
  if state.rate > 0 then
    state.clock_s = arrivals.in_time(state.clock_s + state.starts:exponential(state.rate), state.begun, state.count,
      "workload.play_rate_per_s")
    sent.arrival_s = state.clock_s
  end
  return sent
end

--- What plays are drawn from, and how. Every quantity has a random stream of its own.
local function drawn(agent, rng)
  local own = {
    reasoning_share = agent.reasoning_share, keep_reasoning = agent.keep_reasoning,
    system_tokens = agent.system_tokens, shared_system = agent.shared_system,
    sub_system_tokens = agent.sub_agent_system_tokens, summary_tokens = agent.summary_tokens,
    max_context_tokens = agent.max_context_tokens, room = 32000 < agent.max_context_tokens / 2 and 32000 or 0,
    edit_probability = agent.edit_probability, edit_within = agent.edit_within,
    side_probability = agent.side_probability, sub_agent_probability = agent.sub_agent_probability,
    sub_agent_event = agent.sub_agent_event, cancel_probability = agent.cancel_probability,
    cancel_after_s = agent.cancel_after_s, sub_class = 1, sessions = -1, limit = arrivals.limit(agent),
    tool_s = tool_times(agent),
  }
  for name, key in pairs { turn = "turns", first = "first_tokens", growth = "growth_tokens", output = "output_tokens",
    fan_out = "sub_agents", sub_turn = "sub_agent_turns", task = "sub_agent_task_tokens" } do
    own[name] = lengths.sampler(agent[key], "workload." .. key)
  end
  for name, stream in pairs { turns = "turns", firsts = "first_tokens", growths = "growth_tokens",
    outputs = "output_tokens", tools = "tool_time", edits = "edits", sides = "sides", subs = "sub_agents",
    sub_turns = "sub_agent_turns", sub_growths = "sub_agent_tokens", sub_tools = "sub_agent_tool_time",
    cancels = "cancels" } do
    own[name] = rng:stream(stream)
  end
  return own
end

---@param rng rooflua.Random
function Agent:requests(rng)
  return {
    plays = next_play,
    lanes = self.play_rate_per_s == 0 and self.lanes or nil,
    shares_content = true,
    own = drawn(self, rng),
    starts = rng:stream "arrivals",
    rate = self.play_rate_per_s,
    count = self.plays,
    begun = 0,
    clock_s = 0,
  }
end

return Agent
