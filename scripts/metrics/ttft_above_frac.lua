--- Share of requests whose first token comes late.
---
---     value = requests with ttft_s > above_s, or without a first token  /  requests that ended
---
--- A quantile says how late the latest tenth is; this says how many miss a limit. A request that
--- failed counts as late.
local policy = require "rooflua.policy"

---@class metrics.TtftAboveFrac
---@field above_s number
---@field ended number requests so far
---@field late number those of them whose first token came later than above_s, or never
local TtftAboveFrac = policy.define {
  name = "ttft_above_frac",
  doc = "Share of requests whose first token comes later than a limit, or never.",
  unit = "1",
  better = "less",
  params = { above_s = { default = 1, unit = "s", min = 0, doc = "The limit: a later first token is late." } },
}

---@param request rooflua.EndedRequest
function TtftAboveFrac:on_done(request)
  self.ended = (self.ended or 0) + 1
  local ttft_s = request.ttft_s
  if ttft_s == nil or ttft_s > self.above_s then self.late = (self.late or 0) + 1 end
end

---@return number? share
function TtftAboveFrac:value()
  if not self.ended then return nil end
  return (self.late or 0) / self.ended
end

return TtftAboveFrac
