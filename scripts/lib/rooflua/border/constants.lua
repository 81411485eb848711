-- Tables that never change. Compiled code reads a field of an ordinary table each time: it compares the place of the
-- key, loads the value and compares its type. What LuaJIT finds in the `__index` table of a C type it takes as known
-- instead: the value is part of the compiled code, and costs nothing there (LuaJIT, ext_ffi_semantics: "the contents
-- of the metatable and the contents of an __index table must not be modified afterwards").
local core = require "rooflua.base.core"
local ffi = require("rooflua.border.abi").ffi

local constants = {}

local function read_only(_, key)
  core.fail("a table of constants, or a policy that has settled, is read-only (assigning '%s')", tostring(key))
end

local function nothing() return nil end

--- What reads as `fields` does under keys that are text. Code that reads a key which is missing is not compiled: a key
--- that may be asked for has `false`. A C type lives as long as its Lua state: this is for the library's own tables,
--- and for objects that settle (rooflua.border.settled).
--- @param fields table without a metatable; it must not change any more
--- @param no_field function|nil what is called with `fields` and a key that is missing, and returns nil
function constants.of(fields, no_field)
  setmetatable(fields, { __index = no_field or nothing }) -- without it LuaJIT raises an error there
  return ffi.metatype("struct {}", { __index = fields, __newindex = read_only, __metatable = false })()
end

--- The same for each of two tables, with `false` under the keys of the other one.
function constants.of_two(fields, others)
  local first, second = {}, {}
  for key, value in pairs(fields) do first[key], second[key] = value, false end
  for key, value in pairs(others) do first[key], second[key] = first[key] or false, value end
  return constants.of(first), constants.of(second)
end

return constants
