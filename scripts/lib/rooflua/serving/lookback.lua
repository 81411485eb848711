--- Looking back at a live simulation: its steps, its requests, the price of its last step.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local batch = require "rooflua.border.batch"
local prices = require "rooflua.machine.prices"

local lookback = {}
local fail = core.fail

local origins = setmetatable({}, { __mode = "k" }) -- result of a run -> {file, given, live}

--- Keeps for a result its scenario and, if that is still open, its simulation.
function lookback.note(result, file, given, live)
  origins[result] = { file = file, given = given, live = live }
  return result
end
--- What note() kept for a result; nil for any other table.
function lookback.origin(result) return origins[result] end

--- Whether two accounts of a request state the same times.
local function agree(a, b)
  for key, value in pairs(a) do
    if type(value) == "number" and b[key] ~= value then return false end
  end
  return true
end

--- The account of a request with its operations and its reasons to wait. It runs the simulation again from its
--- start, and swaps policies and aborts requests at the same times as before. It returns nothing if the second run
--- gives other times.
local function follow(state, state_of, open, id, known)
  local again = open(state.file, state.given, { why = id })
  local run = state_of(again).run
  for _, swap in ipairs(state.history) do
    native.serve_advance_until(run, swap.at_s)
    local text = native.serve_why(run)
    if text then break end
    if swap.abort then
      native.serve_abort(run, swap.abort.id, swap.abort.outcome)
    elseif swap.changes then
      again:set(swap.changes)
    else
      return nil
    end
  end
  local text, document = native.serve_why(run)
  while not text and native.serve_step(run) do text, document = native.serve_why(run) end
  native.serve_close(run)
  if text and agree(known, document) then return text, document end
end

--- A replica by its number, by default the first.
local function replica_of(state, index, what)
  index = core.whole(index or 1, what, 1)
  return state.replicas[index]
    or fail("there is no replica %d; this simulation has %d", index, #state.replicas)
end

--- What a batch takes on a replica, operation by operation.
local function price(own, given)
  local priced = prices.price_batch(own.prepared, own.steps, batch.new(given))
  local hardware, dtype = own.prepared.hardware, own.prepared.model.dtype
  priced.steps, priced.bytes_per_s = own.steps.steps.name, hardware.memory_bytes_per_s
  priced.peak_flop_per_s = hardware.peak_flop_per_s[dtype] or hardware.peak_flop_per_s.bf16
  return priced
end

--- Gives the class of live simulations these methods.
---@param Live table
---@param state_of function live -> {run, replicas, ...}
---@param open function file, scenario, options -> a live simulation
function lookback.add(Live, state_of, open)
  --- A copy of every step that ended: its time, queue, batch and cache.
  function Live:steps()
    return native.serve_steps(state_of(self).run)
  end

  --- A copy of every request that ended, in order of its end: its times, and where its time went.
  function Live:ended()
    return native.serve_ended(state_of(self).run)
  end

  --- Where the time of a request went: a report, and the same as a table; nil until the request has ended. Its
  --- operations, and the requests it waited for, are found by running the simulation again from its start.
  function Live:why(id)
    local state = state_of(self)
    local text, document = native.serve_why_of(state.run, core.whole(id, "why: request"))
    if not text then return nil end
    local more, followed = follow(state, state_of, open, id, document)
    if more then return more, followed end
    document.followed = false
    return text .. "\nits operations and the requests it waited for are not known: policies were reloaded on the way,"
      .. "\nor they do not do the same in a second run\n", document
  end

  --- A copy of every play that ended, in order of its end.
  function Live:plays()
    return native.serve_plays(state_of(self).run)
  end

  --- Where the time of a play went: a report, and the same as a table; nil until the play is over.
  ---@param number integer from 1, in the order in which plays begin
  function Live:why_play(number)
    return native.serve_why_play_of(state_of(self).run, core.whole(number, "why_play: play", 1) - 1)
  end

  --- A copy of the step of a replica that ended last: its requests and their contexts.
  function Live:last_step(index)
    local state = state_of(self)
    replica_of(state, index, "last_step")
    return native.serve_last_step(state.run, index or 1)
  end

  --- Prices the last step again, operation by operation, with the present step model.
  function Live:explain(index)
    local state, last = state_of(self), self:last_step(index)
    if not last then fail "explain: no step has ended yet; :step first" end
    local prefills = {}
    for i, each in ipairs(last.prefill_work) do
      prefills[i] = { new_tokens = each.new_tokens, context_tokens = each.context_tokens,
        completes = each.completes, left_tokens = each.left_tokens }
    end
    local priced = price(state.replicas[index or 1], { prefills = prefills, decode_contexts = last.decode_contexts,
      decode_widths = last.decode_widths, draft_rows = last.draft_rows, draft_tokens = last.draft_tokens,
      draft_passes = last.draft_passes, group = last.group })
    priced.was_s, priced.last = last.own_s or last.time_s, last
    return priced, native.step_report(priced)
  end

  --- Prices a batch, operation by operation, with the present step model of a replica.
  function Live:price(given, index)
    return price(replica_of(state_of(self), index, "price"), given)
  end
end

return lookback
