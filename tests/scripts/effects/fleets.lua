-- Parameters of autoscalers and keys of pools: what scenes.lua has of them.
local fleets = {}

--- Two crowds with a pause between them, at replicas of few seats: some start, some go, and at the end all are idle.
local function crowds(count)
  return require "workloads.burst" { rate_per_s = 0.3, burst_rate_per_s = 20, period_s = 30, burst_s = 6,
    num_requests = count or 330, prompt_tokens = { distribution = "uniform", min = 20, max = 3000 },
    output_tokens = { distribution = "uniform", min = 2, max = 200 } }
end

--- A pool of up to six, with an autoscaler.
local function pool(served, one, more)
  local entry = { autoscaler = one, min = 1, max = 6, count = 1, start = { init_s = 0.7 } }
  for key, value in pairs(more or {}) do entry[key] = value end
  return served { replicas = { entry }, router = "least_outstanding", workload = crowds(),
    deployment = { max_num_seqs = 6, kv_blocks = 1500 } }
end

--- Scenes of an autoscaler.
function fleets.scenes(served)
  return { function(one) return pool(served, one) end }
end

--- Values to try of parameters, and others that they need.
function fleets.declare(effects, served)
  local needs, values, own = effects.needs, effects.values, effects.own
  local quick = { interval_s = 1, target = 3, period_s = 2, down_window_s = 3, up_pods = 1, up_percent = 50 }
  local function of(name, file, more)
    local given = {}
    for key, value in pairs(quick) do given[key] = value end
    for key, value in pairs(more or {}) do given[key] = value end
    needs["autoscalers." .. file .. (name and "." .. name or "")] = given
  end
  for _, file in ipairs { "hpa", "keda" } do
    of(nil, file)
    of("up_pods", file, { up_percent = 0 })
    of("up_percent", file, { up_pods = 0, target = 1 })
    of("down_percent", file, { down_window_s = 0 })
    of("down_window_s", file, { down_window_s = 0 })
    values["autoscalers." .. file .. ".down_window_s"] = { 10 }
    of("up_window_s", file)
    values["autoscalers." .. file .. ".up_window_s"] = { 4 }
    values["autoscalers." .. file .. ".down_percent"] = { 10 }
    values["autoscalers." .. file .. ".period_s"] = { 6, 20 }
    values["autoscalers." .. file .. ".tolerance"] = { 0, 0.9 }
  end
  local idle = { function(one)
    local out = pool(served, one, { min = 0 })
    out.workload = require "workloads.burst" { rate_per_s = 0.05, burst_rate_per_s = 20, period_s = 60, burst_s = 3,
      num_requests = 130, prompt_tokens = 500, output_tokens = 100 }
    return out
  end }
  for _, name in ipairs { "activation", "cooldown_s", "polling_s" } do
    of(name, "keda", { cooldown_s = 5, polling_s = 2 })
    own["autoscalers.keda." .. name] = idle
  end
  values["autoscalers.keda.polling_s"], values["autoscalers.keda.cooldown_s"] = { 0.5, 10, 20 }, { 1, 30 }
  values["autoscalers.keda.activation"] = { 1, 2 }
  values["autoscalers.keda.triggers"] = { { { metric = "kv_used_frac", target = 0.1 } } }
  values["autoscalers.keda.metric"] = { "waiting", "arrivals", "kv_used_frac" }
  of("prefill_tokens_per_s", "keda", { metric = "backlog_s", target = 0.2, prefill_tokens_per_s = 20000 })
  values["autoscalers.keda.prefill_tokens_per_s"] = { 5000, 100000 }
  needs["autoscalers.target"] = { interval_s = 1, target = 5, window_s = 2 }
  values["autoscalers.target.window_s"] = { 1, 10 }
  needs["autoscalers.wva"] = { interval_s = 1 }
  values["autoscalers.wva.kv_threshold"] = { 0.2, 0.4 }
  values["autoscalers.wva.kv_spare_trigger"] = { 0.5, 0.7 }
  values["autoscalers.wva.queue_threshold"], values["autoscalers.wva.queue_spare_trigger"] = { 20 }, { 0, 5 }
  needs["autoscalers.planner_load"] = { interval_s = 1, kv_up = 0.3, kv_down = 0.1, grace_intervals = 2 }
  for _, name in ipairs { "queue_up", "queue_down" } do
    needs["autoscalers.planner_load." .. name] = { interval_s = 1, watch = "queue", grace_intervals = 0,
      queue_up = 4, queue_down = 1 }
  end
  values["autoscalers.planner_load.queue_up"], values["autoscalers.planner_load.queue_down"] = { 1, 20 }, { 0, 3.5 }
  values["autoscalers.planner_load.kv_up"], values["autoscalers.planner_load.kv_down"] = { 0.15, 0.8 }, { 0, 0.28 }
  needs["autoscalers.planner_sla"] = { interval_s = 2, prefill_tokens_per_s = 9000, decode_tokens_per_s = 600,
    ttft_s = 0.1, itl_s = 0.02 }
  needs["autoscalers.planner_sla.itl_s"] = { interval_s = 2, prefill_tokens_per_s = 0, decode_tokens_per_s = 600,
    itl_s = 0.005 }
  needs["autoscalers.planner_sla.ttft_s"] = { interval_s = 2, prefill_tokens_per_s = 9000, decode_tokens_per_s = 0 }
  values["autoscalers.planner_sla.ttft_s"], values["autoscalers.planner_sla.itl_s"] = { 2, 5 }, { 0.002, 0.5 }
  needs["autoscalers.planner_sla.prefill_tokens_per_s"] = { interval_s = 2, decode_tokens_per_s = 0 }
  values["autoscalers.planner_sla.prefill_tokens_per_s"] = { 2000, 5000 }
  values["autoscalers.planner_sla.decode_tokens_per_s"] = { 100, 5000 }
  local times = { times = { 0, 3, 12 }, replicas = { 1, 4, 2 }, interval_s = 1, period_s = 20 }
  needs["autoscalers.scheduled"] = times
  values["autoscalers.scheduled.times"], values["autoscalers.scheduled.replicas"] = { { 0, 1, 12 } }, { { 1, 2, 3 } }
  values["autoscalers.scheduled.period_s"] = { 30, 40 }
