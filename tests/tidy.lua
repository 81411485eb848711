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
local floor_level = { base = 1, http = 2, spec = 2, cost = 3, serve = 4, measure = 5, script = 6, emulate = 7, lab = 7,
  library = 7, app = 8 }
local package_home = {
  { "lua.h", "engine/script/", "engine/spec/declared/lua_file", "tests/script/" }, -- and lua.hpp
  { "luajit.h", "engine/script/" },
  { "lauxlib.h", "engine/script/" }, { "lualib.h", "engine/script/" },
  { "toml++/", "engine/base/toml" }, { "nlohmann/", "engine/base/json", "engine/emulate/kv/", "tests/emulate/" },
  { "spdlog/", "engine/base/log" }, { "CLI/", "engine/app/command_line" }, { "histedit.h", "engine/app/" },
  { "nlopt.h", "engine/script/bind/fit" }, { "zlib.h", "engine/base/gzip" },
  { "yaml.h", "engine/base/yaml" }, { "sqlite3.h", "engine/measure/store/", "tests/measure/" },
  { "catch2/", "tests/catch" }, { "event2/", "engine/http/", "engine/emulate/", "engine/lab/", "tests/lab/" },
  { "zmq.h", "engine/emulate/kv/", "tests/emulate/" }, { "openssl/", "engine/emulate/kv/" },
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
      local at_home = false
      for i = 2, #home do at_home = at_home or path:sub(1, #home[i]) == home[i] end
      check(at_home, where .. ": " .. target .. " belongs to " .. home[2])
    end
  end
end

-- Length: a file fits in the head, a line has 100 columns.
local is_source = { cpp = true, h = true, lua = true, py = true, js = true, css = true }
local longest = 400
local function columns(line)
  local _, continuation = line:gsub("[\128-\191]", "")
  return #line - continuation
end

local lengths, files_in = {}, {}
--- Lengths of files of engine/ and scripts/ and numbers of files, for the rules on rooms below.
local function note_length(path, lines)
  if path:find "^scenarios/" then return end
  local folder = path:match "^(.*)/"
  if not path:find "^tests/" then lengths[#lengths + 1] = lines end
  files_in[folder] = (files_in[folder] or 0) + 1
end

--- The comment at the head of a file, after #pragma once.
local function first_comment(text)
  local out = {}
  for i = text[1] == "#pragma once" and 2 or 1, #text do
    local said = text[i]:match '^[%-/#"]+%s*(.*)'
    if not said or text[i]:find "^#include" then break end
    out[#out + 1] = said
  end
  return table.concat(out, " ")
end

for _, path in ipairs(files("engine scripts tests scenarios")) do
  local extension = path:match("%.(%w+)$")
  if is_source[extension] and not path:find("^tests/golden/") then
    local text = lines_of(path)
    check(#text <= longest, path .. ": " .. #text .. " lines; a file has at most " .. longest)
    if path:find "^tests/scripts/.*_test%.lua$" then
      check(text[#text] == "test.finish()", path .. ": does not end with test.finish(), so that it cannot fail")
    end
    note_length(path, #text)
    local floor = path:match("^engine/(%w+)/")
    local first = first_comment(text)
    check(not first:find "^The part of" and not first:find "%f[%w][Pp]arts? of [%w_/]+%.%l+%f[^%w]",
      path .. ": a file is not a part of another one")
    for number, line in ipairs(text) do
      check(columns(line) <= 120, path .. ":" .. number .. ": " .. columns(line) .. " columns")
      local target = line:match('^#include [<"]([^>"]+)[>"]')
      if target then check_include(path, number, floor, target) end
      check(not line:find "Catch::" or path:find "^tests/catch" or path == "tests/tidy.lua",
        path .. ":" .. number .. ": names of Catch2 differ between its versions; tests/catch.h has those of both")
      if path:find("^scripts/.*%.lua$") and not path:find("^scripts/meta/") then
        check(not line:gsub("%-%-.*", ""):find("%^ *2[^%d.]"),
          path .. ":" .. number .. ": x^2 differs between interpreter and compiler; write x * x")
      end
    end
  end
end

-- Rooms: a newcomer finds a file in its folder. What scripts may require lies directly in lib/rooflua.
for folder, count in pairs(files_in) do
  local most = folder == "scripts/lib/rooflua" and 20 or 40
  check(count <= most, ("%s: %d source files; a room has at most %d"):format(folder, count, most))
end
-- A folder of tests is not made for one or two of them. How tables of another project lie is that project's matter.
local tests_in, least_tests = {}, 3
for _, path in ipairs(files "tests") do
  local folder = path:match "^(.*)/"
  tests_in[folder] = (tests_in[folder] or 0) + 1
end
for folder, count in pairs(tests_in) do
  check(count >= least_tests or folder:find "^tests/fixtures/mfu_denominators/",
    ("%s: %d files; a folder of tests has at least %d"):format(folder, count, least_tests))
end
table.sort(lengths)
local median = lengths[math.ceil(#lengths / 2)]
check(median <= 120, "the median source file has " .. median .. " lines; it should have about 100")

-- Rooms of a floor stand in an order, and a file includes none of a later room. A file that does is an arrow up: in
-- engine/serve a replica holds its lanes, and a KV cache tells the routers' index what it holds.
local function check_order(floor, place, most_arrows, most_loose)
  local arrows, loose = {}, 0
  for _, path in ipairs(files("engine/" .. floor, "\\( -name '*.h' -o -name '*.cpp' \\)")) do
    local room = path:match("^engine/" .. floor .. "/(%w+)/")
    check(not room or place[room], path .. ": a room that has no place in the order of rooms")
    loose = loose + (room and 0 or 1)
    for _, line in ipairs(lines_of(path)) do
      local target, later = line:match('^#include "(' .. floor .. '/(%w+)/[^"]+)"')
      if target and place[later] > (place[room] or 0) then arrows[#arrows + 1] = path .. " > " .. target end
    end
  end
  check(loose <= most_loose, ("engine/%s: %d sources outside of rooms; at most %d"):format(floor, loose, most_loose))
  check(#arrows <= most_arrows, ("engine/%s: %d includes of later rooms; at most %d: %s"):format(floor, #arrows,
    most_arrows, table.concat(arrows, ", ")))
end
check_order("serve", { contract = 1, adapters = 2, traces = 2, events = 2, kv = 2, links = 2, fleet = 2, routing = 3,
  plays = 3, inbox = 3, stores = 3, replica = 4, lanes = 5, core = 6, parts = 7, loop = 8 }, 2, 4)
check_order("cost", { ops = 1, price = 2, work = 3, tables = 4, lookup = 5, model = 6, database = 7, entries = 8,
  quality = 9 }, 0, 0)

-- No circles: neither among headers nor among modules. `edges` is name -> list of names.
local function check_circles(edges, kind, least)
  local state, stack = {}, {}
  local function visit(name)
    if state[name] == "done" then return end
    stack[#stack + 1] = name
    if state[name] == "open" then
      local first = 1
      while stack[first] ~= name do first = first + 1 end
      check(false, "a circle of " .. kind .. ": " .. table.concat(stack, " > ", first))
    else
      state[name] = "open"
      for _, each in ipairs(edges[name] or {}) do visit(each) end
      state[name] = "done"
    end
    stack[#stack] = nil
  end
  local names = {}
  for name in pairs(edges) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do visit(name) end
  check(#names > (least or 50), "hardly any " .. kind .. " were looked at for circles")
end

-- A header and its .cpp file are one unit here: two units that include each other cannot be read one after the other.
local included = {}
for _, path in ipairs(files("engine", "\\( -name '*.h' -o -name '*.cpp' \\)")) do
  local name = path:match "^engine/(.*)%.%w+$"
  local targets = included[name] or {}
  for _, line in ipairs(lines_of(path)) do
    local target = line:match '^#include "([^"]+)%.h"'
    if target ~= name then targets[#targets + 1] = target end
  end
  included[name] = targets
end
check_circles(included, "headers")

-- A require inside a function counts like one at the top.
local required = {}
for _, path in ipairs(files("scripts", "-name '*.lua'")) do
  if not path:find "^scripts/meta/" and not path:find "^scripts/templates/" then
    local name, targets = path:gsub("^scripts/", ""):gsub("^lib/", ""):gsub("%.lua$", ""):gsub("/", "."), {}
    name = name:gsub("^rooflua%.init$", "rooflua")
    for _, line in ipairs(lines_of(path)) do
      local code = line:gsub("^%s*%-%-.*", ""):gsub("%s%-%- .*", ""):gsub("'[^']*'", "")
      for target in code:gmatch 'require%s*%(?%s*"([%w_.]+)"' do
        targets[#targets + 1] = target
      end
    end
    required[name] = targets
  end
end
check_circles(required, "modules")

-- Rooms of the Lua library stand in an order in the same way. A face, which lies beside the rooms, counts as the last
-- room that it requires.
local lua_place, lua_up = {}, {}
for room in ("base policy sandbox text border engines ranges manifests startup intervals scenario formats bench "
  .. "applied plays schedules tables family machine measure logs serving handover writers runs explore plan lab "
  .. "program advise plausible upgrade profile attach validate campaign help repl"):gmatch "%a+" do
  lua_place[#lua_place + 1] = room
  lua_place[room] = #lua_place
end
local function room_of(name) return name:match "^rooflua%.(%w+)%." end
local function place_of(name)
  local place = lua_place[room_of(name)] or 0
  if room_of(name) then return place end
  for _, target in ipairs(required[name] or {}) do place = math.max(place, place_of(target)) end
  return place
end
for name, targets in pairs(required) do
  local room = room_of(name)
  check(not room or lua_place[room], name .. ": a room that has no place in the order of rooms")
  for _, target in ipairs(lua_place[room] and targets or {}) do
    if target:find "^rooflua" and place_of(target) > lua_place[room] then
      lua_up[#lua_up + 1] = name .. " > " .. target
    end
  end
end
table.sort(lua_up)
local lua_rooms = ("rooms against the order: %d up"):format(#lua_up)
check(#lua_up == 0, "scripts/lib/rooflua: " .. lua_rooms .. ": " .. table.concat(lua_up, ", "))

-- Modules of a Python package in the same way.
local imported = {}
for _, path in ipairs(files("scripts", "-name '*.py'")) do
  local package, name = path:match "^(.*)/([%w_]+)%.py$"
  local targets = {}
  for _, line in ipairs(lines_of(path)) do
    local target = line:match "^%s*from %.([%w_]+) import" or line:match "^%s*from %. import ([%w_]+)"
    targets[#targets + 1] = target and package .. "/" .. target
  end
  imported[package .. "/" .. name] = targets
end
check_circles(imported, "Python modules", 10)

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

-- Nothing lies about: a C++ source is compiled, a header is included, a Lua module is required. Policies are found by
-- their folder, and what lies directly in lib/rooflua is for scripts; neither needs to be named.
local function text_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end
local cmake, includes, named = {}, {}, {}
for _, path in ipairs(files("engine tests", "-name CMakeLists.txt")) do
  for source in text_of(path):gmatch "[%w_/]+%.cpp" do cmake[path:match "^(.*)/" .. "/" .. source] = true end
end
local sources = files("engine tests", "\\( -name '*.cpp' -o -name '*.h' \\)")
for _, path in ipairs(sources) do
  for target in text_of(path):gmatch '#include "([^"]+)"' do includes[target] = true end
end
for _, path in ipairs(sources) do
  local built_by_script = path:find "^tests/bench/"
  if path:find "%.cpp$" then
    check(cmake[path] or built_by_script, path .. ": no CMakeLists.txt names it")
  else
    check(includes[path:gsub("^engine/", "")], path .. ": nothing includes it")
  end
end
for _, path in ipairs(files("engine scripts", "\\( -name '*.cpp' -o -name '*.lua' \\)")) do
  local own = path:gsub("^scripts/", ""):gsub("^lib/", ""):gsub("%.lua$", ""):gsub("/", ".")
  for name in text_of(path):gmatch '"([%w_]+%.[%w_.]+)"' do named[name] = named[name] or name ~= own end
end
for name in pairs(required) do
  local in_room = name:find "^rooflua%.[%w_]+%." or not name:find "^rooflua" and not name:find "^layers%."
    and name:find "^[%w_]+%.[%w_]+%." -- kinds of layers are found by their folder
  check(not in_room or named[name], name .. ": no file requires this module")
end

dofile "tests/declarations.lua"(check, files, lines_of)

-- Releases are put in order in one place, which knows candidates, post releases and nightly builds.
local may_compare_versions = {
  ["scripts/lib/rooflua/engines/release.lua"] = true,
  -- library versions in names of another project's files
  ["scripts/lib/rooflua/tables/names.lua"] = true, ["scripts/lib/rooflua/tables/folder.lua"] = true,
}
local comparers = { 'gmatch *%(?"%%d%+"', "[ .]older *%(", "[ .]newer *%(", "version_key *%(", "compare_version",
  "map%(int, " }
for _, path in ipairs(files("engine scripts", "\\( -name '*.cpp' -o -name '*.lua' -o -name '*.py' \\)")) do
  for number, line in ipairs(may_compare_versions[path] and {} or lines_of(path)) do
    for _, pattern in ipairs(comparers) do
      check(not line:find(pattern), path .. ":" .. number .. ": rooflua.engines.release puts releases in order")
    end
  end
end

-- An engine has one home: its name as a literal stands in scripts/engines, in its scheduler and its router.
local engine_names = {}
for _, path in ipairs(files("scripts", "-name '*.lua'")) do
  local given = path:find "^scripts/engines/" and dofile(path)
  if type(given) ~= "table" or given[1] and given[1][1] then given = { rules = {} } end -- no engine, and no rules
  engine_names[given.name or ""] = given.name ~= nil or nil
  for _, alias in ipairs(given.aliases or {}) do engine_names[alias] = true end
  for i, rule in ipairs(type(given.rules) == "function" and given.rules() or given.rules or given) do
    -- A list of rows has a file of its own, which is looked at as well.
    local has_source = type(rule.source) == "string" and rule.source ~= ""
    check(rule[1] ~= nil or has_source, ("%s: rules[%d] has no source"):format(path, i))
  end
end
local may_name_engines = {
  ["^scripts/engines/"] = true, ["^scripts/schedulers/"] = true, ["^scripts/routers/"] = true,
  ["^scripts/lib/rooflua/tables/rules%.lua$"] = true, -- how files of another project spell them
  ["^scripts/lib/rooflua/handover/"] = true, -- fields of other projects' files
  ["^scripts/lib/rooflua/manifests/"] = true, -- the same
}
local function names_engine(line)
  for quoted in line:gmatch "[\"']([%w_-]+)[\"']" do
    if engine_names[quoted] then return quoted end
  end
end
for _, path in ipairs(files("engine scripts")) do
  local exempt = path:find "%.md$" ~= nil
  for pattern in pairs(may_name_engines) do exempt = exempt or path:find(pattern) ~= nil end
  for number, line in ipairs(exempt and {} or lines_of(path)) do
    local code = line:gsub("//.*", ""):gsub("^%s*%-%-.*", "")
    local name = names_engine(code)
    check(not name, ("%s:%d: the engine \"%s\" has its home in scripts/engines"):format(path, number, tostring(name)))
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

-- The first page is read in one go: what a new capability takes there, an older one gives.
local readme = #lines_of "README.md"
check(readme <= 200, "README.md: " .. readme .. " lines; it has at most 200")

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
        local is_made = line:find "New, `" -- by a reader of the page
        check(is_made or exists(target), path .. ":" .. number .. ": there is no " .. target)
      end
    end
  end
end

for _, message in ipairs(failures) do print("FAIL " .. message) end
assert(checks > 1000, "hardly anything was checked")
print(lua_rooms)
print(string.format("%d passed, %d failed", #failures == 0 and 1 or 0, #failures))
os.exit(#failures == 0 and 0 or 1)
