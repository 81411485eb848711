-- The scenario that a command asks about: a file, or a launch command on a GPU with a load.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local plan_options = require "rooflua.plan.options"
local tools = require "rooflua.formats.tools"
local trials = require "rooflua.advise.trials"
local units = require "rooflua.text.units"

local asked = {}
local fail = core.fail

--- The load of a command without --workload: one request per second of the lengths that `vllm bench serve` sends by
--- default. [vllm/benchmarks/datasets.py: random, 1024 and 128 tokens]
local default_load = { text = "1024+128", rate_per_s = 1, requests = 200 }
local default_requests, per_client = 300, 4

--- The load of --bench, or of --workload, --rate, --clients and --requests, of a launch command; adds a sentence about
--- what nothing states.
function asked.load(given, told)
  if given.bench then
    for _, name in ipairs { "workload", "rate", "clients", "requests" } do
      if given[name] then fail("--bench and --%s: give one of them", name) end
    end
    local workload, said = require("rooflua.bench.command").read(given.bench)
    for _, sentence in ipairs(said) do told[#told + 1] = sentence end
    return workload
  end
  local about = { rate_per_s = given.rate, clients = given.clients, requests = given.requests }
  local name = given.workload or default_load.text
  if given.rate and given.clients then fail "--rate and --clients: give one of them" end
  local is_file = native.file_exists((tools.split(name)))
  if not given.rate and not given.clients and not is_file then about.rate_per_s = default_load.rate_per_s end
  if not given.workload then about.requests = about.requests or default_load.requests end
  if not given.workload or about.rate_per_s ~= given.rate then
    told[1] = ("the load is not stated in full: %s of %s; --workload, --rate and --clients say another"):format(
      about.clients and units.counted(about.clients, "client") or ("%g requests/s"):format(about.rate_per_s),
      name:find "^%d" and name .. " tokens" or name)
  end
  about.requests = about.requests or math.max(default_requests, per_client * (about.clients or 0))
  return plan_options.workload(name, about)
end

--- The one variant of a scenario that serves, as a table without a report.
local function variant_of(opened, what)
  if opened.kind ~= "serve" then
    fail("%s: %s needs a scenario of kind \"serve\", found %q", opened.reader.file, what, opened.kind)
  end
  if #opened.variants ~= 1 then
    fail("%s: vary: %s needs one variant, found %d; take vary and sweep out of a copy of the file",
      opened.reader.file, what, #opened.variants)
  end
  return trials.plain((opening.variant(opened, 1)))
end

--- The reader and the table of the scenario.
---@param given table {scenario, command, hardware, set, seed}
---@param what string the command: "advise"
---@param of_options table<string, any> options that only a launch command reads, by name
---@param workload fun(): table the load of a launch command
function asked.of(given, what, of_options, workload)
  local how = { set = given.set, seed = given.seed, command = given.command }
  if given.scenario then
    for _, name in ipairs(core.sorted_keys(of_options)) do
      fail("%s: --%s is said by %s; change it with --set", what, name, given.scenario)
    end
    local opened = opening.file(given.scenario, how)
    return opened.reader, variant_of(opened, what)
  end
  if not given.command then
    fail("%s: needs a scenario, --from LOG, or --command \"vllm serve ...\" --hardware GPU", what)
  end
  if not given.hardware and not given.command.from then
    fail("%s: --hardware: on which GPU does the command run?", what)
  end
  how.file = what
  local opened = opening.table({ hardware = given.hardware, workload = workload(), seed = given.seed or 1 }, how)
  return opened.reader, variant_of(opened, what)
end

--- A function that says whether so many seconds are over.
function asked.clock(limit_s)
  local start_s, start_cpu_s = os.time(), os.clock()
  return function() return math.max(os.time() - start_s, os.clock() - start_cpu_s) >= limit_s end
end

return asked
