--- Equal gaps between arrivals.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Constant: rooflua.Workload
local Constant = policy.define {
  name = "constant",
  doc = "Open loop, one request every 1 / rate seconds.",
  source = "vllm bench serve: burstiness = inf",
  params = arrivals.parameters(),
}

local function gap(state)
  return 1 / state.rate
end

---@param rng rooflua.Random
function Constant:requests(rng)
  return arrivals.open_loop(self, rng, gap)
end

return Constant
