--- Refuses a request that would be late: its prompt would wait too long, or decoding would be too slow.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"

---@class admission.EarlyReject: rooflua.Admission
---@field prefill_tokens_per_s number
---@field ttft_s number
---@field max_decodes integer
local EarlyReject = policy.define {
  name = "early_reject",
  doc = "A request is refused where no replica can answer it in time: its prompt and those in front of it, over a rate "
    .. "of prefill, take longer than ttft_s; or the requests there are as many as may decode together.",
  source = "Mooncake, arXiv 2407.00079, section 7 (early rejection by predicted load)",
  signals = { "waiting_tokens", "outstanding" },
  params = queue.with({
    prefill_tokens_per_s = { default = 10000, unit = "tokens/s", min = 1e-9,
      doc = "Tokens of prompts that a replica computes in a second: measure it, or read prompt tokens/s of a run." },
    ttft_s = { default = 30, unit = "s", min = 0, doc = "Longest predicted time to the first token.",
      source = "Mooncake, section 8: a TTFT of 30 s" },
    max_decodes = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Requests of a replica from which on the next one would decode too slowly; 0: not looked at." },
  }, nil, { "staleness_s", "credit" }),
}

---@param request rooflua.Request
---@param view rooflua.GateView
function EarlyReject:admit(request, view)
  local replicas, most_tokens = view.replicas, self.ttft_s * self.prefill_tokens_per_s
  for i = 1, #replicas do
    local each = replicas[i]
    local is_soon = each.waiting_tokens + request.prompt_tokens <= most_tokens
    if is_soon and (self.max_decodes == 0 or each.outstanding < self.max_decodes) then return "pass" end
  end
  return "reject"
end

return EarlyReject
