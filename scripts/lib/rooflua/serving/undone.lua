-- What lower bounds undo of a run's corrections, at the mean batch of its steps: any number of processes says the same.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local floors = require "rooflua.machine.floors"
local notes = require "rooflua.machine.notes"
local prices = require "rooflua.machine.prices"

local undone = {}

local function whole(value, most) return math.max(1, math.min(most, math.floor(value + 0.5))) end

--- Sentences for notes of a run; empty where no correction of the scenario changes single operations.
---@param state table {replicas} of a simulation
---@param summary table of native.serve_summary
function undone.of(state, summary)
  local out, seen = {}, {}
  if summary.completed == 0 then return out end
  local prompt, output = summary.prompt_tokens / summary.completed, summary.output_tokens / summary.completed
  for i, replica in ipairs(state.replicas) do
    local prepared, of_run = replica.prepared, core.plain(summary.replicas)[i]
    if floors.may_undo(prepared) and not seen[prepared] and of_run then
      seen[prepared] = true
      local decodes = of_run.decode_batch_mean > 0 and whole(of_run.decode_batch_mean, 4096) or 0
      local contexts = {}
      for k = 1, decodes do contexts[k] = whole(prompt + output / 2, 1e6) end
      for _, given in ipairs { { decode_contexts = contexts, prefills = {} },
        { decode_contexts = {}, prefills = { { context_tokens = 0, new_tokens = whole(prompt, 8192) } } } } do
        if #given.decode_contexts + #given.prefills > 0 then
          local priced = prices.price_batch(prepared, replica.steps, batch.new(given))
          for _, sentence in ipairs(floors.sentences(priced.rows)) do out[#out + 1] = sentence end
        end
      end
    end
  end
  return out
end

--- Notes of a run that is over, those on corrections among the first of them.
---@param failed string[] sentences of serving/failures.lua
function undone.notes(state, failed, summary)
  for _, sentence in ipairs(undone.of(state, summary)) do failed[#failed + 1] = sentence end
  return notes.of_run(state, failed, summary)
end

return undone
