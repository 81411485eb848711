-- Further accounts of a plan: every candidate with the stage that ended it (--all), and one of them in full (--why).
local basis = require "rooflua.plan.basis"
local core = require "rooflua.base.core"
local columns = require "rooflua.text.columns"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local tables = {}

--- One line per candidate.
function tables.all(done)
  local rows = { { "#", "candidate", "replicas", "objective", "requests", "ended", "" } }
  for _, each in ipairs(done.found.candidates) do
    local result = each.result or {}
    rows[#rows + 1] = { tostring(each.index), each.name, result.replicas and tostring(result.replicas) or "-",
      result.score and units.significant(result.score, 5) or "-",
      result.requests and units.grouped(result.requests) or "-",
      each.ended or "-", (each.problem or ""):sub(1, 60) }
  end
  return columns.values(rows)
end

local function add_run(lines, title, run)
  lines[#lines + 1] = ("%s: %s, %s"):format(title, units.counted(run.replicas, "replica"), run.meets and "meets the SLO"
    or "misses it" .. (run.problem and " (" .. run.problem .. ")" or ""))
  for _, name in ipairs(core.sorted_keys(run.metrics)) do
    lines[#lines + 1] = ("  %-22s %s"):format(name, words.value(name, run.metrics[name]))
  end
end

--- A run that ended when it had missed the SLO, in full.
local function whole(question, candidate, run)
  if not run.cut then return run end
  return evaluate.run(question, candidate, run.replicas, { requests = run.requests, seed = question.seed,
    steady = run.requests == question.requests, here = true })
end

--- The account of one candidate.
function tables.why(done, index)
  local question, candidate = done.question, nil
  for _, each in ipairs(done.found.candidates) do
    if each.index == index then candidate = each end
  end
  if not candidate then
    core.fail("--why %d: there are candidates 1 to %d (--all lists them)", index, #done.found.candidates)
  end
  local lines = { ("candidate %d: %s"):format(index, candidate.name),
    ("ended: %s%s"):format(candidate.ended or "-", candidate.problem and ": " .. candidate.problem or "") }
  local function add(...) lines[#lines + 1] = string.format(...) end
  add("GPUs of a replica: %d", deploy.gpus(question, candidate, 1))
  if candidate.deployment then
    local own = candidate.deployment
    add("KV blocks of an engine: %s of %d tokens", units.grouped(own.kv_blocks), own.block_size)
  end
  local bound = candidate.bound
  if bound then
    if bound.off then add("bounds: off, %s", bound.off) end
    if bound.rate_per_s then add("rate of a replica: at most %s requests/s, so at least %s",
      units.significant(bound.rate_per_s, 4), units.counted(candidate.least, "replica")) end
    for _, name in ipairs(core.sorted_keys(bound.latency or {})) do
      add("%s: at least %s", words.metric(name), words.value(name, bound.latency[name]))
    end
    if candidate.guess then add("steady state: about %s", units.counted(candidate.guess, "replica")) end
    if candidate.floor then add("least score: %s", units.significant(candidate.floor, 5)) end
  end
  local result = candidate.result
  if result then
    add("last run: %s, %s requests, %s", result.purpose or "search", units.grouped(result.requests),
      units.counted(result.tried, "run"))
    local run = result.deployment or result.best
    if run then
      add_run(lines, "found", run)
      add("evidence: %s", basis.evidence(run))
      for _, note in ipairs(basis.notes(question, candidate, run)) do add("note: %s", note) end
    end
    if result.deployment and result.deployment.missed then
      add_run(lines, "one replica fewer", whole(question, candidate, result.deployment.missed))
    end
  end
  for _, list in ipairs { done.plan.ranks, done.plan.unsure } do
    for _, item in ipairs(list) do
      if item.candidate == candidate and item.sure then
        add("%s: %s", units.counted(item.result.replicas, "replica"), words.sure(item.sure))
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return tables
