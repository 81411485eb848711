--- Dynamo's SLA planner: the load of the next interval is that of the last one, and each replica carries what it was
--- profiled to carry within the limits of TTFT and ITL.
---
---     prefill: ceil(requests/s * prompt tokens * min(1, correction) / prefill_tokens_per_s)
---     decode:  ceil(requests/s * output tokens * correction / decode_tokens_per_s)
---
--- The correction is the measured time over the limit: TTFT, or ITL. A pool that does both gets the larger number.
local policy = require "rooflua.policy"

local source = "ai-dynamo/dynamo of 2025: components/planner/src/dynamo/planner/defaults.py, "
  .. "docs/design-docs/planner-design.md"

---@class autoscalers.PlannerSla: rooflua.Autoscaler
---@field prefill_tokens_per_s number
---@field decode_tokens_per_s number
---@field ttft_s number
---@field itl_s number
---@field interval_s number
local PlannerSla = policy.define {
  name = "planner_sla",
  doc = "Dynamo's SLA planner with the constant predictor: replicas by profiled throughput and corrections.",
  source = source,
  params = {
    prefill_tokens_per_s = { default = 20000, unit = "tokens/s", min = 0,
      doc = "Prompt tokens that a replica computes within the limit of TTFT, from a profile; 0: it computes none." },
    decode_tokens_per_s = { default = 2000, unit = "tokens/s", min = 0,
      doc = "Tokens that a replica generates within the limit of ITL, from a profile; 0: it generates none." },
    ttft_s = { default = 0.5, unit = "s", min = 0, exclusive_min = true, source = source .. ": ttft",
      doc = "Limit of the time to first token.", idle = { prefill_tokens_per_s = 0 } },
    itl_s = { default = 0.05, unit = "s", min = 0, exclusive_min = true, source = source .. ": itl",
      doc = "Limit of the time per further token.", idle = { decode_tokens_per_s = 0 } },
    interval_s = { default = 180, unit = "s", min = 0, exclusive_min = true,
      source = source .. ": adjustment_interval", doc = "It is asked so often." },
  },
}

local function correction(pool, name, limit_s, window_s)
  local measured = pool:mean(name, window_s)
  return measured and measured / limit_s or 1
end

---@param pool rooflua.Pool
function PlannerSla:scale(pool)
  local window_s, wanted = self.interval_s, 1
  if self.prefill_tokens_per_s > 0 then
    local tokens = pool:rate("prompt_tokens", window_s) * math.min(1, correction(pool, "ttft_s", self.ttft_s, window_s))
    wanted = math.max(wanted, math.ceil(tokens / self.prefill_tokens_per_s))
  end
  if self.decode_tokens_per_s > 0 then
    local tokens = pool:rate("output_tokens", window_s) * math.max(1, correction(pool, "itl_s", self.itl_s, window_s))
    wanted = math.max(wanted, math.ceil(tokens / self.decode_tokens_per_s))
  end
  return wanted
end

return PlannerSla
