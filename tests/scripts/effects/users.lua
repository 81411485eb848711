-- What users of another workload's requests, and prefixes that decodes share, need to act, for effects_test.lua.
local users = {}

local function load(rate_per_s)
  return require "workloads.poisson" { rate_per_s = rate_per_s, num_requests = 40, output_tokens = 30,
    prompt_tokens = { distribution = "uniform", min = 20, max = 3000 } }
end

function users.add(effects)
  effects.needs["workloads.users"] = { of = load(40), clients = 5, think_time_s = 0.2 }
  effects.needs["corrections.shared_prefix"] = { prefix_tokens = 500, groups = 2 }
  effects.values["workloads.users.of"] = { require "workloads.poisson" { rate_per_s = 40, num_requests = 40,
    output_tokens = 90, prompt_tokens = 50 } }
end

return users
