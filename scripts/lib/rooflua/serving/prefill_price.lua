-- What computing a part of a prompt takes, alone: what policies of KV tiers compare with a load.
local cost = require "rooflua.cost"
local lone_prefill = require "rooflua.border.lone_prefill"

local prefill_price = {}

--- One chunk of a prompt after so many tokens. Nobody pays it: it is in no ledger.
local function chunk_s(steps, tokens, context_tokens)
  return cost.explain(function() return steps:time(lone_prefill(tokens, context_tokens)) end).time_s
end

local prices = setmetatable({}, { __mode = "k" }) -- bound step model -> prices of its chunks

--- A function (new_tokens, context_tokens) -> seconds: the steps of a prompt's last new_tokens, in chunks of the token
--- budget, without other requests. Prices are remembered for all replicas that share a step model.
---@param steps table a bound step model
---@param budget integer tokens of a step; 0: no limit
function prefill_price.of(steps, budget)
  local known = prices[steps] or {}
  prices[steps] = known
  local function priced(tokens, context_tokens)
    local key = context_tokens * 2 ^ 26 + tokens
    local time_s = known[key]
    if not time_s then
      time_s = chunk_s(steps, tokens, context_tokens)
      known[key] = time_s
    end
    return time_s
  end
  return function(new_tokens, context_tokens)
    local chunk, total_s = budget > 0 and budget or new_tokens, 0
    while new_tokens > chunk do
      total_s = total_s + priced(chunk, context_tokens)
      new_tokens, context_tokens = new_tokens - chunk, context_tokens + chunk
    end
    return new_tokens > 0 and total_s + priced(new_tokens, context_tokens) or total_s
  end
end

return prefill_price
