-- Key paths of a scenario, as its values are read: "steps.prefill_divisor", "deployment.tp", "tiers.stores.cpu".
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local paths = {}

function paths.split(path)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  return parts
end

--- Whether an entry of a list is a table of this name: tiers.stores.cpu.
function paths.has_name(each, name)
  return type(each) == "table" and not policy.is_instance(each) and not policy.is_class(each)
    and core.plain(each).name == name
end

--- The entry of a list at a part of a path: by its position, else by its name.
local function in_list(list, part)
  if tonumber(part) then return list[tonumber(part)] end
  for _, each in ipairs(list) do
    if paths.has_name(each, part) then return each end
  end
end

--- The value at a key path; nil where there is none. Policies are read by their parameters' names.
function paths.value(given, path)
  local value = given
  for _, part in ipairs(paths.split(path)) do
    if type(value) ~= "table" then return nil end
    local plain = core.plain(value)
    value = plain[part]
    if value == nil and #plain > 0 then value = in_list(plain, part) end
  end
  return value
end

return paths
