-- Values as Python prints them: repr() of what options hold, and round().
local core = require "rooflua.base.core"

local python = {}

--- The shortest text that reads as the same number: a float has a point, and an exponent below 1e-4 and from 1e16 on.
local function float(value)
  for digits = 0, 16 do
    local text = ("%." .. digits .. "e"):format(value)
    if tonumber(text) == value then
      local exponent = tonumber(text:match "e(.*)$")
      if value ~= 0 and (exponent < -4 or exponent >= 16) then return text end
      return ("%." .. math.max(1, digits - exponent) .. "f"):format(value)
    end
  end
end

--- repr(float(value)): 0.9, 1.0.
function python.float(value) return float(value) end

--- repr(round(value, 2)): 15.0, 12.3, 0.07.
function python.rounded(value) return float(tonumber(("%.2f"):format(value)) + 0) end

--- The number that a C++ float holds, as Python prints it: 0.8999999761581421.
function python.single(value)
  local _, exponent = math.frexp(value)
  local unit = 2 ^ (exponent - 24)
  return float(math.floor(value / unit + 0.5) * unit)
end

local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\" }

local function text(value)
  local quote = value:find("'", 1, true) and not value:find('"', 1, true) and '"' or "'"
  local out = value:gsub("[%c\\]", function(c) return escapes[c] or ("\\x%02x"):format(c:byte()) end)
  if quote == "'" then out = out:gsub("'", "\\'") end
  return quote .. out .. quote
end

local repr

local function list(values)
  local out = {}
  for i, each in ipairs(values) do out[i] = repr(each) end
  return "[" .. table.concat(out, ", ") .. "]"
end

local function dict(values)
  local out = {}
  for key, each in core.sorted_pairs(values) do out[#out + 1] = ("%s: %s"):format(text(key), repr(each)) end
  return "{" .. table.concat(out, ", ") .. "}"
end

--- A value without quotes around it, as a number of a class: `python.word "torch.bfloat16"`.
local Word = {}
function python.word(name) return setmetatable({ name = name }, Word) end

--- A class of a word in a configuration: "KvCacheConfig" of "kv_cache_config".
function python.class(word)
  return (word:gsub("_?(%a)(%w*)", function(first, rest) return first:upper() .. rest end))
end

--- A number that Python holds as a float.
function python.as_float(value) return python.word(float(value)) end

repr = function(value)
  local kind = type(value)
  if value == nil then return "None" end
  if kind == "boolean" then return value and "True" or "False" end
  if kind == "string" then return text(value) end
  if kind == "number" then return value == math.floor(value) and ("%.0f"):format(value) or float(value) end
  if getmetatable(value) == Word then return value.name end
  value = core.plain(value)
  return (value[1] ~= nil or next(value) == nil) and list(value) or dict(value)
end

--- @param value any None, a bool, a number, a text, a list, or a table as dict, whose keys are sorted
python.repr = repr

--- A dict in the order of its pairs: {{name, value}, ...}.
function python.dict(pairs_of)
  local out = {}
  for i, each in ipairs(pairs_of) do out[i] = ("%s: %s"):format(text(each[1]), repr(each[2])) end
  return "{" .. table.concat(out, ", ") .. "}"
end

--- Arguments of a constructor in their order: "a=1, b='x'".
function python.arguments(pairs_of, between)
  local out = {}
  for i, each in ipairs(pairs_of) do out[i] = each[1] .. "=" .. repr(each[2]) end
  return table.concat(out, between or ", ")
end

return python
