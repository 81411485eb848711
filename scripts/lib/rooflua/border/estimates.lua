-- The view of an answer: one per database, overwritten by its next answer.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local ffi = require("rooflua.border.abi").ffi

local fail = core.fail

local evidence_names = require("rooflua.base.words").by_code "evidence"

local owners = setmetatable({}, { __mode = "kv" }) -- view -> database
local view_data = setmetatable({}, { __mode = "k" }) -- view -> its fields (cdata)
local numbers = { latency_s = true, distance = true, rows = true, selected_row = true, flop = true,
  bytes = true }
local view_fields = { "latency_s", "mfu", "evidence", "rows", "distance", "note", "selected_row",
  "flop", "bytes",
  "mfu_up", "mfu_down" }

local View = {
  __index = function(view, key)
    local data = view_data[view]
    if numbers[key] then return data[key] end
    if key == "mfu" or key == "mfu_up" or key == "mfu_down" then
      local value = data[key]
      if value ~= value then return nil end
      return value
    end
    if key == "evidence" then return evidence_names[data.evidence] end
    if key == "note" then return native.describe_last(owners[view]) end
    return fail("estimate: %s", core.unknown_name("field", key, view_fields))
  end,
  __newindex = function() fail "an estimate is read-only" end,
  __tostring = function(view)
    return string.format("estimate %.6g s, %s", view.latency_s, view.evidence)
  end,
  __metatable = false,
}

--- A new view for the answers of a database.
local function new(database)
  local view = setmetatable({}, View)
  view_data[view] = ffi.new "rooflua_estimate"
  owners[view] = database
  return view
end

return { evidence_names = evidence_names, view_data = view_data, new = new }
