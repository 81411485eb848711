-- `--bench "vllm bench serve ..."`: the scenario with the load of a benchmark's command in place of its workload.
local bench_command = require "rooflua.bench.command"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local users = require "rooflua.applied.users"

local bench = {}

--- The workload of a command, and sentences about it.
function bench.workload(text)
  local ok, workload, told = pcall(bench_command.read, text)
  if not ok then error(workload, 0) end
  return workload, told
end

--- The load of a plan that has such a workload: its rate, else its clients; of stages as they are.
function bench.load(workload)
  local own = policy.parameters(workload)
  local rate_per_s, clients = own.request_rate or own.rate_per_s, own.clients or own.max_concurrency
  if rate_per_s and rate_per_s < math.huge then return { rate_per_s = rate_per_s } end
  if clients and clients > 0 then return { clients = clients } end
  if rate_per_s then
    core.fail("--bench: sends all requests at once, which is no load to plan for; state a rate, or how many are under "
      .. "way")
  end
  return "recorded"
end

---@param given table
---@param text string the command
function bench.of(reader, given, text)
  local workload, told = bench.workload(text)
  local kind = given.kind or schema.entry("kind").default
  local kinds = schema.entry("workload").kinds
  if kinds and not kinds[kind] then
    reader:fail("--bench", "a scenario of kind \"%s\" has no load", kind)
  end
  local out = core.copy(given, { workload = workload })
  if kind == "plan" then out.plan = core.copy(given.plan, { load = bench.load(workload) }) end
  users.check_vary(reader, "--bench", "the requests of the benchmark come", given.vary, workload)
  local all = core.copy(reader.shared.told or {})
  for _, sentence in ipairs(told) do all[#all + 1] = sentence end
  reader.shared.told = all
  return out
end

return bench
