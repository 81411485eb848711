-- What a scenario says of its machine and its load, for files in the formats of other tools.
local core = require "rooflua.base.core"
local bench = require "rooflua.serving.bench"
local encoders = require "rooflua.serving.encoders"
local policies = require "rooflua.serving.policies"
local replicas = require "rooflua.serving.replicas"

local facts = {}

--- GPUs and engines by the role of their replicas, and those that only encode. A rank of attention is a part of an
--- engine.
local function machines_of(list, pool)
  local gpus, engines = { both = 0, prefill = 0, decode = 0 }, { both = 0, prefill = 0, decode = 0 }
  for _, each in ipairs(list) do
    local role, deployment = each.config.role, each.deployment
    gpus[role] = gpus[role] + deployment.tp * deployment.cp * deployment.pp
    if each.rank == 1 then
      engines[role], gpus[role] = engines[role] + 1, gpus[role] + deployment.expert_gpus
    end
  end
  gpus.encode, engines.encode = encoders.gpus(pool), pool and pool.count or 0
  return gpus, engines
end

local function has_frontend(given)
  for name, value in pairs(given.frontend and core.plain(given.frontend) or {}) do
    local is_time = name == "endpoint" or name:find "_s$"
    if is_time and value ~= 0 and value ~= "none" then return true end
  end
  return false
end

--- {model, hardware, precision, tp, pp, dp, ep, cp, expert_gpus} of the first replica, {gpus, engines} by role
--- (both, prefill, decode, encode),
--- speculates, frontend (whether requests spend time outside of the engine), and as far as the workload says them
--- rate_per_s with burstiness (math.huge: equal gaps), clients, workload (its name). `policies`: serving/policies.lua.
function facts.of(reader, given)
  local list = replicas.of(reader, given)
  local first, speculates = list[1], false
  for _, each in ipairs(list) do speculates = speculates or each.speculation ~= false end
  local traffic = bench.of(reader, given, first.prepared.model)
  local deployment, rate = first.deployment, traffic.request_rate
  local out = { model = traffic.model, hardware = first.prepared.hardware.name, precision = deployment.weights,
    tp = deployment.tp, pp = deployment.pp, dp = deployment.dp, ep = deployment.ep, cp = deployment.cp,
    expert_gpus = deployment.expert_gpus,
    speculates = speculates, frontend = has_frontend(given), clients = traffic.max_concurrency,
    workload = given.workload.name }
  out.gpus, out.engines = machines_of(list, encoders.of(reader, given))
  out.policies = policies.of(given, first)
  if traffic.burstiness and type(rate) == "number" then
    out.rate_per_s, out.burstiness = rate, traffic.burstiness
  end
  return out
end

return facts
