-- Every run of a scenario starts with the files of the user as they are after loading: a `local` of a policy's file, a
-- table that two policies share, a random stream. Otherwise a run would go on where an earlier one in the same process
-- stopped, and results would depend on --jobs and on what a results file holds. The files are not read again: their
-- code runs again, which makes new functions and new tables. What a scenario says is found in the new tables at the
-- places where it stood in the old ones.
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local policy = require "rooflua.policy"

local fresh = {}

--- Where tables and functions stand in what a file returned: by each, {parent, key} below a table; {parent,
--- parameter} and {parent, class = true} for those of a policy.
local function note_places(places, root)
  local left = { root }
  local function add(value, place)
    local kind = type(value)
    if kind ~= "table" and kind ~= "function" and kind ~= "cdata" or places[value] or value == root then return end
    places[value] = place
    if kind == "table" then left[#left + 1] = value end
  end
  while #left > 0 do
    local from = table.remove(left)
    if policy.is_instance(from) then
      add(policy.class_of(from), { parent = from, class = true })
      for name, value in next, policy.parameters(from) do add(value, { parent = from, parameter = name }) end
    elseif not policy.is_class(from) then
      for key, value in next, core.plain(from) do add(value, { parent = from, key = key }) end
    end
  end
end

--- The files of the user, run again for one run of the engine.
local Generation = {}
Generation.__index = Generation

--- What stands now where `old` stood; nil where it stood nowhere.
function Generation:now(old)
  local found = self.found[old]
  if found ~= nil then return found end
  local origin = self.origin
  if not origin.places then
    origin.places = {}
    note_places(origin.places, origin.returned)
  end
  local place = origin.places[old]
  local parent = place and self:now(place.parent)
  if parent == nil or type(parent) ~= "table" then return nil end
  if place.class then
    found = policy.is_instance(parent) and policy.class_of(parent) or nil
  elseif place.parameter ~= nil then
    found = policy.is_instance(parent) and policy.parameters(parent)[place.parameter] or nil
  else
    found = rawget(core.plain(parent), place.key)
  end
  self.found[old] = found
  return found
end

--- The class that the same file has made now.
function Generation:class(old)
  local module = chunks.module_of_class(old)
  if module then return chunks.require(module) end
  local found = self:now(old)
  return policy.is_class(found) and found or old
end

--- The tables in `values` as they are now, in a table of its own if one of them is another one; else nil.
function Generation:fields(values, depth)
  local out
  for key, value in next, values do
    local new = self:value(value, depth + 1)
    if new ~= value then
      if not out then
        out = {}
        for each, kept in next, values do out[each] = kept end
      end
      out[key] = new
    end
  end
  return out
end

local most_nested = 100

--- A value of the scenario as it is now. A table that `--set`, `vary`, a search or a plan made is not in the file; what
--- they left as it was is.
function Generation:value(old, depth)
  local kind = type(old)
  if kind ~= "table" and kind ~= "function" and kind ~= "cdata" or depth > most_nested then return old end
  local found = self:now(old)
  if found ~= nil then return found end
  if kind ~= "table" then return old end
  if policy.is_class(old) then return self:class(old) end
  if policy.is_instance(old) then
    local class, parameters = self:class(policy.class_of(old)), policy.parameters(old)
    local changed = self:fields(parameters, depth)
    if class == policy.class_of(old) and not changed then return old end
    return policy.moved(old, class, changed or parameters)
  end
  if getmetatable(old) ~= nil then return old end
  return self:fields(old, depth) or old
end

--- Whether a run could change a file of the user.
local function can_change(origin) return origin.makes_functions or chunks.has_own_modules() end

--- A scenario's table for one run: `given` with the functions, policies and tables of files that ran again. A table
--- that stands in no scenario's file is returned as it is: its script makes its state itself.
---@param reader table of the scenario, which names its file
function fresh.of(reader, given)
  local origin = chunks.origin(reader.file)
  if not origin or not can_change(origin) then return given end
  chunks.forget_own()
  local root = chunks.run_again(origin.path)
  local generation = setmetatable({ origin = origin, found = { [origin.returned] = root } }, Generation)
  local out = {}
  for key, value in next, core.plain(given) do
    local as_written = value == rawget(core.plain(origin.returned), key)
    if as_written then out[key] = rawget(core.plain(root), key) else out[key] = generation:value(value, 1) end
  end
  return out
end

return fresh
