-- Kernel tables as a user's lookup sees them: read-only, with the rows in Lua only when they are asked for.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local tables = {}

local known = { "axes", "count", "dtype", "engine", "includes", "name", "near", "op", "path", "ranges", "rows",
  "variant" }

--- The rows near a shape, nearest first: each has its columns and `distance`, in doublings over the axes.
local function near_of(view)
  return function(_, query, count) return native.view_near(view, core.table(query, "table:near: query"), count) end
end

local function rows_of(view, name)
  local rows = native.view_rows(view)
  local what = "a row of " .. name
  for i, row in ipairs(rows) do rows[i] = core.readonly(row, what) end
  return rows
end

-- The engine's table -> its view. The view holds copies, so that it does not keep the key alive.
local views = setmetatable({}, { __mode = "k" })

--- The table that the engine pushed, for scripts: the answer to one question is no input of the next.
function tables.seen(pushed)
  local found = views[pushed]
  if found then return found end
  local shown, view, what = {}, pushed.view, "the table " .. pushed.name
  for key, value in pairs(pushed) do
    if key ~= "view" then shown[key] = type(value) == "table" and core.readonly(value, what) or value end
  end
  shown.axes = pushed.axes
  for axis, range in pairs(pushed.ranges) do pushed.ranges[axis] = core.readonly(range, what) end
  shown.near = near_of(view)
  found = core.readonly(setmetatable(shown, {
    __index = function(_, key)
      if key == "rows" then
        shown.rows = rows_of(view, shown.name)
        return shown.rows
      end
      return core.fail("%s: %s", what, core.unknown_name("field", key, known))
    end,
  }), what)
  views[pushed] = found
  return found
end

--- Every table of the op, as the same views.
function tables.seen_all(pushed)
  local all = {}
  for i, each in ipairs(pushed) do all[i] = tables.seen(each) end
  return all
end

return tables
