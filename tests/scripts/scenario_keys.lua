-- The keys of a scenario are declared once: the table of docs/LUA_API.md and the types of scripts/meta/serve.lua are
-- what the declaration gives. Usage: rooflua lua tests/scripts/scenario_keys.lua [write]
local manual = require "rooflua.scenario.manual"
local native = require "rooflua.native"

local generated = {
  { path = "docs/LUA_API.md", first = "<!-- scenario keys: from scripts/lib/rooflua/scenario/keys.lua -->\n",
    last = "<!-- end of scenario keys -->\n", text = manual.rows() },
  { path = "scripts/meta/serve.lua", first = "-- Scenario keys: from scripts/lib/rooflua/scenario/keys.lua.\n",
    last = "-- End of scenario keys.\n", text = manual.classes() },
}

local write = arg[1] == "write"
local differ = {}
for _, each in ipairs(generated) do
  local path = native.home .. "/" .. each.path
  local text = assert(native.read_file(path), path)
  local _, from = text:find(each.first, 1, true)
  local to = text:find(each.last, 1, true)
  assert(from and to, each.path .. ": the lines around the scenario's keys are missing")
  if text:sub(from + 1, to - 1) ~= each.text then
    differ[#differ + 1] = each.path
    if write then
      local file = assert(io.open(path, "w"))
      file:write(text:sub(1, from), each.text, text:sub(to))
      file:close()
    end
  end
end

if #differ > 0 and not write then
  error(table.concat(differ, ", ") .. ": other keys; run\nrooflua lua tests/scripts/scenario_keys.lua write", 0)
end
print(("%d files, %d written"):format(#generated, write and #differ or 0))
