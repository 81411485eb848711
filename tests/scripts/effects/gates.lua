-- Parameters of gates: what scenes.lua has of them.
local gates = {}

local function part(name, more)
  local out = { name = name, workload = require "workloads.poisson" { rate_per_s = 60, num_requests = 60,
    prompt_tokens = { distribution = "uniform", min = 20, max = 3000 },
    output_tokens = { distribution = "uniform", min = 2, max = 200 } } }
  for key, value in pairs(more) do out[key] = value end
  return out
end

--- Three tenants, two bands, some deadlines; replicas that are short of blocks and seats.
local function crowd()
  return require "workloads.mix" { parts = { part("a", { tenant = 0, program = 0 }),
    part("b", { tenant = 1, program = 1, deadline_s = 1.5 }),
    part("c", { tenant = 0, program = 2, deadline_s = 0.6 }),
    part("d", { tenant = 1, program = 3, priority = 1 }) } }
end

--- Scenes of a gate.
function gates.scenes(served)
  return { function(one)
    return served { replicas = 2, router = "least_outstanding", admission = one, workload = crowd(),
      slo = { ttft_s = 0.8 }, deployment = { kv_blocks = 1500 },
      scheduler = require "schedulers.vllm_v1" { max_num_seqs = 12 } }
  end }
end

local queueing = { "flow", "fair", "order", "count", "estimate_tokens", "prompt_weight", "output_weight",
  "half_life_s" }

--- A policy that holds, with a queue in which the parameter matters.
local function need(effects, file, holding, fair)
  local function set(name, own)
    local given = {}
    for key, value in pairs(holding) do given[key] = value end
    for key, value in pairs(own) do given[key] = value end
    effects.needs["admission." .. file .. "." .. name] = given
  end
  for _, name in ipairs(queueing) do set(name, { fair = fair }) end
  set("estimate_tokens", { fair = fair, count = "estimate" })
  set("half_life_s", { fair = "las" })
  set("flow", { fair = fair == "vtc" and "round_robin" or fair })
  for _, name in ipairs { "deadline_s", "slo_deadline", "max_held", "max_held_tokens", "interval_s" } do
    set(name, {})
  end
  set("most", { interval_s = 0.02 })
  set("expire_queued", { deadline_s = 0.3 })
  set("fair", {})
  set("order", { flow = "tenant" })
  effects.values["admission." .. file .. ".max_held"] = { 2, 10 }
  effects.values["admission." .. file .. ".max_held_tokens"] = { 5000, 20000 }
  effects.values["admission." .. file .. ".half_life_s"] = { 0.1, 0.5 }
  effects.values["admission." .. file .. ".most"] = { 1, 2 }
  effects.values["admission." .. file .. ".interval_s"] = { 0.05, 0.5 }
end

--- Values to try of parameters, and others that they need.
function gates.declare(effects)
  need(effects, "token_bucket", { full = "hold", capacity = 4000, rate_per_s = 100000 }, "vtc")
  need(effects, "saturation", { full = "hold" }, "vtc")
  need(effects, "concurrency", { max_concurrency = 20 }, "vtc")
  need(effects, "bands", { most = 0 }, "vtc")
  need(effects, "program_aware", { most = 0 }, "las")
  local needs, values = effects.needs, effects.values
  needs["admission.token_bucket.cost"] = { capacity = 20000, rate_per_s = 20000 }
  values["admission.token_bucket.cost"] = { "request" }
  needs["admission.token_bucket.rate_per_s"] = { capacity = 20000 }
  needs["admission.token_bucket.expire_queued"] = { full = "hold", capacity = 20000, rate_per_s = 1e6,
    deadline_s = 0.3 }
  for _, file in ipairs { "saturation", "bands", "program_aware", "early_reject" } do
    needs["admission." .. file .. ".credit"] = { staleness_s = 0.2 }
    values["admission." .. file .. ".staleness_s"] = { 0.3 }
  end
  needs["admission.early_reject.credit"] = { staleness_s = 0.2, ttft_s = 0.1 }
  needs["admission.early_reject.staleness_s"] = { ttft_s = 0.1 }
  needs["admission.early_reject.prefill_tokens_per_s"] = { ttft_s = 0.2 }
  values["admission.early_reject.ttft_s"] = { 0.1 }
  values["admission.early_reject.max_decodes"] = { 10 }
  values["admission.saturation.shed_from"] = { 1 }
  values["admission.concurrency.max_concurrency"], values["admission.concurrency.max_tokens"] = { 10 }, { 20000 }
  needs["admission.concurrency.max_tokens"], needs["admission.concurrency.full"] = { mode = "tokens" },
    { max_concurrency = 10 }
  needs["admission.concurrency.mode"] = { max_tokens = 20000 }
  for _, file in ipairs { "bands", "program_aware" } do
    needs["admission." .. file .. ".max_concurrency"] = { detector = "concurrency" }
    needs["admission." .. file .. ".max_tokens"] = { detector = "tokens" }
    values["admission." .. file .. ".max_concurrency"], values["admission." .. file .. ".max_tokens"] = { 8 }, { 15000 }
    values["admission." .. file .. ".min_ceiling"] = { 0.2 }
    needs["admission." .. file .. ".most"] = { interval_s = 0.02 }
  end
  values["admission.program_aware.output_weight"] = { 0, 50 }
  values["workloads.tree_search.calls"] = { 3, 40 }
  effects.without["admission.program_aware.fair"] = "it chooses itself, by service"
  for _, name in ipairs { "fair" } do values["admission.program_aware." .. name] = { "las" } end
end

return gates
