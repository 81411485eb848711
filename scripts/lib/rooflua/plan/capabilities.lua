-- What the simulator knows of deployments: the axes that a generator of candidates may use, and the engines. A plan's
-- question hands them to the generator; `rooflua help capabilities` prints them.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"

local capabilities = {}

--- Every axis by the key of a scenario that it sets. The axes of experts exist in models with experts alone.
local axes = {
  { name = "tp", key = "deployment.tp" }, { name = "pp", key = "deployment.pp" },
  { name = "dp", key = "deployment.dp", of_experts = true }, { name = "ep", key = "deployment.ep", of_experts = true },
  { name = "cp", key = "deployment.cp" }, { name = "dcp", key = "deployment.dcp" },
  { name = "expert_gpus", key = "deployment.expert_gpus", of_experts = true },
  { name = "micro_batches", key = "deployment.micro_batches", of_experts = true },
  { name = "weights", key = "deployment.weights" }, { name = "kv", key = "deployment.kv" },
  { name = "prefix_caching", key = "deployment.prefix_caching" }, { name = "split", key = "replicas[].role" },
  { name = "speculation", key = "speculation" }, { name = "host_memory_gb", key = "tiers" },
}

--- The axes and engines for a model: { axes = name -> boolean, engines = names, experts = number of them }.
function capabilities.of(model)
  local has = {}
  for _, axis in ipairs(axes) do
    has[axis.name] = schema.entry(axis.key) ~= nil and (not axis.of_experts or model.moe ~= nil)
  end
  return { axes = has, engines = catalogue.lending_names(), experts = model.moe and model.moe.experts or 0 }
end

--- The topic "capabilities" of help.
function capabilities.text()
  local lines = { "question.capabilities of a generator of candidates (rooflua help candidates.ladder):",
    "  axes: name -> whether this model has the axis" }
  for _, axis in ipairs(axes) do
    local entry = schema.entry(axis.key)
    if entry then
      lines[#lines + 1] = ("    %-15s %s%s"):format(axis.name, entry.doc,
        axis.of_experts and "; models with experts" or "")
    end
  end
  lines[#lines + 1] = "  engines: " .. core.join(catalogue.lending_names(), ", ") .. " (rooflua help engines.NAME)"
  lines[#lines + 1] = "  experts: number of routed experts; 0 = none"
  return core.join(lines, "\n")
end

return capabilities
