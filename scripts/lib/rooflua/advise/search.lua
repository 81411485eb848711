-- The fewest changes of settings that meet an SLO: one, then two of the best, then three.
--
-- A change that makes the same deployment as another one is left out, and so is one whose least time is above a limit
-- (plan/bounds.lua): no run of it can meet the SLO. Of long loads all changes run with a part of the requests first,
-- and the better half of them goes on. Of several answers with as few changes the one farthest from its limits is
-- best.
local core = require "rooflua.base.core"
local deployment = require "rooflua.advise.deployment"
local trials = require "rooflua.advise.trials"

local search = {}

local short, least_requests, most_requests = 4, 100, 2000 -- a short run has one request of four, within these
local whole_up_to = 2000 -- requests of loads that need no short runs
local best_of_pairs, best_of_triples, most_linked = 14, 6, 60
local part_of_a_run = 1 / 30 -- of the time that there is, which one run may take
local least_gain = 0.999 -- of the distance as it is, below which a setting comes closer
local values_of_option = 2 -- that are combined with others

--- A list of moves as one setting: {moves, changes, about = deployment.of}.
local function setting(asked, list)
  local out = { moves = list, changes = {} }
  for i, move in ipairs(list) do out.changes[i] = { path = move.path, value = move.value } end
  out.about = deployment.of(asked.reader, asked.given, out.changes, asked.question)
  return out
end

--- Whether two moves are of one option, or of one key path.
local function excludes(a, b) return a.option == b.option or a.path == b.path end

