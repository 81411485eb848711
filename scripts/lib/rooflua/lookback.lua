--- Looking back at a live simulation: its steps, its requests, the price of its last step.
local native = require "rooflua.native"
local core = require "rooflua.core"
local batch = require "rooflua.batch"
local prices = require "rooflua.prices"

local lookback = {}
local fail = core.fail

--- Gives the class of live simulations these methods.
---@param Live table
---@param state_of function live -> {run, replicas, ...}
function lookback.add(Live, state_of)
  --- Every step that ended: when, its queue, its batch, its cache. A copy.
  function Live:steps()
    return native.serve_steps(state_of(self).run)
  end

  --- Every request that ended, in that order: its times, and where its time went. A copy.
  function Live:ended()
    return native.serve_ended(state_of(self).run)
  end

  --- Where the time of a request that ended went: a report, and the same as a table; nil until it has.
  function Live:why(id)
    return native.serve_why_of(state_of(self).run, core.whole(id, "why: request"))
  end

  --- The step of a replica that ended last: who was in it, with which contexts. A copy.
  function Live:last_step(index)
    index = core.whole(index or 1, "last_step", 1)
    return native.serve_last_step(state_of(self).run, index)
  end

  --- Prices that step again, operation by operation, with the step model as it is now.
  function Live:explain(index)
    local state, last = state_of(self), self:last_step(index)
    if not last then fail "explain: no step has ended yet; :step first" end
    local own = state.replicas[index or 1]
    local prefills = {}
    for i, each in ipairs(last.prefill_work) do
      prefills[i] = { new_tokens = each.new_tokens, context_tokens = each.context_tokens,
        completes = each.completes }
    end
    local priced = prices.price_batch(own.prepared, own.steps.steps,
      batch.new { prefills = prefills, decode_contexts = last.decode_contexts })
    priced.steps, priced.was_s, priced.last = own.steps.steps.name, last.time_s, last
    local hardware, dtype = own.prepared.hardware, own.prepared.model.dtype
    priced.bytes_per_s = hardware.memory_bytes_per_s
    priced.peak_flop_per_s = hardware.peak_flop_per_s[dtype] or hardware.peak_flop_per_s.bf16
    return priced, native.step_report(priced)
  end
end

return lookback
