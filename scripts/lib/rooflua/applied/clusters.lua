-- The engines that manifests start as keys of a scenario: replicas with roles, an autoscaler, a router.
local autoscalers = require "rooflua.manifests.autoscalers"
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local cluster = require "rooflua.manifests.cluster"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local units = require "rooflua.text.units"

local clusters = {}

--- The policy of an HPA; nil where no engine reports its metric.
local function hpa_of(own, names)
  local target = autoscalers.quantity(own.value)
  for metric, series in core.sorted_pairs(names) do
    if own.series == series:gsub(":", "_") and metric ~= "source" and (target or 0) > 0 and own.max then
      return chunks.shipped "autoscalers.hpa"(core.copy(own.settings, { metric = metric, target = target }))
    end
  end
end

--- The policy of a ScaledObject; nil where one of its triggers asks for something else.
local function keda_of(own, names, told)
  local list = {}
  for i, each in ipairs(own.triggers) do
    local metric, is_single = autoscalers.metric(each.kind == "prometheus" and each.query or "", names)
    if not metric or each.type ~= "AverageValue" or (each.target or 0) <= 0 then return nil end
    if is_single then
      told[#told + 1] = ("%s: triggers[%d]: the query names one series, and is taken as its sum over all replicas")
        :format(cluster.place(own), i)
    end
    local labels = each.query:match "%b{}"
    if labels and labels:find "[^{}%s]" then
      told[#told + 1] = ("%s: triggers[%d]: the labels %s are not read: all replicas count"):format(cluster.place(own),
        i, native.printable(labels))
    end
    list[i] = { metric = metric, target = each.target, activation = each.activation }
  end
  if #list == 0 then return nil end
  local more = #list > 1 and core.rest(list, 2) or nil
  return chunks.shipped "autoscalers.keda"(core.copy(own.settings, list[1], { triggers = more }))
end

--- Adds the autoscaler that names an engine; a sentence where it is not simulated.
local function add_autoscaler(entry, each, own, told)
  local names = catalogue.of(each.engine.name).prometheus or {}
  local policy = (own.class == "keda" and keda_of or hpa_of)(own, names, told)
  if policy and own.max >= math.max(1, own.min) then
    entry.autoscaler, entry.min, entry.max = policy, own.min, own.max
    entry.count = math.min(math.max(entry.count, own.min), own.max)
  else
    told[#told + 1] = ("%s: this autoscaler is not simulated; %s run"):format(cluster.place(own),
      units.counted(each.count, "replica"))
  end
end

--- Adds a sentence about each autoscaler that names no engine.
local function tell_others(own, told)
  local is_named = {}
  for _, each in ipairs(own.engines) do is_named[each.name or ""] = true end
  for _, one in ipairs(own.autoscalers) do
    if not is_named[one.target or ""] then
      told[#told + 1] = ("%s: this autoscaler is of %s, which starts no engine in these files"):format(
        cluster.place(one), native.printable(one.target or "nothing"))
    end
  end
end

--- Puts the cluster into keys of a scenario, and sentences about it into `told`.
---@param keys table of applied/command.lua: those of its main engine
---@param given table? the scenario, whose router holds
function clusters.keys(own, keys, told, given)
  local entries, is_plain = {}, #own.engines == 1
  for i, each in ipairs(own.engines) do
    local encodes = each.role == "encode"
    local entry = { count = each.count * (each == own.main and keys.replicas or 1), role = not encodes and each.role
      or nil, encoder = encodes or nil }
    for _, one in ipairs(own.autoscalers) do
      if one.target == each.name then add_autoscaler(entry, each, one, told) end
    end
    is_plain = is_plain and not entry.autoscaler
    if each ~= own.main then entry.engine = command.keys(cluster.without_role(each), given).engine end
    entries[i] = entry
  end
  tell_others(own, told)
  local is_one = is_plain and entries[1].count == 1
  keys.replicas = not is_plain and entries or not is_one and entries[1].count or nil
  if own.router and not is_one and (given or {}).router == nil then
    keys.router = own.router.name
    told[#told + 1] = ("router %s with its defaults, as %s says"):format(own.router.name, cluster.place(own.router))
  end
end

return clusters
