-- The object of the autoscaler of a plan's day, after the manifests of a rank. What cannot be written is a comment.
local core = require "rooflua.base.core"
local hpa = require "rooflua.handover.hpa"
local keda = require "rooflua.handover.keda"
local policies = require "rooflua.serving.policies"
local quoting = require "rooflua.text.quoting"
local settings = require "rooflua.handover.settings"
local yaml = require "rooflua.text.yaml"

local scaled = {}

local writers = { hpa = hpa, keda = keda }

local function names_of(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = each.name end
  return core.join(out, ", ")
end

--- Why there is no object; nil where there is one.
local function problem_of(autoscalers, candidate)
  if candidate.split then return "prefill and decode replicas scale separately, which no day was simulated of" end
  if #autoscalers > 1 then
    return "a Deployment has one autoscaler, and the plan has " .. names_of(autoscalers) .. "; ask for one of them"
  end
  local told = policies.told("autoscalers", autoscalers[1])
  if told.own or not writers[told.name] then
    return ("autoscaler %s: objects are written of %s"):format(told.name, core.join(core.sorted_keys(writers), " and "))
  end
end

local function document_of(question, item)
  local told = policies.told("autoscalers", question.day.autoscalers[1])
  return writers[told.name].document({ min = question.day.least, max = item.result.replicas },
    settings.of(told.name, "autoscaler", told), quoting.name(question.model.name, "model"), item.candidate.engine)
end

--- What follows the manifests of a rank; "" where the plan has no day.
function scaled.text(question, item)
  if not question.day then return "" end
  local problem = problem_of(question.day.autoscalers, item.candidate)
  local ok, document = true, nil
  if not problem then ok, document = pcall(document_of, question, item) end
  if not ok then problem = tostring(document) end
  if problem then return "---\n" .. quoting.comment("no autoscaler is written: " .. problem) .. "\n" end
  return "---\n" .. yaml.text { document }
end

return scaled
