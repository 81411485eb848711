--- A budget of tokens that fills at a constant rate: it bounds what passes in any window of time.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"

---@class admission.TokenBucket: rooflua.Admission
---@field capacity number
---@field rate_per_s number
---@field cost string
---@field full string
---@field level number? of the bucket at `level_s`
---@field level_s number?
local TokenBucket = policy.define {
  name = "token_bucket",
  doc = "A request takes its cost out of a bucket that fills at a constant rate; without enough in it, it is refused "
    .. "or waits. What passes in any window costs at most capacity + rate_per_s x window.",
  source = "inference-sim/inference-sim sim/admission.go (TokenBucket)",
  signals = {},
  params = queue.with({
    capacity = { default = 10000, unit = "tokens", min = 1e-9, doc = "Most that the bucket holds; it begins full.",
      source = "inference-sim docs/guide/admission: --token-bucket-capacity 10000" },
    rate_per_s = { default = 1000, unit = "tokens/s", min = 1e-9, doc = "What flows in.",
      source = "inference-sim docs/guide/admission: --token-bucket-refill-rate 1000" },
    cost = { default = "prompt", values = { "prompt", "prompt_and_limit", "request" },
      doc = "What a request takes: a token for each of its prompt, and for each that its client's limit lets it "
        .. "generate; or 1.", source = "prompt: inference-sim sim/admission.go" },
    full = { default = "reject", values = { "reject", "hold" },
      doc = "What happens to a request that the bucket has too little for: it is refused, or held until it has enough. "
        .. "One that costs more than the capacity is refused." },
  }, nil, queue.waiting, queue.order),
}

function TokenBucket:cost_of(request)
  if self.cost == "request" then return 1 end
  if self.cost == "prompt" then return request.prompt_tokens end
  return request.prompt_tokens + (request.max_output_tokens or 0)
end

--- Whether the bucket has that much now; then it is taken.
function TokenBucket:take(cost, now_s)
  local level = self.level or self.capacity
  level = math.min(self.capacity, level + (now_s - (self.level_s or now_s)) * self.rate_per_s)
  local has = cost <= level
  self.level, self.level_s = has and level - cost or level, now_s
  return has
end

---@param request rooflua.Request
---@param view rooflua.GateView
function TokenBucket:admit(request, view)
  local cost = self:cost_of(request)
  if cost > self.capacity then return "reject" end
  if view.held == 0 and self:take(cost, view.now_s) then return "pass" end
  return self.full
end

---@param request rooflua.Request
---@param view rooflua.GateView
function TokenBucket:next(request, view)
  local cost = self:cost_of(request)
  if self:take(cost, view.now_s) then return true end
  return false, view.now_s + (cost - self.level) / self.rate_per_s + 1e-9
end

return TokenBucket
