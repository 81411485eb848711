-- The traffic of a workload in the words of vLLM's benchmark, for the file of `--requests`.
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"

local bench = {}

local function number(value)
  if type(value) ~= "number" then return nil end
  return value < math.huge and value or "inf"
end

--- {model, label, request_rate, burstiness, max_concurrency}, as far as the workload says them.
function bench.of(reader, given, model)
  local workload = policies.with_method(reader, "workload", given.workload, "requests")
  local parameters = policy.parameters(workload)
  local burstiness = { poisson = 1, gamma = parameters.shape, constant = math.huge,
    vllm_bench = parameters.burstiness }
  local most, ramp = parameters.clients or parameters.max_concurrency, parameters.ramp_up_strategy or ""
  return { model = model.name, label = given.title,
    request_rate = ramp ~= "" and "inf" or number(parameters.request_rate or parameters.rate_per_s),
    burstiness = number(burstiness[workload.name]), max_concurrency = most ~= 0 and number(most) or nil }
end

return bench
