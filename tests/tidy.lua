-- The house rules that a machine can check. Run from the source tree: rooflua lua tests/tidy.lua

local failures, checks = {}, 0

local function check(ok, message)
  checks = checks + 1
  if not ok then failures[#failures + 1] = message end
end

local function lines_of(path)
  local out = {}
  for line in io.lines(path) do out[#out + 1] = line end
  return out
end

local files = dofile "tests/source_files.lua"

-- Floors: includes go downwards only, and each package is included in one place.
local floor_level = { base = 1, spec = 2, cost = 3, serve = 4, measure = 5, script = 6, app = 7 }
local package_home = {
  { "lua.h", "engine/script/" }, { "lua.hpp", "engine/script/" }, { "luajit.h", "engine/script/" },
  { "lauxlib.h", "engine/script/" }, { "lualib.h", "engine/script/" },
  { "toml++/", "engine/base/toml" }, { "nlohmann/", "engine/base/json" },
  { "spdlog/", "engine/base/log" }, { "CLI/", "engine/app/" }, { "histedit.h", "engine/app/" },
  { "nlopt.h", "engine/script/bind_fit" }, { "sqlite3.h", "engine/measure/result_store" },
  { "catch2/", "tests/catch" },
}
local function check_include(path, number, floor, target)
  local where = path .. ":" .. number
  local below = target:match("^(%w+)/")
  if floor and below and floor_level[below] then
    check(floor_level[below] <= floor_level[floor],
      where .. ": " .. floor .. " includes " .. target .. ", which is a floor above")
  end
  for _, home in ipairs(package_home) do
    if target:sub(1, #home[1]) == home[1] then
      check(path:sub(1, #home[2]) == home[2], where .. ": " .. target .. " belongs to " .. home[2])
    end
  end
end

-- Length: a file fits in the head, a line has 100 columns.
local longest = { cpp = 450, h = 450, lua = 450, py = 450 }
local function columns(line)
  local _, continuation = line:gsub("[\128-\191]", "")
  return #line - continuation
end

for _, path in ipairs(files("engine scripts tests scenarios")) do
  local extension = path:match("%.(%w+)$")
  if longest[extension] and not path:find("^tests/golden/") then
    local text = lines_of(path)
    check(#text <= longest[extension], path .. ": " .. #text .. " lines; a file has at most " .. longest[extension])
    local floor = path:match("^engine/(%w+)/")
    for number, line in ipairs(text) do
      check(columns(line) <= 120, path .. ":" .. number .. ": " .. columns(line) .. " columns")
      local target = line:match('^#include [<"]([^>"]+)[>"]')
      if target then check_include(path, number, floor, target) end
      if path:find("^scripts/.*%.lua$") and not path:find("^scripts/meta/") then
        check(not line:gsub("%-%-.*", ""):find("%^ *2[^%d.]"),
          path .. ":" .. number .. ": x^2 differs between interpreter and compiler; write x * x")
      end
    end
  end
end

-- One name, one type: two types of a name in one namespace share their constructors, and which of them a program
-- gets is chance.
local type_home = {}
for _, path in ipairs(files("engine")) do
  if path:find("%.h$") then
    local namespace = ""
    for number, line in ipairs(lines_of(path)) do
      namespace = line:match("^namespace ([%w_:]+) {") or namespace
      if line:find("^}  // namespace detail") then namespace = "rooflua" end
      local name = line:match("^struct (%w+)[ %w:]*{") or line:match("^class (%w+)[ %w:]*{")
      if name then
        local whole = namespace .. "::" .. name
        check(not type_home[whole] or type_home[whole] == path,
          ("%s:%d: %s is a type of %s, too"):format(path, number, whole, type_home[whole]))
        type_home[whole] = path
      end
    end
  end
end

-- The top level holds six folders and a few files.
local top = {}
for _, path in ipairs(files(".")) do top[path:match("^[^/]+")] = true end
local allowed = {}
for name in ("engine scripts scenarios bench_data tests docs CMakeLists.txt CMakePresets.json README.md LICENSE")
  :gmatch("%S+") do allowed[name] = true end
for name in pairs(top) do
  check(allowed[name] or name:sub(1, 1) == ".", "the top level holds " .. name)
end

-- Documents: every link and every path in backticks leads somewhere; a heading has an empty line before it.
local function exists(path)
  local handle = io.open(path)
  if handle then handle:close() end
  return handle ~= nil
end
local is_root = {}
for name in ("engine scripts scenarios bench_data tests docs"):gmatch("%S+") do is_root[name] = true end
for _, path in ipairs(files(".", "-name '*.md'")) do
  local folder, before, code = path:match("^(.*/)") or "", "", false
  for number, line in ipairs(lines_of(path)) do
    if line:find "^```" then code = not code end
    check(code or before == "" or not line:find "^##+ ", path .. ":" .. number .. ": a heading behind other text")
    before = line
    for target in line:gmatch("%]%(([^)#]+)[^)]*%)") do
      if not target:find("^%a+:") then
        check(exists(folder .. target), path .. ":" .. number .. ": dead link " .. target)
      end
    end
    for target in line:gmatch("`([%w_]+/[%w_./-]+)`") do
      if is_root[target:match("^[%w_]+")] then
        check(exists(target), path .. ":" .. number .. ": there is no " .. target)
      end
    end
  end
end

-- Requires: no module of scripts/ requires itself through others, neither while it is loaded nor in a function.
local function circle_of(graph)
  local state, trail = {}, {} -- state: "open" while the modules below are visited, then "done"
  local function visit(name)
    if state[name] == "done" then return nil end
    trail[#trail + 1] = name
    if state[name] == "open" then
      local first = 1
      while trail[first] ~= name do first = first + 1 end
      return table.concat(trail, " -> ", first)
    end
    state[name] = "open"
    for _, next_name in ipairs(graph[name]) do
      local found = graph[next_name] and visit(next_name)
      if found then return found end
    end
    state[name], trail[#trail] = "done", nil
  end
  local names = {}
  for name in pairs(graph) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local found = visit(name)
    if found then return found end
  end
end

local function check_requires()
  local graph, count = {}, 0
  for _, path in ipairs(files("scripts", "-name '*.lua'")) do
    if not path:find("^scripts/meta/") and not path:find("^scripts/templates/") then
      local name = path:gsub("^scripts/lib/", ""):gsub("^scripts/", ""):gsub("%.lua$", ""):gsub("/", ".")
      name = name:gsub("%.init$", "")
      local required = {}
      for _, line in ipairs(lines_of(path)) do
        local code = line:gsub("%-%-.*", ""):gsub("'[^']*require \"[^']*'", "") -- without messages that name a require
        for each in code:gmatch('require%s*[(,]?%s*"([%w_.]+)"') do
          required[#required + 1], count = each, count + 1
        end
      end
      graph[name] = required
    end
  end
  local found = circle_of(graph)
  check(not found, "scripts: a circle of requires: " .. tostring(found))
  check(count > 500, "scripts: only " .. count .. " requires were found")
  check(circle_of { a = { "b" }, b = { "c", "d" }, c = {}, d = { "b" } } == "b -> d -> b", "a circle is not found")
end
check_requires()

for _, message in ipairs(failures) do print("FAIL " .. message) end
assert(checks > 1000, "hardly anything was checked")
print(string.format("%d passed, %d failed", #failures == 0 and 1 or 0, #failures))
os.exit(#failures == 0 and 0 or 1)
