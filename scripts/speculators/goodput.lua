--- The number of drafts with the most expected tokens per second.
---
---     k = argmax E[T(k)] / C(n, k),     E[T(k)] = 1 + S_1 + .. + S_k
---
--- C is the price of a step of n decodes with k drafts each, drafter included, at the mean context. S_j comes from
--- running means of the share of drafts j that were accepted where drafts up to j - 1 were. Before the first drafts
--- land, each share is `prior`. A draft that is never tried keeps its share. Prompts in the step are left out of C.
local cost = require "rooflua.cost"
local policy = require "rooflua.policy"

---@class speculators.Goodput: rooflua.Speculator
---@field draft_tokens integer
---@field prior number
---@field weight number
---@field switch_gain number
---@field steps table a bound step model
---@field drafter table? a bound drafter
---@field shares number[]
---@field current integer
---@field prices table
local Goodput = policy.define {
  name = "goodput",
  doc = "The number of drafts with the most expected tokens per second, from prices and what was accepted so far.",
  source = "vLLM adaptive verification (2026); inference-lab simulation/spec.rs",
  params = {
    draft_tokens = { default = 5, unit = "tokens", min = 0, max = 16, integer = true,
      doc = "The most drafts of a request per round.", source = "recipes take up to 7" },
    prior = { default = 0.6, unit = "1", min = 0, max = 1,
      doc = "Share of drafts that are accepted at each place, before any was seen.",
      source = "0.5 to 0.7 at place 1 in published runs" },
    weight = { default = 0.0005, unit = "1/request", exclusive_min = true, min = 0, max = 1,
      doc = "Weight of one round of one request in the running means.",
      source = "2,000 rounds: a second or two at 32 requests" },
    switch_gain = { default = 0.02, unit = "1", min = 0, max = 1,
      doc = "How much better another number must be.", source = "keeps two equal numbers from taking turns" },
  },
}

---@return integer
function Goodput:depth() return self.draft_tokens end

--- @param context table as a step model's, and the bound `steps` and `drafter`
function Goodput:bind(context)
  self.steps, self.drafter = context.steps, context.drafter
  self.prices, self.shares, self.current = {}, {}, self.draft_tokens
  for j = 1, self.draft_tokens do self.shares[j] = self.prior end
end

--- Contexts are priced at powers of two, numbers of requests up to 16 one by one, then four to an octave.
local function rounded(n)
  if n <= 16 then return n end
  local step = 2 ^ (math.floor(math.log(n) / math.log(2)) - 2)
  return math.ceil(n / step) * step
end

--- The price of a step that is not paid.
function Goodput:price(n, context_tokens, k)
  local batch = cost.batch { decodes = n, decode_context_tokens = context_tokens, decode_tokens = n * (1 + k),
    draft_rows = k > 0 and n or 0, draft_tokens = n * k, draft_passes = k }
  return cost.explain(function()
    local time_s = self.steps:time(batch)
    return self.drafter and time_s + self.drafter:time(batch) or time_s
  end).time_s
end

function Goodput:step_s(n, context, k)
  local octave = math.ceil(math.log(math.max(context / n, 128)) / math.log(2))
  local requests = rounded(n)
  local key = (requests * 64 + octave) * 32 + k
  local known = self.prices[key]
  if not known then
    known = self:price(requests, requests * 2 ^ octave, k)
    self.prices[key] = known
  end
  return known
end

---@param batch rooflua.Batch
---@return integer k
function Goodput:drafts(batch)
  local n = batch.decodes
  if n == 0 then return self.current end
  local context, shares, current = batch.decode_context_tokens, self.shares, self.current
  local best, best_k, now = 0, 0, 0
  local tokens, survival = 1, 1
  for k = 0, self.draft_tokens do
    if k > 0 then
      survival = survival * shares[k]
      tokens = tokens + survival
    end
    local rate = tokens / self:step_s(n, context, k)
    if rate > best then best, best_k = rate, k end
    if k == current then now = rate end
  end
  if best > now * (1 + self.switch_gain) then self.current = best_k end
  return self.current
end

---@param seen rooflua.SpecSeen
function Goodput:landed(seen)
  if seen.rows == 0 then return end
  local width = math.min(self.draft_tokens, math.floor(seen.drafted / seen.rows))
  local reached, shares = seen.rows, self.shares
  for j = 1, width do
    if reached == 0 then return end
    local accepted = seen.accepted_at[j]
    local weight = 1 - (1 - self.weight) ^ reached
    shares[j] = shares[j] + weight * (accepted / reached - shares[j])
    reached = accepted
  end
end

return Goodput
