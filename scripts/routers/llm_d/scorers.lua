--- The scorers of llm-d: each gives every candidate a number from 0 (worst) to 1 (best).
---
---     scorers[name](seen, place, router) -> score
---         seen: what one request sees of its candidates (routers/llm_d.lua); router: its parameters
local scorers = {}

--- The least and the largest of some values.
local function range_of(values)
  local low, high = math.huge, -math.huge
  for _, value in pairs(values) do
    if value < low then low = value end
    if value > high then high = value end
  end
  return low, high
end

--- 1 for the fewest, 0 for the most, 1 for all where they are equal.
local function few(values, place)
  local low, high = range_of(values)
  return high > low and (high - values[place]) / (high - low) or 1
end

function scorers.queue(seen, place) return few(seen.waiting, place) end

function scorers.running(seen, place) return few(seen.running, place) end

function scorers.kv(seen, place) return 1 - seen.kv_used[place] end

--- The share of the prompt; of a precise index also where that is between the least and the most of the candidates.
function scorers.prefix(seen, place, router)
  if not seen.is_precise or router.prefix_score == "share" then return seen.share[place] end
  local low, high = range_of(seen.share)
  return high > low and (seen.share[place] - low) / (high - low) or 1
end

--- A queue of so many requests gets the score 0.
local longest_queue = 128

--- 0.5 without a queue. llm-d: loadaware, threshold 128
function scorers.load_aware(seen, place) return 0.5 * (1 - math.min(seen.waiting[place] / longest_queue, 1)) end

--- Requests in flight, against those of the replica with the most. One with few counts as idle.
function scorers.active(seen, place, router)
  if seen.outstanding[place] <= router.idle_threshold then return 1 end
  local _, most = range_of(seen.outstanding)
  return router.max_busy_score * (most - seen.outstanding[place]) / most
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

--- The highest score of a replica whose range of lengths does not hold the prompt.
local most_outside = 0.3

--- How well a range of lengths that is declared for a replica fits the prompt: narrow ranges with room above score
--- high, ranges that do not hold it by how near they are. A replica without a range gets 0.5.
function scorers.context_length(seen, place, router)
  local range = router.ranges[seen.index[place]]
  if not range then return 0.5 end
  local low, high, tokens = range[1], range[2], seen.prompt_tokens
  if tokens < low or tokens > high then
    local distance = tokens > high and tokens - high or low - tokens
    return most_outside / (1 + distance / 1000)
  end
  if high == low then return 1 end
  local narrow, room = 1 / (1 + (high - low) / 10000), (high - tokens) / (high - low)
  return most_outside + (1 - most_outside) * (0.7 * narrow + 0.3 * room)
end

--- 1 for the replica that had the session's last request.
function scorers.session(seen, place) return seen.index[place] == seen.last_of_session and 1 or 0 end

--- Time to the first token, as far as the prompts in flight tell it.
local function ttft_s(seen, place, router)
  return (seen.in_flight[place] + seen.uncached[place]) / router.prefill_tokens_per_s
end

--- What is left of the limit of TTFT. Of replicas that keep the limit the one that is closest to it is best, so that
--- the others keep their room; where none keeps it an idle one, else the one that misses it by the least.
function scorers.headroom(seen, place, router)
  local left, any_kept, any_idle = {}, false, false
  for other in pairs(seen.in_flight) do
    left[other] = router.ttft_slo_s - ttft_s(seen, other, router)
    any_kept = any_kept or left[other] >= 0
    any_idle = any_idle or seen.outstanding[other] == 0
  end
  local low, high = math.huge, -math.huge
  local function counts(other)
    if any_kept then return left[other] >= 0 end
    return not any_idle or seen.outstanding[other] == 0
  end
  for other, each in pairs(left) do
    if counts(other) then low, high = math.min(low, math.abs(each)), math.max(high, math.abs(each)) end
  end
  if not counts(place) then return 0 end
  if high - low <= 1e-9 then return 0.5 end
  return 1 - (math.abs(left[place]) - low) / (high - low)
end

return scorers
