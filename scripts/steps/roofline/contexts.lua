--- What single contexts of a decode batch contribute to its mean, remembered by batch size and context.
---
--- Whole contexts are found in an array, means (of batches that know only the sum) in a hash: compiled code
--- cannot look into a table that is both.
local contexts = {}
contexts.__index = contexts

local most_remembered = 4000000  -- contexts of all batch sizes; then they are forgotten
local usual_context = 8192       -- up to here they are found in an array

local function unknown_up_to(length)
  local list = {}
  for i = 1, length do list[i] = false end
  return list
end

---@class rooflines.Known what is known about one batch size
---@field batch_size integer
---@field weight table<integer, number|false> by whole context
---@field weight_of_mean table<number, number> by any other
---@field rank table<number, integer> of the evidence, by -context
---@field best integer rank of all of them
---@field worst integer
local Known = {}
Known.__index = Known

--- The worst evidence of a batch; where all contexts seen so far had the same, that one.
function Known:worst_rank(list, n)
  if self.best >= self.worst then return self.worst end
  local worst = 0
  for i = 1, n do worst = math.max(worst, self.rank[-list[i]]) end
  return worst
end

--- @param contribution function (batch_size, context) -> weight, rank of its evidence; pure
function contexts.new(contribution)
  return setmetatable({ contribution = contribution, known = {}, count = 0 }, contexts)
end

--- @return rooflines.Known known
function contexts:of_batch(batch_size)
  if self.count > most_remembered then self.known, self.count = {}, 0 end
  local known = self.known[batch_size]
  if known then return known end
  known = setmetatable({ batch_size = batch_size, weight = unknown_up_to(usual_context), weight_of_mean = {},
                         rank = {}, best = 5, worst = 0 }, Known)
  self.known[batch_size], self.count = known, self.count + usual_context
  return known
end

function contexts:learn(known, context)
  local weight, rank = self.contribution(known.batch_size, context)
  local weights = context % 1 == 0 and known.weight or known.weight_of_mean
  weights[context], known.rank[-context] = weight, rank
  known.best, known.worst = math.min(known.best, rank), math.max(known.worst, rank)
  self.count = self.count + 1
  return weight
end

--- Sum of what the first n of `list` contribute.
function contexts:sum(known, list, n)
  local weights, sum = list[1] % 1 == 0 and known.weight or known.weight_of_mean, 0
  for i = 1, n do
    local context = list[i]
    sum = sum + (weights[context] or self:learn(known, context))
  end
  return sum
end

return contexts
