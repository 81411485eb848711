-- How files become running code: trusted, with everything that luajit has, or sandboxed, in an environment of
-- their own with an allow-list. Sandboxed code gets the tables of the library as read-only views.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local noted_io = require "rooflua.sandbox.noted_io"
local null = require("rooflua.json").null
local policy = require "rooflua.policy"
local repeatable = require "rooflua.sandbox.repeatable"

local chunks = {}
local fail = core.fail
local globals = _G
local stock_require, setfenv = require, setfenv

--- Scripts may require the modules of the library that lie directly in scripts/lib/rooflua. Modules in its
--- subfolders hold pointers and native functions.
local function is_public(module)
  return module:find "^[%a_]+$" ~= nil
    and native.file_exists(native.home .. "/scripts/lib/rooflua/" .. module .. ".lua")
end

-- The allow-list ------------------------------------------------------------------------------------

local function copy(t)
  local out = {}
  for key, value in next, t do out[key] = value end
  return out
end

local base = {}
for _, name in ipairs { "assert", "error", "ipairs", "pcall", "rawequal", "rawget", "select", "setmetatable",
  "tonumber", "type", "unpack", "xpcall", "_VERSION" } do
  base[name] = globals[name]
end
for _, name in ipairs { "pairs", "next", "tostring", "print" } do base[name] = repeatable[name] end
--- A read-only view is an empty table: what rawset puts into it would hide the real field from every script.
--- A class of policies and json.null are one object for every script, too.
function base.rawset(t, key, value)
  if core.contents[t] or policy.is_class(t) or t == null then
    fail("rawset: this table is read-only (assigning '%s')", tostring(key))
  end
  return rawset(t, key, value)
end
function base.getmetatable(value)
  if type(value) ~= "table" then return nil end
  return getmetatable(value)
end
local allowed = { string = copy(string), table = copy(table), math = copy(math), bit = copy(bit),
  coroutine = copy(coroutine) }
allowed.string.dump = nil
allowed.string.format = repeatable.format
allowed.table.foreach = repeatable.foreach
function allowed.math.random()
  fail "math.random: use a named stream of rng, so that the same seed gives the same bytes"
end
allowed.math.randomseed = allowed.math.random

-- A coroutine that resumes another one takes C stack at every level, and LuaJIT does not count the levels.
local most_nested, nested = 150, 0
local create, resume = coroutine.create, coroutine.resume
local function leave(...)
  nested = nested - 1
  return ...
end
function allowed.coroutine.resume(co, ...)
  if type(co) ~= "thread" then
    fail("coroutine.resume: expected a coroutine, found %s", core.describe(co))
  end
  if nested >= most_nested then
    fail("coroutine.resume: more than %d coroutines inside each other", most_nested)
  end
  nested = nested + 1
  return leave(resume(co, ...))
end
local function pass(ok, ...)
  if not ok then error((...), 0) end
  return ...
end
function allowed.coroutine.wrap(call)
  local co = create(call)
  return function(...) return pass(allowed.coroutine.resume(co, ...)) end
end

