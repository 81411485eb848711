-- What the simulator knows of deployments: the axes that a generator of candidates may use, and the engines. A plan's
-- question hands them to the generator; `rooflua help capabilities` prints them.
local axes = require "rooflua.plan.axes"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"

local capabilities = {}

--- The axes of the ladder that set a key of a scenario: those of the deployment, then the others by this key.
local known, others = {}, {}
for _, axis in ipairs(axes.rows(function(axis) return axis.key and axis.values ~= nil end)) do
  table.insert(axis.of == "deployment" and known or others, axis)
end
table.sort(others, function(a, b) return a.key < b.key end)
for _, axis in ipairs(others) do known[#known + 1] = axis end

--- The axes and engines for a model: { axes = name -> boolean, engines = names, experts = number of them }.
---@param has_items boolean whether requests have images or videos
function capabilities.of(model, has_items)
  local has = {}
  for _, axis in ipairs(known) do
    has[axis.name] = schema.entry(axis.key) ~= nil and (not axis.of_experts or model.moe ~= nil)
      and (not axis.of_items or has_items)
  end
  return { axes = has, engines = catalogue.lending_names(), experts = model.moe and model.moe.experts or 0 }
end

--- The topic "capabilities" of help.
function capabilities.text()
  local lines = { "question.capabilities of a generator of candidates (rooflua help candidates.ladder):",
    "  axes: name -> whether this model has the axis" }
  for _, axis in ipairs(known) do
    local entry = schema.entry(axis.key)
    if entry then
      lines[#lines + 1] = ("    %-15s %s%s"):format(axis.name, entry.doc,
        axis.of_experts and "; models with experts" or axis.of_items and "; requests with images" or "")
    end
  end
  lines[#lines + 1] = "  engines: " .. core.join(catalogue.lending_names(), ", ") .. " (rooflua help engines.NAME)"
  lines[#lines + 1] = "  experts: number of routed experts; 0 = none"
  return core.join(lines, "\n")
end

return capabilities
