-- Values that a manifest does not give: secrets, templates, variables that nothing sets. A text has a mark in their
-- place, so that what they would say is named and never guessed.
local core = require "rooflua.base.core"
local secrets = require "rooflua.startup.secrets"
local spelling = require "rooflua.engines.launch.spelling"

local holes = {}

local open, close = "\30", "\31" -- no text of a shell or of YAML has these characters unescaped
local mark = open .. "([^" .. open .. close .. "]*)" .. close

--- The mark of a value that is not given.
---@param name string what it is called: "$MODEL", "a secret"
function holes.of(name) return open .. name:gsub("[" .. open .. close .. "]", "?"):sub(1, 120) .. close end

--- Whether a text has such a value.
function holes.has(text) return text:find(mark) ~= nil end

--- The text for people.
function holes.shown(text) return (text:gsub(mark, "%1"):gsub("[" .. open .. close .. "]", "?")) end

--- A text with marks in place of templates {{ ... }}.
function holes.templates(text) return (text:gsub("{{.-}}", holes.of)) end

local function is_flag(word) return word:find "^%-%-?%a" ~= nil end

--- The place of the flag whose value a word is; nil where it stands alone.
local function flag_before(engine, words, at)
  local first = at - 1
  while first >= 1 and not is_flag(words[first]) do first = first - 1 end
  local flag = words[first]
  if not flag or flag:find("=", 1, true) then return nil end
  local ok, entry = pcall(spelling.find, engine, flag)
  if ok and entry.option and entry.option.type == "switch" then return nil end
  local is_list = ok and entry.option and entry.option.type == "list"
  return (is_list or first == at - 1) and first or nil
end

--- The words without those that are not given, each with its flag; a sentence about each. Values of secrets are masked.
---@param behind integer the place behind the engine's command
function holes.without(engine, words, behind)
  local left_out, told, out = {}, {}, {}
  for at = behind, #words do
    local word = words[at]
    if holes.has(word) then
      local first = not is_flag(word) and flag_before(engine, words, at) or at
      for i = first, at do left_out[i] = true end
      told[#told + 1] = ("not given, and left out: %s"):format(holes.shown(core.join(words, " ", first, at)))
    end
  end
  for at, word in ipairs(words) do
    local name = word:match "^%-%-([%w_%-]+)="
    local before = at > behind and words[at - 1]:match "^%-%-([%w_%-]+)$"
    if name and secrets.is_named(name) then word = "--" .. name .. "=" .. secrets.mask end
    if before and secrets.is_named(before) and not is_flag(word) then word = secrets.mask end
    if not left_out[at] then out[#out + 1] = word end
  end
  return out, told
end

return holes
