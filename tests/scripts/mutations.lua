-- Tests of tests: an operation is taken out of a script's syntax tree, and a test of that script must fail.
--
--   mutations.check { test = test, modules = { NAME = { tests = { path, ... }, unnoticed = 1 }, ... }, most = 8 }
--
-- What is taken out: of a + b, a - b, a * b, a / b, `a and b`, `a or b`, max(a, b, ...) and min(a, b, ...) all but a; a
-- comparison becomes false. The parser is luacheck's (package lua-check). Each of them runs tests, so a tenth is taken
-- out; with ROOFLUA_MUTATIONS=all it is `most`.
local mutations = {}

local arithmetic = { add = true, sub = true, mul = true, div = true, ["and"] = true, ["or"] = true }
local comparison = { lt = true, le = true, gt = true, ge = true, eq = true, ne = true }

--- luacheck's parser, or nil.
local function find_parser()
  package.path = package.path .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;"
    .. "/usr/local/share/lua/5.1/?.lua;/usr/local/share/lua/5.1/?/init.lua"
  local found, parser = pcall(require, "luacheck.parser")
  if not found then return nil end
  local decoder = require "luacheck.decoder"
  return function(source) return (parser.parse(decoder.decode(source), {}, {})) end
end

--- What stands for a node without an operation: a node, or text; nil: nothing is taken out of it.
local function without(node)
  if node.tag == "Op" and arithmetic[node[1]] and node[3] then return node[2] end
  if node.tag == "Op" and comparison[node[1]] then return "false" end
  if node.tag ~= "Call" then return nil end
  local called = node[1]
  local name = called.tag == "Id" and called[1] or called.tag == "Index" and called[2][1]
  if (name == "max" or name == "min") and node[3] then return node[2] end
end

--- i = i + 1 counts: without it a loop has no end.
local function counts(statement)
  local value = statement.tag == "Set" and statement[2][1]
  return value and value.tag == "Op" and value[3] and value[3].tag == "Number" and value[2].tag == "Id"
    and statement[1][1].tag == "Id" and statement[1][1][1] == value[2][1]
end

--- Every mutation of the source: line, what is taken out, and the text without it.
local function all_of(source, parse)
  local out = {}
  local function visit(node)
    if counts(node) then return end
    local left = without(node)
    if left then
      local kept = type(left) == "string" and left or "(" .. source:sub(left.offset, left.end_offset) .. ")"
      out[#out + 1] = { offset = node.offset, line = node.line,
        what = source:sub(node.offset, node.end_offset):gsub("%s+", " "),
        text = source:sub(1, node.offset - 1) .. kept .. source:sub(node.end_offset + 1) }
    end
    for _, child in ipairs(node) do
      if type(child) == "table" then visit(child) end
    end
  end
  visit(parse(source))
  return out
end

local function hash_of(text)
  local hash = 0
  for i = 1, #text do hash = (hash * 31 + text:byte(i)) % 4294967296 end
  return hash
end

--- At most so many of the mutations: which ones depends on what they take out, so that a change elsewhere in the script
--- leaves them what they are.
local function some_of(list, most)
  for _, each in ipairs(list) do each.hash = hash_of(each.what) end
  table.sort(list, function(a, b)
    if a.hash ~= b.hash then return a.hash < b.hash end
    return a.offset < b.offset
  end)
  local out = {}
  for i = 1, math.min(most, #list) do out[i] = list[i] end
  return out
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

--- A home of the program whose scripts are those of the source tree, as links: one of them is then replaced.
local function home_of_links()
  local folder = os.tmpname()
  assert(os.execute(([[rm %s && mkdir %s && for each in *; do case $each in build|scripts) ;;
    *) ln -s "$PWD/$each" %s/ ;; esac; done && cp -as "$PWD/scripts" %s/scripts]])
      :gsub("%%s", folder)) == 0, "the scripts were not linked")
  return folder
end

--- Writes a text in the place of a link.
local function replace(path, text)
  os.remove(path)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

--- One test file, run in a process of its own.
--- @param home string that of the program
--- @param limit_s integer seconds of CPU time: a loop may have lost its end
--- @return boolean fails a test of it failed, or took too long
--- @return number taken_s CPU time, with that of processes that it started
local function outcome_of(path, home, limit_s)
  local pipe = assert(io.popen(("ulimit -t %d; ROOFLUA_HOME=%s timeout 600 %s lua tests/scripts/mutated.lua %s "
    .. ">/dev/null 2>&1; echo status $?; times"):format(limit_s, home, program, path)))
  local said = pipe:read "*a"
  pipe:close()
  local taken_s = 0
  for minutes, seconds in said:match("\n[^\n]*\n(.*)"):gmatch "(%d+)m([%d.]+)s" do
    taken_s = taken_s + 60 * minutes + seconds
  end
  return said:match "status (%d+)" ~= "0", taken_s
end

--- A mutation may take this many times what the script as it is takes, and no less than the seconds: it is far from
--- both whether its test ends or does not.
local most_times_longer, least_limit_s = 4, 3

--- @param given table test: the harness; modules: by name, the tests of which one must fail, and how many operations
---   may go unnoticed (they change no price, or one that no test has); most: operations that are taken out of a module,
---   one at a time, where all are
function mutations.check(given)
  local test, names, parse, limits_s, home = given.test, {}, find_parser(), {}, home_of_links()
  local most = os.getenv "ROOFLUA_MUTATIONS" == "all" and given.most or math.ceil(given.most / 10)
  for name in pairs(given.modules) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local module = given.modules[name]
    local script = "scripts/" .. name:gsub("%.", "/") .. ".lua"
    local source = read(script)
    local function noticed(text)
      replace(home .. "/" .. script, text)
      for _, path in ipairs(module.tests) do
        if outcome_of(path, home, limits_s[path]) then return true end
      end
      return false
    end
    test("the tests of " .. name .. " pass with the script as it is", function()
      for _, path in ipairs(module.tests) do
        if not limits_s[path] then -- once for all modules
          local fails, taken_s = outcome_of(path, home, 600)
          test.check(not fails, "%s fails", path)
          limits_s[path] = math.max(least_limit_s, math.ceil(most_times_longer * taken_s))
        end
      end
    end)
    test("the tests of " .. name .. " notice operations that are taken out", function()
      if not parse then test.skip "luacheck is not installed (apt install lua-check)" end
      local missed = {}
      for _, mutation in ipairs(some_of(all_of(source, parse), most)) do
        if not noticed(mutation.text) then
          missed[#missed + 1] = ("line %d: %s"):format(mutation.line, mutation.what)
        end
      end
      replace(home .. "/" .. script, source)
      test.check(#missed <= (module.unnoticed or 0), "%d go unnoticed:\n  %s", #missed, table.concat(missed, "\n  "))
    end)
  end
  os.execute("rm -r " .. home)
end

return mutations
