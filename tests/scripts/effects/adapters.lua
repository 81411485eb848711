-- Keys of adapters and the router that reads them: what scenes.lua has of them.
local adapters = {}

--- Requests with adapters that do not fit into the slots, nor into the memory of the host.
local function scene(served, more)
  local out = { steps = "kernels", adapters = { count = 8, max_loras = 2, store_bytes_per_s = 1e9 },
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 40, prompt_tokens = 400,
      output_tokens = 30 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return served(out)
end

--- Scenes of the router and the correction, and values of their parameters.
function adapters.declare(effects, served)
  effects.own["routers.adapter_affinity"] = { function(one)
    return scene(served, { replicas = 3, router = one, adapters = { count = 4, max_loras = 2, zipf = 2 } })
  end }
  effects.own["corrections.adapter_factor"] = { function(one)
    return scene(served, { corrections = { one } })
  end }
  effects.values["routers.adapter_affinity.most_ahead"] = { 1, 2 }
end

--- Adds the keys: values that change a result.
function adapters.add(add, served)
  add(function() return scene(served) end, {
    ["adapters.count"] = { 3 }, ["adapters.rank"] = { 64 }, ["adapters.max_loras"] = { 4 },
    ["adapters.max_lora_rank"] = { 256 }, ["adapters.max_cpu_loras"] = { 6 },
    ["adapters.target_modules"] = { { "qkv" } }, ["adapters.share"] = { 0.5 }, ["adapters.zipf"] = { 2 },
    ["adapters.weights"] = { { 9, 1, 1, 1, 1, 1, 1, 1 } }, ["adapters.load"] = { "admission" },
    ["adapters.load_s"] = { 0.1 }, ["adapters.host_bytes_per_s"] = { 1e9 },
    ["adapters.store_bytes_per_s"] = { 1e8 }, ["adapters.gemms"] = { false } })
end

return adapters
