-- The table that `require "rooflua"` returns: the modules of the library, each loaded when it is first used.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local rooflua = {}

--- The policies of one folder of scripts/, with doc and parameters.
---@param kind string one of policy/kinds.lua; or engines, with name and doc alone
function rooflua.list(kind)
  if kind == "engines" then return require("rooflua.help.engines").list() end
  local known = require("rooflua.policy.kinds").folders()
  if not core.is_among(kind, known) then
    if type(kind) ~= "string" then
      core.fail("rooflua.list: expected a kind, found %s", core.describe(kind))
    end
    table.sort(known)
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
      for _, each in pairs(entry.params) do each.idle = nil end -- cases have facts and values: no JSON
      out[#out + 1] = entry
    end
  end
  return out
end

--- The text of a stub, or a policy's declaration.
---@param topic any "cost.gemm", "steps.kernels", a function of the library or a policy
function rooflua.help(topic) return require("rooflua.help.topics").text(topic) end

--- A scenario with keys set as `--set` sets them.
---@param sets string[] "key=value"
function rooflua.changed(scenario, sets)
  core.table(scenario, "rooflua.changed: the scenario")
  for i, text in ipairs(core.plain(core.table(sets, "rooflua.changed: the sets"))) do
    if type(text) ~= "string" then
      core.fail('rooflua.changed: set %d: expected text such as "deployment.tp=2", found %s', i, core.describe(text))
    end
  end
  local Reader = require "rooflua.scenario.reader"
  return require("rooflua.runs.opening").with_sets(Reader.new "rooflua.changed", core.plain(scenario), sets)
end

local shown = { list = rooflua.list, help = rooflua.help, changed = rooflua.changed }

return setmetatable({}, {
  __index = function(_, name)
    if shown[name] then return shown[name] end
    local chunks = require "rooflua.sandbox.chunks"
    local known = { "changed", "help", "list" }
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
