-- Commands that people published with their measurements: every flag of each is accounted for.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.applied.command"
local native = require "rooflua.native"
local release = require "rooflua.engines.release"
local shell_words = require "rooflua.text.shell_words"
local spelling = require "rooflua.engines.launch.spelling"

local file = "truth/cookbook/develop.csv"

--- What an option does in an answer: one of the four classes.
local function class_of(option)
  if option.key or option.read_by then return "modelled" end
  if option.drafts then return "drafts" end
  if option.no_effect then return "no effect" end
  return (option.note or option.says) and "noted" or nil
end

test("every flag of every published command is modelled, noted, or without effect", function()
  local path = test.shared(file)
  local rows, seen, commands, models = native.csv_read(path, true), {}, 0, 0
  for _, row in ipairs(rows) do
    local version = tostring(row.engine_version or "")
    local about = version:find "^%S+$" and release.parse(version) and { engine = row.engine .. " " .. version } or nil
    local found = command.read(row.server_command, about)
    commands = commands + 1
    test.equal(found.engine.name, row.engine, row.server_command)
    local words, flags = shell_words.command(row.server_command).words, 0
    for _, word in ipairs(words) do
      local flag = word:match "^%-%-?%a[^=]*"
      if flag and flag ~= "-m" then
        local entry = spelling.find(found.engine, flag)
        flags = flags + 1
        if not entry.is_model then
          test.check(found.options[entry.option.name] ~= nil, "%s is not read: %s", flag, row.server_command)
          local class = class_of(entry.option)
          test.check(class, "%s has no class", flag)
          seen[class] = true
        end
      end
    end
    test.check(flags > 0, row.server_command)
    if found.model then test.check(row.server_command:find(found.model, 1, true), row.server_command) end
    models = models + (found.model and 1 or 0)
    local keys, told = command.keys(found)
    test.equal(keys.speculation ~= nil, row.server_command:find("--speculative-algorithm", 1, true) ~= nil)
    for _, sentence in ipairs(told) do test.check(not sentence:find "not known", sentence) end
  end
  test.check(commands >= 66 and models >= 63, "%d commands, %d models", commands, models)
  for _, class in ipairs { "modelled", "drafts", "no effect", "noted" } do test.check(seen[class], class) end
end)

test.finish()
