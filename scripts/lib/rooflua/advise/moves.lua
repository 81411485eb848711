-- Changes of one option of a deployment's engine. Which options there are, what they act on and between which bounds
-- they lie is declared by the engine; a move has the value in force and another one.
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local drafts = require "rooflua.advise.drafts"
local policy = require "rooflua.policy"
local release = require "rooflua.engines.release"
local writing = require "rooflua.engines.launch.writing"

local moves = {}

--- Keys whose values decide with which numbers the model answers.
local of_formats = core.set { "deployment.weights", "deployment.kv" }
--- Keys that divide the model among GPUs.
local of_widths = core.set { "deployment.tp", "deployment.dp", "deployment.pp", "deployment.ep", "deployment.cp",
  "deployment.dcp" }

local factors = { 0.25, 0.5, 2, 4 }
local off_parts = { 0.125, 0.25, 0.5 } -- of the budget of a step, of a limit in tokens that is off

--- The declaration of a parameter that a key stands for: of the scheduler or the step model.
local function parameter_of(applied, key)
  local group, name = tostring(key):match "^([^.]+)%.(.+)$"
  local owner = group and applied.given[group]
  if not policy.is_instance(owner) then return nil end
  return policy.definition(owner).params[name], policy.parameters(owner)[name]
end

--- The value of an option that holds: stated, of the engine's rules, or of the deployment that follows.
local function in_force(applied, option, replica)
  local value = applied.engine.values[option.name]
  if value ~= nil then return value end
  if option.type == "switch" then return false end
  local field = tostring(option.key):match "^deployment%.(.+)$"
  return field and (core.object_fields[replica.deployment][field] or replica.config[field]) or nil
end

--- A power of two near a number of tokens, requests or ranks.
local function rounded(value, option)
  if option.type == "integer" then return math.floor(value + 0.5) end
  return tonumber(("%.2g"):format(value))
end

--- Numbers around the one in force, within the bounds of the option, rising.
local function numbers(applied, option, value)
  local out, seen = {}, { [value] = true }
  local about = parameter_of(applied, option.key)
  local low, high = option.min or about and about.min, option.max or about and about.max
  local function add(each)
    each = rounded(each, option)
    if seen[each] or low and each < low or high and each > high then return end
    seen[each], out[#out + 1] = true, each
  end
  if value == 0 then
    local budget = applied.given.scheduler and policy.parameters(applied.given.scheduler).max_num_batched_tokens
    if about and about.unit == "tokens" and type(budget) == "number" then
      for _, part in ipairs(off_parts) do add(budget * part) end
    end
    return out
  end
  if high then
    add((value + high) / 2)
    add(value / 2)
  else
    for _, factor in ipairs(factors) do
      if value * factor >= 1 or option.type ~= "integer" then add(value * factor) end
    end
  end
  if low == 0 and option.type == "integer" then add(0) end
  table.sort(out)
  return out
end

--- Ranks: powers of two up to the GPUs that there are.
local function ranks(value, gpus)
  local out, each = {}, 1
  while each <= gpus do
    if each ~= value then out[#out + 1] = each end
    each = each * 2
  end
  return out
end

--- Other words than the one in force.
local function words(applied, option, value)
  local about, own = parameter_of(applied, option.key)
  local known, out = option.values or not option.read and about and about.values or {}, {}
  if value == nil then value = own end
  for _, each in ipairs(core.plain(known)) do
    if each ~= value then out[#out + 1] = each end
  end
  return out
end

--- Lengths that every request of the load needs, up to the one in force.
local function lengths(value, longest)
  local out = {}
  for _, factor in ipairs { 0.25, 0.5 } do
    local each = math.floor(value * factor)
    if longest and each >= longest then out[#out + 1] = each end
  end
  return out
end

local function others(applied, option, value, about)
  if option.type == "switch" then return { not value } end
  if of_widths[option.key] and option.type == "integer" then return ranks(value or 1, about.gpus) end
  if option.key == "deployment.max_model_len" then return value and lengths(value, about.longest) or {} end
  if option.type == "integer" or option.type == "number" then
    return type(value) == "number" and numbers(applied, option, value) or {}
  end
  return option.type == "text" and words(applied, option, value) or {}
end

--- Whether an option is one that this program follows by itself: what drafts and adapters are a scenario says.
local function is_followed(option, version)
  if not release.holds(option, version) or option.file or option.drafts or option.adapters then return false end
  return (option.key or option.read_by) and not (type(option.elsewhere) == "string")
end

--- The key path with which an option is set: where the scenario states it, else the engine's option, else its key.
local function path_of(given, option)
  local stated = option.key and application.stated_at(given, option.key)
  if stated then return stated end
  if given.engine ~= nil then return "engine." .. option.name end
  local group = option.key and option.key:match "^[^.]+"
  return group ~= "engine" and option.key or nil
end

--- The value of a key path that has the effect of an option's value; nil where it is none.
local function at_path(path, option, value, applied)
  if path:find "^engine%." or not option.read then return value end
  return option.read(value, applied.engine.facts, applied.engine.values)
end

--- What a scenario or a command calls an option: its key path, its flag, its key in the engine's YAML file.
local function called(path, option, is_command, engine)
  if not is_command then return path end
  if option.variable or writing.is_of_file(engine, option) then return option.name end
  return option.flag or "--" .. option.name
end

--- The moves of a scenario, in the order of the engine's options, and the options that would change the answers:
--- {option, set, path, key, before, after, value, is_width, reads}. `set` is what the scenario or the command calls the
--- option, `after` its value, `value` that of `path`.
---@param reader table
---@param given table a scenario of kind "serve"
---@param about table {replica: the first one, gpus: that there are, longest: tokens of the longest request, is_command,
--- with_formats: options that change the answers as well}
---@return table[], string[]
function moves.of(reader, given, about)
  local applied, out, kept_out = application.of(reader, given, true), {}, {}
  for _, option in ipairs(applied.engine.engine.options) do
    local path = is_followed(option, applied.engine.release) and path_of(given, option)
    if path then
      local before = in_force(applied, option, about.replica)
      local set = called(path, option, about.is_command, applied.engine.engine)
      local list = others(applied, option, before, about)
      if of_formats[option.key] and not about.with_formats then
        if #list > 0 then kept_out[#kept_out + 1] = set end
        list = {}
      end
      for _, after in ipairs(list) do
        local value = at_path(path, option, after, applied)
        if value ~= nil then
          out[#out + 1] = { option = option.name, set = set, path = path, key = option.key, before = before,
            after = after, value = value, is_width = of_widths[option.key] or nil, reads = option.read_by }
        end
      end
    end
  end
  for _, move in ipairs(drafts.of(given, applied.engine, about.replica.prepared.model, about.is_command)) do
    out[#out + 1] = move
  end
  return out, kept_out
end

return moves
