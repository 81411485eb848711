-- What the options of one release are on another one, or on another engine: kept, renamed, gone.
local application = require "rooflua.applied.application"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"

local options = {}

local function holds(chosen, option) return release.holds(option, chosen.release) end

--- The option of another release of the same engine: of the same name, else of the same key and form.
local function heir_of(to, option)
  local own = to.engine.option[option.name]
  if own and holds(to, own) then return own end
  for _, each in ipairs(option.key and to.engine.options or {}) do
    local is_alike = each.key == option.key and holds(to, each) and each.type == option.type
    if is_alike and each.memory == option.memory and each.read == option.read then return each end
  end
end

--- The word of another engine for a format of the KV cache; nil where it has none.
local function kv_of(from, to, value)
  for format, word in core.sorted_pairs(from.engine.kv_names) do
    if word == value then return to.engine.kv_names[format] end
  end
  return value == "auto" and value or nil
end

--- The option of another engine that plans write for the same setting, and the value there; nil where there is none.
local function counterpart_of(from, to, option, value)
  if not option.parameter or option.memory then return nil end
  if option.values_of then
    local own
    for key, each in core.sorted_pairs(option.values_of) do
      if each == value then own = key end
    end
    value = own
  end
  if option.inverted then value = not value end
  if option.parameter == "kv" then value = kv_of(from, to, value) end
  for _, each in ipairs(value ~= nil and to.engine.options or {}) do
    if each.parameter == option.parameter and holds(to, each) then
      local own = value
      if each.inverted then own = not own end
      if each.values_of then own = each.values_of[own] end
      if own ~= nil then return each, own end
    end
  end
end

local widths = core.set { "tp", "dp", "pp", "ep", "cp", "dcp" }

--- A width as another engine counts it; nil for other options.
local function width_of(to, option, facts)
  local name = (option.key or ""):match "^deployment%.(%a+)$"
  if not name or not widths[name] then return nil end
  for _, each in ipairs(to.engine.options) do
    if each.key == option.key and holds(to, each) and each.type == option.type then
      local counts_all = core.is_among(name, to.engine.counts_all_ranks or {})
      return each, facts[name] * (counts_all and facts.dp * (name == "tp" and facts.cp or 1) or 1)
    end
  end
end

--- What a side calls an option.
local function called(option) return option.flag or option.name end

local function moved(from, to, option, value, facts)
  if from.engine == to.engine then return heir_of(to, option), value end
  local other, own = width_of(to, option, facts)
  if other then return other, own end
  return counterpart_of(from, to, option, value)
end

local function why_gone(from, to, option)
  if option.memory and from.engine ~= to.engine then
    return ("%s divides the memory in another way"):format(to.engine.title)
  end
  if from.engine == to.engine then return choice.range(from.engine, option, to.release) end
  return ("%s has no option of this meaning"):format(to.engine.title)
end

--- Options of a side after from those that the side before states, and what became of each, by name: {flag, state, to,
--- value, why}. state: kept, renamed, gone.
---@param from table {engine, release, options} of engines/choice.lua: what is stated
---@param to table {engine, release}
---@param given table the scenario, for widths
---@return table<string, any>, table[]
function options.of(from, to, given, reader)
  local out, list = {}, {}
  local _, facts = application.implied(reader, given)
  for _, name in ipairs(core.sorted_keys(from.options)) do
    local option, value = from.engine.option[name], from.options[name]
    local other, own = moved(from, to, option, value, facts)
    local row = { flag = called(option), value = value, state = "gone" }
    local ok, problem = true, nil
    if other then ok, problem = pcall(choice.check, called(other), other, own) end
    if other and ok then
      out[other.name], row.to = own, called(other)
      row.state = (row.to ~= row.flag or own ~= value) and "renamed" or "kept"
      if own ~= value then row.to_value = own end
    else
      row.why = problem and tostring(problem) or why_gone(from, to, option)
    end
    list[#list + 1] = row
  end
  return out, list
end

return options
