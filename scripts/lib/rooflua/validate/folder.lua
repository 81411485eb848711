-- Measured cases as a kind of set (validate/harness.lua): each row of a cases.csv is simulated with every step model.
local native = require "rooflua.native"
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local beliefs = require "rooflua.validate.beliefs"
local engines = require "rooflua.validate.engines"
local cases = require "rooflua.validate.cases"
local discrepancy = require "rooflua.intervals.discrepancy"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local notes = require "rooflua.machine.notes"
local page = require "rooflua.validate.page"
local run = require "rooflua.validate.run"
local sets = require "rooflua.validate.sets"
local text = require "rooflua.validate.text"
local totals = require "rooflua.validate.totals"
local units = require "rooflua.text.units"

local folder = { name = "cases", what = "measured cases", columns = cases.kind.required,
  scopes = { engine = true, interval = true }, at_root = true, lists_problems = true }

--- Whether a file is a list of cases: by its name, or by its columns.
function folder.reads(path, there)
  return select(2, sets.split(path)) == "cases.csv" or #columns.missing(there, cases.kind.required) == 0
end

--- Files that cases refer to, and the folder of kernel tables.
function folder.files(path, tables)
  local out = cases.files(path)
  out[#out + 1] = tables ~= "" and tables or beliefs.default_tables((sets.split(path)))
  return out
end

--- The step models to compare, all or those named; nil and the reason if a name is unknown.
local function chosen(names)
  local all = beliefs.list()
  if #names == 0 then return all end
  local out, known = {}, {}
  for i, belief in ipairs(all) do known[i] = belief.name end
  for _, name in ipairs(names) do
    local found
    for _, belief in ipairs(all) do found = found or belief.name == name and belief end
    if not found then return nil, core.unknown_name("step model", name, known) end
    out[#out + 1] = found
  end
  return out
end

function folder.refusals(options)
  return { steps = select(2, chosen(options.steps)),
    wide = "rows are reported of a file of closed loops; a folder's report has them" }
end

local interval_switches = { "discrepancy", "settings" }

local function switch_of(name, value, given)
  local known = core.set(interval_switches)
  if not known[name] then
    core.fail("--set interval.%s: %s", name, core.unknown_name("part of an interval", name, interval_switches))
  end
  if type(value) ~= "boolean" then core.fail("--set %s: expected true or false", given) end
  return value
end

--- The parameters of engines of --set engine.NAME=VALUE, and the terms of intervals of --set interval.NAME=VALUE.
local function parameters_of(scoped)
  local of_engines, of_interval = {}, {}
  for _, each in ipairs(scoped) do
    if each.scope == "engine" then
      of_engines[each.name] = each.value
    else
      of_interval[each.name] = switch_of(each.name, each.value, each.given)
    end
  end
  return of_engines, of_interval
end

local Run = {}
Run.__index = Run

function folder.open(options)
  local own, name = sets.split(options.path)
  local tables = options.tables ~= "" and options.tables or beliefs.default_tables(own)
  if options.tables ~= "" and #native.list_folder(tables, "") == 0 then
    core.fail("--tables %s: there is no such folder, or it is empty; expected aic/, infersim/, ... in it", tables)
  end
  local self = setmetatable({ folder = name == "cases.csv" and own or options.path, all = cases.read(own, name),
    ids = {}, beliefs = chosen(options.steps), named = #options.steps > 0, tables = tables, page = options.page,
    intervals = options.intervals, parameters = options.parameters }, Run)
  for i, case in ipairs(self.all) do self.ids[i] = case.id end
  self.engine, self.interval = parameters_of(options.scoped)
  engines.check(self.engine)
  beliefs.steps(self.beliefs[1], nil, self.parameters)
  return self
end

local function problem_text(problem)
  return (tostring(problem):gsub("%s*\n.*", ""):gsub("^validate: ", ""))
end

--- A result without figures for case number i, with its model, GPU and engine; the reason if it cannot run.
local function described(self, i)
  local case = self.all[i]
  local result = { case = case, beliefs = {} }
  local ok, about = pcall(run.describe, case, self.engine)
  if not ok then return result, problem_text(about) end
  about.tp, result.about, result.group = case.tp, about, totals.group_of(case, about)
  return result
end

--- The same problem for every step model.
local function cannot_run(self, problem)
  local out = {}
  for _, belief in ipairs(self.beliefs) do out[belief.name] = { problem = problem } end
  return out
end

--- Runs case number i with every step model.
--- @return table results by step model
function Run:case(i, scratch)
  local result, problem = described(self, i)
  if problem then return cannot_run(self, problem) end
  local out = {}
  for n, belief in ipairs(self.beliefs) do
    local options = { tables = self.tables, scratch = scratch, all = self.all,
      parameters = belief.steps == self.beliefs[1].steps and self.parameters or nil,
      intervals = n == 1 and self.intervals or 0, interval = self.interval }
    local done, found = pcall(run.case, result.case, result.about, belief, options)
    out[belief.name] = done and found or { problem = problem_text(found) }
  end
  run.forget(result.case)
  return out
end

function Run:take(i, found, problem)
  local result = described(self, i)
  result.beliefs = problem and cannot_run(self, problem) or found
  return result
end

-- Results ---------------------------------------------------------------------------------------------------

local function engines_used(current)
  local out = {}
  for _, result in ipairs(current.results) do
    if result.about then out[result.about.engine.title .. " " .. result.about.engine.label] = result.about.engine end
  end
  return out
end

--- {metric = {mean_abs_error, ...}} by group, without groups that have no number.
local function totals_document(of)
  local out = {}
  for group, metrics in pairs(of) do out[group] = next(metrics) and metrics or nil end
  return out
end

--- What a case leaves out of its model, and on what the constants of its GPU were fitted; nil if nothing is to say.
local function notes_of(current, result)
  local main, about = result.beliefs[current.beliefs[1].name], result.about
  if not (about and main.errors) then return nil end
  return notes.of({ { model = about.model, hardware = about.hardware } }, main.evidence)
end

--- Each note once, with the number of its cases: "deepseek-v3: ... (3 cases)"; "" where there are none.
local function notes_text(current)
  local order, said = {}, {}
  local counts = errors.counts(current.results, function(result)
    local own = notes_of(current, result) or {}
    for _, note in ipairs(own) do
      if not said[note] then order[#order + 1], said[note] = note, true end
    end
    return own
  end)
  for i, note in ipairs(order) do order[i] = ("%s (%s)"):format(note, units.counted(counts[note], "case")) end
  return table.concat(order, "\n")
end

local function case_document(current, result)
  local main, about = result.beliefs[current.beliefs[1].name], result.about
  local out = { case_id = result.case.id, rating = result.case.rating, dataset = result.case.dataset,
    group = result.group or "cannot run", model = about and about.model.name,
    kind = about and discrepancy.kind_of(about), errors = main.errors or {}, evidence = main.evidence or {},
    unread = result.case.unread and #result.case.unread > 0 and json.array(result.case.unread) or nil,
    notes = notes_of(current, result), tables = main.tables, problem = main.problem, intervals = main.intervals,
    discrepancy = main.discrepancy,
    others = {} }
  for i, belief in ipairs(current.beliefs) do
    local found = result.beliefs[belief.name]
    if i > 1 then out.others[belief.name] = { errors = found.errors or {}, problem = found.problem } end
  end
  return out
end

local function document(current, by_belief, groups)
  local main = current.beliefs[1].name
  local out = { steps = main, cases = json.array {}, others = {},
    totals = totals_document(by_belief[main]), groups = groups[main] }
  for i, belief in ipairs(current.beliefs) do
    if i > 1 then out.others[belief.name] = { totals = totals_document(by_belief[belief.name]) } end
  end
  if current.intervals > 0 then out.intervals = text.intervals(current.results, main) end
  for i, result in ipairs(current.results) do out.cases[i] = case_document(current, result) end
  return out
end

local function counted(current)
  local ran = 0
  for _, result in ipairs(current.results) do
    if result.beliefs[current.beliefs[1].name].errors then ran = ran + 1 end
  end
  return ran
end

--- "kernels: rooflua's default step model. Kernel tables: aic 202, none 3 (../tables)."
local function about_main(current, main, groups)
  local opened = groups.all and text.opened(groups.all.tables) or ""
  return ("%s: %s. Kernel tables: %s%s."):format(main.name, main.doc, opened ~= "" and opened or "none",
    current.tables and (" (%s)"):format(current.tables) or ", and there is no folder of them (--tables)")
end

--- What the step models cost, by group: parts of the report.
local function belief_parts(current, by_belief, groups)
  local out, of = {}, by_belief[current.beliefs[1].name]
  if #current.beliefs == 1 then return out end
  for _, prefix in ipairs { "vLLM", "TensorRT" } do
    for _, name in ipairs(totals.names(of, prefix)) do
      out[#out + 1] = { title = "What a belief costs: " .. name, record = "Step models: " .. name, left = 1,
        rows = text.belief_rows(by_belief, groups, current.of_group(name), name) }
    end
  end
  return out
end

local function parts_of(current, by_belief, groups, ran)
  local main = current.beliefs[1]
  local of, results = by_belief[main.name], current.results
  local parts = {
    ("%s: %d cases, %d ran, %d did not"):format(current.folder, #results, ran, #results - ran),
    "Errors in percent, (simulated - measured) / measured. Step model " .. about_main(current, main, groups[main.name]),
    { rows = text.case_rows(results, main.name), left = 1 },
  }
  local function add(part) parts[#parts + 1] = part end
  if not of.all then
    add(text.failures(results, current.beliefs))
    return parts
  end
  add { title = "Mean of |error| by group, every case the same weight", record = "Mean of |error| by group", left = 1,
    rows = text.group_rows(of, groups[main.name], totals.order(of)) }
  if current.intervals > 0 then
    add { title = ("Measured values inside the %d %% interval of the simulation (%d replicates)"):format(90,
      current.intervals), rows = text.coverage_rows(results, main.name), left = 2 }
    add(text.discrepancy(results, main.name, current.interval))
  end
  for _, part in ipairs(belief_parts(current, by_belief, groups)) do add(part) end
  add { record = "The ten worst", hidden = true, left = 2,
    rows = text.case_rows(text.worst(results, main.name, 10), main.name) }
  add { record = "Every case", hidden = true, left = 2, rows = text.case_rows(results, main.name) }
  local unread = text.unread(results)
  if unread ~= "" then add("Measured figures that nothing is compared with: " .. unread) end
  add(errors.titled("Notes", notes_text(current)))
  add(errors.titled("Did not run", text.failures(results, current.beliefs)))
  add { title = "Parameters; none of them knows a model or a run", left = 4,
    rows = text.parameter_rows(engines_used(current), beliefs.steps(main, nil, current.parameters)) }
  return parts
end

--- Step models in the table of a group: all that the user named, else those that differ in step model or tables.
local function compared(current, group)
  if current.named then return current.beliefs end
  local members = {}
  for _, result in ipairs(current.results) do
    if result.group == group then members[#members + 1] = result end
  end
  return beliefs.different(current.beliefs, members)
end

--- @return table {parts, document, ran, page}
function Run:finish(answers)
  local current = { folder = self.folder, results = answers, named = self.named, tables = self.tables,
    intervals = self.intervals, interval = self.interval, parameters = self.parameters,
    beliefs = self.named and self.beliefs or beliefs.different(self.beliefs, answers) }
  function current.of_group(group) return compared(current, group) end
  local by_belief, groups = {}, {}
  for _, belief in ipairs(current.beliefs) do
    by_belief[belief.name], groups[belief.name] = totals.of(answers, belief.name)
  end
  local ran = counted(current)
  local parts = parts_of(current, by_belief, groups, ran)
  local drawn = self.page and by_belief[current.beliefs[1].name].all
  return { parts = parts, document = document(current, by_belief, groups), ran = ran,
    page = drawn and page.of(current, by_belief, groups, errors.text(parts), ran) or nil }
end

return folder
