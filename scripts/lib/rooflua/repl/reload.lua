--- The command :reload. Policies from edited files replace the running ones, and keep their parameters and their
--- state.
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local policy = require "rooflua.policy"
local opening = require "rooflua.runs.opening"
local serve = require "rooflua.serving.live"

local reload = {}

--- Policies that the scenario file itself defines, by name.
local function inline_classes(given, out)
  for _, key in ipairs(core.sorted_keys(core.plain(given))) do
    local value = core.plain(given)[key]
    if policy.is_instance(value) then
      out[value.name] = policy.class_of(value)
    elseif policy.is_class(value) then
      out[value.name] = value
    elseif type(value) == "table" then
      inline_classes(value, out)
    end
  end
  return out
end

--- A function from an instance to its successor, made by the class that was read again; nil if no file has it.
local function successor_of(inline, notes)
  local function successor(instance)
    local old = policy.class_of(instance)
    local module = chunks.module_of_class(old)
    local class = module and chunks.require(module) or not module and inline[instance.name] or nil
    if not policy.is_class(class) then
      notes[#notes + 1] = instance.name .. " is in no file that could be read again; it stays as it is"
      return nil
    end
    local before, now = policy.describe(old).params, policy.describe(class).params
    local given = {}
    for _, key in ipairs(core.sorted_keys(policy.parameters(instance))) do
      local value = policy.parameters(instance)[key]
      if policy.is_instance(value) then value = successor(value) or value end
      if value ~= before[key].default then
        given[key] = now[key] and value or nil
        if not now[key] then notes[#notes + 1] = instance.name .. " has no " .. key .. " any more" end
      end
    end
    local fresh = class(given)
    for key, value in pairs(instance) do
      if before[key] == nil and now[key] == nil and value ~= old[key] then fresh[key] = value end
    end
    return fresh
  end
  return successor
end

--- Reads every policy file again; simulations go on with the new policies.
---@param session table
---@return string text names of the files, and notes
function reload.run(session)
  local before = chunks.forget()
  local notes, names = {}, {}
  local ok, problem = pcall(function()
    for _, name in ipairs(core.sorted_keys(before)) do
      chunks.require(name)
      names[#names + 1] = name
    end
    local inline = {}
    if session.file then
      inline = inline_classes(chunks.load_scenario(session.file), {})
      names[#names + 1] = session.file
    end
    for _, name in ipairs(session.order) do
      serve.replace_policies(session.lives[name], successor_of(inline, notes))
    end
  end)
  if not ok then
    chunks.recall(before)
    error(problem, 0)
  end
  if session.file then session.opened = opening.file(session.file, session.options) end
  local text = #names == 0 and "no policy has been read yet" or "read again: " .. core.join(names, ", ")
  return #notes > 0 and text .. "\n" .. core.join(notes, "\n") or text
end

return reload
