-- What code of a script sees: trusted code everything that luajit has, other code an allow-list.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local handlers = require "rooflua.sandbox.handlers"
local null = require("rooflua.json").null
local policy = require "rooflua.policy"
local repeatable = require "rooflua.sandbox.repeatable"

local environments = {}
local fail = core.fail
local globals = _G

-- The allow-list ------------------------------------------------------------------------------------

local base = {}
for _, name in ipairs { "assert", "error", "ipairs", "pcall", "rawequal", "rawget", "select", "setmetatable",
  "tonumber", "type", "unpack", "xpcall", "_VERSION" } do
  base[name] = globals[name]
end
for _, name in ipairs { "pairs", "next", "tostring" } do base[name] = repeatable[name] end
base.pcall, base.xpcall = handlers.pcall, handlers.xpcall
local silent = false
function base.print(...)
  if not silent then repeatable.print(...) end
end
--- A read-only view is an empty table: what rawset puts into it would hide the real field from every script.
--- A class of policies and json.null are one object for every script, too.
function base.rawset(t, key, value)
  if type(t) ~= "table" then fail("rawset: expected a table, found %s", core.describe(t)) end
  if key == nil or key ~= key then fail("rawset: expected a key, found %s", core.describe(key)) end
  if core.contents[t] or policy.is_class(t) or t == null then
    fail("rawset: this table is read-only (assigning '%s')", tostring(key))
  end
  return rawset(t, key, value)
end
function base.getmetatable(value)
  if type(value) ~= "table" then return nil end
  return getmetatable(value)
end
local allowed = { string = core.copy(string), table = core.copy(table), math = core.copy(math), bit = core.copy(bit),
  coroutine = core.copy(coroutine) }
allowed.string.dump = nil
allowed.string.format = repeatable.format
allowed.table.foreach = repeatable.foreach
function allowed.math.random()
  fail "math.random: use a named stream of rng, so that the same seed gives the same bytes"
end
allowed.math.randomseed = allowed.math.random

-- A coroutine that resumes another one takes C stack at every level, and LuaJIT does not count the levels.
local most_nested, nested = 150, 0
local create, resume, caught = coroutine.create, coroutine.resume, handlers.caught
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
  return caught(leave(resume(co, ...)))
end
function allowed.coroutine.create(call)
  if type(call) ~= "function" then fail("coroutine.create: expected a function, found %s", core.describe(call)) end
  return create(call)
end
local function pass(ok, ...)
  if not ok then error((...), 0) end
  return ...
end
function allowed.coroutine.wrap(call)
  if type(call) ~= "function" then fail("coroutine.wrap: expected a function, found %s", core.describe(call)) end
  local co = create(call)
  return function(...) return pass(allowed.coroutine.resume(co, ...)) end
end

local function strict(environment)
  return setmetatable(environment, {
    __index = function(_, name)
      local known = {}
      for key in next, environment do known[#known + 1] = tostring(key) end
      table.sort(known)
      return fail("%s", core.unknown_name("global", name, known))
    end,
    __newindex = function(_, name)
      fail("assigning the undeclared global '%s'; write local %s", tostring(name), tostring(name))
    end,
    __metatable = false,
  })
end

--- The libraries as files of the user see them: a function that a script put there would change other files and later
--- runs. The program's own files share plain copies, which compiled code reads without a detour.
local of_user, of_program = core.copy(base), core.copy(base)
for name, library in next, allowed do
  of_user[name], of_program[name] = core.readonly(core.copy(library), name), core.copy(library)
end

local function sandboxed(require, is_shipped)
  local environment = core.copy(is_shipped and of_program or of_user)
  environment.require = require
  return strict(environment)
end

--- A function that reads the file of its first argument. Each file that is read is noted, because results depend on it
--- (runs/hash.lua).
local function noted(call, reads)
  return function(path, ...)
    if type(path) == "string" and (not reads or reads(...)) then files.note(path) end
    return call(path, ...)
  end
end

local function reads_only(mode) return mode == nil or type(mode) == "string" and mode:sub(1, 1) == "r" end

local noted_io = core.copy(io)
noted_io.open, noted_io.lines, noted_io.input = noted(io.open, reads_only), noted(io.lines), noted(io.input)
local noted_dofile, noted_loadfile = noted(dofile), noted(loadfile)

--- With --trusted a script has everything that luajit has; undeclared globals stay errors.
local function trusted(require)
  local function tell(...)
    if not silent then globals.print(...) end
  end
  return setmetatable({ require = require, pairs = core.sorted_pairs, io = noted_io, dofile = noted_dofile,
    loadfile = noted_loadfile, print = tell,
    pcall = handlers.pcall, xpcall = handlers.xpcall }, {
    __index = function(_, name)
      local value = rawget(globals, name)
      if value ~= nil then return value end
      return fail("%s", core.unknown_name("global", name, core.sorted_keys(globals)))
    end,
    __newindex = function(_, name)
      fail("assigning the undeclared global '%s'; write local %s", tostring(name), tostring(name))
    end,
  })
end

--- Scripts print nothing, until the next call: their files run once more, and what they print stands in the output.
function environments.silence(on) silent = on end

--- A new environment for one file. `is_shipped`: the file is one of the program's own.
function environments.new(require, is_shipped)
  if native.trusted then return trusted(require) end
  return sandboxed(require, is_shipped)
end

-- String methods come from a copy that scripts cannot reach, so that no script can change them.
if not native.trusted then native.string_methods(core.copy(allowed.string)) end

--- Marks no coroutine as resumed.
function environments.settle() nested, silent = 0, false end

return environments
