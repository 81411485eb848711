-- Policies that JSON states, {"name": "poisson", "rate_per_s": 5}, at the keys of a scenario that take one.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local stated_policies = {}

--- The folder of the policies that stand at a key path, "replicas[2].scheduler", also as one of a list; nil where none
--- do.
local function folder_at(path)
  path = path:gsub("%[%d+%]", "[]"):gsub("%.%d+", "[]")
  local folders = schema.policy_folders()
  return folders[path] or folders[(path:gsub("%[%]$", ""))] or folders[(path:gsub("%.[^.]+$", ".*"))]
end

--- The policy of that name with the other values as its parameters; what a file's function makes of them.
local function made(reader, path, folder, value)
  local parameters, module = core.copy(value), folder .. "." .. value.name
  parameters.name = nil
  if not chunks.is_there(module) then reader:fail(path, "%s", named_policies.unknown(folder, value.name)) end
  local class = reader:at(path, chunks.require, module)
  if not (policy.is_class(class) or type(class) == "function") then
    reader:fail(path, "'%s' is not a policy class", value.name)
  end
  return reader:at(path, function() return class(parameters) end)
end

--- A value of JSON with instances in place of the policies that it states; it is changed.
---@param path string of its key: "workload", "replicas.2.scheduler"
function stated_policies.of(reader, path, value)
  if type(value) ~= "table" or policy.is_instance(value) or policy.is_class(value) then return value end
  local folder = folder_at(path)
  if folder and type(value.name) == "string" then
    return made(reader, path, folder, value)
  end
  for key, each in pairs(value) do
    local inside = type(key) == "number" and ("%s[%d]"):format(path, key) or path .. "." .. key
    value[key] = stated_policies.of(reader, inside, each)
  end
  return value
end

return stated_policies
