-- A reader is a place in a scenario: the file that its errors name, and the key path to what it reads.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local locate = require "rooflua.sandbox.locate"

local Reader = {}
local methods = {}
local meta = { __index = methods }

local kept -- of Reader.keep

--- The top of a scenario. `file` is what errors call it: a file's path, or "scenario" for a script's table. `shared` is
--- what its variants have in common (machine/shared.lua).
function Reader.new(file)
  return setmetatable({ file = file, path = "", shared = kept and core.copy(kept) or {} }, meta)
end

--- Scenarios that this process opens later take what the variants of this one share: shipped models and GPUs, their
--- tables and the prices of step models. What files of the user say may change, and is read anew.
function Reader.keep(reader)
  local shared = reader.shared
  kept = { tables = shared.tables, steps = shared.steps }
  for kind, list in pairs { model = native.list_models(), hardware = native.list_hardware() } do
    kept[kind] = {}
    for _, name in ipairs(list) do kept[kind][name] = (shared[kind] or {})[name] end
  end
end

--- The reader of a part: reader:child "deployment", reader:child "[2]".
function methods:child(key)
  return setmetatable({ file = self.file, path = self:key(key), shared = self.shared }, meta)
end

--- What keep() kept is not used from now on.
function Reader.forget() kept = nil end

--- The whole path of a key of this place; of the place itself for "".
function methods:key(key)
  if self.path == "" or key == "" then return self.path .. key end
  return self.path .. (key:sub(1, 1) == "[" and "" or ".") .. key
end

--- The last `--set` of a key path or of what it is a part of; nil where none is.
local function set_at(reader, path)
  local found
  for _, each in ipairs(reader.shared.set or {}) do
    local is_part = path:sub(1, #each.path) == each.path and not path:find("^[%w_]", #each.path + 1)
    if is_part and each.what:find "^%-%-set " then found = each.what end
  end
  return found
end

--- Raises with the scenario's file, the line where the key stands (if it is found), and its path in front. The line is
--- not that of a key that is set from outside.
function methods:fail(key, message, ...)
  key = self:key(key)
  if select("#", ...) > 0 then message = string.format(message, ...) end
  local set = set_at(self, key)
  if set and native.file_exists(self.file) then
    message = ("%s: %s (%s)"):format(key, native.short_names(message), native.printable(set))
    error(self.file .. ": " .. message, 0)
  end
  local line = locate.line(self.file, locate.path(key, message))
  local where = line and self.file .. ":" .. line or self.file
  if key ~= "" then where = where .. ": " .. key end
  message = where .. ": " .. native.short_names(message)
  if line or native.file_exists(self.file) then error(message, 0) end
  core.fail("%s", message) -- a script's table: the line of the call
end

--- A whole number from `least` to `most` at a key.
---@param most number? default 2^31 - 1
function methods:whole(key, value, least, most)
  most = most or 2147483647
  if type(value) ~= "number" or not (value >= least and value <= most) or value % 1 ~= 0 then
    self:fail(key, "expected a whole number %s, found %s", core.range_text(value, least, most), core.describe(value))
  end
  return value
end

--- A finite number of at least 0 at a key, or above 0; nil where there is none.
---@param above boolean? 0 is refused
function methods:amount(key, value, above)
  if value == nil then return nil end
  if type(value) ~= "number" or not (above and value > 0 or not above and value >= 0) or value == math.huge then
    self:fail(key, "expected a number %s, found %s", above and "above 0" or "from 0 on", core.describe(value))
  end
  return value
end

--- An error of a call below gets the file and the key path in front, unless it says already where it is.
local function place(reader, key, problem)
  local path = reader:key(key)
  if type(problem) ~= "string" then problem = "an error that is not text but " .. core.describe(problem) end
  local line = native.where() .. ": " -- of the call that gave a script's table: fail puts it in front again
  if not native.file_exists(reader.file) then
    while problem:sub(1, #line) == line do problem = problem:sub(#line + 1) end
    if problem:sub(1, #reader.file) == reader.file then core.fail("%s", problem) end
  end
  local has_place = problem:find "^[^%s:]+%.lua:%d+: " and not problem:find "^scripts/" -- a line of the user
  if problem:sub(1, #reader.file) == reader.file or has_place then error(problem, 0) end
  local top = Reader.new(reader.file)
  top.shared = reader.shared
  if problem:sub(1, #path) == path and problem:find("^[:.]", #path + 1) then top:fail("", "%s", problem) end
  return top:fail(path, "%s", problem)
end

--- call(...), whose errors are about `key`.
function methods:at(key, call, ...)
  local results = { pcall(call, ...) }
  if not results[1] then place(self, key, results[2]) end
  return core.unpack(results, 2, table.maxn(results))
end

--- A model or a GPU; by its name it is loaded once for all variants.
---@param kind string "model" or "hardware"
---@param load function(given) the object that a name, a path or a table means
function methods:by_name(kind, load, given)
  if type(given) ~= "string" then return self:at(kind, load, given) end
  local known = self.shared[kind] or {}
  self.shared[kind] = known
  known[given] = known[given] or self:at(kind, load, given)
  return known[given]
end

return Reader