--- Settings of a list that are worth a run: those that differ from the deployment as it is and from each other, within
--- the GPUs that there are. Counts the others.
local function worth(asked, list)
  local out, counts = {}, asked.counts
  for _, each in ipairs(list) do
    local about = each.about
    if about.problem then
      counts.refused = counts.refused + 1
    elseif asked.seen[about.text] then
      counts.same = counts.same + 1
    elseif about.gpus > asked.gpus then
      counts.too_large = counts.too_large + 1
    else
      asked.seen[about.text] = true
      out[#out + 1] = each
    end
  end
  return out
end

--- Settings in the order of their verdicts: the one farthest from its limits first; equal ones stay in their order.
local function sorted(list)
  for i, each in ipairs(list) do each.place = i end
  table.sort(list, function(a, b)
    if a.verdict.margin ~= b.verdict.margin then return a.verdict.margin < b.verdict.margin end
    return a.place < b.place
  end)
  return list
end

--- Runs settings, with fewer requests where a number is given; those that ran, in the order of their verdicts, and
--- whether the time is over.
local function judged(asked, list, requests)
  local sets, out = {}, {}
  for i, each in ipairs(list) do sets[i] = each.changes end
  local verdicts, is_late = trials.run(asked, sets, requests or asked.requests)
  for i, each in ipairs(list) do
    each.verdict = verdicts[i]
    if each.verdict then out[#out + 1] = each end
  end
  return sorted(out), is_late
end

--- Adds the least and most that bounds allow of the metrics of the SLO.
local function note_bound(asked, each)
  for metric, value in pairs(each.about.least and each.about.least.latency or {}) do
    asked.least[metric] = math.min(asked.least[metric] or math.huge, value)
  end
end

--- Settings that can meet the SLO, and those that no run can.
local function by_bound(asked, list)
  local can, cannot = {}, {}
  for _, each in ipairs(list) do
    note_bound(asked, each)
    table.insert(each.about.never and cannot or can, each)
  end
  return can, cannot
end

--- Verdicts with a part of the requests, then with all of them on the better half and on those that meet the SLO.
local function in_two_runs(asked, list)
  local first, is_late = judged(asked, list, asked.short_requests)
  local better, rest = {}, {}
  for i, each in ipairs(first) do
    local goes_on = not is_late and (i <= math.ceil(#first / 2) or each.verdict.meets)
    each.is_short = not goes_on or nil
    table.insert(goes_on and better or rest, each)
  end
  local out
  if is_late then return rest, true end
  out, is_late = judged(asked, better)
  for _, each in ipairs(rest) do out[#out + 1] = each end
  return out, is_late
end

--- Verdicts on settings, the best first. Those that no run can make meet the SLO run where none of the others meets it:
--- they may be parts of pairs.
local function tried(asked, list, is_last)
  local can, cannot = by_bound(asked, worth(asked, list))
  local judge = asked.short_requests and in_two_runs or judged
  asked.counts.tried, asked.counts.excluded = asked.counts.tried + #can, asked.counts.excluded + #cannot
  local out, is_late = judge(asked, can)
  if is_late or is_last or out[1] and out[1].verdict.meets then return out, is_late end
  local others
  others, is_late = judge(asked, cannot)
  for _, each in ipairs(others) do out[#out + 1] = each end
  return out, is_late
end

local function meeting(list)
  local out = {}
  for _, each in ipairs(list) do
    if each.verdict.meets and not each.is_short then out[#out + 1] = each end
  end
  return out
end

--- Whether one of two moves acts only beside the other: both are widths, or one option says that the other reads it.
local function are_linked(a, b)
  return a.is_width and b.is_width or a.reads == b.option or b.reads == a.option
end

--- Whether a setting changes any metric of this load.
local function has_effect(asked, each)
  for name, value in pairs(asked.base.verdict.metrics) do
    if each.verdict.metrics[name] ~= value then return true end
  end
  return false
end

--- The best changes of a list, of each option not more than a few values.
local function best_of(asked, singles, most)
  local out, count = {}, {}
  for _, each in ipairs(singles) do
    local move = each.moves[1]
    local of = count[move.option] or 0
    if #out < most and of < values_of_option and not each.verdict.problem and has_effect(asked, each) then
      out[#out + 1], count[move.option] = move, of + 1
    end
  end
  return out
end

--- Pairs of the best changes, and pairs of changes of which one alone is refused or does nothing.
local function pairs_of(asked, singles, all)
  local out, best = {}, best_of(asked, singles, best_of_pairs)
  for i = 1, #best do
    for j = i + 1, #best do
      if not excludes(best[i], best[j]) then out[#out + 1] = setting(asked, { best[i], best[j] }) end
    end
  end
  local linked = 0
  for i = 1, #all do
    for j = i + 1, #all do
      local a, b = all[i].moves[1], all[j].moves[1]
      if linked < most_linked and not excludes(a, b) and are_linked(a, b) then
        local each = setting(asked, { a, b })
        if not each.about.problem and each.about.gpus == asked.gpus then
          linked, out[#out + 1] = linked + 1, each
        end
      end
    end
  end
  return out
end

--- Pairs of the best with a third of the best.
local function triples_of(asked, singles, couples)
  local out, seen, best = {}, {}, best_of(asked, singles, best_of_triples)
  for i = 1, math.min(best_of_triples, #couples) do
    for _, third in ipairs(best) do
      local list = core.copy(couples[i].moves)
      if not excludes(list[1], third) and not excludes(list[2], third) then
        list[3] = third
        local names = {}
        for k, move in ipairs(list) do names[k] = move.set .. "=" .. tostring(move.after) end
        table.sort(names)
        local key = table.concat(names, " ")
        if not seen[key] then out[#out + 1], seen[key] = setting(asked, list), true end
      end
    end
  end
  return out
end

--- How many requests runs have: all, and of long loads a part of them first.
local function set_requests(asked, workload)
  local name, count = trials.count_of(workload)
  asked.count_name = name
  if name and count > whole_up_to then
    asked.all_requests = count
    asked.short_requests = math.min(most_requests, math.max(least_requests, math.floor(count / short)))
  end
end

--- The verdict on the deployment as it is; nil where the time is over before. Where all requests take long, every run
--- has a part of them.
local function base_verdict(asked, out)
  local here = core.copy(asked, { jobs = 1 }) -- so that its time is this process's
  local found, start_s = nil, os.clock()
  if asked.short_requests then
    found, out.is_late = trials.run(here, { {} }, asked.short_requests)
    local whole_s = (os.clock() - start_s) * asked.all_requests / asked.short_requests
    if whole_s > asked.limit_s * part_of_a_run then
      out.requests, asked.requests, asked.short_requests = asked.short_requests, asked.short_requests, nil
    end
  end
  if not out.requests then found, out.is_late = trials.run(here, { {} }) end
  asked.ran = here.ran
  return found[1]
end

--- The best answer of a list of verdicts, and where it came from.
local function note_answer(out, list)
  local found = meeting(list)
  out.answer = found[1]
  for i = 2, #found do out.others[#out.others + 1] = found[i] end
  return #found > 0
end

--- Searches. asked: {reader, given, limits, moves, gpus, jobs, is_late, limit_s}.
---@return table {base, answer, others, singles, closest, counts, least, is_late, requests}; answer: nil where nothing
--- meets it; requests: that each run has, where these are fewer than those of the scenario
function search.run(asked)
  asked.counts = { refused = 0, same = 0, too_large = 0, excluded = 0, tried = 0 }
  asked.seen, asked.least = {}, {}
  local out = { counts = asked.counts, least = asked.least, others = {}, singles = {}, closest = nil }
  local base = setting(asked, {})
  if base.about.problem then error(base.about.problem, 0) end
  out.base, asked.seen[base.about.text] = base, true
  asked.question = deployment.question(asked.reader, asked.given, base.about.workload, asked.limits)
  base.about = deployment.of(asked.reader, asked.given, {}, asked.question)
  note_bound(asked, base)
  set_requests(asked, base.about.workload)
  base.verdict = base_verdict(asked, out)
  asked.base = base
  if not base.verdict then
    base.verdict = { metrics = {}, meets = false, margin = math.huge }
    return out
  end
  if base.verdict.problem then error(base.verdict.problem, 0) end
  if base.verdict.meets then return out end
  local all = {}
  for i, move in ipairs(asked.moves) do all[i] = setting(asked, { move }) end
  local function stage(list, is_last)
    local found, is_late = tried(asked, list, is_last)
    out.is_late = out.is_late or is_late
    if #list > 0 and found[1] then
      local before = out.closest and out.closest.verdict.margin or least_gain * base.verdict.margin
      if found[1].verdict.margin < before then out.closest = found[1] end
    end
    return found, note_answer(out, found) or is_late
  end
  local is_over, couples
  out.singles, is_over = stage(all)
  if is_over or asked.only_singles then return out end
  couples, is_over = stage(pairs_of(asked, out.singles, all))
  if is_over then return out end
  stage(triples_of(asked, out.singles, couples), true)
  return out
end

return search
