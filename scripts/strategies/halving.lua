--- Successive halving with common random numbers: every candidate in a short run, the best third in a longer one, the
--- best of these in full. Short runs flatter all candidates alike, so they are compared among themselves only. The best
--- of every family (GPU, engine, split) stay to the end. Before the rungs one candidate of each family runs in full;
--- candidates whose bound is above the best of these are left out. In the end some of those that were left out run in
--- full: if one of them beats the winner, all that looked as good in the short run are looked at.
local policy = require "rooflua.policy"
local random = require "rooflua.random"

---@class strategies.Halving
---@field reduction_factor integer
---@field min_requests integer
---@field growth integer
---@field per_family integer
---@field audits integer
local Halving = policy.define {
  name = "halving",
  doc = "Short runs of all, longer runs of the best third, full runs of the best of these; an audit.",
  source = "Jamieson and Talwalkar, \"Non-stochastic best arm identification\", AISTATS 2016",
  params = {
    reduction_factor = { default = 3, unit = "1", min = 2, integer = true,
      doc = "One in so many goes to the next rung." },
    min_requests = { default = 500, unit = "requests", min = 10, integer = true, doc = "Requests of the first rung." },
    growth = { default = 4, unit = "1", min = 2, integer = true,
      doc = "The second rung has so many times as many." },
    per_family = { default = 2, unit = "candidates", min = 1, integer = true,
      doc = "How many of each family (GPU, engine, split) go to the next rung at least." },
    audits = { default = 5, unit = "candidates", min = 0, integer = true,
      doc = "How many of those that were left out run in full in the end." },
  },
}

--- Results of one purpose by candidate; nil where there are none.
local function of_purpose(state, purpose)
  local out, any = {}, false
  for _, each in ipairs(state.results) do
    if each.purpose == purpose then out[each.candidate], any = each, true end
  end
  return any and out or nil
end

--- The best score of runs in full.
local function best_in_full(state)
  local best = math.huge
  for _, each in ipairs(state.results) do
    if each.requests == state.requests and each.score and each.score < best then best = each.score end
  end
  return best
end

--- Candidates with a result, the best first; those that no number of replicas serves come last.
local function ranked(state, results)
  local out = {}
  for _, each in ipairs(state.candidates) do
    if results[each.index] then out[#out + 1] = each end
  end
  local order = {}
  for i, each in ipairs(state.candidates) do order[each.index] = i end
  table.sort(out, function(a, b)
    local x, y = results[a.index], results[b.index]
    local p, q = x.score or math.huge, y.score or math.huge
    if p ~= q then return p < q end
    local m, n = x.margin or math.huge, y.margin or math.huge
    if m ~= n then return m < n end
    return order[a.index] < order[b.index]
  end)
  return out
end

--- The best third, and the best of every family that serve the load at all.
local function survivors(self, state, results)
  local list, out, families = ranked(state, results), {}, {}
  local count = math.max(1, math.ceil(#list / self.reduction_factor))
  for i, each in ipairs(list) do
    local serves = results[each.index].score ~= nil
    local of_family = families[each.family] or 0
    if serves and (i <= count or of_family < self.per_family) then out[#out + 1] = each.index end
    if serves then families[each.family] = of_family + 1 end
  end
  return out
end

local function asks_of(list, requests, purpose)
  local asks = {}
  for i, index in ipairs(list) do asks[i] = { candidate = index, requests = requests, purpose = purpose } end
  return asks
end

--- One candidate of every family, the one that the steady state likes best.
local function pilots(state)
  local best, order = {}, {}
  for _, each in ipairs(state.candidates) do
    local own = best[each.family]
    if not own then order[#order + 1] = each.family end
    if not own or (each.guess_score or math.huge) < (own.guess_score or math.huge) then best[each.family] = each end
  end
  local out = {}
  for i, family in ipairs(order) do out[i] = best[family].index end
  return out
end

--- Of those that ran short and not in full: the best, and others drawn by the seed.
local function audited(self, state, short)
  local in_full, left = {}, {}
  for _, each in ipairs(state.results) do
    if each.requests == state.requests then in_full[each.candidate] = true end
  end
  for _, each in ipairs(ranked(state, short)) do
    if not in_full[each.index] then left[#left + 1] = each.index end
  end
  local stream, out = random.streams(state.seed):stream "plan audit", {}
  if #left > 0 and self.audits > 0 then out[1] = table.remove(left, 1) end
  while #left > 0 and #out <= self.audits do out[#out + 1] = table.remove(left, stream:integer(1, #left)) end
  return out
end

--- Where an audited candidate beats the winner: all that were at least as good in the short run.
local function second_look(state, short, audit)
  local best, worst = math.huge, nil
  for _, each in ipairs(state.results) do
    if each.purpose ~= "audit" and each.requests == state.requests and each.score then
      best = math.min(best, each.score)
    end
  end
  for index, each in pairs(audit) do
    if each.score and each.score < best and short[index].score then
      worst = math.max(worst or -math.huge, short[index].score)
    end
  end
  local out, in_full = {}, {}
  if not worst then return out end
  for _, each in ipairs(state.results) do
    if each.requests == state.requests then in_full[each.candidate] = true end
  end
  for _, each in ipairs(ranked(state, short)) do
    local own = short[each.index]
    if not in_full[each.index] and own.score and own.score <= worst then out[#out + 1] = each.index end
  end
  return out
end

---@param state table candidates (by floor), results, requests, seed, can_shorten
---@return table[]|nil asks {candidate, requests, purpose}; nil: the search is over
function Halving:next(state)
  if #state.results == 0 then return asks_of(pilots(state), state.requests, "pilot") end
  local pilot, most = of_purpose(state, "pilot"), best_in_full(state)
  local rungs = {}
  for i, requests in ipairs { self.min_requests, self.min_requests * self.growth } do
    if state.can_shorten and requests * 1.5 < state.requests then
      rungs[#rungs + 1] = { requests = requests, purpose = "rung " .. i }
    end
  end
  local left = {}
  for _, each in ipairs(state.candidates) do
    if not pilot[each.index] and (not each.floor or each.floor <= most) then left[#left + 1] = each.index end
  end
  -- What a rung keeps out must not change when later runs lower `most`: the list is that of the first rung's results.
  local short
  for _, rung in ipairs(rungs) do
    local results = of_purpose(state, rung.purpose)
    if not results then
      if #left > 0 then return asks_of(left, rung.requests, rung.purpose) end
      break
    end
    short = short or results
    left = survivors(self, state, results)
  end
  if #left > 0 and not of_purpose(state, "full") then return asks_of(left, state.requests, "full") end
  if not short then return nil end
  local audit = of_purpose(state, "audit")
  if not audit then
    local list = audited(self, state, short)
    return #list > 0 and asks_of(list, state.requests, "audit") or nil
  end
  if of_purpose(state, "second look") then return nil end
  local again = second_look(state, short, audit)
  return #again > 0 and asks_of(again, state.requests, "second look") or nil
end

return Halving
