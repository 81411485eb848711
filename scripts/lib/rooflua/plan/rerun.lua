-- The scenario of a rank as a file: what was simulated, for `rooflua run`.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local kinds = require "rooflua.policy.kinds"
local native = require "rooflua.native"
local options = require "rooflua.plan.options"
local policy = require "rooflua.policy"

local rerun = {}

--- A policy as a node of options.text, with the parameters that were given; nil where it is none of the shipped ones,
--- because a file of the user is not found from here.
local function node_of(instance, data_of)
  local name = policy.definition(instance).name
  for _, folder in ipairs(kinds.folders(true)) do
    local module = folder .. "." .. name
    if native.file_exists(("%s/scripts/%s/%s.lua"):format(native.home, folder, name))
      and policy.class_of(instance) == chunks.shipped(module) then
      local params = {}
      for key, value in pairs(policy.parameters(instance)) do
        if policy.is_given(instance, key) then
          params[key] = data_of(value)
          if params[key] == nil then return nil end
        end
      end
      return { module = module, params = params }
    end
  end
end

--- A value of a scenario as what options.text writes; nil where it has no text: functions, objects, policies of files
--- of the user.
local function data_of(value)
  if policy.is_instance(value) then return node_of(value, data_of) end
  if type(value) ~= "table" then
    if type(value) == "function" or type(value) == "userdata" then return nil end
    return value
  end
  local out = {}
  for key, each in pairs(core.plain(value)) do
    out[key] = data_of(each)
    if out[key] == nil then return nil end
  end
  return out
end

local not_of_runs = { kind = true, plan = true, model = true, hardware = true }

--- The scenario of the deployment, which `rooflua run` simulates. The model and the GPU are named as the question names
--- them. Keys that have no text are named.
function rerun.text(question, item)
  local given = deploy.scenario(question, item.candidate, item.result.replicas, { requests = question.requests,
    scale = item.result.scale })
  local gpu = question.gpus[item.candidate.gpu]
  local out, left_out = { rooflua = 1, seed = question.seed, model = data_of(question.given_model),
    hardware = data_of(given.hardware == gpu.hardware and gpu.given or given.hardware) }, {}
  if question.databases then given.mfu = nil end
  for key, value in core.sorted_pairs(given) do
    if not not_of_runs[key] then out[key] = data_of(value) end
    if key ~= "kind" and key ~= "plan" and out[key] == nil then left_out[#left_out + 1] = key end
  end
  local note = #left_out > 0 and "-- Not here, as in the plan's own scenario: "
    .. core.join(left_out, ", ") .. "\n" or ""
  return "-- The deployment that was priced: `rooflua run` simulates it, in the folder in which the plan ran.\n" .. note
    .. "return " .. options.lua_text(out) .. "\n"
end

return rerun
