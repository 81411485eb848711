-- Every public function and field has a stub, and every stub has a function or field. Runs trusted.
-- Usage: rooflua lua tests/script/stubs.lua
local native = require "rooflua.native"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local help = require "rooflua.help.topics"

local problems = {}
local function problem(...) problems[#problems + 1] = string.format(...) end

local compared = 0
local function compare(what, have, stubbed)
  for name in pairs(have) do
    compared = compared + 1
    if not stubbed[name] then problem("%s.%s has no stub", what, name) end
  end
  for name in pairs(stubbed) do
    compared = compared + 1
    if not have[name] then problem("%s.%s has a stub and does not exist", what, name) end
  end
end

--- Names of `function owner.x` or `function owner:x` in a stub; of ---@field lines of a class.
local function functions_of(stub, owner)
  local out = {}
  for _, entry in ipairs(stub.entries) do
    local name = entry.signature and entry.name:match("^" .. owner .. "[.:]([%w_]+)$")
    if name then
      out[name] = true
      if #entry.doc == 0 or entry.doc[1]:sub(1, 1) == "@" then
        problem("%s.%s has no text", owner, name)
      end
    end
  end
  return out
end
local function fields_of(stub, class)
  for _, entry in ipairs(stub.entries) do
    if entry.name == class then
      local out, text = {}, table.concat(entry.doc, "\n")
      for name in text:gmatch "@field ([%w_]+)" do out[name] = true end
      return out
    end
  end
  problem("no class %s", class)
  return {}
end

local function set(list)
  local out = {}
  for _, name in ipairs(list) do out[name] = true end
  return out
end

-- The modules as a sandboxed script sees them.
local have_stub = set(native.list_folder(native.home .. "/scripts/meta", ".lua"))
for _, name in ipairs(native.list_folder(native.home .. "/scripts/lib/rooflua", ".lua")) do
  if name ~= "init" then
    if not have_stub[name] then
      problem("module %s has no stub", name)
    else
      local stub = help.read_stub(name)
      local have, members = {}, {}
      for key, value in pairs(chunks.public(name)) do
        if type(value) == "function" then have[key] = true else members[key] = true end
      end
      compare(name, have, functions_of(stub, name))
      compare(name, members, fields_of(stub, "rooflua."
        .. name)) -- no table reaches scripts unnoticed
    end
    have_stub[name] = nil
  end
end
-- What schedulers, routers and policies around the engines see is of no module.
for _, name in ipairs { "rooflua", "schedulers", "routers", "processors", "control", "control_clients",
  "control_fleets" } do
  have_stub[name] = nil
end
for name in pairs(have_stub) do problem("stub %s is of no module", name) end

-- A scenario: the keys that the library reads equal those of the stub.
compare("scenario", set(require("rooflua.scenario.schema").keys), fields_of(help.read_stub "serve", "rooflua.Scenario"))

-- Objects.
local spec, mfu, cost = require "rooflua.spec", require "rooflua.mfu", require "rooflua.cost"
local function plain_keys(object, skip)
  local out = {}
  for key in pairs(core.object_fields[object]) do
    if not skip[key] then out[key] = true end
  end
  return out
end
local spec_stub, mfu_stub, cost_stub = help.read_stub "spec", help.read_stub "mfu",
  help.read_stub "cost"
local deepseek = spec.model "deepseek-v3"
local model_fields = plain_keys(deepseek, {})
model_fields.hybrid = true -- absent in a model without
model_fields.sampling = true -- absent where it is not known
model_fields.vision = true -- absent in models of text only
model_fields.audio = true -- absent in those that hear nothing
model_fields.streams = true -- absent where there is one
model_fields.ngram_tables = true -- absent in a model without
compare("Model", model_fields, fields_of(spec_stub, "rooflua.Model"))
local hardware = spec.hardware "h200-sxm"
compare("Hardware", plain_keys(hardware, {}), fields_of(spec_stub, "rooflua.Hardware"))
compare("Deployment", plain_keys(spec.deployment { model = "llama-3.1-8b", hardware = hardware },
  set { "weight_dtype", "kv_dtype" }),
  fields_of(spec_stub, "rooflua.Deployment"))

--- The known names that the error for an unknown field lists.
local function known_names(object)
  local _, message = pcall(function() return object.no_such_field end)
  local out = {}
  for name in message:match("%(known: (.*)%)$"):gmatch "[%w_]+" do out[name] = true end
  return out
end
local function union(a, b)
  for key in pairs(b) do a[key] = true end
  return a
end
local db = mfu.open "h200-sxm"
local _, estimate = db:gemm(1, 16, 16)
compare("Database", known_names(db), union(functions_of(mfu_stub, "Database"), fields_of(mfu_stub,
  "rooflua.Database")))
compare("Estimate", known_names(estimate), fields_of(mfu_stub, "rooflua.Estimate"))
compare("Model methods", union(set { "parameters", "active_parameters", "kv_bytes_per_token" },
  {}), functions_of(spec_stub, "Model"))
compare("Batch", known_names(cost.batch { decodes = 1 }), fields_of(cost_stub, "rooflua.Batch"))

-- The manual: every function and method of a stub is in docs/LUA_API.md, and no other `module.function`.
local manual = native.read_file(native.home .. "/docs/LUA_API.md")
if manual then
  local stubbed = {}
  for _, module in ipairs(native.list_folder(native.home .. "/scripts/meta", ".lua")) do
    for _, entry in ipairs(help.read_stub(module).entries) do
      local name = entry.signature and entry.name:match "[%w_]+$"
      if name then
        compared = compared + 1
        stubbed[entry.name] = true
        if not manual:find("[.:]" .. name .. "%f[^%w_]") then
          problem("docs/LUA_API.md does not mention %s", entry.name)
        end
      end
    end
    if module ~= "rooflua" then
      for name in manual:gmatch("`" .. module .. "%.([%l_]+)%(") do
        if not stubbed[module .. "." .. name] then
          problem("docs/LUA_API.md has %s.%s, which has no stub", module, name)
        end
      end
    end
  end
end

table.sort(problems)
for _, each in ipairs(problems) do print("FAIL " .. each) end
print(string.format("compared=%d mismatched=%d", compared, #problems))
if #problems > 0 then error("stubs and bindings differ", 0) end