end

--- Keys of an entry of `replicas` that is a pool.
function fleets.add(add, served)
  local function swinging(more)
    return function()
      local out = pool(served, require "autoscalers.scheduled" { times = { 0, 2, 7, 9 }, replicas = { 1, 4, 1, 3 },
        interval_s = 0.5, period_s = 16 }, { count = 2, start = { provision_s = 0.2, image_bytes = 1e9,
        weight_bytes = "auto", init_s = 0.3, link = "store" } })
      out.links = { store = { bytes_per_s = 2e10, per = "cluster" }, other = { bytes_per_s = 1e10, per = "cluster" } }
      for key, value in pairs(more or {}) do out.replicas[1][key] = value end
      return out
    end
  end
  add(swinging(), { ["replicas.1.min"] = { 2 }, ["replicas.1.max"] = { 3 }, ["replicas.1.count"] = { 4 },
    ["replicas.1.autoscaler"] = { "hpa" }, ["replicas.1.drain"] = { "abort", "requeue" },
    ["replicas.1.start.provision_s"] = { 3 }, ["replicas.1.start.image_bytes"] = { 3e10 },
    ["replicas.1.start.weight_bytes"] = { 1e11 }, ["replicas.1.start.init_s"] = { 3 },
    ["replicas.1.start.link"] = { "other" } })
  add(swinging { grace_s = 0.2 }, { ["replicas.1.grace_s"] = { 0.05, 1 } })
end

return fleets
