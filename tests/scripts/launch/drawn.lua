-- Deployments at random: options of an engine's release with values that its table takes, some of them hostile texts.
local choice = require "rooflua.engines.choice"
local json = require "rooflua.json"
local release = require "rooflua.engines.release"

--- Whole numbers of a fixed sequence, so that a failure comes again.
local state = 12345
local function random(most)
  state = (state * 16807) % 2147483647
  return state % most
end

local hostile = { "a", "x y", "it's", 'say "hi"', "$HOME", "`id`", "a;b|c&d", "back\\slash", "{a,b}", "[1]", "#c", "*",
  "~", "true", "null", "1.5", "-3", "--flag", "=", "a=b", "ü", "line\nbreak", "tab\there", "auto", "", "no",
  "0x10", "1e3" }

local function text() return hostile[random(#hostile) + 1] end

local function document(depth)
  local kind = random(depth > 2 and 4 or 6)
  if kind == 0 then return random(1000) end
  if kind == 1 then return random(1000) / 64 end
  if kind == 2 then return random(2) == 0 end
  if kind == 3 then return text() end
  local out = {}
  for i = 1, random(3) + 1 do out[kind == 4 and i or "key" .. text() .. i] = document(depth + 1) end
  return out
end

local makers = {
  integer = function(option)
    return math.max(option.min or 0, random(2) == 0 and random(64) or random(2000000000))
  end,
  number = function(option)
    local low, high = option.min or 0, option.max or 100
    return low + (high - low) * random(100000) / 100000
  end,
  switch = function(option)
    if option.flag and not option.negates then return true end -- such a flag says true only
    return random(2) == 0
  end,
  text = function(option)
    if option.values then return option.values[random(#option.values) + 1] end
    return text()
  end,
  list = function(option)
    local out = {}
    for i = 1, random(4) + 1 do out[i] = option.items == "integer" and random(512) + 1 or "w" .. i .. text() end
    return out
  end,
  json = function() return json.encode { first = document(0) } end,
}

local names = { "Qwen/Qwen3-32B", "/models/my model", "it's", "a$b", "org/name-v1.0" }

--- A deployment with about `share` of the options of a release.
local function drawn(engine, version, share)
  local out = { engine = engine, release = version, model = names[random(#names) + 1], options = {} }
  for _, option in ipairs(engine.options) do
    if not option.file and release.holds(option, version) and random(1000) < 1000 * share then
      local value = makers[option.type](option)
      if pcall(choice.check, option.name, option, value) then out.options[option.name] = value end
    end
  end
  return out
end

return { random = random, makers = makers, names = names, drawn = drawn }
