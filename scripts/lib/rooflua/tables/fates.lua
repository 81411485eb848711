--- What became of the rows of published files: taken, or left out for a reason.
---
--- A file is read once for every table that is made from it. A row that one table takes is taken. Of several reasons
--- against a row the strongest stays: that of the table that came nearest to taking the row.
local ffi = require "ffi"

local fates = { of_a_rule = 200, is_taken = 201, taken_back = 202 }

local methods = {}
local class = { __index = methods }

--- Fates of the rows of one file. `averaged` counts rows that were averaged with another of the same shape and kernel.
---@param lines integer the last line of the file
function fates.new(lines)
  return setmetatable({ lines = lines, strength = ffi.new("uint8_t[?]", lines + 1), averaged = 0,
    reason = ffi.new("int32_t[?]", lines + 1), reasons = {}, code_of = {} }, class)
end

--- A number for a reason.
function methods:code(reason)
  local code = self.code_of[reason]
  if not code then
    code = #self.reasons + 1
    self.reasons[code], self.code_of[reason] = reason, code
  end
  return code
end

function methods:take(line)
  if self.strength[line] ~= fates.taken_back then self.strength[line] = fates.is_taken end
end

--- @param strength integer how near the table came to taking the row
--- @param code integer of a reason
function methods:leave_out(line, strength, code)
  if self.strength[line] >= strength then return end
  self.strength[line], self.reason[line] = strength, code
end

--- How many rows were taken.
function methods:taken()
  local count, strength = 0, self.strength
  for line = 0, self.lines do
    if strength[line] == fates.is_taken then count = count + 1 end
  end
  return count
end

--- {reason -> rows} of those that were left out.
function methods:left_out()
  local counts = {}
  for line = 0, self.lines do
    local strength = self.strength[line]
    if strength ~= 0 and strength ~= fates.is_taken then
      local reason = self.reasons[self.reason[line]]
      counts[reason] = (counts[reason] or 0) + 1
    end
  end
  return counts
end

return fates
