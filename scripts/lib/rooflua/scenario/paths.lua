-- Key paths of a scenario: "steps.prefill_divisor", "deployment.tp", "corrections.step_overhead.overhead_s".
-- Also how its errors are told: with file and key path in front.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local locate = require "rooflua.sandbox.locate"
local policy = require "rooflua.policy"

local paths = {}

--- Raises with the scenario's file, the line where it can be found, and a key path in front.
function paths.wrong(file, key, message, ...)
  if select("#", ...) > 0 then message = string.format(message, ...) end
  local line = locate.line(file, locate.path(key, message))
  local where = line and file .. ":" .. line or file
  if key ~= "" then where = where .. ": " .. key end
  error(where .. ": " .. message, 0)
end
local wrong = paths.wrong

--- Runs `call`; its errors get file and key path, unless they say where already.
function paths.at(file, key, call, ...)
  local results = { pcall(call, ...) }
  if results[1] then return core.unpack(results, 2, table.maxn(results)) end
  local problem = results[2]
  if type(problem) ~= "string" then error(problem, 0) end
  if problem:sub(1, #file) == file or problem:find "^[^%s:]+%.lua:%d+: " then error(problem, 0) end
  if problem:sub(1, #key) == key and problem:find("^[:.]", #key + 1) then wrong(file, "", "%s", problem) end
  return wrong(file, key, "%s", problem)
end
local at = paths.at

function paths.split(path)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  return parts
end

local set_at

local function set_in_list(file, path, list, parts, i, value)
  local position = tonumber(parts[i])
  if not position then
    for j, each in ipairs(list) do
      if policy.is_instance(each) and each.name == parts[i] then position = j end
    end
  end
  if not position or list[position] == nil then
    wrong(file, path, "the list has no '%s'", parts[i])
  end
  local out = {}
  for j, each in ipairs(list) do out[j] = each end
  out[position] = set_at(file, path, out[position], parts, i + 1, value)
  return out
end

--- A copy of `owner` with the value at parts[i..] replaced; policies become new instances.
function set_at(file, path, owner, parts, i, value)
  if i > #parts then return value end
  if policy.is_instance(owner) then
    if i < #parts then
      local inner = set_at(file, path, policy.parameters(owner)[parts[i]], parts, i + 1, value)
      return at(file, path, policy.with, owner, { [parts[i]] = inner })
    end
    return at(file, path, policy.with, owner, { [parts[i]] = value })
  end
  if owner == nil then owner = {} end
  if type(owner) ~= "table" then
    wrong(file, path, "'%s' is %s, it has no parts", parts[i - 1] or "", core.describe(owner))
  end
  owner = core.plain(owner)
  if #owner > 0 then return set_in_list(file, path, owner, parts, i, value) end
  local out = {}
  for key, each in pairs(owner) do out[key] = each end
  out[parts[i]] = set_at(file, path, owner[parts[i]], parts, i + 1, value)
  return out
end

local may_be_names = { steps = true, scheduler = true, router = true }

--- A copy of a scenario with the value at `path` replaced.
---@param keys string[] the keys a scenario may have
---@param resolve function file, key, given -> the policy instance that a name or nothing stands for
function paths.set(file, given, path, value, keys, resolve)
  local parts = paths.split(path)
  if #parts == 0 then wrong(file, path, "an empty key path") end
  local known = false
  for _, key in ipairs(keys) do known = known or key == parts[1] end
  if not known then wrong(file, path, "%s", native.unknown_name("key", parts[1], keys)) end
  if parts[1] == "corrections" and #parts > 1 then
    local list = given.corrections
    if list == nil or type(list) == "table" and not policy.is_instance(list) and #core.plain(list) == 0 then
      wrong(file, path, "the scenario has no corrections")
    end
  end
  -- deployment and mfu may be absent; steps given by name become an instance first
  local first = parts[1]
  if may_be_names[first] and #parts > 1 and type(given[first]) ~= "table" then
    local copy = {}
    for key, each in pairs(given) do copy[key] = each end
    copy[first] = resolve(file, first, given[first])
    given = copy
  end
  return set_at(file, path, given, parts, 1, value)
end

return paths
