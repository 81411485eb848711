-- The sum of a quantity over all steps of a run, from a sample of them. What every step amounts to in simple numbers
-- (its tokens, contexts, pairs) is known of all steps, and the quantity hangs together with them: flop are nearly
-- linear in tokens, rows and pairs. So the quantity is fitted to these numbers over the sample, the fit is asked for
-- the sums of all steps, and what the fit leaves over is added as in the sample:
--
--     sum = fit(sums of all steps) + sum over the sample of n (y - fit(x))      n: steps that a sampled one stands for
--
-- Steps of a kind that the moments miss (short ones with prompts) are in the fit without standing for others.
-- A quantity that is linear in these numbers is exact, whatever was sampled.
-- Source: Särndal, Swensson, Wretman, "Model Assisted Survey Sampling" (1992), the regression estimator.
local sampled = {}

--- The numbers of a step, the one that explains most first.
local numbers = { "tokens", "prompt_tokens", "group_tokens", "contexts", "rows", "pairs", "steps" }
local samples_for_each = 3  -- numbers that the fit uses: one for so many samples
local vanishing = 1e-9      -- of its square, what is left of a number that the others explain

local function dot(samples, a, b)
  local sum = 0
  for i, each in ipairs(samples) do sum = sum + each.in_fit * a[i] * b[i] end
  return sum
end

--- Subtracts `part` times one column, and its sum, from another one.
local function subtract(column, other, part)
  for i = 1, #column do column[i] = column[i] - part * other[i] end
  column.sum = column.sum - part * other.sum
end

--- Columns of the numbers, each without what those before it explain.
local function columns_of(samples, sums)
  local out, most = {}, math.max(1, math.floor(#samples / samples_for_each))
  for _, name in ipairs(numbers) do
    local column = { sum = sums[name] }
    for i, each in ipairs(samples) do column[i] = each[name] end
    local before = dot(samples, column, column)
    for _, other in ipairs(out) do
      subtract(column, other, dot(samples, column, other) / other.square)
    end
    column.square = dot(samples, column, column)
    if #out < most and column.square > vanishing * before then out[#out + 1] = column end
  end
  return out
end

--- @param samples table[] each with the numbers, the quantity, how many steps it stands for, and its weight in the fit:
---   stands_for and in_fit. One that stands for none says only how the quantity hangs together with the numbers
--- @param sums table of the numbers over all steps
--- @param quantity string
--- @return number
function sampled.sum(samples, sums, quantity)
  local left, total = { sum = 0 }, 0
  for i, each in ipairs(samples) do left[i] = each[quantity] end
  for _, column in ipairs(columns_of(samples, sums)) do
    local part = dot(samples, left, column) / column.square
    total = total + part * column.sum
    subtract(left, column, part)
  end
  for i, each in ipairs(samples) do total = total + each.stands_for * left[i] end
  return math.max(0, total)
end

return sampled
