--- Prices the batch that the engine is about to run: the step model, then the step corrections.
local batch = require "rooflua.batch"
local ledger = require "rooflua.ledger"
local serving = require "rooflua.serving"

local C, B = serving.functions, serving.border

batch.attach(C.batch, function() return C.decode_context_max(B) end,
  function() return C.decode_contexts(B) end)

local pricing = {}
local live, expire, apply = batch.live, batch.expire, ledger.apply

--- @param bound table {steps = a bound step model, corrections = those with a step method, or nil,
--- all = every correction of the scenario}
function pricing.price(bound)
  apply(bound.all)
  local now = live()
  local time_s = bound.steps:time(now)
  local corrections = bound.corrections
  if corrections then
    for i = 1, #corrections do time_s = corrections[i]:step(now, time_s) end
  end
  expire()
  return time_s
end

return pricing
