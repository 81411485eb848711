-- The table that `require "rooflua"` returns: the modules of the library, each loaded when it is first used.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local rooflua = {}

local kinds = { steps = true, schedulers = true, routers = true, workloads = true, bucketing = true,
  corrections = true, lookup = true, metrics = true, speculators = true, acceptance = true, drafters = true,
  tiers = true, eviction = true, deciders = true, admission = true, clients = true, autoscalers = true,
  faults = true, balancers = true, candidates = true, objectives = true, strategies = true, power = true,
  campaigns = true }

--- The policies of one folder of scripts/, with doc and parameters.
---@param kind string steps, schedulers, routers, workloads, bucketing, corrections, lookup, metrics, speculators,
---acceptance, drafters, tiers, eviction, deciders, admission, clients, autoscalers, faults, balancers, candidates,
---objectives, strategies, power or campaigns; or engines,
---with name and doc alone
function rooflua.list(kind)
  if kind == "engines" then return require("rooflua.help.engines").list() end
  if not kinds[kind] then
    if type(kind) ~= "string" then
      core.fail("rooflua.list: expected a kind, found %s", core.describe(kind))
    end
    local known = core.sorted_keys(kinds)
    known[#known + 1] = "engines"
    core.fail("rooflua.list: %s", native.unknown_name("kind", kind, known))
  end
  local policy, chunks = require "rooflua.policy", require "rooflua.sandbox.chunks"
  local out = {}
  for _, name in ipairs(native.list_folder(native.home .. "/scripts/" .. kind, ".lua")) do
    local class = chunks.require(kind .. "." .. name)
    if policy.is_class(class) then
      local entry = policy.describe(class)
      entry.module = kind .. "." .. name
      out[#out + 1] = entry
    end
  end
  return out
end

--- The text of a stub, or a policy's declaration.
---@param topic any "cost.gemm", "steps.kernels", a function of the library or a policy
function rooflua.help(topic) return require("rooflua.help.topics").text(topic) end

local shown = { list = rooflua.list, help = rooflua.help }

return setmetatable({}, {
  __index = function(_, name)
    if shown[name] then return shown[name] end
    local chunks = require "rooflua.sandbox.chunks"
    local known = { "help", "list" }
    for _, each in ipairs(native.list_folder(native.home .. "/scripts/lib/rooflua", ".lua")) do
      if each ~= "init" then
        if each == name then return chunks.require("rooflua." .. name) end
        known[#known + 1] = each
      end
    end
    return core.fail("rooflua: %s", core.unknown_name("module", name, known))
  end,
  __newindex = function(_, name)
    core.fail("rooflua is read-only (assigning '%s')", tostring(name))
  end,
  __metatable = false,
})
