-- A scenario of kind "plan" from its table to its answer.
local against_load = require "rooflua.plan.against_load"
local answer = require "rooflua.plan.answer"
local artefacts = require "rooflua.plan.artefacts"
local core = require "rooflua.base.core"
local document = require "rooflua.plan.document"
local evaluate = require "rooflua.plan.evaluate"
local keep = require "rooflua.plan.keep"
local load = require "rooflua.machine.load"
local page = require "rooflua.plan.page"
local question = require "rooflua.plan.question"
local search = require "rooflua.plan.search"
local strict = require "rooflua.plan.strict"
local text = require "rooflua.plan.text"

local run = {}

--- Objectives that need the price of every GPU.
local function check_prices(asked)
  local name = asked.objective.name
  if name == "gpus" or name == "goodput_per_gpu" or name == "energy" or name == "rate" then return end
  local first, names = nil, {}
  for i, each in ipairs(asked.gpus) do
    if not each.price then first, names[#names + 1] = first or i, each.name end
  end
  if not first then return end
  local one = asked.gpus[first]
  asked.reader:fail(("plan.gpus[%d]"):format(first), "there is no price of %s in bench_data/prices.toml; give %s: "
    .. "price_per_hour = 2 (--gpus %s:%d@2.00), or ask for fewest GPUs: objective gpus", core.join(names, " and of "),
    #names > 1 and "one for each" or "one", one.name, one.most)
end

--- An objective that looks for the largest load varies a rate, on a number of GPUs that is given.
local function check_seeks(asked)
  if asked.objective.seeks ~= "load" then return end
  if asked.load.kind ~= "rate" then
    asked.reader:fail("plan.load", "the objective %s looks for the largest rate, so the load is the least rate that is "
      .. "wanted: load = { rate_per_s = 1 } (--rate 1)", asked.objective.name)
  end
  for i, each in ipairs(asked.gpus) do
    if not each.has_most then
      asked.reader:fail(("plan.gpus[%d].most"):format(i), "the objective %s takes all GPUs, so say how many there are: "
        .. "{ \"%s\", most = 16 } (--gpus %s:16)", asked.objective.name, each.name, each.name)
    end
  end
end

--- The question of a scenario, checked.
function run.check(reader, given)
  local asked = question.of(reader, given)
  check_prices(asked)
  check_seeks(asked)
  artefacts.check(asked)
  return asked
end

--- The first runs of a plan that was checked, as search.first has them.
run.first = search.first

--- How far the load must fall for the deployment that is nearest to the SLO.
local function nearest_holds(asked, found)
  local least
  for _, each in ipairs(found.left) do
    local best = each.result and each.result.best
    if best and (not least or best.margin < least.result.best.margin) then least = each end
  end
  if not least then return nil end
  local document_of = search.parallel(asked, 1, "nearest", function()
    return { scale = evaluate.holds_to(asked, least, least.result.best.replicas, { requests = asked.requests,
      seed = asked.seed, steady = true, brief = true }) }
  end, function() return { candidate = keep.candidate(least), replicas = least.result.best.replicas } end)[1]
  return document_of.scale > 0 and document_of.scale or nil
end

--- Names GPUs whose watts have no source, where the answer rests on them.
local function note_watts(asked)
  for _, gpu in ipairs(asked.gpus) do
    local source = core.plain(gpu.hardware.sources).tdp_w
    if source and source:find "^unverified" and not (asked.watts and asked.watts[gpu.name]) then
      asked.notes[#asked.notes + 1] = ("the power of %s is %s; give your own with --watts %s=WATTS"):format(gpu.label,
        source, gpu.name)
    end
  end
end

--- Refuses watts of a GPU that is not bought, and GPUs whose watts a power policy does not know, before anything
--- runs; --watts stands in for them.
local function check_power(asked, reader)
  local bought = {}
  for i, gpu in ipairs(asked.gpus) do bought[i] = gpu.name end
  for _, name in ipairs(core.sorted_keys(asked.watts or {})) do
    if not core.is_among(name, bought) then
      core.fail("--watts %s: the plan buys no such GPU (it buys: %s)", name, core.join(bought, ", "))
    end
  end
  if not asked.power.check then return end
  for _, gpu in ipairs(asked.gpus) do
    if not (asked.watts and asked.watts[gpu.name]) then
      reader:at("plan.power", asked.power.check, asked.power, gpu.hardware)
    end
  end
end

--- The largest rate of a deployment that a full run found to meet the SLO; 0 where there is none.
local function largest_rate(found)
  local rate = 0
  for _, candidate in ipairs(found.left) do
    local deployment = candidate.ended == "in full" and candidate.result.deployment
    rate = math.max(rate, deployment and deployment.rate_per_s or 0)
  end
  return rate
end

local most_searches = 4

--- The search. Where the largest load is looked for, it is searched again with more requests until runs at the rate
--- that was found last as long as those at a rate that is given: a short run holds a rate that a longer one does not.
local function searched(asked)
  local found = search.run(asked)
  if asked.objective.seeks ~= "load" or not asked.requests_at then return found end
  for _ = 2, most_searches do
    local wanted = asked.requests_at(largest_rate(found))
    if asked.stopped or wanted < 1.2 * asked.requests then return found end
    asked.requests, asked.drawn = wanted, load.drawn(asked, wanted)
    found = search.run(asked)
  end
  return found
end

--- {question, found, plan, document, text} of a scenario. how: jobs, progress, watts, strict (percent of the time that
--- may be unsupported), results and also (files of results: what is there is not run again), tells_partial (whether
--- Ctrl-C ends with what is known), round ({index, count} of this process's part, where shards divide each round of the
--- search).
function run.all(reader, given, how)
  local asked = run.check(reader, given)
  asked.jobs, asked.progress, asked.watts = how.jobs, how.progress, how.watts
  asked.tells_partial, asked.round, asked.strict_percent = how.tells_partial, how.round, how.strict
  asked.book = keep.book(reader, given, how, asked.objective.seeks)
  check_power(asked, reader)
  note_watts(asked)
  local found = searched(asked)
  local plan = answer.known(asked, found)
  plan.audit, plan.strict = answer.audit(found), strict.account(asked, found)
  if plan.verified == 0 and not plan.stopped then plan.nearest_holds = nearest_holds(asked, found) end
  return { question = asked, found = found, plan = plan }
end

--- Text and document of what run.all returned.
function run.report(done)
  done.text = text.of(done.question, done.found, done.plan)
  done.document = document.of(done.question, done.found, done.plan)
  return done
end

--- The result of a variant of kind "plan", as kinds.lua returns it. Ctrl-C ends it with the ranking so far, but not a
--- shard's part of a round, which tells no ranking. `page`, where options.sketch asks for it: what plan/page.lua
--- describes.
function run.variant(reader, given, options)
  local done = run.report(run.all(reader, given, { jobs = options.jobs, progress = options.progress,
    results = options.results, also = options.also, tells_partial = not options.round, round = options.round,
    strict = options.strict }))
  local shown = options.sketch and page.of(done, done.text, against_load.of(done.question, done.plan)) or nil
  local first = done.plan.ranks[1]
  return { kind = "plan", plan = done.document, text = done.text, page = shown,
    partial = done.plan.stopped and { stopped_by = "interrupt" } or nil,
    evidence = first and core.plain(first.result.evidence) or {}, noted_frac = first and first.result.noted_frac or 0 }
end

return run
