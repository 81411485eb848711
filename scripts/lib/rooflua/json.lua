-- JSON: doubles are exact in both directions, null is json.null, arrays stay arrays.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"

local null = setmetatable({}, {
  __tostring = function() return "null" end,
  __newindex = function() core.fail "json.null is read-only" end,
  __metatable = false,
})
local array_meta = native.json_marks(null)
array_meta.__metatable = false

local json = { null = null }

--- The value of a JSON text.
function json.decode(text) return native.json_decode(core.text(text, "json.decode")) end

--- The JSON text of a value. Keys are sorted, so that equal values give equal text.
function json.encode(value, indent)
  if value == nil then core.fail "json.encode: expected a value, found nil (json.null stands for null)" end
  return native.json_encode(value, indent)
end

--- Marks a table as an array. An empty table without this mark is written as an object.
function json.array(t)
  core.table(t, "json.array")
  if getmetatable(t) == nil then setmetatable(t, array_meta) end
  return t
end

--- The value of a JSON file. Trusted scripts only.
function json.read(path)
  if not native.trusted then
    core.fail "json.read: scenarios cannot read files; run with --trusted"
  end
  local text, problem = native.read_file(core.text(path, "json.read"))
  if not text then core.fail("json.read: %s", problem) end
  files.note(path)
  return native.json_decode(text, path)
end

return json
