-- The steady state of one engine at a rate, as a fixed point of prices. It orders candidates and says where to look for
-- the number of replicas; it never drops one, because it knows no queues.
--
--     step = s T(n, chunk) + (1 - s) T(n, 0),   n = rate (O-1) step,   s chunk = rate step P
--
-- n: decodes in a step, s: share of steps with a prompt, O and P: mean answer and prompt.
local steady = {}

local iterations = 40

local function whole(value) return math.floor(value + 0.5) end

--- {step_s, decodes, prefill_share, saturated} at a rate of one engine.
---@param time fun(n, p, c): number
function steady.at(time, drawn, rate_per_s, seats, budget)
  local prompt, output = drawn.mean_prompt, drawn.mean_output
  local context = prompt + output / 2
  local function of_step(n, p) return time(whole(n), whole(p), whole(whole(n) * context), 1) end
  local step_s, n, share = of_step(1, 0), 1, 0
  for _ = 1, iterations do
    n = rate_per_s * (output - 1) * step_s
    local tokens = rate_per_s * step_s * prompt -- per step
    if n > seats or n + tokens > budget then
      return { step_s = step_s, decodes = n, prefill_share = 1, saturated = true }
    end
    local chunk = math.max(tokens, math.min(prompt, budget - n))
    share = tokens / chunk
    local next_s = share * of_step(math.max(n, 1), chunk) + (1 - share) * of_step(math.max(n, 1), 0)
    if math.abs(next_s - step_s) < 1e-6 * step_s then
      step_s = next_s
      break
    end
    step_s = (step_s + next_s) / 2
  end
  return { step_s = step_s, decodes = n, prefill_share = share, saturated = false }
end

local function limit_of(bounds, pattern)
  for _, bound in ipairs(bounds) do
    if bound.max and bound.metric:find(pattern) then return bound.max end
  end
end

--- How many replicas the steady state needs, between `least` and `most`.
function steady.replicas(question, candidate, time, least, most)
  local load, drawn = question.load, question.drawn
  if load.kind ~= "rate" then return least end
  local tpot_s = limit_of(question.bounds, "^tpot_s")
  local ranks = candidate.dp * (candidate.split and candidate.split.decode or 1)
  local blocks = (candidate.deployment.kv_blocks - candidate.deployment.seat_blocks) * candidate.deployment.block_size
  local tokens = drawn.mean_prompt + drawn.mean_output / 2
  local function holds(count)
    local found = steady.at(time, drawn, load.value * load.peak / count / ranks, candidate.max_num_seqs,
      candidate.max_num_batched_tokens)
    return not found.saturated and found.decodes * tokens <= blocks and (not tpot_s or found.step_s <= tpot_s)
  end
  local low, high = least - 1, least
  while high < most and not holds(high) do low, high = high, math.min(most, high * 2) end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if holds(middle) then high = middle else low = middle end
  end
  return high
end

return steady
