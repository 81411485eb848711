-- How files become running code, each in an environment of its own (environments.lua). Sandboxed code gets the tables
-- of the library as read-only views.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local environments = require "rooflua.sandbox.environments"
local files = require "rooflua.sandbox.files"
local handlers = require "rooflua.sandbox.handlers"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"

local chunks = {}
local fail = core.fail
local globals = _G
local stock_require, setfenv = require, setfenv
local info_of = require("jit.util").funcinfo

--- Whether the code of a file makes functions. A file without any has no state that a run could change.
local function makes_functions(chunk) return info_of(chunk).children == true end

--- Scripts may require the modules of the library that lie directly in scripts/lib/rooflua. Modules in its
--- subfolders hold pointers and native functions.
local function is_public(module)
  return module:find "^[%a_]+$" ~= nil
    and native.file_exists(native.home .. "/scripts/lib/rooflua/" .. module .. ".lua")
end

-- require --------------------------------------------------------------------------------------------

local loaded, loading, read = {}, {}, {} -- read: files that were run, as a set of paths
local own_modules = {} -- names of the loaded modules that are no policies of the program, as a set
local mains = {} -- path of a file of the user -> its code, which can run again
local path_of_chunk = {} -- name of a chunk in messages -> path of its file
local class_files = setmetatable({}, { __mode = "k" }) -- class of policies -> the file that returned it
local class_modules = setmetatable({}, { __mode = "k" }) -- the same -> the module
local methods = {} -- class of the program -> its methods, as its file made them
local origins = {} -- path of a scenario -> its last load, see chunks.origin
local scenario_folder, scenario_file -- that was loaded last
local of_scenario -- files that were run until the scenario was loaded, sorted
local edited = {} -- path below the scenario's folder -> a text that stands in place of that file

-- Functions that only the library and the program may call.
local hidden = {
  ["rooflua.cost"] = { "set_corrections", "reset", "settle", "shares" },
  ["rooflua.mfu"] = { "ask", "fill", "view_data", "dtype_code", "is_database", "evidence_names" },
  ["rooflua.policy"] = { "class_of", "definition", "find_by_name", "with_defaults", "is_a", "moved", "freeze", "twin",
    "twin_class" },
  ["rooflua.measure"] = { "is_metric" },
}

local views, program_views = {}, {} -- of modules of the library, and of other modules of the program

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
      module = core.copy(module)
      for _, key in ipairs(hidden[name]) do module[key] = nil end
    end
    module = core.readonly(module, name, true)
  end
  views[name] = module
  return module
end

--- A copy of a module without its hidden functions, for completion and for the test that compares modules and stubs.
function chunks.public(name)
  local module = core.copy(stock_require("rooflua." .. name))
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
  if type(problem) ~= "string" then return problem end
  problem = problem:gsub("^rooflua[%l%d_.]*:%d+: ", "") -- of a stack overflow
  if problem:find "%.%w+:%d+: " then return problem end
  return chunk_name(path):sub(2) .. ": " .. problem
end

