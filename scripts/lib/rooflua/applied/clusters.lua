-- The engines that manifests start as keys of a scenario: replicas with roles, an autoscaler, a router.
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local cluster = require "rooflua.manifests.cluster"
local command = require "rooflua.applied.command"
local units = require "rooflua.text.units"

local clusters = {}

--- Adds the autoscaler of an HPA that names an engine; a sentence where it is not simulated.
local function add_autoscaler(entry, each, own, told)
  local target = tonumber(own.value)
  for metric, series in pairs(catalogue.of(each.engine.name).prometheus or {}) do
    if own.series == series:gsub(":", "_") and metric ~= "source" and target and target > 0 and own.max then
      entry.autoscaler = chunks.shipped "autoscalers.hpa" { metric = metric, target = target }
      entry.min, entry.max, entry.count = own.min, own.max, math.min(math.max(entry.count, own.min), own.max)
      return
    end
  end
  told[#told + 1] = ("%s: this autoscaler is not simulated; %s run"):format(cluster.place(own),
    units.counted(each.count, "replica"))
end

--- Puts the cluster into keys of a scenario, and sentences about it into `told`.
---@param keys table of applied/command.lua: those of its main engine
---@param given table? the scenario, whose router holds
function clusters.keys(own, keys, told, given)
  local entries, is_plain = {}, #own.engines == 1
  for i, each in ipairs(own.engines) do
    local entry = { count = each.count * (each == own.main and keys.replicas or 1), role = each.role }
    for _, one in ipairs(own.autoscalers) do
      if one.target == each.name then add_autoscaler(entry, each, one, told) end
    end
    is_plain = is_plain and not entry.autoscaler
    if each ~= own.main then entry.engine = command.keys(cluster.without_role(each), given).engine end
    entries[i] = entry
  end
  local is_one = is_plain and entries[1].count == 1
  keys.replicas = not is_plain and entries or not is_one and entries[1].count or nil
  if own.router and not is_one and (given or {}).router == nil then
    keys.router = own.router.name
    told[#told + 1] = ("router %s with its defaults, as %s says"):format(own.router.name, cluster.place(own.router))
  end
end

return clusters
