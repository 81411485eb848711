-- A scenario of kind "plan" from its table to its answer.
local answer = require "rooflua.plan.answer"
local artefacts = require "rooflua.plan.artefacts"
local core = require "rooflua.base.core"
local document = require "rooflua.plan.document"
local evaluate = require "rooflua.plan.evaluate"
local question = require "rooflua.plan.question"
local search = require "rooflua.plan.search"
local text = require "rooflua.plan.text"

local run = {}

--- Objectives that need the price of every GPU.
local function check_prices(asked)
  local name = asked.objective.name
  if name == "gpus" or name == "goodput_per_gpu" or name == "energy" then return end
  for i, each in ipairs(asked.gpus) do
    if not each.price then
      asked.reader:fail(("plan.gpus[%d]"):format(i), "there is no price of %s in bench_data/prices.toml; give one: "
        .. "price_per_hour = 2 (--gpus %s:%d@2.00), or ask for fewest GPUs: objective gpus", each.name, each.name,
        each.most)
    end
  end
end

--- The question of a scenario, checked.
function run.check(reader, given)
  local asked = question.of(reader, given)
  check_prices(asked)
  artefacts.check(asked)
  return asked
end

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
      seed = asked.seed, steady = true }) }
  end)[1]
  return document_of.scale > 0 and document_of.scale or nil
end

--- {question, found, plan, document, text} of a scenario. how: jobs, progress, watts,
--- tells_partial (whether Ctrl-C ends with what is known).
function run.all(reader, given, how)
  local asked = run.check(reader, given)
  asked.jobs, asked.progress, asked.watts = how.jobs, how.progress, how.watts
  asked.tells_partial = how.tells_partial
  local found = search.run(asked)
  local plan = answer.known(asked, found)
  plan.audit = answer.audit(found)
  if plan.verified == 0 and not plan.stopped then plan.nearest_holds = nearest_holds(asked, found) end
  return { question = asked, found = found, plan = plan }
end

--- Text and document of what run.all returned.
function run.report(done)
  done.text = text.of(done.question, done.found, done.plan)
  done.document = document.of(done.question, done.found, done.plan)
  return done
end

--- The result of a variant of kind "plan", as kinds.lua returns it. Ctrl-C ends it with the ranking so far.
function run.variant(reader, given, options)
  local done = run.report(run.all(reader, given, { jobs = options.jobs, progress = options.progress,
    tells_partial = true }))
  local first = done.plan.ranks[1]
  return { kind = "plan", plan = done.document, text = done.text,
    partial = done.plan.stopped and { stopped_by = "interrupt" } or nil,
    evidence = first and core.plain(first.result.evidence) or {}, noted_frac = first and first.result.noted_frac or 0 }
end

return run
