--- Bounds the requests, or their tokens, that are at the replicas.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"

---@class admission.Concurrency: rooflua.Admission
---@field mode string
---@field max_concurrency integer
---@field max_tokens integer
---@field full string
local Concurrency = policy.define {
  name = "concurrency",
  doc = "A request passes while those that passed and have not ended are fewer than a number times the replicas. The "
    .. "gate counts itself: nothing of it is stale, and it does not see KV.",
  source = "llm-d/llm-d-router saturationdetector/concurrency, 0.9",
  signals = {},
  params = queue.with({
    mode = { default = "requests", values = { "requests", "tokens" },
      doc = "What is counted: requests, or the tokens of their prompts and of the limits that clients declared.",
      source = "llm-d concurrencyMode = requests" },
    max_concurrency = { default = 100, unit = "requests", min = 1, integer = true, doc = "Requests for each replica.",
      source = "llm-d maxConcurrency = 100", idle = { mode = "tokens" } },
    max_tokens = { default = 1000000, unit = "tokens", min = 1, integer = true, doc = "Tokens for each replica.",
      source = "llm-d maxTokenConcurrency = 1000000", idle = { mode = "requests" } },
    full = { default = "hold", values = { "hold", "reject" }, doc = "What happens to a request above that." },
  }, nil, queue.clock, queue.waiting, queue.order),
}

function Concurrency:has_room(view)
  if self.mode == "requests" then return view.in_flight < self.max_concurrency * view.ready end
  return view.in_flight_tokens < self.max_tokens * view.ready
end

---@param view rooflua.GateView
function Concurrency:admit(_, view)
  if view.held == 0 and self:has_room(view) then return "pass" end
  return self.full
end

---@param view rooflua.GateView
function Concurrency:next(_, view) return self:has_room(view) end

return Concurrency
