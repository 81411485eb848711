--- Layers that see the tail of a prompt alone (prefill_tail of a model): its last `w` tokens run through them, and
--- every token of a decode.
---
--- Of a chunk of t new tokens after which `left` of the prompt follow, min(t, w - left) run, or none.
local graphs = require "steps.kernels.graphs"
local shared_experts = require "steps.kernels.shared_experts"

local tail = {}

local max, min = math.max, math.min

--- New tokens of a chunk that run.
--- @param work rooflua.Prefill
function tail.tokens(work, w) return max(0, min(work.new_tokens, w - work.left_tokens)) end

--- The chunk of attention of such a kind: in place of steps.kernels.Attention:chunk.
function tail.chunk(attention, batch, i, paid_s)
  local work = batch.prefills[i]
  local t = tail.tokens(work, attention.tail_tokens)
  if t == 0 then return 0, paid_s end
  return attention:prefill(t, work.context_tokens + work.new_tokens - t, paid_s)
end

--- The tail of a model: its tokens; nil where it has none.
local function length_of(model)
  for _, kinds in ipairs { model.attention, model.mlp } do
    for _, each in ipairs(kinds) do
      if each.prefill_tail then return each.prefill_tail end
    end
  end
end

--- Binds the operations that see the tail: seen.tail_tokens. Returns whether there are any.
--- @param steps steps.Kernels
function tail.bind(steps, seen)
  shared_experts.add_sums(steps, seen.tail_tokens)
  steps.tail_tokens = length_of(steps.model)
  steps.tail_time = #seen.tail_tokens > 0 and steps:sum_of(seen.tail_tokens)
  return steps.tail_time ~= false
end

--- Time of these operations in a step.
function tail.time(steps, batch)
  local rows, prefills = batch.decode_tokens, batch.prefills
  for i = 1, #prefills do rows = rows + tail.tokens(prefills[i], steps.tail_tokens) end
  if rows == 0 then return 0 end
  return steps.tail_time(graphs.padded(rows, steps.graph_tokens), rows)
end

return tail
