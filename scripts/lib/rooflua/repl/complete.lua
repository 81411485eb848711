--- Completion with Tab: globals, modules, fields and methods, parameters of policies, names in require "...",
--- :commands and their files.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local help = require "rooflua.help.topics"
local policy = require "rooflua.policy"
local reading = require "rooflua.repl.reading"
local serve = require "rooflua.serving.live"
local spec = require "rooflua.spec"

local complete = {}

local keywords = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
  "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }
local folders = require("rooflua.policy.kinds").folders(true)
table.sort(folders)

local function starting(names, prefix, out)
  for _, name in ipairs(names) do
    if type(name) == "string" and name:sub(1, #prefix) == prefix then out[#out + 1] = name end
  end
  return out
end

local function modules()
  local out = {}
  for _, kind in ipairs(folders) do
    for _, name in ipairs(native.list_folder(native.home .. "/scripts/" .. kind, ".lua")) do
      out[#out + 1] = kind .. "." .. name
    end
  end
  out[#out + 1] = "rooflua"
  for _, name in ipairs(complete.library()) do out[#out + 1] = "rooflua." .. name end
  return out
end

--- Public modules of the library.
function complete.library()
  local out = {}
  for _, name in ipairs(native.list_folder(native.home .. "/scripts/lib/rooflua", ".lua")) do
    if name ~= "init" then out[#out + 1] = name end
  end
  return out
end

--- Methods and fields of a class, from the stubs.
local function stubbed(module, class, only_methods)
  local out = {}
  for _, entry in ipairs(help.read_stub(module).entries) do
    local name = entry.signature and entry.name:match("^" .. class .. "[.:]([%w_]+)$")
    if name then out[#out + 1] = name end
    if entry.class and entry.name == "rooflua." .. class and not only_methods then
      for _, line in ipairs(entry.doc) do out[#out + 1] = line:match "^@field ([%w_]+)" end
    end
  end
  return out
end

local stub_of = { Model = "spec", Hardware = "spec", Deployment = "spec", Database = "mfu" }

local function keys_of(value, only_methods)
  if serve.is_live(value) then return stubbed("serve", "Live", only_methods) end
  local class = type(value) == "userdata" and core.class_name(value)
  if class then
    class = class:gsub("^rooflua%.", "")
    local stub = stub_of[class]
    return stub and stubbed(stub, class, only_methods) or core.sorted_keys(core.fields_of(value) or {})
  end
  if type(value) == "string" then return core.sorted_keys(string) end
  if type(value) ~= "table" then return {} end
  local keys, seen = {}, {}
  local function add(t)
    for _, key in ipairs(core.sorted_keys(core.plain(t))) do
      if not seen[key] then
        seen[key] = true
        keys[#keys + 1] = key
      end
    end
  end
  if value == require "rooflua" then
    for _, name in ipairs(complete.library()) do keys[#keys + 1] = name end
    keys[#keys + 1], keys[#keys + 2] = "help", "list"
    return keys
  end
  for _, name in ipairs(complete.library()) do
    if rawequal(value, package.loaded["rooflua." .. name]) then
      add(require("rooflua.sandbox.chunks").public(name)) -- without functions that only the library calls
      return keys
    end
  end
  add(value)
  if policy.is_instance(value) then add(policy.parameters(value)) end
  return keys
end

--- The value of "sim" or "a.b.c"; nil if a part of it does not exist. No function of the user is called.
function complete.value(text, environment) return reading.value(text, environment) end

local function globals(environment, names)
  local out = {}
  for _, key in ipairs(core.sorted_keys(environment)) do out[#out + 1] = key end
  for _, key in ipairs(core.sorted_keys(_G)) do out[#out + 1] = key end
  for _, key in ipairs(names) do out[#out + 1] = key end
  for _, key in ipairs(keywords) do out[#out + 1] = key end
  return out
end

--- Inside `require "steps.kernels" { h`: the parameters of the policy.
local function parameters_at(before)
  local open = before:match ".*%f[%w_]require%s*%(?%s*[\"']([%w_.]+)[\"']%s*%)?%s*{([^{}]*)$"
  if not open then return nil end
  local ok, class = pcall(require("rooflua.sandbox.chunks").require, open)
  if not ok or not policy.is_class(class) then return nil end
  local out = {}
  for _, key in ipairs(core.sorted_keys(policy.definition(class).params)) do out[#out + 1] = key .. " = " end
  return out
end

local function unique(names)
  table.sort(names)
  local out = {}
  for _, name in ipairs(names) do
    if name ~= out[#out] then out[#out + 1] = name end
  end
  return out
end

--- Files and folders that begin with `prefix`, in the working directory; if there are none, in the home folder.
local function files(prefix, suffix, home)
  local folder, rest = prefix:match "^(.*/)([^/]*)$"
  folder, rest = folder or "", rest or prefix
  local place, out = (home or "") .. folder, {}
  for _, name in ipairs(native.list_folder(place == "" and "." or place, "")) do
    if name:sub(1, #rest) == rest and name:sub(1, 1) ~= "." then
      if #native.list_folder(place .. name, "") > 0 then out[#out + 1] = folder .. name .. "/"
      elseif suffix == "" or name:sub(-#suffix) == suffix then out[#out + 1] = folder .. name end
    end
  end
  if #out == 0 and not home then return files(prefix, suffix, native.home .. "/") end
  return out
end

local function names_in(kind) return native.list_folder(native.home .. "/scripts/" .. kind, ".lua") end

--- Candidates for a text without its closing quote, by the pattern of what stands before it.
local quoted = {
  { "%f[%w_]require%s*%(?%s*[\"']([%w_.%-]*)$", modules },
  { "%f[%w_]spec%.model%s*%(?%s*[\"']([%w_.%-]*)$", spec.models },
  { "%f[%w_]model%s*=%s*[\"']([%w_.%-]*)$", spec.models },
  { "%f[%w_]spec%.hardware%s*%(?%s*[\"']([%w_.%-]*)$", spec.gpus },
  { "%f[%w_]mfu%.open%s*%(?%s*[\"']([%w_.%-]*)$", spec.gpus },
  { "%f[%w_]hardware%s*=%s*[\"']([%w_.%-]*)$", spec.gpus },
  { "%f[%w_]scheduler%s*=%s*[\"']([%w_.%-]*)$", function() return names_in "schedulers" end },
  { "%f[%w_]steps%s*=%s*[\"']([%w_.%-]*)$", function() return names_in "steps" end },
}

local function in_text(line)
  for _, each in ipairs(quoted) do
    local word = line:match(each[1])
    if word then return #word, starting(each[2](), word, {}) end
  end
  local topic = line:match "%f[%w_]help%s*%(?%s*[\"']([%w_.:%-]*)$"
  if topic then return #topic, unique(starting(topic:find "[.:]" and help.topics() or modules(), topic, {})) end
  local path = line:match "[\"']([^\"'%s]*/[^\"'/%s]*)$"
  if path then return #path, files(path, "") end
end

--- The argument of a :command.
local function argument_of(command, argument, what)
  local word = argument:match "%S*$"
  local first = not argument:find "%S%s"
  if what == "file" then
    if first then return #argument, files(argument, ".lua") end
  elseif what == "topic" then
    return #word, unique(starting(word:find "[.:]" and help.topics() or modules(), word, starting(modules(), word, {})))
  elseif type(what) == "table" and (command ~= "fork" or not first) then
    local slot, name = word:match "^(%a+)=(%S*)$"
    local folder = ({ scheduler = "schedulers", steps = "steps" })[slot]
    if folder then return #name, starting(names_in(folder), name, {}) end
    return #word, starting(what, word, {})
  end
  return #word, {}
end

--- Candidates for the end of a line, and how many of its last bytes they replace.
---@param line string up to the cursor
---@param environment table of the session
---@param names string[] other names: modules, words of the prompt
---@param commands table name -> {argument = "file" | "policy" | "simulation" | ...}
---@return integer replaced, string[] candidates
function complete.at(line, environment, names, commands)
  local command, argument = line:match "^%s*:(%a+)%s+(.*)$"
  if command then
    local what = commands[command] and commands[command].argument
    if what ~= "expression" then return argument_of(command, argument, what) end
    line = argument
  end
  local start = line:match "^%s*:(%a*)$"
  if start then
    local known = {}
    for _, name in ipairs(core.sorted_keys(commands)) do known[#known + 1] = name .. " " end
    return #start, starting(known, start, {})
  end
  local replaced, candidates = in_text(line)
  if replaced then return replaced, candidates end
  local object, mark, last = line:match "^(.*)([.:])([%w_]*)$"
  if object and reading.ends_in_value(object) then
    local value = reading.value(object, environment)
    return #last, value == nil and {} or unique(starting(keys_of(value, mark == ":"), last, {}))
  end
  local word = line:match "[%a_][%w_]*$" or ""
  local inside = parameters_at(line:sub(1, #line - #word))
  if inside then return #word, starting(inside, word, {}) end
  if word == "" then return 0, {} end
  return #word, unique(starting(globals(environment, names), word, {}))
end

return complete
