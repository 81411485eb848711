-- `rooflua advise`: the fewest changes of settings with which a scenario, or an engine that a launch command starts,
-- meets an SLO.
local answer = require "rooflua.advise.answer"
local core = require "rooflua.base.core"
local deployment = require "rooflua.advise.deployment"
local moves = require "rooflua.advise.moves"
local native = require "rooflua.native"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local own_metrics = require "rooflua.measure.own"
local plan_options = require "rooflua.plan.options"
local search = require "rooflua.advise.search"
local slo = require "rooflua.explore.search.slo"
local text = require "rooflua.advise.text"
local trials = require "rooflua.advise.trials"
local units = require "rooflua.text.units"

local command = {}
local fail = core.fail

local default_limit_s = 30
--- The load of a command without --workload: one request per second of the lengths that `vllm bench serve` sends by
--- default. [vllm/benchmarks/datasets.py: random, 1024 and 128 tokens]
local default_load = { text = "1024+128", rate_per_s = 1, requests = 200 }
local default_requests, per_client = 300, 4

--- The scenario of --command, --hardware and the options of a load, and what nothing states.
local function table_of(given)
  local told = {}
  if not given.command then fail "advise: needs a scenario, or --command \"vllm serve ...\" --hardware GPU" end
  if not given.hardware then fail "advise: --hardware: on which GPU does the command run?" end
  local about = { rate_per_s = given.rate, clients = given.clients, requests = given.requests }
  local name = given.workload
  if given.rate and given.clients then fail "--rate and --clients: give one of them" end
  if not name then
    name = default_load.text
    if not given.rate and not given.clients then about.rate_per_s = default_load.rate_per_s end
    about.requests = about.requests or default_load.requests
    told[1] = ("the load is not stated in full: %s of 1,024+128 tokens; --workload, --rate and --clients say another")
      :format(about.clients and units.counted(about.clients, "client") or about.rate_per_s .. " requests/s")
  end
  about.requests = about.requests or math.max(default_requests, per_client * (about.clients or 0))
  local workload = plan_options.workload(name, about)
  return { hardware = given.hardware, workload = workload, seed = given.seed or 1 }, told
end

--- The scenario, opened, and sentences about what it does not state.
local function opened_of(given)
  local how = { set = given.set, seed = given.seed, command = given.command }
  if not given.scenario then
    local of, told = table_of(given)
    how.file = "advise"
    return opening.table(of, how), told
  end
  for _, name in ipairs { "hardware", "workload", "rate", "clients", "requests" } do
    if given[name] ~= nil then
      fail("advise: --%s is said by %s; change it with --set", name, given.scenario)
    end
  end
  return opening.file(given.scenario, how), {}
end

--- The one variant that serves.
local function variant_of(opened)
  if opened.kind ~= "serve" then
    fail("%s: advise needs a scenario of kind \"serve\", found %q", opened.reader.file, opened.kind)
  end
  if #opened.variants ~= 1 then
    fail("%s: vary: advise needs one variant, found %d; take vary and sweep out of a copy of the file",
      opened.reader.file, #opened.variants)
  end
  return trials.plain((opening.variant(opened, 1)))
end

local function limits_of(list, reader, given)
  if not list or #list == 0 then
    fail "advise: needs --slo; for example: --slo ttft_p99=1s,tpot_p99=50ms"
  end
  return slo.bounds(plan_options.slo(list), "--slo", own_metrics.by_name(reader, given))
end

--- A function that says whether the time is over.
local function clock(limit_s)
  local start_s, start_cpu_s = os.time(), os.clock()
  return function() return math.max(os.time() - start_s, os.clock() - start_cpu_s) >= limit_s end
end

--- What the program calls: {text, document, status}; status 1 where the SLO is not met by anything that was tried.
---@param given table {scenario, command, hardware, workload, rate, clients, requests, slo, set, seed, gpus, limit_s,
--- jobs}
function command.run(given)
  local is_late = clock(given.limit_s or default_limit_s)
  local opened, told = opened_of(given)
  local reader, scenario = opened.reader, variant_of(opened)
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
