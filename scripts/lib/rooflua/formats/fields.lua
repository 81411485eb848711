-- Fields of documents that other tools write: looked up by a dotted key, checked, and named in every message.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local fields = {}
local fail = core.fail

--- The largest values that a file may state.
fields.most_tokens, fields.most_requests, fields.most_rate = 2147483647, 1e7, 1e12
fields.most_stamp_s = 1e15

--- What a file that rooflua wrote calls the tool that measured, and what is said of such a file.
fields.simulated = "rooflua (simulated)"
fields.simulated_note = "is a simulated run, written by rooflua"

--- The parts of the keys that were looked up: files have millions of fields of few keys. The collector may take them.
local parts_of = setmetatable({}, { __mode = "v" })

local function split(key)
  local parts = {}
  for part in key:gmatch "[^.]+" do parts[#parts + 1] = part end
  parts_of[key] = parts
  return parts
end

--- The value at "a.b.c" of a document; nil where a part of it is missing or null.
function fields.at(document, key)
  local found, parts = document, parts_of[key] or split(key)
  for i = 1, #parts do
    if type(found) ~= "table" then return nil end
    found = found[parts[i]]
    if found == nil or found == json.null then return nil end
  end
  return found
end

--- A number >= 0 at that key; nil where it is missing.
--- @param where string the file, and its line where there is one
--- @param most number? the largest that makes sense; nil: the latest second that the clock shows
function fields.number(where, document, key, most)
  local value = fields.at(document, key)
  if value == nil then return nil end
  most = most or native.latest_s
  if type(value) ~= "number" or not (value >= 0 and value <= most) then
    fail("%s: %s: expected a number from 0 to %g, found %s", where, key, most, core.describe(value))
  end
  return value
end

--- The same, where 0 says that nothing was measured.
function fields.positive(where, document, key, most)
  local value = fields.number(where, document, key, most)
  return value ~= 0 and value or nil
end

--- A number that must be there.
--- @param hint string? what to do about its absence
function fields.needed(where, document, key, most, hint)
  local value = fields.number(where, document, key, most)
  if value == nil then fail("%s: %s: is missing%s", where, key, hint and "; " .. hint or "") end
  return value
end

--- A whole number of tokens that must be there, at least `least`.
function fields.whole(where, document, key, least)
  local value = fields.at(document, key)
  if type(value) ~= "number" or value % 1 ~= 0 or value < least or value > fields.most_tokens then
    fail("%s: %s: expected a whole number >= %d, found %s", where, key, least, core.describe(value))
  end
  return value
end

--- A list at that key; an empty one where it is missing.
function fields.list(where, document, key)
  local value = fields.at(document, key)
  if value == nil then return {} end
  if type(value) ~= "table" or next(value) ~= nil and #value == 0 then
    fail("%s: %s: expected a list, found %s", where, key, core.describe(value))
  end
  return value
end

--- A request's end may not lie before its first token.
function fields.in_order(where, request)
  if request.e2e_s and request.ttft_s and request.e2e_s < request.ttft_s * (1 - 1e-9) then
    fail("%s: the request ends after %g s, before its first token (%g s)", where, request.e2e_s, request.ttft_s)
  end
  return request
end

return fields
