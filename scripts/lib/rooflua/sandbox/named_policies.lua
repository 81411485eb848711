-- Policies by name: "kernels", "steps.kernels" or "kernels:preset" is a file of scripts/steps, or of a folder `steps`
-- beside the scenario; "my.module" is any module beside the scenario.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local named_policies = {}
local chunks -- how files are found and run

--- Says how: sandbox/chunks.lua does, once.
function named_policies.look_with(given) chunks = given end

--- Names of the policies of a folder, in scripts/ and beside the scenario, each once.
function named_policies.names(folder)
  local seen = core.set(chunks.names_in(folder))
  return core.sorted_keys(seen)
end

local function module_of(folder, name)
  local inside = folder .. "." .. name
  if chunks.is_there(inside) then return inside end
  return chunks.is_there(name) and name or nil
end

--- The class that a text names, and its preset or nil; nil if no file has that name. An error of the file is raised.
---@param folder string where names are looked for, such as "steps"
---@param text string
function named_policies.class(folder, text)
  local name, preset = text:match "^([^:]+):(.+)$"
  name = name or text
  if name:sub(1, #folder + 1) == folder .. "." then name = name:sub(#folder + 2) end
  local module = module_of(folder, name)
  if not module then return nil end
  local class = chunks.require(module)
  if type(class) == "function" then
    core.fail("'%s' is a file that returns a function, and a name stands for a policy; write require \"%s\"", name,
      module)
  end
  if not policy.is_class(class) then core.fail("'%s' is not a policy class", name) end
  return class, preset
end

--- What a text names, as an instance; nil if no file has that name.
function named_policies.instance(folder, text)
  local class, preset = named_policies.class(folder, text)
  if not class then return nil end
  return preset and class:preset(preset) {} or class {}
end

--- "unknown policy of steps 'kernals'; did you mean 'kernels'?"
---@param kind string? what the text was expected to be, instead of a policy of the folder
---@param others string[]? further names that are known there
function named_policies.unknown(folder, text, kind, others)
  local known = {}
  for _, list in ipairs { others or {}, named_policies.names(folder) } do
    for _, name in ipairs(list) do known[#known + 1] = name end
  end
  return native.unknown_name(kind or "policy of " .. folder, text:match "^[^:]+" or text, known)
end

policy.find_by_name(named_policies.instance, named_policies.unknown)

return named_policies
