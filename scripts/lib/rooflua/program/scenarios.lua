-- What the program asks of a scenario. A scenario that it opened is a number in its hands, because only documents
-- cross between the two. What only some reports need is loaded when it is needed, as in runs/single.lua.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"

local program = {}
local opened_by_number = {}

--- What the results of an opened scenario's settings can say of each other, else what is known of settings that were
--- changed from outside (explore/differences.lua); nil of points of a sample, and where no setting of a server changes.
---@param runs table[]? results; without them {levers} alone
local function compared(opened, runs)
  if opened.kind ~= "serve" or opened.given.sweep ~= nil then return nil end
  local differences = require "rooflua.explore.differences"
  local told = #opened.all > 1 and differences.of(runs or opened.all, differences.paths(opened.all), runs == nil)
  return told or differences.of_sets(opened.set)
end

--- {number, file, kind, title, seed, set = texts of `--set`, variants = {{name, parameters, seed, position}}, total,
--- has_report, has_startup, lists_operations}
local function document_of(opened)
  opened_by_number[#opened_by_number + 1] = opened
  local list = json.array {}
  for i, each in ipairs(opened.variants) do
    list[i] = { name = each.name, parameters = each.parameters, seed = each.seed, position = each.position }
  end
  return { number = #opened_by_number, file = opened.reader.file, kind = opened.kind, title = opened.title,
    seed = opened.seed, set = json.array(opened.set or {}), variants = list, total = #opened.all,
    has_report = opened.given.report ~= nil or compared(opened) ~= nil,
    has_startup = opened.reader.shared.startup ~= nil, lists_operations = kinds.lists_operations(opened) }
end

--- Loads and checks a scenario's file. options: set = list of "key=value", seed.
function program.open(path, options) return document_of(opening.file(path, options)) end
--- The same for a table. options: also file, what errors call it.
function program.open_table(given, options) return document_of(opening.table(given, options)) end

--- The same for a simulation of the library: document_of, and `simulation`, its number (program/simulations.lua).
---@param path string? of a scenario's file
---@param stated table of program/overrides.lua
function program.open_simulation(path, stated)
  local opened = require("rooflua.program.overrides").open(path, stated, "serve")
  local document = document_of(opened)
  document.simulation = require("rooflua.program.simulations").begin(opened)
  return document
end

--- The key path that `--set NAME=VALUE` of the command `step` means: a parameter of the step model, else a key of the
--- deployment, else a key of the scenario.
---@param steps string the step model's name
function program.step_path(name, steps)
  local first = name:match "^[^.]+" or name
  local params = policy.definition(policies.of(Reader.new "step", "steps", steps)).params
  if params[first] then return "steps." .. name end
  if first == "engine" then return name end
  if schema.entry("deployment." .. first) then return "deployment." .. name end
  return schema.entry(first) and name or "steps." .. name
end

function program.run(number, index, options) return kinds.run(opened_by_number[number], index, options) end
function program.check(number) kinds.check(opened_by_number[number]) end
function program.hashes(number, ...) return kinds.hashes(opened_by_number[number], ...) end
function program.parameters(number) return require("rooflua.program.describe").parameters(opened_by_number[number]) end

--- What one variant says of its machine and load, serving/facts.lua, and its seed.
function program.facts(number, index)
  local opened = opened_by_number[number]
  local given, variant = opening.variant(opened, index)
  local facts = require("rooflua.serving.facts").of(opened.reader, given)
  facts.seed = variant.seed
  return facts
end

--- What files of a start say beside what the ledger of the first variant believes (serving/believed.lua).
function program.startup(number)
  local opened = opened_by_number[number]
  return require("rooflua.program.capacity").beside(opened.reader, (opening.variant(opened, 1)))
end

--- Differences between variants over seeds as text; "" where there are no seeds to compare over. The points of a
--- sample have no baseline to compare with.
function program.over_seeds(number, results)
  if opened_by_number[number].given.sweep ~= nil then return "" end
  return require("rooflua.explore.text").over_seeds(results)
end

--- What a function of lab/questions.lua says of it.
function program.laboratory(number, name, arguments)
  return require("rooflua.lab.questions")[name](opened_by_number[number], core.unpack(arguments))
end

--- What a page says of many runs: {sections, has_baseline, own} of explore/page.lua.
--- @param missing table {{name, parameters, why}} of variants without a result
function program.explored(number, results, missing)
  local opened = opened_by_number[number]
  return require("rooflua.explore.page").of(results, { kind = opened.kind, is_sample = opened.given.sweep ~= nil,
    missing = missing, own = require("rooflua.measure.own").by_name(opened.reader, opened.given) })
end

--- Adds to the results of all variants what their scenario says of the machine: gpus (how many), hardware (a name),
--- deployment (a table, tp always).
local function add_machines(opened, results)
  local gpus_of = require("rooflua.explore.runs").gpus_of
  for i, result in ipairs(results) do
    local given = opening.variant(opened, i)
    local hardware, deployment = given.hardware, { tp = 1 }
    for key, value in pairs(given.deployment and core.plain(given.deployment) or {}) do deployment[key] = value end
    result.gpus, result.deployment = gpus_of(given), deployment
    result.hardware = type(hardware) == "string" and hardware or hardware and hardware.name or nil
  end
end

--- What the scenario's own report makes of the results: {text, rows, figures}; the latter where it gives tables.
local function own_report(opened, results)
  local report = opened.given.report
  if not report then return { text = "" } end
  add_machines(opened, results)
  local out = opened.reader:at("report", report, results)
  if type(out) == "string" then return { text = native.printable(out) } end
  if type(out) == "table" then
    local answer = require "rooflua.text.answer"
    return { text = opened.reader:at("report", answer.text, out),
      figures = opened.reader:at("report", answer.figures, out),
      rows = opened.reader:at("report", answer.document, core.plain(out)) }
  end
  return opened.reader:fail("report", "expected text or tables, found %s", core.describe(out))
end

--- The scenario's own report and what is known of the differences between its settings: {text, rows}, and where
--- it gives tables `figures`, the text with the digits of a page. Without a report of its own `rows` has the
--- differences.
function program.report(number, results)
  local opened = opened_by_number[number]
  local told = compared(opened, results)
  local own = own_report(opened, results)
  if not told then return own end
  local rows = own.rows or own.text ~= "" and own.text or told
  local text = told.text
  told.text = nil
  return { text = own.text ~= "" and own.text .. "\n\n" .. text or text, rows = rows,
    figures = own.figures and own.figures .. "\n\n" .. text }
end

return program
