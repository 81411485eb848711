-- Values as Python prints them in a log: {'a': 1}, ServerArgs(a=1, b=None), a=torch.bfloat16, b=<Mode.FULL: 2>. A
-- bounded reader: what is longer, deeper or has more items than the limits is an error, and so is what is cut off.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local python = {}

local most_bytes, most_depth, most_items = 262144, 24, 20000

local words = { True = true, False = false, None = json.null, ["true"] = true, ["false"] = false, null = json.null }
local escapes = { n = "\n", t = "\t", r = "\r", ["0"] = "\0" }
local closing = { ["{"] = "}", ["["] = "]", ["("] = ")" }

local value_at -- below

local function skipped(text, at) return text:find("[^%s]", at) or #text + 1 end

local function counted(state, depth)
  state.items = state.items + 1
  if state.items > most_items then core.fail("more than %d items", most_items) end
  if depth > most_depth then core.fail("more than %d levels", most_depth) end
end

--- A text in quotes, from its first quote on.
local function quoted(text, at)
  local quote, out, from = text:sub(at, at), {}, at + 1
  while true do
    local stop = text:find("[" .. quote .. "\\]", from)
    if not stop then core.fail "a text has no end" end
    out[#out + 1] = text:sub(from, stop - 1)
    if text:sub(stop, stop) == quote then return core.join(out, ""), stop + 1 end
    local letter = text:sub(stop + 1, stop + 1)
    local code = letter == "x" and text:match("^%x%x", stop + 2)
    out[#out + 1] = code and string.char(tonumber(code, 16)) or escapes[letter] or letter
    from = stop + 2 + (code and 2 or 0)
  end
end

--- What stands in <...>: <Mode.FULL: 'full'> is 'full', <Mode.FULL: 2> and <object at 0x7f> are texts.
local function angled(text, at)
  local inside, behind = text:match("^<([^<>]*)>()", at)
  if not inside then core.fail "a value in <> has no end" end
  return inside:match "^[%w_.]+: '([^']*)'$" or inside:match "^([%w_.]+): " or inside, behind
end

--- The items up to a bracket: keys and values of {}, values of [] and (), names and values of a call.
local function items(text, at, open, state, depth)
  local list, map, stop = {}, {}, closing[open]
  at = skipped(text, at)
  while text:sub(at, at) ~= stop do
    if at > #text then core.fail "it is cut off" end
    counted(state, depth)
    local name, behind = text:match("^([%a_][%w_]*)%s*=%s*()", at)
    local key
    if open == "(" and name then
      key, at = name, behind
    end
    local value
    value, at = value_at(text, at, state, depth + 1)
    at = skipped(text, at)
    if open == "{" and text:sub(at, at) == ":" then
      if type(value) == "table" then core.fail "a key is no text" end
      key = tostring(value)
      value, at = value_at(text, at + 1, state, depth + 1)
      at = skipped(text, at)
    end
    if key then map[key] = value else list[#list + 1] = value end
    if text:sub(at, at) == "," then
      at = skipped(text, at + 1)
    elseif text:sub(at, at) ~= stop and not (open == "(" and key) then
      core.fail(at > #text and "it is cut off" or "a value has no comma behind it")
    end
  end
  if next(map) or open == "{" and #list == 0 then return map, at + 1, list end
  return json.array(list), at + 1, list
end

--- A word without quotes: a number, True, torch.bfloat16, meta-llama/Llama-3.1-8B, or a call Name(...).
local function bare(text, at, state, depth)
  local word, behind = text:match("^([%w_.+/:@%-~]+)()", at)
  if not word then core.fail "a value is missing" end
  word = word:gsub(":$", function()
    behind = behind - 1
    return ""
  end)
  if text:sub(behind, behind) == "(" then
    local value, stop, list = items(text, behind + 1, "(", state, depth + 1)
    if next(value) == nil then return word, stop end
    if #list == 1 and value[1] ~= nil then return list[1], stop end
    return value, stop
  end
  if (word == "b" or word == "r" or word == "u") and text:find("^['\"]", behind) then return quoted(text, behind) end
  if words[word] ~= nil then return words[word], behind end
  local number = word:find "^[+-]?[%d.]" and not word:find "^0[xX]" and tonumber(word) or nil
  if number and math.abs(number) < math.huge then return number, behind end
  return word, behind
end

function value_at(text, at, state, depth)
  counted(state, depth)
  at = skipped(text, at)
  local first = text:sub(at, at)
  if closing[first] then return items(text, at + 1, first, state, depth + 1) end
  if first == "'" or first == '"' then return quoted(text, at) end
  if first == "<" then return angled(text, at) end
  return bare(text, at, state, depth)
end

local function check_size(text)
  if #text > most_bytes then core.fail("longer than %d bytes", most_bytes) end
end

--- A value and what stands behind it. @throws a sentence
function python.value(text)
  check_size(text)
  local value, at = value_at(text, 1, { items = 0 }, 0)
  return value, text:sub(at)
end

--- The names and values of "a=1, b='x'" or "a=1 b='x'" in their order, and why the rest is not read: nil where all is.
--- A list ends at ")" or at the end of the text.
---@return table[] list {name, value}
---@return string? problem
function python.fields(text)
  local out, state = {}, { items = 0 }
  local ok, problem = pcall(function()
    check_size(text)
    local at, ended = skipped(text, 1), false
    while at <= #text and not ended do
      local name, behind = text:match("^([%a_][%w_.]*)=()", at)
      if not name then core.fail("no NAME=VALUE after %s", out[1] and out[#out][1] or "its beginning") end
      local value
      value, at = value_at(text, behind, state, 0)
      out[#out + 1] = { name, value }
      at = skipped(text, at)
      ended = text:sub(at, at) == ")"
      if text:sub(at, at) == "," then at = skipped(text, at + 1) end
    end
  end)
  return out, not ok and (tostring(problem):gsub("^[^%s:]+:%d+: ", "")) or nil
end

return python
