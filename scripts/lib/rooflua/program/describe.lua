-- A scenario as rows of {path, value, unit, note} for reports: everything that was given, and every parameter of
-- every policy with its unit.
local native = require "rooflua.native"
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local describe = {}

local slots = { "steps", "scheduler", "router", "workload" } -- shown with every parameter, also where given by name
local most_rows, most_items = 400, 8

local function text_of(value)
  if type(value) == "number" then return native.number_text(value) end
  if type(value) == "string" or type(value) == "boolean" then return tostring(value) end
  return core.describe(value)
end

local add

local function add_policy(rows, path, instance)
  local declared = policy.describe(instance)
  rows[#rows + 1] = { path = path, value = declared.name, unit = "", note = declared.doc }
  local values = policy.parameters(instance)
  for _, key in ipairs(core.sorted_keys(declared.params)) do
    local parameter, value = declared.params[key], values[key]
    if policy.is_instance(value) or type(value) == "table" then
      add(rows, path .. "." .. key, value)
    elseif value ~= nil then
      local default = value == parameter.default
      rows[#rows + 1] = { path = path .. "." .. key, value = text_of(value),
        unit = parameter.unit ~= "1" and parameter.unit or "", note = default and "default" or "" }
    end
  end
end

function add(rows, path, value)
  if #rows >= most_rows then return end
  if policy.is_instance(value) then return add_policy(rows, path, value) end
  if type(value) == "table" and #core.plain(value) > most_items then
    rows[#rows + 1] = { path = path, value = "a list of " .. #core.plain(value), unit = "", note = "" }
  elseif type(value) == "table" then
    for _, key in ipairs(core.sorted_keys(core.plain(value))) do
      local inner = type(key) == "number" and path .. "[" .. key .. "]" or path .. "." .. tostring(key)
      add(rows, inner, core.plain(value)[key])
    end
  elseif type(value) ~= "function" and type(value) ~= "nil" then
    rows[#rows + 1] = { path = path, value = text_of(value), unit = "", note = "" }
  end
end

--- Rows of an opened scenario, without the changes of its variants. They include the policies that it leaves out.
function describe.parameters(opened)
  local given = opened.given
  local rows = json.array {}
  local told = core.copy(given)
  if opened.kind == "serve" or opened.kind == "price" then -- with what its engine gives to them
    local applied = application.of(opened.reader, given, opened.kind == "serve").given
    told.steps, told.scheduler = applied.steps or told.steps, applied.scheduler or told.scheduler
  end
  for _, key in ipairs(slots) do
    local needed = schema.default_policies[key] and (key == "steps" or opened.kind == "serve")
    if told[key] ~= nil or needed then told[key] = policies.of(opened.reader, key, told[key]) end
  end
  for _, key in ipairs(core.sorted_keys(told)) do
    local entry = schema.entry(key)
    if not (entry and entry.reported == false) then add(rows, key, told[key]) end
  end
  return rows
end

return describe
