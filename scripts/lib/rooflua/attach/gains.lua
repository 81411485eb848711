-- Changes of one setting that pay: each is simulated on the load that was measured, and what it gains is beyond the
-- difference that two runs of one server may have.
local deployment = require "rooflua.advise.deployment"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"
local moves = require "rooflua.advise.moves"
local trials = require "rooflua.advise.trials"

local gains = {}

local most = 5
local noise = levers.flat_frac -- a smaller gain is none
local most_loss = 0.1          -- of another figure, above which a change is told as a trade

--- The figure that a change has to better: of clients that wait for answers the throughput, else the time of a request.
function gains.goal(is_closed)
  if is_closed then return { metric = "output_tokens_per_s", title = "tokens/s", is_more = true } end
  return { metric = "e2e_s_mean", title = "E2E", is_more = false }
end

local function gain_of(goal, before, after)
  local a, b = before.metrics[goal.metric], after.metrics[goal.metric]
  if not (a and b and a > 0 and b > 0) then return nil end
  return goal.is_more and b / a - 1 or a / b - 1
end

--- Figures that a change makes worse by more than a tenth: {metric = relative change}.
local function losses_of(before, after)
  local out = {}
  for _, name in ipairs { "ttft_s_mean", "tpot_s_mean" } do
    local a, b = before.metrics[name], after.metrics[name]
    if a and b and a > 0 and b / a - 1 > most_loss then out[name] = b / a - 1 end
  end
  return out
end

--- Moves that make another deployment than the one that runs and than each other, within its GPUs.
local function worth(asked, base, list)
  local out, seen = {}, { [base.text] = true }
  for _, move in ipairs(list) do
    local change = { { path = move.path, value = move.value } }
    local about = deployment.of(asked.reader, asked.given, change)
    if not about.problem and not seen[about.text] and about.gpus <= base.gpus then
      seen[about.text] = true
      out[#out + 1] = { move = move, changes = change, kv_tokens = about.kv_tokens }
    end
  end
  return out
end

--- {goal, before = metrics, list = the changes that pay, best first, tried, stopped}. Of one option the best value
--- stands.
---@param asked table {reader, given, jobs, is_late}
---@param is_closed boolean whether the load waits for answers
---@param longest number? tokens of the longest request
function gains.of(asked, is_closed, longest)
  local base = deployment.of(asked.reader, asked.given, {})
  if base.problem then error(base.problem, 0) end
  local list = moves.of(asked.reader, asked.given, { replica = base.replica, gpus = base.gpus, longest = longest,
    is_command = true })
  local wanted, sets = worth(asked, base, list), { {} }
  for i, each in ipairs(wanted) do sets[i + 1] = each.changes end
  local rows, is_late = trials.rows(asked, sets)
  local goal, out, best = gains.goal(is_closed), {}, {}
  local before = trials.judge(rows[1], {})
  for i, each in ipairs(wanted) do
    local verdict = rows[i + 1] and trials.judge(rows[i + 1], {})
    local gain = verdict and not verdict.problem and not verdict.lost and gain_of(goal, before, verdict)
    local of = best[each.move.option]
    local was = each.move.before
    if was == nil then was = json.null end
    if gain and gain > noise and (not of or gain > of.gain) then
      best[each.move.option] = { set = each.move.set, before = was, after = each.move.after, gain = gain,
        metrics = verdict.metrics, intervals = verdict.intervals, loses = losses_of(before, verdict),
        kv_tokens = each.kv_tokens, kv_tokens_before = base.kv_tokens,
        record = levers.of("engine." .. each.move.option), place = i }
    end
  end
  for _, each in pairs(best) do out[#out + 1] = each end
  table.sort(out, function(a, b)
    if a.gain ~= b.gain then return a.gain > b.gain end
    return a.place < b.place
  end)
  for i = #out, 1, -1 do
    out[i].place = nil
    if i > most then out[i] = nil end
  end
  return { goal = goal, before = before, list = out, tried = #rows, stopped = is_late or nil,
    gpus = base.gpus, kv_tokens = base.kv_tokens }
end

return gains
