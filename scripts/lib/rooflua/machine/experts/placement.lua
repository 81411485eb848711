-- Where experts are. A layer has as many slots as it has experts and copies; slot i is on rank ceil(i / slots of a
-- rank), and holds an expert. Tokens of an expert are spread evenly over its copies. Of a layer with popularity w:
--
--     load = max over ranks of sum(w[e] / copies[e], slots of the rank) / (sum(w) / ranks)
--
-- It is an expected value: the tokens of a step are a draw, whose fullest rank has more where a step has few tokens.
local placement = {}

local max, ceil = math.max, math.ceil

--- The first placement: every expert in order, then the copies, of expert 1 on. [vLLM vllm/distributed/eplb,
--- build_initial_global_physical_to_logical_map; SGLang srt/eplb/expert_location.py, trivial]
--- @param shape table {experts, slots, ranks}
--- @return integer[] slots expert by slot
function placement.first(shape)
  local out = {}
  for i = 1, shape.slots do out[i] = (i - 1) % shape.experts + 1 end
  return out
end

--- Copies of each expert.
function placement.copies(shape, slots)
  local out = {}
  for e = 1, shape.experts do out[e] = 0 end
  for i = 1, #slots do out[slots[i]] = out[slots[i]] + 1 end
  return out
end

--- Loads by rank, and their sum.
--- @param weights number[] by expert
function placement.loads(shape, slots, weights)
  local copies, per_rank, out, total = placement.copies(shape, slots), shape.slots / shape.ranks, {}, 0
  for rank = 1, shape.ranks do
    local sum = 0
    for i = (rank - 1) * per_rank + 1, rank * per_rank do sum = sum + weights[slots[i]] / copies[slots[i]] end
    out[rank], total = sum, total + sum
  end
  return out, total
end

--- The load of the fullest rank over the mean; 1 where nothing has weight.
function placement.load(shape, slots, weights)
  local loads, total = placement.loads(shape, slots, weights)
  local most = 0
  for rank = 1, #loads do most = max(most, loads[rank]) end
  return total > 0 and max(1, most * shape.ranks / total) or 1
end

--- The mean over layers.
function placement.mean_load(shape, all, weights)
  local sum = 0
  for layer = 1, #all do sum = sum + placement.load(shape, all[layer], weights[layer]) end
  return sum / #all
end

--- The experts of each rank, as sets.
local function held(shape, slots)
  local per_rank, out = shape.slots / shape.ranks, {}
  for rank = 1, shape.ranks do out[rank] = {} end
  for i = 1, #slots do out[ceil(i / per_rank)][slots[i]] = true end
  return out
end

--- The rank that sends an expert: of those that have it one in the same domain, else any; of these the one that sends
--- least so far.
local function sender(shape, before, expert, to, sent)
  local best, best_far
  for rank = 1, shape.ranks do
    if before[rank][expert] then
      local far = shape.domain[rank] ~= shape.domain[to]
      if not best or (best_far and not far) or (far == best_far and sent[rank] < sent[best]) then
        best, best_far = rank, far
      end
    end
  end
  return best, best_far
end

--- What a layer's experts move by, from one placement to the next: a rank that gets an expert which it did not have
--- receives it once.
--- @param shape table with domain by rank: ranks of one domain reach each other over the link, others over the network
--- @return integer experts that ranks receive
--- @return table most most experts {over the link, over the network} that one rank sends or receives
function placement.moves(shape, before, after)
  local from, to = held(shape, before), held(shape, after)
  local count, sent = 0, {}
  local traffic = { {}, {}, {}, {} } -- received and sent over the link, received and sent over the network
  for rank = 1, shape.ranks do
    sent[rank] = 0
    for _, each in ipairs(traffic) do each[rank] = 0 end
  end
  for rank = 1, shape.ranks do
    for expert = 1, shape.experts do
      if to[rank][expert] and not from[rank][expert] then
        local source, far = sender(shape, from, expert, rank, sent)
        local into, out = traffic[far and 3 or 1], traffic[far and 4 or 2]
        into[rank], out[source], sent[source] = into[rank] + 1, out[source] + 1, sent[source] + 1
        count = count + 1
      end
    end
  end
  local most = { 0, 0 }
  for rank = 1, shape.ranks do
    most[1] = max(most[1], traffic[1][rank], traffic[2][rank])
    most[2] = max(most[2], traffic[3][rank], traffic[4][rank])
  end
  return count, most
end

--- What is wrong with a placement; nil if every expert has a slot and every slot an expert.
function placement.problem(shape, slots)
  if type(slots) ~= "table" or #slots ~= shape.slots then
    return ("has %s slots; %d are right"):format(type(slots) == "table" and #slots or "no", shape.slots)
  end
  local seen = {}
  for i = 1, #slots do
    local expert = slots[i]
    if type(expert) ~= "number" or expert < 1 or expert > shape.experts or expert % 1 ~= 0 then
      return ("slot %d holds %s; an expert from 1 to %d is right"):format(i, tostring(expert), shape.experts)
    end
    seen[expert] = true
  end
  for e = 1, shape.experts do
    if not seen[e] then return ("expert %d has no slot"):format(e) end
  end
end

return placement
