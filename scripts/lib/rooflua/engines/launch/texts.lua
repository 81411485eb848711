-- Values of options as words of a command, and back.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"

local texts = {}

local most_whole = 2 ^ 53

local decimal = { k = 1e3, m = 1e6, g = 1e9, t = 1e12 }
local binary = { K = 2 ^ 10, M = 2 ^ 20, G = 2 ^ 30, T = 2 ^ 40 }

--- "32k", "25.6k" and "32K" as vLLM's parser takes them (vllm/utils/argparse_utils.py, human_readable_int).
local function readable_number(text)
  local number, suffix = text:match "^(%d+%.?%d*)([kKmMgGtT])$"
  if not number or number:find "%.$" then return nil end
  if decimal[suffix] then return math.floor(tonumber(number) * decimal[suffix]) end
  return not number:find(".", 1, true) and tonumber(number) * binary[suffix] or nil
end

--- "1k", "25.6k" and "1Mi" as SGLang's parser takes them (sgl-project/sglang pull request 20577).
local function iec_number(text)
  local number, unit, is_binary = text:match "^(%d+%.?%d*)([kKmMgGtT])(i?)$"
  if not number or number:find "%.$" then return nil end
  local power = ({ k = 1, m = 2, g = 3, t = 4 })[unit:lower()]
  return math.floor(tonumber(number) * (is_binary == "i" and 1024 or 1000) ^ power + 0.5)
end

local function whole_number(text, option)
  if text:find "^[+-]?%d+$" then
    local number = tonumber((text:gsub("^%+", "")))
    return math.abs(number) <= most_whole and number or nil
  end
  if option.readable == "iec" then return iec_number(text) end
  return option.readable and readable_number(text) or nil
end

local function plain_number(text)
  if not (text:find "^[+-]?%d+%.?%d*[eE]?[+-]?%d*$" or text:find "^[+-]?%.%d+[eE]?[+-]?%d*$") then return nil end
  local number = tonumber((text:gsub("^%+", "")))
  return number and math.abs(number) < math.huge and number or nil
end

--- {image = 2, video = 1} of "image=2,video=1"; nil for other texts.
local function map_of_pairs(text)
  local out = {}
  for part in text:gmatch "[^,]+" do
    local key, value = part:match "^%s*([%a_]+)=(%d+)%s*$"
    if not key then return nil end
    out[key] = tonumber(value)
  end
  return out
end

local words_of = { integer = "a whole number", number = "a number", switch = "true or false", json = "JSON" }

local switches = { ["true"] = true, ["false"] = false, ["True"] = true, ["False"] = false }

--- Whether a word can be the value of a switch that vLLM's older parsers take.
function texts.is_switch(word) return switches[word] ~= nil end

local readers = {
  text = function(text) return text end,
  integer = whole_number,
  number = plain_number,
  switch = function(text) return switches[text] end,
  json = function(text, option)
    local ok, value = pcall(json.decode, text)
    if ok then return value end
    return option.pairs and map_of_pairs(text) or nil
  end,
}

--- The value of one word; for JSON what was decoded. A word that is none is an error.
--- @param where string the flag in messages
function texts.read(where, kind, word, option)
  local value = readers[kind](word, option)
  if value == nil then core.fail("%s: expected %s, found %s", where, words_of[kind], core.describe(word)) end
  return value
end

--- A value of a document as an option has it: text stands for numbers where the engine reads text, and the reverse.
--- @param where string the key in messages
function texts.of_document(where, option, value)
  local kind = option.type
  if kind == "text" and (type(value) == "number" or type(value) == "boolean") then return texts.word(value) end
  if type(value) == "string" and (kind == "integer" or kind == "number" or kind == "switch") then
    return texts.read(where, kind, value, option)
  end
  if kind == "json" then
    return value ~= nil and (type(value) == "string" and value or json.encode(value)) or nil
  end
  if kind ~= "list" then return value end
  local list = type(value) == "table" and value ~= json.null and core.plain(value) or { value }
  local out = {}
  for i, each in ipairs(list) do
    out[i] = texts.of_document(where, { type = option.items or "text" }, each)
    if type(out[i]) == "table" then core.fail("%s: expected a list of plain values", where) end
  end
  return out
end

--- A plain value as a word. Engines do not take 4e+10 for a whole number.
function texts.word(value)
  if type(value) == "number" then
    local is_whole = value % 1 == 0 and math.abs(value) < 2 ^ 53
    return is_whole and ("%.0f"):format(value) or native.number_text(value)
  end
  return tostring(value)
end

return texts