--- The text that stands in place of a file; nil where the file itself is read.
local function edited_text(path)
  local folder = (scenario_folder or ".") .. "/"
  if path:sub(1, #folder) ~= folder then return path:find("/", 1, true) == nil and edited[path] or nil end
  return edited[path:sub(#folder + 1)]
end

local nearer = {} -- module -> {own, shipped}: the paths of a file of the user and of the program's of the same name

--- The file of a module: that beside the scenario stands before that of the program. Files of the program, and a file
--- of the user that requires its own name, mean that of the program.
local function find(name, is_program)
  local relative = name:gsub("%.", "/") .. ".lua"
  local shipped, own = native.home .. "/scripts/" .. relative, (scenario_folder or ".") .. "/" .. relative
  local has_shipped = native.file_exists(shipped)
  local has_own = edited_text(own) ~= nil or native.file_exists(own) and not native.is_same_file(own, shipped)
  if has_own and has_shipped and not is_program then nearer[name] = { own = own, shipped = shipped } end
  if has_own and not (is_program and has_shipped) then return own end
  if has_shipped then return shipped, nil, has_own end
  return nil, { own, shipped }
end

--- Runs a file. A file of the user that ran before is not read again: what changed in it since then is for the next
--- process, or for chunks.forget.
local function run_file(path, ...)
  read[path], path_of_chunk[chunk_name(path)] = true, path
  local chunk, text = mains[path], edited_text(path)
  if not chunk and text then
    local problem
    chunk, problem = native.load_text(text, chunk_name(path))
    if not chunk then error(problem, 0) end
  end
  chunk = chunk or native.load_chunk(path, chunk_name(path))
  local own = files.is_shipped(path)
  if not own then mains[path] = chunk end
  return setfenv(chunk, environments.new(own and chunks.shipped or chunks.own_require, own))(...)
end

local program_mark = "program:" -- in front of a module of the program that a file of the user has the name of

local function sandbox_require(name, is_program)
  core.text(name, "require")
  if name == "rooflua" or name:sub(1, 8) == "rooflua." then return library(name) end
  if name:sub(1, #program_mark) == program_mark then name, is_program = name:sub(#program_mark + 1), true end
  is_program = is_program or loading[name] == "own"
  local key = name
  if is_program and (nearer[name] or select(3, find(name, true))) then key = program_mark .. name end
  if loaded[key] ~= nil then return loaded[key] end
  if not name:find "^[%w_%-]+[%w_%-%.]*$" or name:find("..", 1, true) then
    fail("require: expected a module name such as \"steps.kernels\", found %s", core.describe(name))
  end
  if loading[key] then fail("require: '%s' requires itself", name) end
  local path, tried = find(name, is_program)
  if not path then
    if native.trusted then return stock_require(name) end
    local folder, wanted = name:match "^([%w_]+)%.([%w_]+)$"
    local there = folder and core.sorted_keys(core.set(chunks.names_in(folder))) or {}
    if #there > 0 then fail("require: %s", native.unknown_name("policy of " .. folder, wanted, there)) end
    fail("require: there is no '%s' (looked at %s)", name, core.join(tried, ", "))
  end
  files.check_covered(path)
  loading[key] = not files.is_shipped(path) and nearer[name] and "own" or true
  local ok, result = pcall(run_file, path, name)
  loading[key] = nil
  if not ok then error(with_file(result, path), 0) end
  if result == nil then result = true end
  if policy.is_class(result) then
    class_files[result], class_modules[result] = class_files[result] or path, class_modules[result] or key
    if files.is_shipped(path) then
      policy.freeze(result)
      methods[result] = core.copy(result)
    end
  end
  if not files.is_shipped(path) then own_modules[key] = true end
  loaded[key] = result
  return result
end

--- A module by its name: the file beside the scenario, else that of the program.
function chunks.require(name) return sandbox_require(name) end
--- The module of the program, whatever lies beside the scenario.
function chunks.shipped(name) return sandbox_require(name, true) end

--- Sentences on files of the user that were read in place of files of the program of the same name.
function chunks.nearer()
  local out = {}
  for name, paths in core.sorted_pairs(nearer) do
    if read[paths.own] then
      out[#out + 1] = ("%s is read in place of the program's %s, which has the same name"):format(paths.own, name)
    end
  end
  return out
end

--- `require` of files of the user: they see a table of functions of the program's own as a read-only view.
function chunks.own_require(name)
  local result = sandbox_require(name)
  if type(result) ~= "table" or policy.is_class(result) or #result > 0 then return result end
  if program_views[result] then return program_views[result] end
  local path = find(name, loading[name] == "own")
  if not (path and files.is_shipped(path)) then return result end
  program_views[result] = core.readonly(result, name)
  return program_views[result]
end
if native.trusted then chunks.own_require = sandbox_require end

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
--- The module that returned this class; nil for a class of another place.
function chunks.module_of_class(class) return class_modules[class] end
--- The path of the file that messages call `name`; nil if there is none.
function chunks.path_of_chunk(name)
  local path = path_of_chunk["@" .. name]
  if path then return path end
  for _, each in ipairs { native.home .. "/" .. name, name } do
    if native.file_exists(each) then return each end
  end
end
--- The file of the program that defines a function; nil for a function of the user's.
function chunks.file_of_program(call)
  local source = debug.getinfo(call, "S").source
  local module = source:match "^=rooflua%.([%w_.]+)$" -- of the library
  if module then return ("%s/scripts/lib/rooflua/%s.lua"):format(native.home, (module:gsub("%.", "/"))) end
  local path = source:sub(1, 1) == "@" and chunks.path_of_chunk(source:sub(2))
  return path and files.is_shipped(path) and path or nil
end
--- Whether a class has a method of the user's.
function chunks.is_own_class(class)
  for _, each in next, class do
    if type(each) == "function" and not chunks.file_of_program(each) then return true end
  end
  return false
end
--- Whether a table is a module of the library or of LuaJIT.
function chunks.is_library(value)
  for _, modules in ipairs { views, program_views, package.loaded } do
    for _, module in next, modules do
      if module == value then return true end
    end
  end
  return false
end

--- Whether `package.loaded` has under this name a module of LuaJIT's or of the library.
local stock = core.set { "_G", "bit", "coroutine", "debug", "ffi", "io", "jit", "math", "os", "package", "string",
  "table" }
function chunks.is_program_module(name) return stock[name] or name:find "^jit%." or name:find "^rooflua" end

--- Forgets the modules that were required from files, so that edited policies take effect.
---@return table before module name -> its value
function chunks.forget()
  local before = loaded
  loaded, loading, mains, program_views = {}, {}, {}, {}
  environments.settle()
  return before
end
--- Restores the modules that forget() returned.
function chunks.recall(before) loaded, loading = before, {} end

--- Whether modules of the user are loaded.
function chunks.has_own_modules() return next(own_modules) ~= nil end

--- Forgets the modules of the user: the next `require` runs their files again. A method that a script replaced in a
--- class of the program is the program's again.
function chunks.forget_own()
  for class, own in next, methods do
    for name, value in next, own do
      if class[name] ~= value then rawset(class, name, value) end
    end
  end
  local kept = {}
  for name, value in next, loaded do
    if not own_modules[name] then kept[name] = value end
  end
  loaded, loading, own_modules = kept, {}, {}
end

--- Texts that stand in place of files below the scenario's folder, as if they were saved there.
---@param texts table<string, string> by path: "schedulers/mine.lua"
function chunks.edit(texts)
  edited = texts
  if next(texts) ~= nil then chunks.forget() else chunks.forget_own() end
end

--- Sets the folder where modules are looked for besides scripts/.
function chunks.folder(path) scenario_folder, nearer = path, {} end
--- After an interrupt: marks no module as being loaded.
function chunks.settle()
  loading = {}
  environments.settle()
  native.end_loading()
end

named_policies.look_with(chunks)

-- Running --------------------------------------------------------------------------------------------

local function guarded(path, message, call, ...)
  native.begin_loading(message)
  local results = { handlers.stock_xpcall(call, native.user_words, ...) }
  if not results[1] and native.is_stopped() and tostring(results[2]):find("stack overflow", 1, true) then
    results[2] = message -- where it was stopped the stack had no room for this error
  end
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

local function run_scenario(path)
  local folder = path:match "^(.*)/[^/]*$" or "."
  if folder ~= scenario_folder then scenario_folder, nearer = folder, {} end
  files.beside(path)
  return guarded(path, "stopped: loading ran too many instructions; a scenario returns data and runs nothing",
    run_file, path)
end

--- Loads a scenario: runs the file and returns what it returns.
function chunks.load_scenario(path)
  mains[path] = nil
  local scenario = run_scenario(path)
  scenario_file, of_scenario = path, chunks.files()
  files.loaded()
  origins[path] = { path = path, returned = scenario, makes_functions = makes_functions(mains[path]) }
  return scenario
end

--- The last load of a scenario's file: {path, returned, makes_functions}; nil for any other text.
function chunks.origin(path) return origins[path] end

--- Runs a scenario's file and the files that it requires once more, each with locals of its own, and returns what the
--- scenario returns then. Modules that it does not require run again when a policy asks for them.
function chunks.run_again(path)
  environments.silence(true)
  local results = { pcall(run_scenario, path) }
  environments.silence(false)
  if not results[1] then error(results[2], 0) end
  return results[2]
end

--- Runs text in the environment of a scenario; for tests and one-liners.
function chunks.run_text(text, name)
  local chunk, problem = native.load_text(text, name)
  if not chunk then error(problem, 0) end
  return tostring((setfenv(chunk, environments.new(chunks.own_require, false))()))
end

--- `rooflua lua FILE ARGS`: runs a file as luajit does, with the library and the file's folder on the path.
function chunks.run_trusted(path, ...)
  local folder = path:match "^(.*)/[^/]*$" or "."
  scenario_folder = folder
  package.path = folder .. "/?.lua;" .. package.path
  globals.arg = { [0] = path, ... }
  globals.pairs = core.pairs
  native.load_chunk(path, "@" .. path)(...)
end

return chunks
