--- What single contexts add to the mean MFU of a decode batch, remembered by batch size and context.
---
--- A batch that knows only the sum of its contexts gives their mean, which may be no whole number. Whole contexts are
--- keys of an array, others of a hash. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
local contexts = {}
contexts.__index = contexts

local most_remembered = 4000000  -- contexts of all batch sizes; beyond that all are forgotten
local usual_context = 8192       -- the array has a place for each context up to this one

local function unknown_up_to(length)
  local list = {}
  for i = 1, length do list[i] = false end
  return list
end

---@class rooflines.Known what is remembered for one batch size
---@field batch_size integer
---@field weight table<integer, number|false> by whole context
---@field weight_of_mean table<number, number> by any other context
---@field rank table<number, integer> rank of the evidence by -context; negative keys keep it a hash
---@field best integer best rank of all contexts seen so far
---@field worst integer worst rank of them
local Known = {}
Known.__index = Known

--- The worst rank of evidence in a batch. Where all contexts seen so far have one rank, it is that one.
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

--- Sum of the weights of the first n contexts of `list`.
function contexts:sum(known, list, n)
  local weights, sum = list[1] % 1 == 0 and known.weight or known.weight_of_mean, 0
  for i = 1, n do
    local context = list[i]
    sum = sum + (weights[context] or self:learn(known, context))
  end
  return sum
end

return contexts
