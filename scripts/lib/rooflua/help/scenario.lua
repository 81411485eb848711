-- The keys of a scenario for people and editors, from their declarations: help, the table of docs/LUA_API.md, and the
-- types of scripts/meta/serve.lua and plan.lua. tests/generated.lua writes and compares the last two.
local native = require "rooflua.native"
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local figures = require "rooflua.scenario.figures"
local schema = require "rooflua.scenario.schema"

local manual = {}

local function default_text(entry)
  local value = entry.default
  if value == nil then return "" end
  if type(value) == "string" then return entry.type == "policy" and value or '"' .. value .. '"' end
  return type(value) == "number" and native.number_text(value) or tostring(value)
end

local function unit_text(entry) return entry.unit and entry.unit ~= "1" and entry.unit or "" end

--- The kinds of scenario that read a key: "all", or their names.
local function kinds_text(entry)
  local all, names = true, {}
  for _, kind in ipairs(schema.entry("kind").values) do
    if entry.kinds[kind] then names[#names + 1] = kind else all = false end
  end
  return all and "all" or #names == 0 and "none" or core.join(names, ", ")
end

local function type_text(entry)
  if entry.type == "choice" then
    local values = {}
    for i, value in ipairs(entry.values) do values[i] = '"' .. value .. '"' end
    return core.join(values, ", ")
  end
  if entry.folder then return entry.type .. " of " .. entry.folder end
  return entry.type
end

local function doc_text(entry)
  return entry.same_as and ("of this replica; default the scenario's `%s`"):format(entry.same_as) or entry.doc
end

-- Help ------------------------------------------------------------------------------------------------------

local function line_of(entry)
  local default, unit = default_text(entry), unit_text(entry)
  local words = { type_text(entry) }
  if unit ~= "" then words[1] = words[1] .. ", " .. unit end
  if default ~= "" then words[#words + 1] = "default " .. default end
  return ("  %s: %s\n      %s"):format(entry.path, core.join(words, "; "), doc_text(entry))
end

local function key_text(entry)
  local lines = { line_of(entry):sub(3), "      read by kinds: " .. kinds_text(entry) }
  if entry.read_by then lines[#lines] = lines[#lines] .. "; by rooflua." .. entry.read_by end
  if entry.example and entry.example ~= "{}" then
    lines[#lines + 1] = ("      for example: %s = %s"):format(entry.name, entry.example)
  end
  for _, field in ipairs(entry.fields or {}) do lines[#lines + 1] = line_of(field) end
  return core.join(lines, "\n")
end

--- Whether a topic is the path of a key: "vary", "deployment.tp".
function manual.is_key(topic) return schema.entry(topic) ~= nil end

--- The text for "scenario", all keys, and for "scenario.deployment.tp", one of them; nil for other topics.
function manual.help(topic)
  if topic == "scenario" then
    local lines = { "A scenario is a Lua file that returns a table of these keys. More on one: help \"scenario.KEY\"" }
    for _, entry in ipairs(schema.fields()) do lines[#lines + 1] = line_of(entry) end
    return core.join(lines, "\n")
  end
  local entry = schema.entry(topic:match "^scenario%.(.+)$" or "")
  return entry and key_text(entry)
end

--- Every topic that there is help on.
function manual.topics()
  local out = { "scenario" }
  for _, entry in ipairs(schema.all()) do out[#out + 1] = "scenario." .. entry.path end
  return out
end

--- Key paths that take a policy, each with its folder as a dict of Python has them; "metrics.*" takes one at each name.
function manual.policy_folders()
  local out = {}
  for path, folder in core.sorted_pairs(schema.policy_folders()) do
    out[#out + 1] = ('"%s": "%s"'):format(path, folder)
  end
  return out
end

-- The table of the manual -------------------------------------------------------------------------------------

--- Rows of a Markdown table.
function manual.rows()
  local out = { "| key | type | unit | default | kinds | |", "|---|---|---|---|---|---|" }
  for _, entry in ipairs(schema.all()) do
    out[#out + 1] = ("| %s | %s | %s | %s | %s | %s |"):format(entry.path, type_text(entry), unit_text(entry),
      default_text(entry), kinds_text(entry), doc_text(entry))
  end
  return core.join(out, "\n")
end

-- Types for editors -----------------------------------------------------------------------------------------

local plain = { text = "string?", integer = "integer?", number = "number?", boolean = "boolean?", table = "table?",
  list = "table?", policy = "table|string|nil", ["integer or list"] = "integer|table|nil",
  ["text or policy"] = "table|string|nil" }

local function lua_type(entry)
  if entry.lua then return entry.lua end
  if entry.class then return entry.class .. "?" end
  if entry.type ~= "choice" then return plain[entry.type] end
  local values = {}
  for i, value in ipairs(entry.values) do values[i] = '"' .. value .. '"' end
  return core.join(values, "|") .. "|nil"
end

local longest = 118 -- columns of a line of the stub

--- One field. What does not fit into its line stands in a line above it.
local function field_lines(out, entry)
  local default = entry.same_as and "" or default_text(entry)
  local unit = unit_text(entry)
  local about = (unit ~= "" and unit .. "; " or "") .. (default ~= "" and "default " .. default .. "; " or "")
    .. doc_text(entry)
  local line = ("---@field %s %s"):format(entry.name, lua_type(entry))
  if #line + 1 + #about <= longest then
    line = line .. " " .. about
  else
    for part in (about .. " "):gmatch "(.-) " do
      local last = out[#out]
      if last:sub(1, 4) == "--- " and #last + 1 + #part <= longest then
        out[#out] = last .. " " .. part
      else
        out[#out + 1] = "--- " .. part
      end
    end
  end
  out[#out + 1] = line
end

local function class_lines(out, name, fields)
  out[#out + 1] = "---@class " .. name
  for _, entry in ipairs(fields) do field_lines(out, entry) end
end

--- Entries of the rows of tables of figures, with their types for editors. A name that several tables have is that of
--- the first.
---@param mark string after each type: "?" where a figure may be left out
local function entries_of_figures(out, tables, mark)
  local seen = {}
  for _, of in ipairs(tables) do
    for _, row in ipairs(figures.shown(of)) do
      local unit = row.type ~= "integer" and row.unit or nil -- the sentence of a count says of what
      if not seen[row.name] then
        out[#out + 1] = { name = row.name, lua = row.type .. mark, doc = row.doc, unit = unit,
          default = mark == "?" and row.default or nil }
      end
      seen[row.name] = true
    end
  end
  return out
end

--- The class of the options of spec.deployment, and those of Deployments and Hardwares.
function manual.spec_class(name)
  local out = {}
  if name == "DeploymentOptions" then
    class_lines(out, "rooflua.DeploymentOptions", entries_of_figures({
      { name = "model", lua = "any", doc = "as spec.model takes it" },
      { name = "hardware", lua = "any", doc = "as spec.hardware takes it" } }, { "deployment" }, "?"))
  elseif name == "Deployment" then
    class_lines(out, "rooflua.Deployment", entries_of_figures({
      { name = "model", lua = "rooflua.Model", doc = "what is placed" },
      { name = "hardware", lua = "rooflua.Hardware", doc = "the GPU" },
      { name = "stages", lua = "rooflua.Stage[]", doc = "one where nothing is divided" },
      { name = "formats", lua = "table<string, string>",
        doc = "dtype of each class of weights, as this GPU runs them" },
    }, { "deployed", "deployment" }, ""))
  else
    class_lines(out, "rooflua.Hardware", entries_of_figures({}, { "hardware" }, ""))
  end
  return core.join(out, "\n")
end

--- The class of the group `plan`, which has a stub of its own.
function manual.plan_class()
  local out, entry = {}, schema.entry "plan"
  class_lines(out, entry.class, entry.fields)
  return core.join(out, "\n")
end

local types_of_axes = { count = "integer", amount = "number", format = "string", switch = "boolean", table = "table",
  engine = "string", memory = "number" }

--- The stub of a candidate of a plan: its fields are the axes.
function manual.candidate_class()
  local out = { "---@class rooflua.PlanCandidate", "---@field gpu integer" }
  for _, axis in ipairs(axes.of_candidates()) do
    local type, about = types_of_axes[axis.type], axis.unit
    if axis.type == "split" then
      type, about = "{ prefill: integer, decode: integer }", "and " .. core.join(axes.names "prefill", ", ")
    end
    out[#out + 1] = ("---@field %s %s?%s"):format(axis.name, type, about and " " .. about or "")
  end
  out[#out + 1] = "---@field set table<string, any>? further key paths of the scenario"
  out[#out + 1] = "---@field label string?"
  return core.join(out, "\n")
end

--- The classes rooflua.Scenario and those of its other groups, as the stub has them.
function manual.classes()
  local out = {}
  class_lines(out, "rooflua.Scenario", schema.fields())
  for _, entry in ipairs(schema.all()) do
    if entry.class and not entry.same_as and entry.name ~= "plan" then
      out[#out + 1] = ""
      class_lines(out, entry.class, entry.fields)
    end
  end
  return core.join(out, "\n")
end

return manual
