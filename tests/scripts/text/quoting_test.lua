-- A text of the user in a comment, a scalar of YAML, a line: one line, whatever it holds.
local test = dofile "tests/scripts/harness.lua"
local quoting = require "rooflua.text.quoting"
local native = require "rooflua.native"

--- Line breaks of YAML 1.1, and what its readers refuse: \r, \n, NEL, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
local breaks = { "\n", "\r", "\194\133", "\226\128\168", "\226\128\169", "\239\187\191", "\239\191\190",
  "\239\191\191", "\127", "\0", "\27", "\11", "\12" }
local others = { "a", ": ", "#", "'", '"', "\\", "\195\164", "\240\159\152\128", "\255", "\226\128", "x: 1" }

local function is_one_line(text)
  for _, each in ipairs(breaks) do
    if text:find(each, 1, true) then return false end
  end
  return native.printable(text) == text -- and UTF-8
end

local function random_text()
  local parts = {}
  for i = 1, math.random(1, 8) do
    local list = math.random(2) == 1 and breaks or others
    parts[i] = list[math.random(#list)]
  end
  return table.concat(parts)
end

test("a comment, a scalar of YAML and a text of TOML are one line of UTF-8", function()
  math.randomseed(7)
  for _ = 1, 20000 do
    local text = random_text()
    for _, form in ipairs { "comment", "yaml", "toml", "line" } do
      local ok, out = pcall(quoting[form], text)
      test.check(ok and is_one_line(out), "%s of %q is %q", form, text, tostring(out))
    end
  end
end)

test("a line separator of YAML 1.1 stands in a comment as an escape", function()
  test.equal(quoting.comment "a\226\128\168b\226\128\169c", "# a\\u2028b\\u2029c")
end)

test.finish()