local function strict(environment)
  return setmetatable(environment, {
    __index = function(_, name)
      local known = {}
      for key in next, environment do known[#known + 1] = tostring(key) end
      table.sort(known)
      return fail("%s", native.unknown_name("global", tostring(name), known))
    end,
    __newindex = function(_, name)
      fail("assigning the undeclared global '%s'; write local %s", tostring(name), tostring(name))
    end,
    __metatable = false,
  })
end

local scenario_folder
local function sandboxed_environment(require)
  local environment = copy(base)
  for name, library in next, allowed do environment[name] = copy(library) end
  environment.require = require
  return strict(environment)
end

--- With --trusted a script has everything that luajit has; undeclared globals stay errors.
local function trusted_environment(require)
  return setmetatable({ require = require, pairs = core.sorted_pairs, io = noted_io.io, dofile = noted_io.dofile,
    loadfile = noted_io.loadfile }, {
    __index = function(_, name)
      local value = rawget(globals, name)
      if value ~= nil then return value end
      return fail("%s", native.unknown_name("global", tostring(name), core.sorted_keys(globals)))
    end,
    __newindex = function(_, name)
      fail("assigning the undeclared global '%s'; write local %s", tostring(name), tostring(name))
    end,
  })
end

-- require --------------------------------------------------------------------------------------------

local loaded, loading, read = {}, {}, {} -- read: files that were run, as a set of paths
local path_of_chunk = {} -- name of a chunk in messages -> path of its file
local class_files = setmetatable({}, { __mode = "k" }) -- class of policies -> the file that returned it
local scenario_file -- that was loaded last
local of_scenario -- files that were run until the scenario was loaded, sorted

-- Functions that only the library and the program may call.
local hidden = {
  ["rooflua.cost"] = { "set_corrections", "reset", "settle", "shares" },
  ["rooflua.mfu"] = { "ask", "fill", "view_data", "dtype_code", "is_database", "evidence_names" },
  ["rooflua.policy"] = { "class_of", "with_defaults", "is_a" },
  ["rooflua.measure"] = { "is_metric" },
}

local views = {}

--- A read-only view of a module of the library; nested tables are read-only already.
local function library(name)
  if native.trusted then return stock_require(name) end
  if views[name] then return views[name] end
  local short = name:match "^rooflua%.([%a_]+)$"
  if name ~= "rooflua" and not (short and is_public(short)) then
    fail("require: there is no module '%s' in the library", name)
  end
  local module = stock_require(name)
  local meta = type(module) == "table" and getmetatable(module)
  if type(module) == "table" and (meta == nil or type(meta) == "table" and meta.__call) then
    if hidden[name] then
      module = copy(module)
      for _, key in ipairs(hidden[name]) do module[key] = nil end
    end
    module = core.readonly(module, name, true)
  end
  views[name] = module
  return module
end

--- A copy of a module without its hidden functions, for completion and for the test that compares modules and stubs.
function chunks.public(name)
  local module = copy(stock_require("rooflua." .. name))
  for _, key in ipairs(hidden["rooflua." .. name] or {}) do module[key] = nil end
  return module
end

--- The name of a file in error messages: relative to the home folder of rooflua, or as it was given.
local function chunk_name(path)
  local home = native.home .. "/"
  if path:sub(1, #home) == home then path = path:sub(#home + 1) end
  return "@" .. path
end

--- An error raised below a tail call has lost its line: this puts at least the file in front.
local function with_file(problem, path)
  if type(problem) ~= "string" or problem:find "%.%w+:%d+: " then return problem end
  return chunk_name(path):sub(2) .. ": " .. problem
end

local environment_for

local function find(name)
  local relative = name:gsub("%.", "/") .. ".lua"
  local tried = {}
  for _, folder in ipairs { native.home .. "/scripts", scenario_folder or "." } do
    local path = folder .. "/" .. relative
    if native.file_exists(path) then return path end
    tried[#tried + 1] = path
  end
  return nil, tried
end

local function sandbox_require(name)
  core.text(name, "require")
  if name == "rooflua" or name:sub(1, 8) == "rooflua." then return library(name) end
  if loaded[name] ~= nil then return loaded[name] end
  if not name:find "^[%w_%-]+[%w_%-%.]*$" or name:find("..", 1, true) then
    fail("require: expected a module name such as \"steps.kernels\", found %s", core.describe(name))
  end
  if loading[name] then fail("require: '%s' requires itself", name) end
  local path, tried = find(name)
  if not path then
    if native.trusted then return stock_require(name) end
    local folder, wanted = name:match "^([%w_]+)%.([%w_]+)$"
    local there = folder and native.list_folder(native.home .. "/scripts/" .. folder, ".lua") or {}
    if #there > 0 then fail("require: %s", native.unknown_name("policy of " .. folder, wanted, there)) end
    fail("require: there is no '%s' (looked at %s)", name, core.join(tried, ", "))
  end
  loading[name] = true
  local ok, result = pcall(function()
    read[path], path_of_chunk[chunk_name(path)] = true, path
    local chunk = native.load_chunk(path, chunk_name(path))
    return setfenv(chunk, environment_for())(name)
  end)
  loading[name] = nil
  if not ok then error(with_file(result, path), 0) end
  if result == nil then result = true end
  if policy.is_class(result) then class_files[result] = class_files[result] or path end
  loaded[name] = result
  return result
end
chunks.require = sandbox_require

--- Names of the policies of a folder, in scripts/ and beside the scenario.
function chunks.names_in(folder)
  local out = native.list_folder(native.home .. "/scripts/" .. folder, ".lua")
  local beside = native.list_folder((scenario_folder or ".") .. "/" .. folder, ".lua")
  for _, name in ipairs(beside) do out[#out + 1] = name end
  return out
end

--- Whether a module of that name lies in scripts/ or beside the scenario.
function chunks.is_there(name) return name:find "^[%w_%-]+[%w_%-%.]*$" ~= nil and find(name) ~= nil end

--- The file of a module in scripts/ or beside the scenario; nil if there is none.
function chunks.path_of(name) return name:find "^[%w_%-]+[%w_%-%.]*$" and (find(name)) or nil end

function environment_for()
  if native.trusted then return trusted_environment(sandbox_require) end
  return sandboxed_environment(sandbox_require)
end

--- Paths of all Lua files that were run so far, sorted.
function chunks.files() return core.sorted_keys(read) end

--- Of them those that were run until the scenario was loaded; all, if none was.
function chunks.files_of_scenario() return of_scenario or chunks.files() end
--- The file of the scenario that was loaded last; else of the script that runs; nil at a prompt.
function chunks.scenario_file()
  local script = rawget(globals, "arg")
  return scenario_file or type(script) == "table" and script[0] or nil
end
--- The file that returned this class of policies; nil for a class of another place.
function chunks.file_of_class(class) return class_files[class] end
--- The path of the file that messages call `name`; nil if there is none.
function chunks.path_of_chunk(name)
  local path = path_of_chunk["@" .. name]
  if path then return path end
  for _, each in ipairs { native.home .. "/" .. name, name } do
    if native.file_exists(each) then return each end
  end
end
--- Whether a table is a module of the library or of LuaJIT.
function chunks.is_library(value)
  for _, modules in ipairs { views, package.loaded } do
    for _, module in next, modules do
      if module == value then return true end
    end
  end
  return false
end

--- Forgets the modules that were required from files, so that edited policies take effect.
---@return table before module name -> its value
function chunks.forget()
  local before = loaded
  loaded, loading, nested = {}, {}, 0
  return before
end
--- Restores the modules that forget() returned.
function chunks.recall(before) loaded, loading = before, {} end
--- Sets the folder where modules are looked for besides scripts/.
function chunks.folder(path) scenario_folder = path end
--- After an interrupt: marks no module as being loaded.
function chunks.settle()
  loading, nested = {}, 0
  native.end_loading()
end

-- String methods come from a copy that scripts cannot reach, so that no script can change them.
if not native.trusted then native.string_methods(copy(allowed.string)) end

-- Running --------------------------------------------------------------------------------------------

local function guarded(path, message, call, ...)
  native.begin_loading(message)
  local results = { pcall(call, ...) }
  if not results[1] and type(results[2]) == "table" then -- its __tostring is the user's code, too
    results[2] = select(2, pcall(tostring, results[2]))
  end
  native.end_loading()
  if not results[1] then error(with_file(results[2], path), 0) end
  return core.unpack(results, 2, table.maxn(results))
end

--- Runs call(...) with the limit of instructions that loading a scenario has. `check` asks policies and workloads
--- this way, without a simulation.
function chunks.bounded(path, call, ...)
  return guarded(path, "stopped: checking ran too many instructions; a policy answers for one step, and returns",
    call, ...)
end
function chunks.is_spent(problem) return tostring(problem):find("stopped: checking ran", 1, true) ~= nil end

--- Loads a scenario: runs the file and returns what it returns.
function chunks.load_scenario(path)
  scenario_folder = path:match "^(.*)/[^/]*$" or "."
  files.beside(path)
  read[path], path_of_chunk[chunk_name(path)] = true, path
  local message = "stopped: loading ran too many instructions; a scenario returns data and runs nothing"
  local scenario = guarded(path, message, function()
    local chunk = native.load_chunk(path, chunk_name(path))
    return setfenv(chunk, environment_for())()
  end)
  scenario_file, of_scenario = path, chunks.files()
  files.loaded()
  return scenario
end

--- Runs text in the environment of a scenario; for tests and one-liners.
function chunks.run_text(text, name)
  local chunk, problem = native.load_text(text, name)
  if not chunk then error(problem, 0) end
  return tostring((setfenv(chunk, environment_for())()))
end

--- `rooflua lua FILE ARGS`: runs a file as luajit does, with the library and the file's folder on the path.
function chunks.run_trusted(path, ...)
  local folder = path:match "^(.*)/[^/]*$" or "."
  package.path = folder .. "/?.lua;" .. package.path
  globals.arg = { [0] = path, ... }
  globals.pairs = core.pairs
  native.load_chunk(path, "@" .. path)(...)
end

return chunks
