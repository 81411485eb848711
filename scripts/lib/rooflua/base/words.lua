-- The vocabularies of the engine: evidence, bound, phase, outcome, refusal. The engine declares each word once
-- (name, order, help); nothing in Lua lists them again.
local native = require "rooflua.native"

local declared = native.vocabulary()

local words = {}

--- The declarations, in order: {{name, help, ...}, ...}. A word of evidence also has `unsupported`.
---@param kind string evidence, bound, phase, outcome or refusal
function words.declared(kind) return assert(declared[kind], kind) end

--- The names by code: {[0] = "measured", ...}.
function words.by_code(kind)
  local out = {}
  for i, word in ipairs(words.declared(kind)) do out[i - 1] = word.name end
  return out
end

--- The names in order: {"measured", ...}.
function words.names(kind)
  local out = {}
  for i, word in ipairs(words.declared(kind)) do out[i] = word.name end
  return out
end

--- The codes by name: {measured = 0, ...}.
function words.codes(kind)
  local out = {}
  for i, word in ipairs(words.declared(kind)) do out[word.name] = i - 1 end
  return out
end

return words
