-- The front of a plan (--front): the deployments of the answer, each at eight loads up to what it holds. x: output
-- tokens per second of one user (1 / mean TPOT), y: output tokens per second of one GPU.
local evaluate = require "rooflua.plan.evaluate"
local search = require "rooflua.plan.search"
local units = require "rooflua.text.units"

local front = {}

local loads = 8

--- A point that no other point beats in both speeds is on the front.
local function mark(points)
  for _, each in ipairs(points) do
    each.on_front = true
    for _, other in ipairs(points) do
      local beats = other.user_tokens_per_s >= each.user_tokens_per_s
        and other.gpu_tokens_per_s >= each.gpu_tokens_per_s
        and (other.user_tokens_per_s > each.user_tokens_per_s or other.gpu_tokens_per_s > each.gpu_tokens_per_s)
      if beats then each.on_front = false end
    end
  end
end

--- Points {rank, name, scale, user_tokens_per_s, gpu_tokens_per_s, meets, on_front}.
function front.points(question, plan)
  local asks, out = {}, {}
  for rank, item in ipairs(plan.ranks) do
    local most = math.max(0.1, item.holds_to or 1)
    for i = 1, loads do asks[#asks + 1] = { rank = rank, item = item, scale = most * i / loads } end
  end
  local found = search.parallel(question, #asks, "front", function(i)
    local ask = asks[i]
    return evaluate.run(question, ask.item.candidate, ask.item.result.replicas, { requests = question.requests,
      seed = question.seed, scale = ask.scale, brief = true })
  end)
  for i, ask in ipairs(asks) do
    local run = found[i]
    local tpot_s, output = run.metrics.tpot_s_mean, run.metrics.output_tokens_per_s
    if tpot_s and tpot_s > 0 and output then
      out[#out + 1] = { rank = ask.rank, name = ask.item.candidate.name, scale = ask.scale,
        user_tokens_per_s = 1 / tpot_s, gpu_tokens_per_s = output / ask.item.result.gpus, meets = run.meets }
    end
  end
  mark(out)
  return out
end

local columns, rows = 72, 18

--- A plot of 72 columns: the digit of a point is its rank; points that miss the SLO are dots.
function front.text(points)
  local most_x, most_y, grid = 0, 0, {}
  for _, each in ipairs(points) do
    most_x, most_y = math.max(most_x, each.user_tokens_per_s), math.max(most_y, each.gpu_tokens_per_s)
  end
  if most_x == 0 or most_y == 0 then return "no points\n" end
  for y = 1, rows do
    grid[y] = {}
    for x = 1, columns do grid[y][x] = " " end
  end
  for _, each in ipairs(points) do
    local x = math.max(1, math.ceil(each.user_tokens_per_s / most_x * columns))
    local y = rows + 1 - math.max(1, math.ceil(each.gpu_tokens_per_s / most_y * rows))
    grid[y][x] = each.meets and tostring(each.rank) or "."
  end
  local lines = { ("output tokens/s per GPU, up to %s; digits are ranks, dots miss the SLO"):format(
    units.significant(most_y, 4)) }
  for y = 1, rows do lines[#lines + 1] = "|" .. table.concat(grid[y]):gsub(" +$", "") end
  lines[#lines + 1] = "+" .. ("-"):rep(columns)
  lines[#lines + 1] = (" output tokens/s of one user, up to %s"):format(units.significant(most_x, 4))
  return table.concat(lines, "\n") .. "\n"
end

return front
