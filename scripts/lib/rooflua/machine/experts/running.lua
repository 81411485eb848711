-- Experts of the engines of a run: their popularity drifts, a balancer of scripts/balancers places them anew, and the
-- engine asks for what is the same in the next steps (engine/serve/contract/experts.h). The balancer sees the tokens of
-- each expert in its window, as an engine counts them, and not the popularity.
--
-- Popularity is constant between its updates, `update_steps` steps apart. The counts of a window are expected values:
-- tokens of a step x experts of a token x popularity, over the steps of the window.
local answers = require "rooflua.border.answers"
local placement = require "rooflua.machine.experts.placement"
local policy = require "rooflua.policy"
local popularity = require "rooflua.machine.experts.popularity"

local running = {}

local min, max, huge = math.min, math.max, math.huge
local most_steps = 2 ^ 30

local Running = policy.define { name = "experts", doc = "Experts of the engines of a run." }

--- An instance for a run. `shapes` is by engine: {experts, slots, ranks, domain, layers, top, expert_bytes, moe_tp,
--- link_bytes_per_s, network_bytes_per_s}.
--- @param given table {zipf, weights, drift, unit, update_steps, seed}
function running.new(shapes, given, balancer)
  local out = Running {}
  out.shapes, out.given, out.balancer, out.engines = shapes, given, balancer, {}
  return out
end

--- What a balancer does when; nil: it never acts.
local function schedule_of(balancer, shape)
  if not balancer.schedule then return nil end
  return balancer:schedule(shape)
end

local function begin(self, number)
  local shape, given = self.shapes[number], self.given
  local own = { step = 0, tokens_x = 0, now_s = 0, updated = { steps = 0, tokens = 0, s = 0 }, window = {}, slots = {},
    schedule = schedule_of(self.balancer, shape) }
  own.process = { experts = shape.experts, layers = shape.layers, zipf = given.zipf, weights = given.weights,
    seed = given.seed }
  own.popular = popularity.new(own.process)
  for layer = 1, shape.layers do own.slots[layer] = placement.first(shape) end
  own.next_update = given.drift and given.update_steps or huge
  own.next_balance = own.schedule and own.schedule.first_steps or huge
  self.engines[number] = own
  return own
end

--- Notes the steps that were taken, and forgets what is older than the window.
local function note(own, steps, tokens)
  own.step, own.tokens_x = own.step + steps, own.tokens_x + tokens
  if not own.schedule or steps == 0 then return end
  local window = own.window
  window[#window + 1] = { first = own.step - steps, last = own.step, tokens = tokens, weights = own.popular.weights }
  while window[1].last <= own.step - own.schedule.window_steps do table.remove(window, 1) end
end

--- Tokens of each expert in the window, by layer.
local function counts_of(own, shape)
  local out, from = {}, own.step - own.schedule.window_steps
  for layer = 1, shape.layers do
    local sums = {}
    for e = 1, shape.experts do sums[e] = 0 end
    for _, entry in ipairs(own.window) do
      local steps = entry.last - entry.first
      local part = shape.top * entry.tokens * min(1, (entry.last - from) / steps)
      local weights, total = entry.weights[layer], 0
      for e = 1, shape.experts do total = total + weights[e] end
      for e = 1, shape.experts do sums[e] = sums[e] + part * (weights[e] / total) end
    end
    out[layer] = sums
  end
  return out
end

--- Asks the balancer for every layer, and lists what is to be moved: {layer, slots}, in the order of layers.
local function place(self, own, shape)
  local counts, list = counts_of(own, shape), {}
  if self.balancer.wants and not self.balancer:wants(1 / placement.mean_load(shape, own.slots, counts)) then
    return nil
  end
  for layer = 1, shape.layers do
    local slots = self.balancer:place(counts[layer], shape, own.slots[layer])
    local problem = placement.problem(shape, slots)
    if problem then answers.wrong("balancer", self.balancer, "place", "place(counts, shape, slots): %s", problem) end
    list[layer] = { layer = layer, slots = slots }
  end
  return list
end

--- Moves the experts of the next chunk of layers. Returns bytes and what the engine waits: layers move one after the
--- other, each as long as the rank that sends or receives most. [vLLM vllm/distributed/eplb/rebalance_execute.py]
local function move(own, shape)
  local chunk, bytes, time_s = own.schedule.layers_per_chunk, 0, 0
  for _ = 1, chunk > 0 and chunk or #own.pending do
    local next_one = table.remove(own.pending, 1)
    if not next_one then break end
    local count, most = placement.moves(shape, own.slots[next_one.layer], next_one.slots)
    own.slots[next_one.layer] = next_one.slots
    bytes = bytes + count * shape.expert_bytes * shape.moe_tp
    time_s = time_s + max(most[1] * shape.expert_bytes / shape.link_bytes_per_s,
      most[2] > 0 and most[2] * shape.expert_bytes / shape.network_bytes_per_s or 0)
  end
  if #own.pending == 0 then own.pending = nil end
  return bytes, own.schedule.hidden and 0 or time_s
end

--- Lets the popularity drift up to now.
local function drift(own, given, now_s)
  local at = { steps = own.step, tokens = own.tokens_x, s = now_s }
  local distance = (at[given.unit] - own.updated[given.unit]) / given.drift
  if distance > 0 then popularity.advance(own.popular, own.process, distance) end
  own.updated, own.next_update = at, own.step + given.update_steps
end

--- @param number integer engine, from 1
--- @param steps integer since the last call, with `tokens` in all
--- @return integer steps for which the rest holds
--- @return number load of the fullest rank over the mean, in the mean of layers
--- @return number stall_s of the first of these steps
--- @return number moved_bytes that ranks receive
--- @return boolean rebalanced whether experts are placed anew
function Running:next(number, now_s, steps, tokens)
  local shape, own = self.shapes[number], self.engines[number] or begin(self, number)
  note(own, steps, tokens)
  local bytes, stall_s, rebalanced = 0, 0, false
  if own.step >= own.next_update then drift(own, self.given, now_s) end
  if own.step >= own.next_balance then
    own.next_balance = own.step + own.schedule.interval_steps
    own.pending = place(self, own, shape)
    rebalanced = own.pending ~= nil
    if rebalanced then stall_s = own.schedule.host_s end
  end
  if own.pending then
    local moved, wait_s = move(own, shape)
    bytes, stall_s = moved, stall_s + wait_s
  end
  local left = own.pending and 1 or min(own.next_update, own.next_balance) - own.step
  return min(left, most_steps), placement.mean_load(shape, own.slots, own.popular.weights), stall_s, bytes, rebalanced
end

--- What the engine calls.
function running.next_of(instance)
  return function(number, now_s, steps, tokens) return instance:next(number, now_s, steps, tokens) end
end

return running
