--- Finds the value of the expression before the cursor without side effects: only names, fields, indices, and calls
--- of library functions that read are evaluated.
local mfu = require "rooflua.mfu"
local serve = require "rooflua.serving.live"
local spec = require "rooflua.spec"

local reading = {}

local of_live = { last_step = true, replica = true, request = true, result = true, waiting = true }
local openers = { [spec.model] = true, [spec.hardware] = true, [mfu.open] = true }

--- Splits "a.b:c(1)[2]" into the text before its last part, and that part: {kind, name, argument}.
local function last_part(text)
  local before, index = text:match "^(.*)%[(%d+)%]$"
  if before then return before, { kind = "index", name = tonumber(index) } end
  local argument, mark, name
  before, mark, name, argument = text:match "^(.*)([.:])([%a_][%w_]*)%s*(%b())$"
  if not before then before, mark, name, argument = text:match "^(.*)([.:])([%a_][%w_]*)%s*([\"'][^\"']*[\"'])$" end
  if before then return before, { kind = mark == ":" and "method" or "call", name = name, argument = argument } end
  before, name = text:match "^(.*)%.([%a_][%w_]*)$"
  if before then return before, { kind = "index", name = name } end
  name = text:match "%f[%w_]([%a_][%w_]*)$"
  return nil, name and { kind = "name", name = name }
end

--- The value of an argument: nil, a number or a text in quotes; false for anything else.
local function literal(argument)
  local inside = argument:match "^%((.*)%)$" or argument
  if inside:find "^%s*$" then return nil end
  local quoted = inside:match "^%s*[\"']([^\"']*)[\"']%s*$"
  return quoted or tonumber(inside) or false
end

local function parts_of(text)
  local parts = {}
  while text do
    local before, part = last_part(text)
    if not part then return nil end
    table.insert(parts, 1, part)
    text = before
  end
  return parts
end

local function follow(value, part)
  if part.kind == "index" then return value[part.name] end
  local argument = literal(part.argument)
  if argument == false then return nil end
  if part.kind == "method" then
    if not (serve.is_live(value) and of_live[part.name]) then return nil end
    return value[part.name](value, argument)
  end
  local call = value[part.name]
  return openers[call] and call(argument) or nil
end

--- Whether the text ends in an expression that can have fields.
function reading.ends_in_value(text) return parts_of(text) ~= nil end

--- The value of an expression; nil if a part of it does not exist or needs a call that is not allowed here.
function reading.value(text, environment)
  local parts = parts_of(text)
  if not parts then return nil end
  local ok, value = pcall(function()
    local found = environment[parts[1].name]
    for i = 2, #parts do
      if found == nil then return nil end
      found = follow(found, parts[i])
    end
    return found
  end)
  return ok and value or nil
end

return reading
