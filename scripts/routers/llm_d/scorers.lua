--- The scorers of llm-d: each gives every candidate a number from 0 (worst) to 1 (best).
---
---     scorers[name](seen, place) -> score      seen: what one request sees of its candidates (routers/llm_d.lua)
local scorers = {}

--- 1 for the fewest, 0 for the most, 1 for all where they are equal.
local function few(values, place)
  local low, high = math.huge, -math.huge
  for _, value in pairs(values) do
    if value < low then low = value end
    if value > high then high = value end
  end
  return high > low and (high - values[place]) / (high - low) or 1
end

function scorers.queue(seen, place) return few(seen.waiting, place) end

function scorers.running(seen, place) return few(seen.running, place) end

function scorers.kv(seen, place) return 1 - seen.kv_used[place] end

--- Of an exact index the share between the least and the most of the candidates; else the share of the prompt.
function scorers.prefix(seen, place)
  if not seen.is_precise then return seen.share[place] end
  local low, high = math.huge, -math.huge
  for _, share in pairs(seen.share) do
    if share < low then low = share end
    if share > high then high = share end
  end
  return high > low and (seen.share[place] - low) / (high - low) or 1
end

--- Requests in flight, against those of the replica with the most.
function scorers.active(seen, place)
  local most = 0
  for _, count in pairs(seen.outstanding) do most = math.max(most, count) end
  return most > 0 and (most - seen.outstanding[place]) / most or 1
end

--- Tokens at which a replica gets the score 0.
local most_tokens = 4194304

--- Prompt tokens in flight, with those of this request that the replica has to compute.
function scorers.token_load(seen, place)
  return 1 - math.min(1, (seen.in_flight[place] + seen.uncached[place]) / most_tokens)
end

--- A prompt that no replica has goes to the one that got such a prompt the longest ago.
function scorers.no_hit_lru(seen, place)
  if seen.any_hit then return 0.5 end
  local earlier, count = 0, 0
  for other, cold in pairs(seen.cold) do
    count = count + 1
    if cold < seen.cold[place] or cold == seen.cold[place] and other < place then earlier = earlier + 1 end
  end
  return count > 1 and 1 - earlier / (count - 1) or 1
end

return scorers
