-- Functions that the parity scripts share: reading a golden file, comparing values, printing the last line.
local rooflua = require "rooflua"

local compare = {}

--- A counter of comparisons. At most `shown` mismatches are printed.
function compare.counter(shown)
  return setmetatable({ compared = 0, mismatched = 0, max_rel = 0, shown = shown or 20 }, { __index = compare })
end

--- Reads a golden file. If a file of ../shared is missing, the script ends as skipped (status 4), or as failed with
--- ROOFLUA_REQUIRE_SHARED=1.
function compare.read(path)
  local handle = io.open(path)
  if handle then
    handle:close()
  elseif path:find("^%.%./shared/") then
    print("SKIPPED: " .. path .. " is not there")
    os.exit(os.getenv "ROOFLUA_REQUIRE_SHARED" == "1" and 1 or 4)
  end
  return rooflua.json.read(path)
end

--- Relative difference of two numbers; 0 if equal, infinite if one is not a number.
function compare.relative(expected, found)
  if expected == found then return 0 end
  if type(expected) ~= "number" or type(found) ~= "number" then return math.huge end
  return math.abs(expected - found) / math.max(math.abs(expected), math.abs(found))
end

--- Counts one comparison; an empty list of `differences` means agreement.
function compare.count(self, what, differences)
  self.compared = self.compared + 1
  if #differences == 0 then return end
  self.mismatched = self.mismatched + 1
  if self.mismatched <= self.shown then
    print(what)
    for i = 1, math.min(#differences, 6) do print("    " .. differences[i]) end
  end
end

--- Adds to `differences` if two values differ by more than `tolerance` (relative).
function compare.value(self, differences, name, expected, found, tolerance)
  if expected == rooflua.json.null then expected = nil end
  if type(expected) == "number" and type(found) == "number" then
    local relative = compare.relative(expected, found)
    self.max_rel = math.max(self.max_rel, relative)
    if relative <= tolerance then return end
  elseif expected == found then
    return
  end
  local function text(value) return type(value) == "number" and ("%.17g"):format(value) or tostring(value) end
  differences[#differences + 1] = ("%s: expected %s, found %s"):format(name, text(expected), text(found))
end

--- The Python exception that corresponds to one of rooflua's messages.
local meanings = {
  AssertionError = { "no such table", "there is no such", "not exist" },
  ValueError = { "no row with kv_dtype", "no rows" },
  ZeroDivisionError = { "division by zero", "// tp is 0", " is 0", "MFU of 0" },
}

--- @param exception string "ValueError: min() arg is an empty sequence" or its type alone
function compare.fits(exception, message)
  local kind = exception:match "^%w+"
  for _, part in ipairs(meanings[kind] or {}) do
    if message:find(part, 1, true) then return true end
  end
  return false
end

--- Prints the last line and ends with 1 if anything differed.
function compare.finish(self)
  print(("compared=%d mismatched=%d max_rel=%.3g"):format(self.compared, self.mismatched, self.max_rel))
  os.exit(self.mismatched == 0 and self.compared > 0 and 0 or 1)
end

return compare
