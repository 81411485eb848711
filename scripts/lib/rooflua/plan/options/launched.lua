-- What `rooflua plan --command` takes of a launch command: the model, the engine with its release and options, and of
-- each axis that the command states its one value. What an option of the plan states as well is an error.
local application = require "rooflua.applied.application"
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local launch = require "rooflua.applied.launch"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"

local launched = {}

--- The axis that an option of an engine states; nil where it states none.
local function axis_of(option)
  for _, axis in ipairs(axes.of_candidates()) do
    local is_seat = axis.of == "scheduler" and option.parameter == axis.name
    if is_seat or axis.of == "deployment" and option.key == "deployment." .. axis.name then return axis end
  end
end

--- The value of an axis: of a width the ranks that the options stand for together; a switch stands for all or one.
local function value_of(axis, option, value, facts)
  if type(value) == "boolean" then return value and "all" or 1 end
  return axis.width and facts[axis.name] or value
end

local function check_free(given, axis, option, value)
  if axis.option_key and given[axis.option_key] ~= nil then
    core.fail("%s: --command states it as well (%s = %s); give one of them", axis.option[1],
      option.flag or option.name, native.printable(tostring(value)))
  end
end

--- Puts the value of an axis into the parameters of the ladder.
local function put(ladder, axis, option, value)
  if type(value) == "number" and axis.least and value < axis.least then
    core.fail("--command: %s %s: a plan tries values from %d on; leave it out, and say %s", option.flag or option.name,
      native.number_text(value), axis.least, axis.option[1])
  end
  ladder[axis.parameter or axis.name] = { value }
end

--- The values of axes that options state, by the ladder's parameter, and the options that are left to the engine.
--- Data-parallel ranks of a model without experts are engines of their own, whose number a plan finds.
local function stated_by(given, model, engine, told)
  local chosen, facts = application.implied(Reader.new "--command", { model = model, engine = engine })
  local ladder, left, has_experts = {}, { engine[1] }, facts.model.moe ~= nil
  for name, value in core.sorted_pairs(chosen.options) do
    local option = chosen.engine.option[name]
    local axis = axis_of(option)
    if axis then check_free(given, axis, option, value) end
    if axis and axis.of_experts and not has_experts then
      if axis.name == "dp" and facts.dp > 1 then
        told[#told + 1] = ("%s %d: without experts these are engines of their own; a plan finds their number"):format(
          option.flag or name, facts.dp)
      end
    elseif axis and axis.values ~= nil and (axis.width or axis.of == "scheduler") then
      put(ladder, axis, option, value_of(axis, option, value, facts))
    elseif engine[name] ~= nil then
      left[name] = value
    end
  end
  return ladder, next(left, 1) and left or engine[1]
end

--- A policy as a node of a scenario that is written: {module, params}; a name stays.
local function node_of(folder, value)
  if type(value) == "string" then return value end
  local params = {}
  for key, each in pairs(policy.parameters(value)) do
    local is_inner = policy.is_instance(each)
    if is_inner or policy.is_given(value, key) then params[key] = is_inner and node_of(folder, each) or each end
  end
  return { module = folder .. "." .. policy.definition(value).name, params = params }
end

local function speculation_of(given)
  if not given then return nil end
  local out = {}
  for key, value in pairs(given) do out[key] = node_of(schema.entry("speculation." .. key).folder, value) end
  return out
end

--- What a command, or files of a start, say of a plan's scenario: {model, engine, speculation, adapters, gpus, ladder,
--- told}.
--- @param given table options of `rooflua plan`: command, and engine and model in place of those of the command
function launched.of(given)
  if given.engines then core.fail "--engines: --command states the engine; give one of them" end
  if type(given.model) == "table" then
    core.fail "--ignore, --read-as: --command states the model; give --model instead"
  end
  local about = { text = given.command, from = given.from, engine = given.engine, model = given.model }
  local keys, told = launch.keys(about)
  if keys.replicas then
    told[#told + 1] = ("a plan finds the number of engines: that of the command%s is left out"):format(
      type(keys.replicas) == "number" and (", %d,"):format(keys.replicas) or "")
  end
  local ladder, engine = stated_by(given, keys.model, keys.engine, told)
  if given.candidates and next(ladder) then
    core.fail("--candidates: another generator does not read %s of --command; leave it out",
      core.join(core.sorted_keys(ladder), ", "))
  end
  return { model = keys.model, engine = engine, speculation = speculation_of(keys.speculation),
    adapters = keys.adapters, gpus = about.from and not given.gpus and { launch.hardware(about) } or nil,
    ladder = next(ladder) and ladder or nil, told = told }
end

return launched
