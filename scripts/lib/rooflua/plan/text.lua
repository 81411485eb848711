-- A plan as text for people: three ranks in at most 40 lines of 100 columns, whatever was searched, and the notes.
local basis = require "rooflua.plan.basis"
local candidates = require "rooflua.plan.candidates"
local core = require "rooflua.base.core"
local energy = require "rooflua.plan.energy"
local fleets = require "rooflua.plan.fleets"
local money = require "rooflua.plan.money"
local standing = require "rooflua.plan.standing"
local units = require "rooflua.text.units"
local unnamed = require "rooflua.plan.unnamed"
local words = require "rooflua.plan.words"

local text = {}

local width = 100

--- Collects lines; long ones are broken.
local function writer()
  local lines = {}
  return lines, function(indent, format, ...)
    local line = select("#", ...) > 0 and format:format(...) or format
    local pad = (" "):rep(indent)
    for _, each in ipairs(words.wrapped(line, width - indent, "   ")) do lines[#lines + 1] = pad .. each end
  end
end

--- `left` and `right` at the ends of a line.
local function spread(left, right)
  local gap = width - #left - #right
  return gap >= 2 and left .. (" "):rep(gap) .. right or left .. "  " .. right
end

local function rank_lines(add, lines, question, item, rank)
  local candidate, result = item.candidate, item.result
  local title, settings = ("%d  %s"):format(rank, words.gpus(question, candidate, result,
    candidates.widths_text(candidate))), words.settings(candidate)
  local price = standing.text(question, item, rank)
  local fits = #title + #settings + #price + 4 <= width
  lines[#lines + 1] = spread(fits and title .. ", " .. settings or title, price)
  if not fits then add(3, "%s", settings) end
  add(3, "%s", standing.metrics(question, item))
  local costs = standing.costs(question, item)
  if costs ~= "" then add(3, "%s", costs) end
  local holds = question.objective.seeks == "load" and "one run holds" or item.holds_more and "holds" or "holds up to"
  local held = item.holds_to and ("    %s %s"):format(holds, words.held(question, item))
    or "    a multiple of this load is the same load"
  if item.without_one then
    held = held .. ("    without one replica: %s"):format(words.load(question, item.without_one))
  end
  add(3, "%s", words.sure(item.sure) .. held)
  add(3, "evidence: %s", basis.evidence(result))
  if item.measured then add(3, "%s", item.measured.about) end
  if rank > 1 then
    add(3, "%s%s", item.too_unsure and ("not sure enough: %s is asked; "):format(units.percent(question.confidence, 0))
      or "", standing.lost(question, item))
  end
end

local function prices_text(question)
  local origin = money.origin(question)
  if origin.yours then return "yours" end
  return ("list of %s, not yours%s"):format(origin.date, #origin.none > 0
    and "; none for " .. table.concat(origin.none, ", ") or "")
end

--- "72 candidates; 41 excluded by bound, 6 do not fit": what became of the candidates.
function text.searched(found)
  local ended = {}
  for _, each in ipairs(found.candidates) do ended[each.ended] = (ended[each.ended] or 0) + 1 end
  local runs = {}
  for _, each in ipairs(found.rungs) do
    runs[#runs + 1] = ("%s %d (%s of %s)"):format(each.name, each.candidates, units.counted(each.runs, "run"),
      units.grouped(each.requests))
  end
  local unfit = ended["does not fit"] or 0
  local line = ("%s; %d excluded by bound, %d %s not fit"):format(units.counted(#found.candidates, "candidate"),
    ended["by bound"] or 0, unfit, unfit == 1 and "does" or "do")
  if ended["the same"] then
    line = ("%s, %d the same as another"):format(line, ended["the same"])
  end
  return #runs > 0 and line .. "; " .. table.concat(runs, ", ") or line
end

--- What --strict left out.
local function strict_line(add, question, strict)
  if not strict then return end
  if not strict.best then
    return add(0, "strict    every deployment that meets the SLO counts: at most %g %% of its time is unsupported",
      strict.percent)
  end
  local candidate, result = strict.best, strict.best.result.deployment
  add(0, "strict    %s not count; the best of them: %s, %s, %s/h: %s", strict.excluded == 1 and "1 candidate does"
    or strict.excluded .. " candidates do", words.gpus(question, candidate, result, candidates.widths_text(candidate)),
    words.settings(candidate), words.dollars(result.cost_per_hour), strict.problem)
end

local most_families = 3

--- Families of which no deployment meets the SLO, each with the one that is nearest.
---@param told table<integer, boolean> the GPUs that are named; gets those of these lines
local function missed_lines(add, question, found, told)
  local order, nearest, served = {}, {}, {}
  for _, each in ipairs(found.left) do
    local result = each.result
    if result and result.score or not result then served[each.family] = true end -- or nothing is known of it
    local best = result and result.best
    if best then
      local own = nearest[each.family]
      if not own then order[#order + 1] = each.family end
      if not own or best.margin < own.result.best.margin then nearest[each.family] = each end
    end
  end
  local shown = 0
  for _, family in ipairs(order) do
    if not served[family] and shown < most_families then
      shown = shown + 1
      local each = nearest[family]
      told[each.gpu] = true
      local best = each.result.best
      add(0, "misses    %s, nearest %d x [%s]: %s%s", family, best.replicas, each.name,
        standing.metrics(question, { result = best }), best.problem and "; " .. best.problem or "")
    end
  end
end

local function common_lines(add, question, found, plan)
  if #plan.ranks > 0 then add(0, "prices    %s", prices_text(question)) end
  for _, line in ipairs(energy.bases(question, plan.ranks)) do add(0, "power     %s", line) end
  if plan.seeds then
    add(0, "sure      seeds alone %s, errors of the model alone %s; intervals: %s", units.percent(plan.seeds, 0),
      units.percent(plan.model, 0), plan.trusted and "tested on " .. plan.trusted_from
        or "a belief here, taken from " .. plan.trusted_from)
  end
  strict_line(add, question, plan.strict)
  add(0, "searched  %s", text.searched(found))
  local audit = plan.audit
  if audit then
    add(0, "audit     %d that short runs left out ran in full; %s", audit.tried, audit.regret
      and "one was better, and all like it were looked at again"
      or audit.tried == 1 and "it is not better" or "none is better")
  end
  if #found.not_tried > 0 then add(0, "not tried %s", table.concat(found.not_tried, ", ")) end
  for _, reason in ipairs(found.bounds_off) do add(0, "bounds    off: %s", reason) end
  for _, note in ipairs(basis.sentences(question, found, plan)) do add(0, "note      %s", note) end
end

local most_reasons, most_unsure, most_cheaper = 3, 6, 3

--- Names the candidate that could serve the largest load among those of which there are too few GPUs. Where other
--- candidates ran, the number of GPUs is not what refuses the load.
local function too_few_line(add, found)
  local most, count
  local function load_of(each) return each.bound.rate_per_s * each.most end
  for _, each in ipairs(found.fit) do
    if each.too_few then
      count = (count or 0) + 1
      if not most or load_of(each) > load_of(most) then most = each end
    end
  end
  if not most then return end
  local limit = ("they serve at most %s requests/s (%s): %s"):format(units.significant(load_of(most), 3), most.name,
    most.problem)
  if #found.left == 0 then return add(0, "too few GPUs: %s", limit) end
  add(0, "too few GPUs for %d of %s that fit: %s", count, units.counted(#found.fit, "candidate"), limit)
end

--- Why nothing serves the load, and what would be possible.
local function refusal_lines(add, question, found, plan)
  for i, each in ipairs(found.unfit) do
    local verb = each.count == 1 and "does" or "do"
    if i <= most_reasons then add(0, "%d %s not fit: %s", each.count, verb, each.example) end
  end
  local least, by_name = nil, {}
  for _, each in ipairs(found.fit) do
    local never = each.bound and each.bound.never
    if never and (not by_name[never.metric] or never.least < by_name[never.metric].least) then
      by_name[never.metric] = { least = never.least, limit = never.limit, name = each.name }
    end
    local result = each.result
    if result and result.best and (not least or result.best.margin < least.result.best.margin) then least = each end
  end
  for _, metric in ipairs(core.sorted_keys(by_name)) do
    local own = by_name[metric]
    add(0, "%s <= %s is below what any step allows: at least %s (%s)", words.metric(metric),
      words.value(metric, own.limit), words.value(metric, own.least), own.name)
  end
  too_few_line(add, found)
  if least then
    local best = least.result.best
    add(0, "nearest: %s of %s: %s%s", units.counted(best.replicas, "replica"), least.name, standing.metrics(question,
      { result = best }), best.problem and "; " .. best.problem or "")
    if plan.nearest_holds then
      add(3, "which holds %s within the SLO", words.load(question, plan.nearest_holds))
    end
  end
  for i, item in ipairs(plan.unsure) do
    if i > most_unsure then
      add(0, "and %d others, met in too few replicates as well", #plan.unsure - most_unsure)
      break
    end
    add(0, "met in too few replicates: %s, %s: %s", words.gpus(question, item.candidate, item.result,
      candidates.widths_text(item.candidate)), words.settings(item.candidate), words.sure(item.sure))
  end
end

--- The fleets of a day, of each rank the fixed one first.
local function day_lines(add, question, plan)
  for _, each in ipairs(plan.day) do
    add(0, "%s%s", each.name == "fixed" and ("day %-6d"):format(each.rank) or "          ",
      fleets.text(question, plan, each))
  end
end

--- The text of a plan.
function text.of(question, found, plan)
  local lines, add = writer()
  local asked = ("%s within %s"):format(words.asked(question), words.slo(question.bounds))
  if question.survive > 0 then
    asked = ("%s, also with %s fewer"):format(asked, units.counted(question.survive, "replica"))
  end
  add(0, "%s", asked)
  if plan.stopped then
    add(0, "PARTIAL: interrupted; %d of %d candidates that bounds left ran in full%s", plan.stopped.in_full,
      plan.stopped.left, #plan.ranks > 0 and ". The best of these so far:" or ": none meets this")
  elseif #plan.ranks == 0 then
    lines[#lines + 1] = plan.verified > 0 and "no deployment is sure enough:" or "no deployment meets this:"
  end
  if #plan.ranks == 0 then refusal_lines(add, question, found, plan) end
  for i, item in ipairs(#plan.ranks > 0 and plan.unsure or {}) do
    if i > most_cheaper then
      add(0, "and %d others, not sure", #plan.unsure - most_cheaper)
      break
    else
      add(0, "%s, not sure: %s, %s: %s; %s", standing.better(question), words.gpus(question, item.candidate,
        item.result, candidates.widths_text(item.candidate)), words.settings(item.candidate),
        standing.figure(question, item), words.sure(item.sure))
    end
  end
  for i, item in ipairs(plan.ranks) do
    item.first = plan.ranks[1]
    rank_lines(add, lines, question, item, i)
  end
  if #plan.ranks > 0 then
    local told = unnamed.of_ranks(plan)
    missed_lines(add, question, found, told)
    for _, sentence in ipairs(unnamed.sentences(question, found, told)) do add(0, "others    %s", sentence) end
  end
  if plan.day then day_lines(add, question, plan) end
  common_lines(add, question, found, plan)
  return table.concat(lines, "\n") .. "\n"
end

return text
