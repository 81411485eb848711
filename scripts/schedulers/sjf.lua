--- Shortest job first on top of vLLM V1's step: the queue is ordered by predicted work.
local policy = require "rooflua.policy"
local VllmV1 = require "schedulers.vllm_v1"

---@class schedulers.Sjf: schedulers.VllmV1
---@field output_weight number
---@field unknown_output_tokens integer
local Sjf = policy.define {
  name = "sjf",
  doc = "vLLM V1's step with the waiting queue ordered by predicted work, shortest first.",
  source = "Fu et al., Efficient LLM Scheduling by Learning to Rank, 2024 (predicted output lengths)",
  extends = VllmV1,
  params = {
    output_weight = { default = 1.0, unit = "1", min = 0,
      doc = "Work of one output token, in prompt tokens.", idle = { "no predictions" } },
    unknown_output_tokens = { default = 0, unit = "tokens", min = 0,
      doc = "Output assumed where the workload predicts none.", idle = { "no predictions" } },
  },
}

---@param request rooflua.Request
function Sjf:key(request)
  local output = request.predicted_output_tokens or self.unknown_output_tokens
  return request.prompt_tokens + self.output_weight * output
end

return Sjf
