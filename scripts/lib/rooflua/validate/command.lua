-- `rooflua validate DIR`: simulates every measured case of a folder with every step model, and reports the errors. If
-- a file is given instead, it has measured closed loops (validate/silicon), runs with drafts (validate/speculation) or
-- start-ups (validate/capacity).
-- The program asks for each case in a process of its own. A case that cannot run is counted and reports why.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local beliefs = require "rooflua.validate.beliefs"
local capacity = require "rooflua.validate.capacity.command"
local engines = require "rooflua.validate.engines"
local cases = require "rooflua.validate.cases"
local discrepancy = require "rooflua.validate.discrepancy"
local json = require "rooflua.json"
local notes = require "rooflua.scenario.notes"
local page = require "rooflua.validate.page"
local run = require "rooflua.validate.run"
local silicon = require "rooflua.validate.silicon.command"
local speculation = require "rooflua.validate.speculation.command"
local text = require "rooflua.validate.text"
local totals = require "rooflua.validate.totals"

local validate = {}

local current
local of_file -- the module that reads the file, where the run is of a file

--- The step models to compare: all, or those named.
local function chosen(names)
  local all = beliefs.list()
  if #names == 0 then return all end
  local out, known = {}, {}
  for i, belief in ipairs(all) do known[i] = belief.name end
  for _, name in ipairs(names) do
    local found
    for _, belief in ipairs(all) do found = found or belief.name == name and belief end
    out[#out + 1] = found or core.fail("--steps: %s", core.unknown_name("step model", name, known))
  end
  return out
end

local function chosen_cases(folder, only)
  local all, out = cases.read(folder), {}
  for _, case in ipairs(all) do
    if only == "" or case.id:find(only, 1, true) then out[#out + 1] = case end
  end
  if #out == 0 then core.fail("--only: no case of %d has '%s' in its case_id", #all, only) end
  return out, all
end

local function value_of(given)
  if given == "true" or given == "false" then return given == "true" end
  return tonumber(given) or given
end

local interval_switches = { "discrepancy", "settings" }

local function switch_of(name, value, given)
  local known = {}
  for _, each in ipairs(interval_switches) do known[each] = true end
  if not known[name] then
    core.fail("--set interval.%s: %s", name, core.unknown_name("part of an interval", name, interval_switches))
  end
  if type(value) ~= "boolean" then core.fail("--set %s: expected true or false", given) end
  return value
end

--- Reads --set: "key=value" is for the first step model and its variants; "engine.key=value" for every engine;
--- "interval.discrepancy=false" leaves a term out of intervals.
--- @return table? parameters of the step model
--- @return table parameters of engines
--- @return table switches of intervals
local function parameters_of(sets)
  local of_steps, of_engines, of_interval = nil, {}, {}
  for _, each in ipairs(sets) do
    local name, value = each:match "^([%w_.]+)=(.*)$"
    if not name then core.fail("--set %s: expected key=value", each) end
    local engine, term = name:match "^engine%.([%w_]+)$", name:match "^interval%.([%w_]+)$"
    if engine then
      of_engines[engine] = value_of(value)
    elseif term then
      of_interval[term] = switch_of(term, value_of(value), each)
    else
      of_steps = of_steps or {}
      of_steps[name] = value_of(value)
    end
  end
  return of_steps, of_engines, of_interval
end

--- The module that reads a file of measured cases, by its columns.
local function reader_of(path)
  for _, each in ipairs { speculation, capacity } do
    if each.reads(path) then return each end
  end
  return silicon
end

--- @param options table {folder, tables, only, steps = {names}, set = {key=value}, scratch = empty folder,
---   intervals = replicates, is_file = the folder is a file, wide}
--- @return table {cases = how many}
function validate.open(options)
  of_file = options.is_file and reader_of(options.folder) or nil
  if of_file then return of_file.open(options) end
  if options.wide then core.fail("--wide: rows are reported of a file of closed loops; a folder's report has them") end
  local folder = options.folder:gsub("/+$", "")
  local tables = options.tables ~= "" and options.tables or beliefs.default_tables(folder)
  if options.tables ~= "" and #native.list_folder(tables, "") == 0 then
    core.fail("--tables %s: there is no such folder, or it is empty; expected aic/, infersim/, ... in it", tables)
  end
  local selected, all = chosen_cases(folder, options.only)
  local of_steps, of_engines, of_interval = parameters_of(options.set)
  current = { folder = folder, selected = selected, results = {}, beliefs = chosen(options.steps),
    named = #options.steps > 0,
    tables = tables, scratch = options.scratch, all = all, intervals = options.intervals or 0,
    parameters = of_steps, engine = of_engines, interval = of_interval }
  engines.check(of_engines)
  beliefs.steps(current.beliefs[1], nil, of_steps)
  return { cases = #selected, tables = tables or "" }
end

local function problem_text(problem)
  return (tostring(problem):gsub("%s*\n.*", ""):gsub("^validate: ", ""))
end

--- An empty result for case number i, with its model, GPU and engine; the reason if it cannot run.
local function described(i)
  local case = current.selected[i]
  local result = { case = case, beliefs = {} }
  current.results[i] = result
  local ok, about = pcall(run.describe, case, current.engine)
  if not ok then return result, problem_text(about) end
  about.tp, result.about, result.group = case.tp, about, totals.group_of(case, about)
  return result
end

--- Notes a problem for every step model.
local function cannot_run(result, problem)
  for _, belief in ipairs(current.beliefs) do result.beliefs[belief.name] = { problem = problem } end
end

--- Runs case number i with every step model.
--- @param scratch string? an empty folder for this case
--- @return table results by step model, as take() expects them
function validate.case(i, scratch)
  if of_file then return of_file.case(i) end
  local result, problem = described(i)
  if problem then
    cannot_run(result, problem)
    return result.beliefs
  end
  for n, belief in ipairs(current.beliefs) do
    local options = { tables = current.tables, scratch = scratch or current.scratch, all = current.all,
      parameters = belief.steps == current.beliefs[1].steps and current.parameters or nil,
      intervals = n == 1 and current.intervals or 0, interval = current.interval }
    local done, found = pcall(run.case, result.case, result.about, belief, options)
    result.beliefs[belief.name] = done and found or { problem = problem_text(found) }
    if n == #current.beliefs then run.forget(result.case) end
  end
  return result.beliefs
end

--- Takes the result of case() in another process, or the reason why there is none.
--- @return table {id}
function validate.take(i, beliefs_found, problem)
  if of_file then return of_file.take(i, beliefs_found, problem) end
  local result = described(i)
  result.beliefs = beliefs_found or {}
  if problem and problem ~= "" then cannot_run(result, problem) end
  return { id = result.case.id }
end

-- Results ---------------------------------------------------------------------------------------------------

local function engines_used()
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
local function notes_of(result)
  local main, about = result.beliefs[current.beliefs[1].name], result.about
  if not (about and main.errors) then return nil end
  return notes.of({ { model = about.model, hardware = about.hardware } }, main.evidence)
end

--- Each note once, with the number of its cases: "deepseek-v3: ... (3 cases)"; "" where there are none.
local function notes_text()
  local order, counts = {}, {}
  for _, result in ipairs(current.results) do
    for _, note in ipairs(notes_of(result) or {}) do
      if not counts[note] then order[#order + 1] = note end
      counts[note] = (counts[note] or 0) + 1
    end
  end
  for i, note in ipairs(order) do
    order[i] = ("%s (%d case%s)"):format(note, counts[note], counts[note] == 1 and "" or "s")
  end
  return table.concat(order, "\n")
end

local function case_document(result)
  local main, about = result.beliefs[current.beliefs[1].name], result.about
  local out = { case_id = result.case.id, rating = result.case.rating, dataset = result.case.dataset,
    group = result.group or "cannot run", model = about and about.model.name,
    kind = about and discrepancy.kind_of(about), errors = main.errors or {}, evidence = main.evidence or {},
    unread = result.case.unread and #result.case.unread > 0 and json.array(result.case.unread) or nil,
    notes = notes_of(result), tables = main.tables, problem = main.problem, intervals = main.intervals,
    discrepancy = main.discrepancy,
    others = {} }
  for i, belief in ipairs(current.beliefs) do
    local found = result.beliefs[belief.name]
    if i > 1 then out.others[belief.name] = { errors = found.errors or {}, problem = found.problem } end
  end
  return out
end

local function document(by_belief, groups)
  local main = current.beliefs[1].name
  local out = { schema = 1, kind = "validation", steps = main, cases = json.array {}, others = {},
    totals = totals_document(by_belief[main]), groups = groups[main] }
  for i, belief in ipairs(current.beliefs) do
    if i > 1 then out.others[belief.name] = { totals = totals_document(by_belief[belief.name]) } end
  end
  for i, result in ipairs(current.results) do out.cases[i] = case_document(result) end
  return out
end

local function counted()
  local ran = 0
  for _, result in ipairs(current.results) do
    if result.beliefs[current.beliefs[1].name].errors then ran = ran + 1 end
  end
  return ran
end

--- "kernels: rooflua's default step model. Kernel tables: aic 202, none 3 (../tables)."
local function about_main(main, groups)
  local opened = groups.all and text.opened(groups.all.tables) or ""
  return ("%s: %s. Kernel tables: %s%s."):format(main.name, main.doc, opened ~= "" and opened or "none",
    current.tables and (" (%s)"):format(current.tables) or ", and there is no folder of them (--tables)")
end

local function report(by_belief, groups, ran)
  local main = current.beliefs[1]
  local of = by_belief[main.name]
  local parts = {
    ("%s: %d cases, %d ran, %d did not"):format(current.folder, #current.results, ran, #current.results - ran),
    "Errors in percent, (simulated - measured) / measured. Step model " .. about_main(main, groups[main.name]),
    text.cases(current.results, main.name),
  }
  if not of.all then return table.concat(parts, "\n\n") .. "\n\n" .. text.failures(current.results, current.beliefs) end
  parts[#parts + 1] = "Mean of |error| by group, every case the same weight\n"
    .. text.groups(of, groups[main.name], totals.order(of))
  if current.intervals > 0 then
    parts[#parts + 1] = ("Measured values inside the %d %% interval of the simulation (%d replicates)\n"):format(90,
      current.intervals) .. text.coverage(current.results, main.name)
    parts[#parts + 1] = text.discrepancy(current.results, main.name, current.interval)
  end
  if #current.beliefs > 1 then
    for _, prefix in ipairs { "vLLM", "TensorRT" } do
      for _, name in ipairs(totals.names(of, prefix)) do
        parts[#parts + 1] = ("What a belief costs: %s\n%s"):format(name,
          text.beliefs(by_belief, groups, current.of_group(name), name))
      end
    end
  end
  local unread = text.unread(current.results)
  if unread ~= "" then parts[#parts + 1] = "Measured figures that nothing is compared with: " .. unread end
  local noted = notes_text()
  if noted ~= "" then parts[#parts + 1] = "Notes\n" .. noted end
  local failures = text.failures(current.results, current.beliefs)
  if failures ~= "" then parts[#parts + 1] = "Did not run\n" .. failures end
  parts[#parts + 1] = "Parameters; none of them knows a model or a run\n"
    .. text.parameters(engines_used(), beliefs.steps(main, nil, current.parameters))
  return table.concat(parts, "\n\n")
end

--- Step models in the table of a group: all that the user named, else those that differ in step model or tables.
local function compared(group)
  if current.named then return current.beliefs end
  local members = {}
  for _, result in ipairs(current.results) do
    if result.group == group then members[#members + 1] = result end
  end
  return beliefs.different(current.beliefs, members)
end

--- @param with_page boolean? also make the page
--- @return table {text, document, ran, page}
function validate.finish(with_page)
  if of_file then return of_file.finish() end
  local by_belief, groups = {}, {}
  if not current.named then current.beliefs = beliefs.different(current.beliefs, current.results) end
  current.of_group = compared
  for _, belief in ipairs(current.beliefs) do
    by_belief[belief.name], groups[belief.name] = totals.of(current.results, belief.name)
  end
  local ran = counted()
  local said = report(by_belief, groups, ran)
  local drawn = with_page and by_belief[current.beliefs[1].name].all
  return { text = said, document = document(by_belief, groups), ran = ran,
    page = drawn and page.of(current, by_belief, groups, said, ran) or nil }
end

--- Runs a whole folder at once, for the fidelity test and for scripts.
function validate.run(options)
  local opened = validate.open { folder = options.folder, tables = options.tables or "", only = options.only or "",
    steps = options.steps or {}, set = options.set or {}, scratch = options.scratch or "",
    intervals = options.intervals }
  for i = 1, opened.cases do validate.case(i) end
  return validate.finish()
end

return validate
