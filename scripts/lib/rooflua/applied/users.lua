-- `--users N`: the scenario with N users, who wait for answers and think, in place of its workload's arrivals.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local users = {}

--- The workload of so many users; their pause is the workload's own, else that of workloads.users.
local function workload_of(reader, workload, count)
  if not policy.is_instance(workload) then
    reader:fail("--users", "the scenario states no workload whose requests users could send; state one, as in "
      .. 'workload = require "workloads.presets" { preset = "chatbot" }')
  end
  local parameters = policy.parameters(workload)
  if parameters.sessions then
    reader:fail("--users", "%s has users of its own: workload.sessions, and workload.session_rate_per_s at which they "
      .. "come", workload.name)
  end
  local thinks = parameters.clients and (parameters.think_time_s or 0) > 0
  if thinks then return policy.with(workload, { clients = count }) end
  return chunks.shipped "workloads.users" { clients = count, of = workload }
end

--- Refuses a grid over what an option replaces.
---@param option string "--users"
---@param who string who comes in place of it
function users.check_vary(reader, option, who, vary, workload)
  local parameters = policy.parameters(workload)
  for _, key in ipairs(core.sorted_keys(type(vary) == "table" and core.plain(vary) or {})) do
    local name = type(key) == "string" and key:match "^workload%.(.*)$"
    if key == "workload" or name and parameters[name:match "^[^.]+"] == nil then
      reader:fail(option, "vary has %s, in place of which %s; leave it out of the file", key, who)
    end
  end
end

--- The scenario with them; a plan has them as its load.
---@param given table
---@param count number as it was stated
function users.of(reader, given, count)
  count = reader:whole("--users", count, 1, 1e6)
  local out = core.copy(given, { workload = workload_of(reader, given.workload, count) })
  users.check_vary(reader, "--users", "the users come", given.vary, out.workload)
  if given.kind ~= "plan" then return out end
  local plan = core.plain(core.table(given.plan, "plan"))
  local load = type(plan.load) == "table" and core.plain(plan.load) or {}
  out.plan = core.copy(plan, { load = { clients = count, peak = load.peak } })
  return out
end

return users
