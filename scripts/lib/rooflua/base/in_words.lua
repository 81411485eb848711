-- Numbers that a user wrote with a unit, where a plain number is expected: "500ms" for 0.5.
local in_words = {}

--- Multiples of a unit, by the unit that is expected.
local prefixes = {
  s = { ns = 1e-9, us = 1e-6, ms = 1e-3, s = 1, sec = 1, min = 60, h = 3600 },
  tokens = { k = 1000, tokens = 1, token = 1 },
}

--- "; 500ms is 0.5" for a text that is a number with a unit of the same kind; "" for anything else.
---@param value any what was found
---@param unit string? of the number that is expected: "s", "tokens"
function in_words.hint(value, unit)
  local known = prefixes[unit]
  if not known or type(value) ~= "string" then return "" end
  local number, word = value:match "^%s*([%d%.]+)%s*(%a+)%s*$"
  if not tonumber(number) or not known[word] then return "" end
  return ("; %s is %.10g"):format(value, tonumber(number) * known[word])
end

return in_words
