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

local deployment = dofile "tests/scripts/launch/drawn.lua"
local makers, names, drawn = deployment.makers, deployment.names, deployment.drawn

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
