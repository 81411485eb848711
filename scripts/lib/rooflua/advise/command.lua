-- `rooflua advise`: the fewest changes of settings with which a scenario, or an engine that a launch command starts,
-- meets an SLO.
local answer = require "rooflua.advise.answer"
local asked_about = require "rooflua.advise.asked"
local core = require "rooflua.base.core"
local deployment = require "rooflua.advise.deployment"
local moves = require "rooflua.advise.moves"
local native = require "rooflua.native"
local notes = require "rooflua.machine.notes"
local own_metrics = require "rooflua.measure.own"
local plan_options = require "rooflua.plan.options"
local search = require "rooflua.advise.search"
local slo = require "rooflua.explore.search.slo"
local text = require "rooflua.advise.text"

local command = {}
local fail = core.fail

local default_limit_s = 30

local function limits_of(list, reader, given)
  if not list or #list == 0 then
    fail "advise: needs --slo; for example: --slo ttft_p99=1s,tpot_p99=50ms"
  end
  return slo.bounds(plan_options.slo(list), "--slo", own_metrics.by_name(reader, given))
end

--- What the program calls: {text, document, status}; status 1 where the SLO is not met by anything that was tried.
---@param given table {scenario, command, hardware, workload, bench, rate, clients, requests, slo, set, seed, gpus,
--- limit_s, jobs}
function command.run(given)
  local is_late, told = asked_about.clock(given.limit_s or default_limit_s), {}
  local of_command = { hardware = given.hardware, workload = given.workload, bench = given.bench, rate = given.rate,
    clients = given.clients, requests = given.requests }
  local reader, scenario = asked_about.of(given, "advise", of_command, function()
    return asked_about.load(given, told)
  end)
  local limits = limits_of(given.slo, reader, scenario)
  local base = deployment.of(reader, scenario, {})
  if base.problem then error(base.problem, 0) end
  if given.gpus and given.gpus < base.gpus then
    fail("advise: --gpus %d: the deployment has %d", given.gpus, base.gpus)
  end
  local gpus = given.gpus or base.gpus
  local drawn = deployment.question(reader, scenario, base.workload, limits).drawn
  local list, kept_out = moves.of(reader, scenario, { replica = base.replica, gpus = gpus,
    longest = drawn and drawn.longest, is_command = given.command ~= nil })
  for _, note in ipairs(notes.of { base.replica.prepared } or {}) do told[#told + 1] = note end
  local asked = { reader = reader, given = scenario, limits = limits, moves = list, gpus = gpus,
    jobs = given.jobs or 1, is_late = is_late, not_tried = kept_out, notes = told,
    limit_s = given.limit_s or default_limit_s }
  local document = answer.document(search.run(asked), asked)
  return { text = native.printable(text.of(document)), document = document, status = document.met and 0 or 1 }
end

return command
