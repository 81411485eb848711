--- What stands before the cursor, as a value, without running anything that could change something: names, fields,
--- indices, and calls of the library that only read.
local mfu = require "rooflua.mfu"
local serve = require "rooflua.serving.live"
local spec = require "rooflua.spec"

local reading = {}

local of_live = { last_step = true, replica = true, request = true, result = true, waiting = true }
local openers = { [spec.model] = true, [spec.hardware] = true, [mfu.open] = true }

--- "a.b:c(1)[2]" as its last part and what is before it: {kind, name, argument}.
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

--- A number or a text in quotes; false for anything else that could be written there.
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

--- Whether something stands there whose fields could be asked for.
function reading.ends_in_value(text) return parts_of(text) ~= nil end

--- nil where something is missing on the way, or would have to be called.
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
