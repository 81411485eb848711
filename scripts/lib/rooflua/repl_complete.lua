--- What Tab offers: globals, modules, fields and methods, parameters of policies, names in require "...",
--- :commands and their files.
local native = require "rooflua.native"
local core = require "rooflua.core"
local help = require "rooflua.help"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local complete = {}

local keywords = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
  "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }
local folders = { "bucketing", "corrections", "lookup", "routers", "schedulers", "steps", "workloads" }

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
  local chunks, out = require "rooflua.chunks", {}
  for _, name in ipairs(native.list_folder(native.home .. "/scripts/lib/rooflua", ".lua")) do
    if name ~= "init" and not chunks.is_private(name) then out[#out + 1] = name end
  end
  return out
end

--- Methods that the stubs promise of a class, and its fields.
local function stubbed(module, class)
  local out = {}
  for _, entry in ipairs(help.read_stub(module).entries) do
    local name = entry.signature and entry.name:match("^" .. class .. "[.:]([%w_]+)$")
    if name then out[#out + 1] = name end
    if entry.class and entry.name == "rooflua." .. class then
      for _, line in ipairs(entry.doc) do out[#out + 1] = line:match "^@field ([%w_]+)" end
    end
  end
  return out
end

local stub_of = { Model = "spec", Hardware = "spec", Deployment = "spec", Database = "mfu" }

local function keys_of(value)
  if serve.is_live(value) then return stubbed("serve", "Live") end
  local class = type(value) == "userdata" and core.class_name(value)
  if class then
    class = class:gsub("^rooflua%.", "")
    return stub_of[class] and stubbed(stub_of[class], class) or core.sorted_keys(core.fields_of(value) or {})
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
      add(require("rooflua.chunks").public(name)) -- without what only the library should call
      return keys
    end
  end
  add(value)
  if policy.is_instance(value) then add(policy.parameters(value)) end
  return keys
end

--- The value of a chain of names such as sim or db.hardware, without calling anything of the user's.
local function value_of(chain, environment)
  local value
  for i, name in ipairs(chain) do
    if i == 1 then
      local ok, found = pcall(function() return environment[name] end)
      if not ok then return nil end
      value = found
    else
      local ok, found = pcall(function() return value[name] end)
      if not ok then return nil end
      value = found
    end
    if value == nil then return nil end
  end
  return value
end

--- The value of "sim" or "a.b.c"; nil where something is missing on the way.
function complete.value(text, environment)
  local parts = {}
  for part in text:gmatch "[%w_]+" do parts[#parts + 1] = part end
  return value_of(parts, environment)
end

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
  local ok, class = pcall(require("rooflua.chunks").require, open)
  if not ok or not policy.is_class(class) then return nil end
  local out = {}
  for _, key in ipairs(core.sorted_keys(policy.describe(class).params)) do out[#out + 1] = key .. " = " end
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

local function files(prefix)
  local folder, rest = prefix:match "^(.*/)([^/]*)$"
  folder, rest = folder or "", rest or prefix
  local out = {}
  for _, name in ipairs(native.list_folder(folder == "" and "." or folder, "")) do
    if name:sub(1, #rest) == rest and name:sub(1, 1) ~= "." then
      local inside = native.list_folder(folder .. name, "")
      if #inside > 0 then out[#out + 1] = folder .. name .. "/"
      elseif name:find "%.lua$" then out[#out + 1] = folder .. name end
    end
  end
  return out
end

--- Of the line before the cursor: how many of its last bytes are replaced, and by what.
---@param line string
---@param environment table of the session
---@param names string[] what else can be named: modules, words of the prompt
---@param commands table name -> {argument = "file" | "policy" | "simulation" | ...}
---@return integer replaced, string[] candidates
function complete.at(line, environment, names, commands)
  local command, argument = line:match "^%s*:(%a+)%s+(.*)$"
  if command then
    local word = argument:match "[^%s=]*$"
    local kind = commands[command] and commands[command].argument
    if kind == "file" then return #argument, files(argument) end
    if kind == "topic" then return #word, unique(starting(modules(), word, starting(names, word, {}))) end
    if kind == "set" and argument:find "=" then
      local folder = ({ scheduler = "schedulers", steps = "steps" })[argument:match "(%a+)=%S*$"]
      if folder then
        return #word, starting(native.list_folder(native.home .. "/scripts/" .. folder, ".lua"), word, {})
      end
    end
    if type(kind) == "table" then return #word, starting(kind, word, {}) end
    if kind ~= "expression" then return #word, {} end
    line = argument
  end
  local start = line:match "^%s*:(%a*)$"
  if start then
    local known = {}
    for _, name in ipairs(core.sorted_keys(commands)) do known[#known + 1] = name .. " " end
    return #start, starting(known, start, {})
  end
  local quoted = line:match "%f[%w_]require%s*%(?%s*[\"']([%w_.%-]*)$"
    or line:match "%f[%w_]help%s*%(?%s*[\"']([%w_.:%-]*)$"
  if quoted then return #quoted, starting(modules(), quoted, {}) end
  local policies = line:match "%f[%w_]scheduler%s*=%s*[\"']([%w_.%-]*)$"
  if policies then
    return #policies, starting(native.list_folder(native.home .. "/scripts/schedulers", ".lua"), policies, {})
  end
  local chain, last = line:match "([%a_][%w_.]*)[.:]([%w_]*)$"
  if chain then
    local value = complete.value(chain, environment)
    return #last, value == nil and {} or unique(starting(keys_of(value), last, {}))
  end
  local word = line:match "[%a_][%w_]*$" or ""
  local inside = parameters_at(line:sub(1, #line - #word))
  if inside then return #word, starting(inside, word, {}) end
  if word == "" then return 0, {} end
  return #word, unique(starting(globals(environment, names), word, {}))
end

return complete
