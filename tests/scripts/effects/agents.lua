-- Workloads of agents: what scenes.lua has of them.
local json = require "rooflua.json"

local agents = {}

--- A play with an agent that it starts, long pauses and a request that is much longer than the others.
local function captured(number)
  local function n(t, tokens, out, ids)
    return { t = t, type = "n", ["in"] = tokens, out = out, hash_ids = json.array(ids), api_time = 1 }
  end
  return json.encode { id = "play-" .. number, models = json.array { "m" }, block_size = 64, hash_id_scope = "local",
    requests = json.array { n(0, 200, 20, { 1, 2, 3 }), n(3, 330, 30, { 1, 2, 3, 4, 5 }),
      { t = 5, type = "subagent", agent_id = "a", requests = json.array { n(5, 130, 5, { 9, 10 }),
        n(8, 260, 5, { 9, 10, 11, 12 }) } },
      n(12, 150 + number, 9, { 1, 2 }), n(24, 390, 9, { 1, 2, 3, 4, 5, 6 }), n(26, 1500, 3, { 1, 2, 3, 4, 5, 6 }),
      n(28, 400, 9, { 1, 2, 3, 4, 5, 6 }), n(30, 420, 9, { 1, 2, 3, 4, 5, 6 }) } } .. "\n"
end

local function rows()
  local out = {}
  for i = 1, 6 do
    out[i] = json.encode { session_id = i % 2, input_length = 500 + 30 * i, output_length = 5,
      hash_ids = json.array { 1, 2 }, timestamp = i < 3 and 300 * i or nil, delay = i >= 3 and 100 or nil }
  end
  return table.concat(out, "\n") .. "\n"
end

function agents.declare(effects, test)
  local plays = test.file("plays.jsonl", captured(1) .. captured(2) .. captured(3) .. captured(4))
  local sessions = test.file("sessions.jsonl", rows())
  local needs, values = effects.needs, effects.values
  needs["workloads.agent"] = { plays = 4, lanes = 2, turns = 8, system_tokens = 300, first_tokens = 200,
    growth_tokens = 150, output_tokens = 30, max_context_tokens = 1024, summary_tokens = 200, reasoning_share = 0.4,
    tool_time_s = 0.2, pause_probability = 0.3, pause_s = 1, edit_probability = 0.4, side_probability = 0.3,
    sub_agent_probability = 0.5, sub_agent_turns = 2, sub_agent_system_tokens = 200, sub_agent_task_tokens = 100,
    cancel_probability = 0.4, cancel_after_s = 0.05 }
  for key, value in pairs { turns = 3, first_tokens = 400, growth_tokens = 300, output_tokens = 60, sub_agents = 2,
    sub_agent_turns = 4, sub_agent_task_tokens = 400, max_output_tokens = 20 } do
    values["workloads.agent." .. key] = { value }
  end
  values["workloads.agent.max_context_tokens"] = { 2048 }
  needs["workloads.agentx"] = { path = plays, lanes = 2, duration_s = 30, warmup_requests = 1 }
  values["workloads.agentx.path"] = { test.file("others.jsonl", captured(40) .. captured(50)) }
  values["workloads.agentx.max_context_tokens"] = { 1000 }
  values["workloads.agentx.max_output_tokens"], values["workloads.plays.max_output_tokens"] = { 2 }, { 2 }
  values["workloads.agentx.duration_s"] = { 5 }
  values["workloads.agentx.start_min"], values["workloads.agentx.start_max"] = { 0 }, { 0.3 }
  values["workloads.agentx.warmup_requests"], values["workloads.agentx.idle_cap_s"] = { 0 }, { 1 }
  needs["workloads.plays"] = { path = plays, lanes = 2 }
  needs["workloads.plays.hash_block_tokens"] = { path = sessions }
  values["workloads.plays.hash_block_tokens"] = { 128 }
  values["workloads.plays.path"] = { sessions }
  values["workloads.plays.idle_cap_s"], values["workloads.plays.limit"] = { 1 }, { 1 }
  values["workloads.plays.lanes"] = { 1 }
  needs["workloads.rollout"] = { batches = 3, prompts = 4, samples = 2, prompt_tokens = 200, over_sampling = 1.5,
    output_tokens = { distribution = "uniform", min = 5, max = 60 }, budget_tokens = 40 }
  values["workloads.rollout.prompt_tokens"], values["workloads.rollout.output_tokens"] = { 400 }, { 30 }
  values["workloads.rollout.max_output_tokens"] = { 20 }
  needs["workloads.rollout.keep_kv"] = { batches = 3, prompts = 4, samples = 2, prompt_tokens = 200,
    over_sampling = 1.5, output_tokens = { distribution = "uniform", min = 5, max = 60 }, rest = "continue" }
  local Poisson = require "workloads.poisson"
  local function part(name, more)
    local out = { name = name, workload = Poisson { num_requests = 9, rate_per_s = 5 } }
    for key, value in pairs(more or {}) do out[key] = value end
    return out
  end
  needs["workloads.mix"] = { parts = { part "a", part "b" } }
  values["workloads.mix.parts"] = { { part "a" } }
  needs["workloads.day"] = { of = Poisson { num_requests = 30, rate_per_s = 5 }, hour_s = 0.5, noise = 0.3,
    weekdays = { 1, 1, 1, 1, 1, 0.5, 0.25 } }
  values["workloads.day.of"] = { Poisson { num_requests = 20, rate_per_s = 5 } }
  local hours = {}
  for i = 1, 24 do hours[i] = i end
  values["workloads.day.hours"], values["workloads.day.weekdays"] = { hours }, { { 1, 2, 3, 4, 5, 6, 7 } }
  values["workloads.day.start_hour"] = { 130 }
  values["workloads.piecewise.intervals"] = { { { duration_s = 9, rate_per_s = 5, prompt_tokens = 99,
    output_tokens = 9 } } }
  for _, what in ipairs { "prompt", "output" } do
    needs[("workloads.piecewise.most_%s_tokens"):format(what)] = { [what .. "_sigma"] = 1 }
    values[("workloads.piecewise.most_%s_tokens"):format(what)] = { 100 }
  end
  for _, name in ipairs { "multi_turn", "chat" } do
    needs["workloads." .. name] = { sessions = 12, session_rate_per_s = 5, turns = 3, think_time_s = 0.5,
      system_tokens = 300, tenants = 3, prompt_tokens = 50, output_tokens = 20 }
    values["workloads." .. name .. ".tenants"] = { { acme = 1, beta = 9 } }
    values["workloads." .. name .. ".turns"], values["workloads." .. name .. ".prompt_tokens"] = { 2 }, { 90 }
    values["workloads." .. name .. ".output_tokens"] = { 9 }
    values["workloads." .. name .. ".max_output_tokens"] = { 7 }
    values["workloads." .. name .. ".max_context_tokens"] = { 400 }
  end
end

return agents
