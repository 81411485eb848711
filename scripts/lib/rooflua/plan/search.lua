-- The search of a plan: stages 0 and 1 (what fits, what bounds exclude), then what the strategy asks for. A strategy is
-- a pure function of all results so far, so the answer is the same for any number of workers.
local native = require "rooflua.native"
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local bounds = require "rooflua.plan.bounds"
local candidates = require "rooflua.plan.candidates"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local keep = require "rooflua.plan.keep"
local load = require "rooflua.machine.load"
local mfu = require "rooflua.mfu"
local money = require "rooflua.plan.money"
local run_text = require "rooflua.scenario.run_text"
local duplicates = require "rooflua.plan.duplicates"
local steady = require "rooflua.plan.steady"
local strict = require "rooflua.plan.strict"
local units = require "rooflua.text.units"

local search = {}

--- Leaves the rows of other shards to them, where shards divide each round of the search.
local function divide(round, rows)
  local mine = native.dealt(#rows, round.count)
  for i, row in ipairs(rows) do row.here = mine[i] == round.index end
end

--- Calls fn(i) for i = 1..n in worker processes; its results in order. An error in one ends the search. Ctrl-C is an
--- error as well, and sets question.stopped where what is known is reported (question.tells_partial). With `partial`
--- it is no error there: results that are not there yet are missing. Where shards divide the rounds (question.round:
--- {index, count}) and pieces of others are missing, the own ones are done, round.waits is set, and that is an error.
---@param contents (fun(i: integer): table)? what piece i is asked: a file of results keeps its document under that name
---@param partial boolean?
---@param everywhere boolean? whether every shard does all pieces, because they take less than a round does
function search.parallel(question, n, title, fn, contents, partial, everywhere)
  local rows = {}
  for i = 1, n do rows[i] = { name = title .. " " .. i, parameters = {}, seed = question.seed } end
  if n == 0 then return {} end
  if question.in_process then -- tests ask hundreds of questions, and a process for each piece takes longer than it
    for i = 1, n do rows[i] = fn(i) end
    return rows
  end
  local options = { jobs = question.jobs or 1, results = "", title = question.progress and title or nil,
    partial = question.tells_partial, round = question.round ~= nil }
  if question.book and contents then keep.add(question.book, rows, options, title, contents) end
  if question.round and not everywhere then divide(question.round, rows) end
  local documents, problems, about = native.run_many(rows, options, fn)
  if question.book then question.book.reused = question.book.reused + about.reused end
  question.stopped = about.interrupted and question.tells_partial or nil
  if about.interrupted and not (partial and question.stopped) then error("interrupted", 0) end
  if question.round and about.missing > 0 then
    question.round.waits = true
    error(("%d pieces of work of other shards are missing"):format(about.missing), 0)
  end
  for i = 1, n do
    if not documents[i] and not question.stopped then error(problems[i], 0) end
    documents[i] = documents[i] or nil
  end
  return documents
end

--- Tables of measured kernels, opened once per GPU and engine: every run of a plan reads the same.
local function share_databases(question, list)
  if question.base.mfu ~= nil then return end
  local opened = {}
  question.databases = function(candidate)
    local key = candidate.gpu .. candidate.engine
    if not opened[key] then
      opened[key] = mfu.open { hardware = question.gpus[candidate.gpu].hardware, engine = candidate.engine }
    end
    return opened[key]
  end
  for _, candidate in ipairs(list) do question.databases(candidate) end
end

--- What bounds say of one candidate, as a document.
local function explored(question, candidate)
  local engine = bounds.engine(question, candidate)
  local time = bounds.pricer(engine)
  local found = bounds.of(question, candidate, engine, time)
  local most = deploy.most_replicas(question, candidate) - question.survive
  local least = bounds.fewest(question, found)
  local guess = least <= most and not found.never and steady.replicas(question, candidate, time, least, most) or nil
  return { off = found.off, rate_per_s = found.rate_per_s, never = found.never, least = least, most = most,
    latency = found.latency, guess = guess, alike_key = duplicates.key(question, candidate, engine) }
end

local most_built = 200 -- of the candidates that a check looks at

--- What a candidate is besides its seats and budget, which decide nothing about whether it can be built.
local function build_of(candidate)
  local content = keep.candidate(candidate)
  for _, name in ipairs(axes.names "scheduler") do content[name] = nil end
  return (run_text.of(content))
end

--- What a search begins with, of which the candidates that fit are built: {name, scenario} of the first of every GPU
--- and engine.
function search.first(question)
  local out, seen, built, count = {}, {}, {}, 0
  local fit = candidates.fitting(question, candidates.all(question))
  share_databases(question, fit)
  for _, candidate in ipairs(fit) do
    local content = build_of(candidate)
    if not built[content] and count < most_built then
      built[content], count = true, count + 1
      bounds.engine(question, candidate)
    end
    if not seen[candidate.family] then
      seen[candidate.family] = true
      out[#out + 1] = { name = candidate.family,
        scenario = deploy.scenario(question, candidate, 1, { requests = question.requests }) }
    end
  end
  return out
end

local warm_requests = 1000

--- Runs one candidate of each engine in this process, before workers are forked from it: they inherit the code that
--- LuaJIT compiled for it, and each of them would compile it again in a tenth of a second.
local function warm(question, list)
  if question.in_process or #list < 2 then return end
  local seen = {}
  for _, candidate in ipairs(list) do
    if not seen[candidate.engine] then
      seen[candidate.engine] = true
      explored(question, candidate)
      evaluate.run(question, candidate, math.min(2, deploy.most_replicas(question, candidate)), { steady = true,
        requests = math.min(warm_requests, question.requests), seed = question.seed, here = true })
    end
  end
end

local most_per_piece, pieces_wanted = 6, 16

--- Applies `call` to every candidate of a list in worker processes; results by place. A short list has small pieces, so
--- that no worker waits long for another. With a file of results each one is a piece, so that another order of the list
--- finds it there.
---@param content fun(one): table what one of the list is asked
local function each_of(question, list, title, call, content, partial, everywhere)
  local per_row = question.book and 1 or math.max(1, math.min(most_per_piece, math.ceil(#list / pieces_wanted)))
  local pieces = math.ceil(#list / per_row)
  local documents, out = search.parallel(question, pieces, title, function(piece)
    local own = {}
    for i = (piece - 1) * per_row + 1, math.min(#list, piece * per_row) do own[#own + 1] = call(list[i]) end
    return { own = own }
  end, function(piece) return content(list[piece]) end, partial, everywhere), {}
  for piece = 1, pieces do
    for i, each in ipairs(documents[piece] and documents[piece].own or {}) do out[(piece - 1) * per_row + i] = each end
  end
  return out
end

--- Adds the least score of a candidate and what the steady state suggests.
local function add_floor(question, candidate, found)
  candidate.bound, candidate.least, candidate.most, candidate.guess = found, found.least, found.most, found.guess
  candidate.alike_key = found.alike_key
  local objective = question.objective
  local function floor_at(replicas)
    if not objective.floor then return nil end
    local bounds_of = money.least(question, candidate, replicas + question.survive)
    bounds_of.rate_per_s = (found.rate_per_s or math.huge) * found.most
    return objective:floor(bounds_of)
  end
  candidate.floor = not found.off and floor_at(found.least) or nil
  candidate.guess_score = found.guess and floor_at(found.guess) or nil
end

--- Stage 1: the candidates that bounds leave, the least floor first.
local function bounded(question, fit)
  local out, off = {}, {}
  local found = each_of(question, fit, "bounds", function(candidate) return explored(question, candidate) end,
    keep.candidate, false, true)
  for i, candidate in ipairs(fit) do
    add_floor(question, candidate, found[i])
    if found[i].off then off[found[i].off] = true end
    if found[i].never then
      candidate.ended, candidate.problem = "by bound", ("%s is at least %s, the SLO allows %s"):format(
        found[i].never.metric, units.significant(found[i].never.least, 4), units.significant(found[i].never.limit, 4))
    elseif candidate.least > candidate.most then
      candidate.too_few = true
      candidate.ended, candidate.problem = "by bound", ("at most %s requests/s per replica: needs %s, and the "
        .. "GPUs allow %d"):format(units.significant(found[i].rate_per_s, 4),
        units.counted(candidate.least + question.survive, "replica"),
        candidate.most + question.survive)
    else
      out[#out + 1] = candidate
    end
  end
  duplicates.mark(question.objective.seeks ~= "load" and out or {})
  table.sort(out, function(a, b)
    local x, y = a.floor or -math.huge, b.floor or -math.huge
    if x ~= y then return x < y end
    local p, q = a.guess_score or math.huge, b.guess_score or math.huge
    if p ~= q then return p < q end
    return a.index < b.index
  end)
  return out, core.sorted_keys(off)
end

--- The view of a search that a strategy gets.
local function state_of(question, left, results)
  local list = {}
  for i, each in ipairs(left) do
    list[i] = { index = each.index, name = each.name, family = each.family, floor = each.floor,
      guess_score = each.guess_score }
  end
  return { candidates = list, results = results, requests = question.requests, ranks = question.ranks,
    seed = question.seed, can_shorten = load.has_count(question.workload) and question.load.kind ~= "recorded"
      and not question.load.is_recorded }
end

local most_multiple = 1e4 -- of the load, where the largest is looked for

--- All replicas of a candidate at the largest load that they hold.
local function at_largest_load(question, candidate, options)
  local needs = candidate.most
  local function run(replicas, scale)
    return evaluate.run(question, candidate, replicas, { requests = options.requests, seed = options.seed,
      steady = options.steady, scale = scale })
  end
  local at_load = run(needs, 1)
  if not at_load.meets then return { best = at_load, tried = 1 } end
  local bound, asked = candidate.bound.rate_per_s, question.load
  local scale, best, tried = evaluate.holds_to(question, candidate, needs, { requests = options.requests,
    seed = options.seed, steady = options.steady, meets = true, most_scale = most_multiple,
    never = bound and bound * needs / (asked.value * asked.peak) })
  best = best or at_load
  if question.survive > 0 and options.steady then best = run(needs + question.survive, scale) end
  return { replicas = needs, best = best, tried = tried + 1, needs = needs }
end

local near_length = 3 -- a run that is shorter by more flatters too much to say where to look

--- Runs one ask: the fewest replicas of a candidate that meet the SLO. A run of the candidate that was not much
--- shorter says where to look.
---@param before table? the candidate's result before: {needs, requests}
local function answer(question, candidate, ask, before)
  local options = { requests = ask.requests, seed = question.seed, steady = ask.requests == question.requests,
    caps = candidate.alike or nil }
  if question.objective.seeks == "load" then return at_largest_load(question, candidate, options) end
  local found = evaluate.fewest(question, candidate, { least = candidate.least, most = candidate.most,
    guess = before and before.requests * near_length >= ask.requests and before.needs or candidate.guess }, options)
  if found.replicas and question.survive > 0 and options.steady then
    found.spare = evaluate.run(question, candidate, found.replicas + question.survive, options)
  end
  local limited, most_running = duplicates.limits(found.runs, found.spare)
  return { replicas = found.replicas, best = found.spare or found.best, missed = found.missed, tried = found.tried,
    needs = found.replicas, limited = limited, most_running = most_running }
end

local function check_asks(question, asks, by_index)
  for _, ask in ipairs(asks) do
    if not by_index[ask.candidate] then
      core.fail("plan.strategy: %s asks for candidate %s, which was not offered", question.strategy.name,
        core.describe(ask.candidate))
    end
    core.whole(ask.requests, "plan.strategy: " .. question.strategy.name .. ": requests", 1)
  end
end

--- The result of an ask that strategies see, and the deployment that it stands for.
local function result_of(question, candidate, ask, found)
  local result = { candidate = ask.candidate, requests = ask.requests, purpose = ask.purpose,
    replicas = found.replicas, tried = found.tried, margin = found.best.margin, same_as = found.same_as }
  if not found.replicas then
    result.problem = found.best.problem
    result.best = found.best
    return result
  end
  result.deployment = money.add(question, candidate, found.best)
  result.deployment.needs, result.deployment.missed = found.needs, found.missed
  result.score, result.meets = result.deployment.score, result.deployment.meets
  if not result.meets then result.score = nil end
  result.doubtful = result.score and strict.problem(question, found.best)
  if result.doubtful then result.score, result.problem = nil, result.doubtful end
  return result
end

local function account(results, question)
  local rungs, order = {}, {}
  for _, each in ipairs(results) do
    local key = each.purpose or (each.requests == question.requests and "full" or tostring(each.requests))
    if not rungs[key] then
      rungs[key] = { name = key, requests = each.requests, candidates = 0, runs = 0 }
      order[#order + 1] = rungs[key]
    end
    rungs[key].candidates, rungs[key].runs = rungs[key].candidates + 1, rungs[key].runs + each.tried
  end
  return order
end

--- What was found of each ask of a round. Candidates with fewer seats and smaller budgets come first: where these
--- decided nothing, those that differ by more of them have the same runs.
---@param before table by candidate: {needs, requests} of its last runs
---@param answers table duplicates.answers() of the search
local function round_of(question, asks, by_index, before, answers)
  local out, first, later = {}, duplicates.in_turns(asks, by_index)
  for _, turn in ipairs { first, later } do
    local list, numbers = {}, {}
    for _, i in ipairs(turn) do
      out[i] = answers:of(question, by_index[asks[i].candidate], asks[i].requests)
      if not out[i] then list[#list + 1], numbers[#numbers + 1] = asks[i], i end
    end
    local found = question.stopped and {} or each_of(question, list, asks[1].purpose or "search", function(ask)
      return answer(question, by_index[ask.candidate], ask, before[ask.candidate])
    end, function(ask)
      return { candidate = keep.candidate(by_index[ask.candidate]), requests = ask.requests,
        full = question.requests, before = before[ask.candidate], caps = by_index[ask.candidate].alike or nil }
    end, true)
    for k, i in ipairs(numbers) do
      out[i] = found[k]
      if found[k] then answers:note(by_index[asks[i].candidate], asks[i].requests, found[k]) end
    end
  end
  return out
end

--- Everything that was found: {candidates, fit, unfit, left, results, rungs, bounds_off, not_tried}.
function search.run(question)
  local all = candidates.all(question)
  local fit, unfit = candidates.fitting(question, all)
  share_databases(question, fit)
  warm(question, fit)
  local left, off = bounded(question, fit)
  local by_index, results, before, answers = {}, {}, {}, duplicates.answers()
  for _, each in ipairs(left) do by_index[each.index] = each end
  local most_rounds = 1000
  for _ = 1, most_rounds do
    local asks = #left > 0 and question.strategy:next(state_of(question, left, results)) or nil
    if not asks or #asks == 0 then break end
    check_asks(question, asks, by_index)
    local found = round_of(question, asks, by_index, before, answers)
    for i, ask in ipairs(asks) do
      if found[i] then
        before[ask.candidate] = { needs = found[i].needs, requests = ask.requests }
        results[#results + 1] = result_of(question, by_index[ask.candidate], ask, found[i])
      end
    end
    if question.stopped then break end
  end
  for _, each in ipairs(results) do
    local candidate = by_index[each.candidate]
    candidate.result = each
    if each.doubtful then
      candidate.ended, candidate.problem = "too doubtful", each.doubtful
    elseif not each.score then
      candidate.ended = each.requests == question.requests and "misses the SLO" or "misses the SLO in a short run"
      candidate.problem = each.problem
    else
      candidate.ended = each.requests == question.requests and "in full" or "short runs"
      if each.same_as then
        candidate.ended, candidate.problem = "the same",
          ("runs as candidate %d: no step reaches seats or budget"):format(each.same_as)
      end
    end
  end
  for _, each in ipairs(left) do
    if not each.result and question.stopped then
      each.ended, each.problem = "not run", "the search was stopped"
    elseif not each.result then
      each.ended, each.problem = "by bound", "its least score is above that of the best"
    end
  end
  return { candidates = all, fit = fit, unfit = unfit, left = left, results = results,
    rungs = account(results, question), bounds_off = off, not_tried = candidates.not_tried(question, all) }
end

return search
