-- `--bench "vllm bench serve ..."`: the scenario with the load of a benchmark's command in place of its workload.
local bench_command = require "rooflua.bench.command"
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"
local users = require "rooflua.applied.users"

local bench = {}

---@param given table
---@param text string the command
function bench.of(reader, given, text)
  local ok, workload, told = pcall(bench_command.read, text)
  if not ok then error(workload, 0) end
  local kind = given.kind or schema.entry("kind").default
  local kinds = schema.entry("workload").kinds
  if kinds and not kinds[kind] then
    reader:fail("--bench", "a scenario of kind \"%s\" has no load", kind)
  end
  if kind == "plan" then
    reader:fail("--bench", "a plan says its load itself: plan.load, or --workload and --rate or --clients")
  end
  local out = core.copy(given, { workload = workload })
  users.check_vary(reader, "--bench", "the requests of the benchmark come", given.vary, workload)
  local all = core.copy(reader.shared.told or {})
  for _, sentence in ipairs(told) do all[#all + 1] = sentence end
  reader.shared.told = all
  return out
end

return bench
