-- How popular experts are, as a process. In every layer of experts each expert has a score; the expert with the k-th
-- largest score is as popular as 1 / k^zipf. A score is a stationary Gaussian process with mean 0 and variance 1,
--
--     score(x + d) = c score(x) + sqrt(1 - c^2) z,     c = exp(-d / drift),  z standard normal
--
-- (Ornstein and Uhlenbeck), where x counts steps, tokens or seconds. The distribution of popularity stays the same, and
-- the ranks of experts change: after `drift` the correlation of scores is 1/e. Layers are independent of each other.
-- Scores are drawn from (seed, layer), so that engines of one seed begin alike and each goes on by its own x.
local random = require "rooflua.random"

local exp, sqrt = math.exp, math.sqrt

local popularity = {}

--- Sorts experts by falling score: few are out of order from one time to the next.
local function sort(order, score)
  for i = 2, #order do
    local expert = order[i]
    local own, j = score[expert], i - 1
    while j >= 1 and score[order[j]] < own do
      order[j + 1] = order[j]
      j = j - 1
    end
    order[j + 1] = expert
  end
end

--- The weights of a layer, by expert.
local function weights_of(order, by_rank)
  local out = {}
  for i = 1, #order do out[order[i]] = by_rank[i] end
  return out
end

local function refresh(state, by_rank)
  local weights = {}
  for layer, order in ipairs(state.orders) do
    sort(order, state.scores[layer])
    weights[layer] = weights_of(order, by_rank)
  end
  state.weights = weights
end

--- Popularity by rank: k^-zipf, or the weights that are given, in falling order; not normalised, so that equal ones
--- are exactly equal.
--- @param given table {experts, zipf, weights?}
function popularity.by_rank(given)
  local out = {}
  for k = 1, given.experts do out[k] = given.weights and given.weights[k] or k ^ -given.zipf end
  table.sort(out, function(a, b) return a > b end)
  return out
end

--- The state at x = 0: {scores, orders, weights, draws}, by layer. `weights` is a new table after every change.
--- @param given table {experts, layers, zipf, weights?, seed}
function popularity.new(given)
  local state = { scores = {}, orders = {}, draws = {} }
  local streams = random.streams(given.seed)
  for layer = 1, given.layers do
    local draws, score, order = streams:stream("popularity of experts", layer), {}, {}
    for expert = 1, given.experts do
      score[expert], order[expert] = draws:normal(0, 1), expert
    end
    state.scores[layer], state.orders[layer], state.draws[layer] = score, order, draws
  end
  refresh(state, popularity.by_rank(given))
  return state
end

--- The state after a distance of `d`, in units of the correlation.
function popularity.advance(state, given, d)
  local keep = exp(-d)
  local spread = sqrt(1 - keep * keep)
  for layer, score in ipairs(state.scores) do
    local draws = state.draws[layer]
    for expert = 1, #score do score[expert] = keep * score[expert] + spread * draws:normal(0, 1) end
  end
  refresh(state, popularity.by_rank(given))
end

return popularity
