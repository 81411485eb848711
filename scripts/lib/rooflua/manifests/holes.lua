-- Values that a manifest does not give: secrets, templates, variables that nothing sets. A text has a mark in their
-- place, so that what they would say is named and never guessed.
local core = require "rooflua.base.core"
local secrets = require "rooflua.text.secrets"
local spelling = require "rooflua.engines.launch.spelling"

local holes = {}

-- The marks are characters that no text of a shell or of YAML has unescaped.

--- The mark of a value that is not given, by what it is called: "$MODEL".
function holes.of(name) return "\30" .. name:gsub("[\30\31]", "?"):sub(1, 120) .. "\31" end

--- Whether a text has such a value, and the text for people.
function holes.has(text) return text:find("\30", 1, true) ~= nil end
function holes.shown(text) return (text:gsub("[\30\31]", "")) end

--- A text with values in place of its marks, where a function of their names knows one.
function holes.filled(text, value_of) return (text:gsub("\30([^\30\31]*)\31", value_of)) end

--- A script with variables in place of its marks, which are set in a table.
function holes.script(text, variables)
  return holes.filled(text, function(name)
    local own = "_not_given_" .. #name .. "_" .. name:gsub("[^%w]", "_")
    variables[own] = holes.of(name)
    return "${" .. own .. "}"
  end)
end

--- A text with marks in place of templates {{ ... }}.
function holes.templates(text) return (text:gsub("{{[^{}]*}}", holes.of)) end

local function is_flag(word) return word:find "^%-%-?%a" ~= nil end

--- What kind of values a flag takes: "list", "none", or "one".
local function takes(engine, flag)
  if not flag or flag:find("=", 1, true) then return "none" end
  local ok, entry = pcall(spelling.find, engine, flag)
  local kind = ok and entry.option and entry.option.type
  return kind == "switch" and "none" or kind == "list" and "list" or "one"
end

--- Whether a flag takes a number: no secret, also where it is shortened to "--max-num-batched-token".
local function is_number(engine, name)
  local ok, entry = pcall(spelling.find, engine, "--" .. name)
  local kind = ok and entry.option and entry.option.type
  return kind == "integer" or kind == "number"
end

--- The words without those that are not given, each with its flag, and a sentence about each. Secrets are masked.
---@param behind integer the place behind the engine's command
function holes.without(engine, words, behind)
  local left_out, told, out, flag, kind = {}, {}, {}, nil, nil
  for at = behind, #words do
    if is_flag(words[at]) then flag, kind = at, nil end
    if holes.has(words[at]) and not left_out[at] then
      kind = kind or takes(engine, words[flag])
      local is_value = flag ~= at and (kind == "list" or kind == "one" and flag == at - 1)
      local last = at
      while is_value and kind == "list" and words[last + 1] and not is_flag(words[last + 1]) do last = last + 1 end
      for i = is_value and flag or at, last do left_out[i] = true end
      told[#told + 1] = "not given, and left out: "
        .. secrets.masked(holes.shown(core.join(words, " ", is_value and flag or at, last)), 400)
    end
  end
  for at, word in ipairs(words) do
    local name, before = word:match "^%-%-([%w_%-]+)=", at > behind and words[at - 1]:match "^%-%-([%w_%-]+)$"
    local own = name or before
    if own and secrets.is_named(own) and is_number(engine, own) then name, before = nil, nil end
    if name and secrets.is_named(name) then word = "--" .. name .. "=" .. secrets.mask end
    if before and secrets.is_named(before) and not is_flag(word) then word = secrets.mask end
    if not left_out[at] then out[#out + 1] = word end
  end
  return out, told
end

return holes
