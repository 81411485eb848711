-- Step models that settle. After some thousand prices nothing of a bound step model changes any more but tables that it
-- refers to: compiled code then takes its fields as constants (rooflua.border.constants), and need not read and compare
-- them for every step. It is compiled for that model alone, so one that is asked a few times does not settle.
--
-- An object takes part if it has a method `settles`. It returns the names of the fields whose objects settle with it,
-- or nil as long as fields are still to be set. A settled object is read-only, and keeps no batch beyond the call that
-- it was given to. Each field that is read must be there, `false` if it is nothing.
local answers = require "rooflua.border.answers"
local constants = require "rooflua.border.constants"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local settled = {}

local most_models = 16 -- that are settled at the same time, in one Lua state
local models = {}      -- list of {object, constant, users = {[what prices with it] = true}, parts}
local spare = {}       -- parts, {constant, fields}, of models that price no more
local missing = {}     -- name of a field that was read and is not there -> true

--- The names of fields that settled objects were asked for and do not have: code that reads one is interpreted.
function settled.missing() return core.sorted_keys(missing) end

local function note_missing(_, key)
  missing[tostring(key)] = true
  return nil
end

local function all_fields(object)
  local out = {}
  local class = policy.is_instance(object) and policy.class_of(object) or (debug.getmetatable(object) or {}).__index
  for key, value in next, type(class) == "table" and class or {} do out[key] = value end
  for key, value in next, object do out[key] = value end
  return out
end

local function wrong(model, message, ...)
  answers.wrong("step model", model, "settles", "settles() " .. message, ...)
end

--- The objects that settle with one, itself included; nil if one of them is still to change.
--- @param model table the step model, for errors
local function members_of(model, object, members)
  members[#members + 1], members[object] = object, true
  local names = object:settles()
  if names == nil or names == false then return nil end
  if type(names) ~= "table" then wrong(model, "must return a list of names, or nil; found %s", core.describe(names)) end
  for _, name in ipairs(names) do
    local each = object[name]
    if each ~= false and (type(each) ~= "table" or type(each.settles) ~= "function") then
      wrong(model, "names '%s', which must be false or an object with a method settles; found %s", tostring(name),
        core.describe(each))
    end
    if each and not members[each] and not members_of(model, each, members) then return nil end
  end
  return members
end

local function constant_of(parts)
  local one = table.remove(spare)
  if not one then
    local fields = {}
    one = { constant = constants.of(fields, note_missing), fields = fields }
  end
  parts[#parts + 1] = one
  return one
end

--- A constant for each member, whose fields refer to those of the other members.
local function make(object, members)
  local parts, of_member = {}, {}
  for _, each in ipairs(members) do of_member[each] = constant_of(parts) end
  for _, each in ipairs(members) do
    local fields = of_member[each].fields
    for key, value in pairs(all_fields(each)) do
      if type(key) == "string" then fields[key] = of_member[value] and of_member[value].constant or value end
    end
  end
  return { object = object, constant = of_member[object].constant, users = setmetatable({}, { __mode = "k" }),
    parts = parts }
end

--- Takes back the constants of models that price no more. What was compiled for them goes.
local function forget_unused()
  local before = #models
  for i = before, 1, -1 do
    if next(models[i].users) == nil then
      for _, one in ipairs(table.remove(models, i).parts) do
        for key in next, one.fields do one.fields[key] = nil end
        spare[#spare + 1] = one
      end
    end
  end
  if #models < before then jit.flush() end
end

--- @param user table what prices with it; as long as it is reachable, the constant is
--- @return table|nil what reads as the bound step model does; nil if it does not settle, or not yet
function settled.of(model, user)
  local may = jit and jit.status() and policy.is_instance(model) and policy.has_own(model, "settles")
  if not may then return nil end
  for _, each in ipairs(models) do
    if each.object == model then
      each.users[user] = true
      return each.constant
    end
  end
  local members = members_of(model, model, {})
  if not members then return nil end
  if #models >= most_models then forget_unused() end
  if #models >= most_models then return nil end
  local one = make(model, members)
  one.users[user] = true
  models[#models + 1] = one
  return one.constant
end

return settled
