--- The pickers of llm-d: which of some places gets the request, by their scores.
---
---     pickers[name](places, score, draws) -> place
---         score(place): the weighted sum of the scorers; draws: a stream of random numbers
local pickers = {}

--- The highest one, drawn among equal ones.
function pickers.max_score(places, score, draws)
  local best, highest, equal = places[1], -math.huge, 0
  for _, place in ipairs(places) do
    local own = score(place)
    if own > highest then
      best, highest, equal = place, own, 1
    elseif own == highest then
      equal = equal + 1
      if draws:integer(1, equal) == 1 then best = place end
    end
  end
  return best
end

--- Each with a probability in proportion to its score: the largest of U^(1 / score), U uniform in (0, 1). One without a
--- score is never drawn, unless all have none: then each is as likely as the others.
--- Efraimidis, Spirakis. "Weighted random sampling with a reservoir", 2006
function pickers.weighted_random(places, score, draws)
  local best, largest = nil, -math.huge
  for _, place in ipairs(places) do
    local own = score(place)
    if own > 0 then -- the logarithm keeps the order and small scores apart
      local key = math.log(math.max(draws:uniform(0, 1), 1e-10)) / own
      if key > largest then best, largest = place, key end
    end
  end
  return best or places[draws:integer(1, #places)]
end

return pickers
