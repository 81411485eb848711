-- Law of launch commands: command -> deployment -> command -> deployment is a fixed point, for every engine and its
-- releases, over random options.
local test = dofile "tests/scripts/harness.lua"
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local json = require "rooflua.json"
local quoting = require "rooflua.text.quoting"
local release = require "rooflua.engines.release"
local writing = require "rooflua.engines.launch.writing"

local deployments = 2000

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

local function read(engine, version, line, file)
  return command.read(line, { engine = engine.name .. " " .. version, files = { ["options.yaml"] = file } })
end

--- Writes a deployment, reads that and writes it again.
local function there_and_back(engine, one, number)
  local version = one.release
  local line, file = command.write(one)
  local ok, two = pcall(read, engine, version, line, file)
  test.check(ok, "%s %d: %s\n%s\n%s", version, number, tostring(two), line, file or "")
  test.equal(two.model, one.model)
  test.equal(two.release, version)
  test.equal(json.encode(two.options), json.encode(one.options), line .. "\n" .. (file or ""))
  local again, file_again = command.write(two)
  test.equal(again, line)
  test.equal(file_again, file)
  test.equal(#two.told, 0, line)
end

--- A deployment with one option, in a release that has it; nil where none takes a value that was drawn.
local function drawn_with(engine, option, releases)
  for version in pairs(releases) do
    if release.holds(option, version) then
      for _ = 1, 20 do
        local value = makers[option.type](option)
        if pcall(choice.check, option.name, option, value) then
          return { engine = engine, release = version, model = names[1], options = { [option.name] = value } }
        end
      end
    end
  end
end

for _, name in ipairs { "vllm", "sglang", "trtllm" } do
  local engine = catalogue.of(name)
  test("what is written of " .. name .. " reads as the same deployment, and is written as the same command", function()
    if name == "trtllm" then test.needs_yaml() end
    local seen, releases = {}, {}
    for i = 1, deployments do
      local version = engine.releases[i % #engine.releases + 1].name
      releases[version] = true
      local one = drawn(engine, version, i % 10 == 0 and 0.5 or 0.03)
      there_and_back(engine, one, i)
      for option in pairs(one.options) do seen[option] = true end
    end
    for i, option in ipairs(engine.options) do
      local is_held = false
      for version in pairs(releases) do is_held = is_held or release.holds(option, version) end
      if is_held and not seen[option.name] and not option.file then -- one that few releases have
        local one = drawn_with(engine, option, releases)
        test.check(one, "%s has no value that is taken", option.name)
        there_and_back(engine, one, i)
      end
    end
  end)
end

test("the order of flags does not matter", function()
  test.needs_yaml()
  for _, name in ipairs { "vllm", "sglang", "trtllm" } do
    local engine = catalogue.of(name)
    local version = catalogue.newest(engine)
    for _ = 1, 200 do
      local one = drawn(engine, version, 0.05)
      local line, file = command.write(one)
      local groups = {}
      for _, word in ipairs(writing.words(engine, version, one.options, "options.yaml")) do
        if word:sub(1, 2) == "--" then groups[#groups + 1] = "" end
        groups[#groups] = groups[#groups] .. " " .. quoting.shell(word)
      end
      local turned = {}
      for k = #groups, 1, -1 do turned[#turned + 1] = groups[k] end
      local behind = table.concat(groups)
      test.equal(line:sub(#line - #behind + 1), behind)
      local other = read(engine, version, line:sub(1, #line - #behind) .. table.concat(turned), file)
      test.equal(json.encode(other.options), json.encode(one.options), line)
    end
  end
end)

test.finish()
