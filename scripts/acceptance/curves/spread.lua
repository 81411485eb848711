--- Curves of acceptance: published shares S_j as shares a_j of those that came so far, and requests that differ.
local spread = {}

local exp, log, max = math.exp, math.log, math.max

--- a_j = S_j / S_(j-1) of a published list.
--- @param rates number[] S_1, S_2, ..
--- @param where string the parameter, for errors
function spread.conditional(rates, where)
  local out, before = {}, 1
  for j = 1, #rates do
    local rate = rates[j]
    if type(rate) ~= "number" or not (rate >= 0 and rate <= 1) then
      error(("%s[%d]: expected a share from 0 to 1, found %s"):format(where, j, tostring(rate)), 0)
    end
    if rate > before then
      error(("%s[%d]: %.14g is more than the %.14g before it. Expected S_j, the share of rounds that accept at least j "
        .. "drafts; shares of those that came so far are multiplied up first"):format(where, j, rate, before), 0)
    end
    out[j] = before > 0 and rate / before or 0
    before = rate
  end
  return out
end

local function logit(p) return log(p / (1 - p)) end
local function logistic(x) return 1 / (1 + exp(-x)) end

-- Nodes z and weights of a standard normal number: 41 points from -5 to 5.
local nodes, weights = {}, {}
do
  local sum = 0
  for i = 1, 41 do
    local z = (i - 21) / 4
    nodes[i], weights[i] = z, exp(-z * z / 2)
    sum = sum + weights[i]
  end
  for i = 1, 41 do weights[i] = weights[i] / sum end
end

--- The shift for which the mean over requests of `survival` x logistic(base + shift + deviation z) is `target`.
local function shift_of(survival, base, deviation, target)
  local low, high = -60, 60
  for _ = 1, 80 do
    local middle, mean = (low + high) / 2, 0
    for i = 1, #nodes do
      mean = mean + weights[i] * survival[i] * logistic(base + middle + deviation * nodes[i])
    end
    if mean < target then low = middle else high = middle end
  end
  return (low + high) / 2
end

--- Shifts c_j with which the mean of S_j over requests is the published one. Shares of 0 and 1 stay as they are.
function spread.shifts(rates, deviation)
  local shares, survival, out = spread.conditional(rates, "rates"), {}, {}
  for i = 1, #nodes do survival[i] = 1 end
  for j = 1, #rates do
    local share, shift = shares[j], 0
    if share > 0 and share < 1 then
      shift = shift_of(survival, logit(share), deviation, rates[j])
      for i = 1, #nodes do
        survival[i] = survival[i] * logistic(logit(share) + shift + deviation * nodes[i])
      end
    elseif share == 0 then
      for i = 1, #nodes do survival[i] = 0 end
    end
    out[j] = shift
  end
  return out
end

--- The curve of a request.
--- @param z number its deviation, in logits
function spread.drawn(shares, shifts, z)
  local out = {}
  for j = 1, #shares do
    local share = shares[j]
    out[j] = share > 0 and share < 1 and logistic(logit(share) + shifts[j] + z) or share
  end
  return out
end

--- S_j of mean tokens per round by number of drafts: S_k = AL(k) - AL(k-1), in [0, 1] and never rising.
--- @param lengths number[] AL(1), AL(2), ..
function spread.of_lengths(lengths)
  local out, before, most = {}, 1, 1
  for k = 1, #lengths do
    most = math.min(most, max(0, lengths[k] - before))
    out[k], before = most, lengths[k]
  end
  return out
end

return spread
