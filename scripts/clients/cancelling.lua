--- Clients of which some go away.
local policy = require "rooflua.policy"

---@class clients.Cancelling: rooflua.Client
---@field share number
---@field after_s number
local Cancelling = policy.define {
  name = "cancelling",
  doc = "A share of requests is cancelled some time after it was sent, if its answer is not complete by then. Nothing "
    .. "is sent again.",
  source = "AIPerf 0.2 and later: --request-cancellation-rate, --request-cancellation-delay "
    .. "(docs/tutorials/request-cancellation.md)",
  params = {
    share = { default = 0.1, unit = "1", min = 0, max = 1, doc = "Of the requests, at random; AIPerf's default is 0." },
    after_s = { default = 0, unit = "s", min = 0, doc = "From its sending to its cancel.", idle = { share = 0 } },
  },
}

function Cancelling:cancels(_, draws)
  if draws:uniform() < self.share then return self.after_s end
  return nil
end

return Cancelling
