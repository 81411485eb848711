--- Which router do agents want, and does it matter that a turn starts several agents at once?
---
--- Setup     Llama-3.1-8B, bf16, four replicas on one H100 each; 24 sessions of coding agents at once.
--- Method    A turn in ten starts one agent, or six at once. Routers: in turn, the fewest requests outstanding, by
---           session, by the prefix that a replica has.
--- Measures  Which part of the prompt tokens is found in caches, TTFT, how long a session takes.
--- Expect    By session, replicas have all but one or two points of what is possible; in turn, three quarters of it.
---           Prefix affinity lies between, with a p99 of TTFT ten times as high: all contexts begin with the same
---           system prompt, so that two replicas get nine requests in ten. Six agents at once cost every router some
---           points of reuse, except for prefix affinity, and make a session twice as long, because the next turn waits
---           for all six.
--- Limits    Agents of a session count as sessions of their own, so that `session` spreads them.
local function case(label, agents, router)
  return { label = label, set = { ["workload.sub_agents"] = agents, router = router } }
end

local cases = {}
for _, agents in ipairs { 1, 6 } do
  for _, router in ipairs { "round_robin", "least_outstanding", "session", "prefix_affinity" } do
    cases[#cases + 1] = case(("%d agent%s, %s"):format(agents, agents > 1 and "s" or "", router), agents, router)
  end
end

return {
  rooflua = 1,
  title = "Agents and routers",
  seed = 12,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = 131072 },
  replicas = 4,
  workload = require "workloads.agent" {
    plays = 48,
    lanes = 24,
    turns = { distribution = "lognormal", mean = 30, sigma = 0.6, max = 90 },
    max_context_tokens = 100000,
    pause_probability = 0,
    sub_agent_probability = 0.1,
    sub_agent_turns = { distribution = "lognormal", mean = 6, sigma = 0.8, max = 30 },
  },
  vary = { router = cases },
  report = function(results)
    local rows = { { "agents of a turn, router", "reuse %", "ideal %", "TTFT p50 ms", "TTFT p99 ms", "session p50 s" } }
    for _, result in ipairs(results) do
      local s, p = result.summary, result.summary.plays
      rows[#rows + 1] = { result.name:match "=(.*)", 100 * p.reuse, 100 * p.reuse_ideal, s.ttft_s.p50 * 1000,
        s.ttft_s.p99 * 1000, p.play_s.p50 }
    end
    return rows
  end,
}
