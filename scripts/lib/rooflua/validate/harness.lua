-- One harness for all sets of measured runs: which sets, which cases, options, errors of cases, and what they found.
--
-- A kind of set is a module of data and functions without state:
--
--     name        member of the document with its figures: "speculation"
--     what        its name in texts: "measured speculative decoding"
--     columns     its columns; messages name those that a file lacks
--     reads       function (path, columns of the file) -> whether the file is such a set
--     scopes      optional, {SCOPE = true}: --set SCOPE.KEY=VALUE is for this kind
--     refusals    function (options) -> {option = why}: options that it cannot use; keys as in `given_options` below
--     open        function (options) -> run; raises errors of options and of the file's header
--     files       optional, function (path, folder of --tables) -> files and folders that belong to the set
--     words       optional, list: if the name of the file or of its folder begins with one of them, that is the member
--                 of a folder's document
--     replaces    optional, {file, column}: a file of that name and with that column replaces others of its folder
--     joins       optional: the files of a folder and below it ("folder": those that lie in one folder) are one set,
--                 whose `path` is the folder where they are several
--     at_root     optional: all members of its document are at the root of a folder's document
--     lists_problems  optional: its text says which cases did not run, so that the harness does not
--
-- `options` of refusals() and open():
--
--     path        of the file
--     paths       optional, of the files of a set that joins them
--     tables      folder; "" = not given
--     steps       list of names of --steps
--     parameters  {name = value} of --set for the step model; nil = none
--     scoped      list of {scope, name, value, text, given} of --set for this kind; `text` is the value as given
--     given       list of the texts of --set for this kind and for the step model
--     only        text of --only, for information: the harness picks the cases
--     intervals   number; 0 = none
--     wide, page  true or nil
--     scratch     an empty folder; "" = none
--
-- A run is an object:
--
--     ids         list of the names of all its cases
--     names       optional, list of texts that --only looks into; else ids
--     only        optional, what `names` are; else "case_id"
--     cases_word  optional, what a case is; else "case"
--     case        function (self, i, scratch) -> plain table; an error is the problem of this case
--     take        function (self, i, found, problem) -> answer; `found` (of case(), through JSON) or `problem` is nil
--     finish      function (self, answers) -> {parts (validate/errors.lua), document = members, ran, page}; answers of
--                 the cases that --only names, in the order of ids; `page` as validate/page.lua makes it
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local sets = require "rooflua.validate.sets"
local report = require "rooflua.validate.report"

local harness = {}

-- Options --------------------------------------------------------------------------------------------------------

--- Options that a kind may refuse: the key in `options`, and what a user calls it.
local given_options = { { "tables", "--tables" }, { "steps", "--steps" }, { "parameters", "--set" },
  { "intervals", "--intervals" }, { "page", "--html" }, { "wide", "--wide" } }

--- What an option is where it is not given.
local absent = { tables = "", steps = {}, intervals = 0 }

local function is_given(options, name)
  local value = options[name]
  if name == "steps" then return #value > 0 end
  return value ~= nil and value ~= false and value ~= absent[name]
end

local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return tonumber(text) or text
end

local function has_scope(kind, scope) return scope ~= nil and kind.scopes ~= nil and kind.scopes[scope] == true end

--- "key=value" of --set as {scope, name, value, text, given}; `scope` only where a kind has it.
local function entry_of(given, kinds)
  local name, text = given:match "^([%w_.]+)=(.*)$"
  if not name then core.fail("--set %s: expected key=value", given) end
  local scope, own = name:match "^([%w_]+)%.([%w_]+)$"
  for _, kind in ipairs(kinds) do
    if has_scope(kind, scope) then
      return { scope = scope, name = own, value = value_of(text), text = text, given = given }
    end
  end
  return { name = name, value = value_of(text), text = text, given = given }
end

--- What of the options is for a set, and in `refused` what its kind cannot use: {option = why}.
local function options_of(set, options, entries)
  local own = { path = set.path, paths = set.paths, tables = options.tables or "", steps = options.steps or {},
    scoped = {}, given = {},
    only = options.only or "", intervals = options.intervals or 0, scratch = options.scratch or "",
    wide = options.wide or nil, page = options.page or nil }
  for _, each in ipairs(entries) do
    if each.scope == nil then own.parameters = own.parameters or {} end
    if each.scope == nil then own.parameters[each.name] = each.value end
    if has_scope(set.kind, each.scope) then table.insert(own.scoped, each) end
  end
  local refusals, refused = set.kind.refusals(own), {}
  for _, option in ipairs(given_options) do
    local name = option[1]
    refused[name] = is_given(own, name) and refusals[name] or nil
  end
  for name in pairs(refused) do own[name] = absent[name] end
  for _, each in ipairs(entries) do
    local is_own = each.scope == nil and own.parameters or has_scope(set.kind, each.scope)
    if is_own then table.insert(own.given, each.given) end
  end
  return own, refused
end

--- Raises an error for a setting of a kind of which there is no set.
local function check_scopes(entries, running, kinds)
  for _, each in ipairs(entries) do
    local is_used, whats = each.scope == nil, {}
    for _, set in ipairs(running) do is_used = is_used or has_scope(set.kind, each.scope) end
    for _, kind in ipairs(kinds) do whats[#whats + 1] = has_scope(kind, each.scope) and kind.what or nil end
    if not is_used then
      core.fail("--set %s: it is for %s, of which there is no set here", each.given, core.join(whats, ", "))
    end
  end
end

--- Adds notes of options that some of the sets that run cannot use; an error if none of them can.
local function check_refused(running, notes)
  for _, option in ipairs(given_options) do
    local whys, said, refused = {}, {}, 0
    for _, set in ipairs(running) do
      local why = set.refused[option[1]]
      if why then
        refused = refused + 1
        if not said[why] then whys[#whys + 1] = why end
        said[why] = true
        notes[#notes + 1] = ("%s: %s is not used: %s"):format(set.path, option[2], why)
      end
    end
    if refused == #running then core.fail("%s: %s", option[2], core.join(whys, "; ")) end
  end
end

-- Cases ----------------------------------------------------------------------------------------------------------

--- The numbers of the cases that --only names.
local function selected(run, only)
  local out = {}
  for i, text in ipairs(run.names or run.ids) do
    if only == "" or text:find(only, 1, true) then out[#out + 1] = i end
  end
  return out
end

local function none_selected(found, only)
  local count, words, said = 0, {}, {}
  for _, set in ipairs(found) do
    count = count + #set.run.ids
    local word = set.run.only or "case_id"
    if not said[word] then words[#words + 1] = word end
    said[word] = true
  end
  core.fail("--only: no %s of %d has '%s' in its %s", #found == 1 and found[1].run.cases_word or "case", count, only,
    core.join(words, ", "))
end

local function find(options, kinds)
  local path = options.folder:gsub("(.)/+$", "%1")
  if native.file_exists(path) then return { sets.of_file(path, kinds) }, {}, {}, path end
  local found, passed, data = sets.below(path, kinds, options)
  if #found > 0 then return found, passed, data, path end
  return core.fail("%s: there is no cases.csv and no other set of measured runs in it or below (docs/VALIDATION.md)%s",
    path, report.first_passed(passed))
end

local Session = {}
Session.__index = Session

--- Finds the sets of a file or folder and reads their rows.
--- @param options table {folder = or a file, folder_name = its name where `folder` is "." or the like, only, tables,
---   steps = {names}, set = {key=value}, intervals, wide, page, scratch = an empty folder}
--- @param kinds table list of kinds, in the order in which they are asked for a file
--- @return table session {cases = how many, case, take, finish}
function harness.open(options, kinds)
  local only = options.only or ""
  local found, passed, data, path = find(options, kinds)
  local entries, notes, session = {}, {}, { sets = {}, places = {} }
  for i, given in ipairs(options.set or {}) do entries[i] = entry_of(given, kinds) end
  for _, set in ipairs(found) do
    set.options, set.refused = options_of(set, options, entries)
    set.run, set.answers, set.problems = set.kind.open(set.options), {}, {}
    set.numbers = selected(set.run, only)
    if #set.numbers > 0 then
      session.sets[#session.sets + 1] = set
      for n, number in ipairs(set.numbers) do
        table.insert(session.places, { set = set, n = n, number = number })
      end
    else
      notes[#notes + 1] = ("%s: --only: no case has '%s' in its name"):format(set.path, only)
    end
  end
  if #session.places == 0 then none_selected(found, only) end
  check_scopes(entries, session.sets, kinds)
  check_refused(session.sets, notes)
  sets.name_apart(session.sets, path, notes)
  session.path, session.passed, session.data, session.notes = path, passed, data, notes
  session.cases, session.of_several = #session.places, #found > 1
  session.record = options.record and ((options.intervals or 0) > 0 and " --intervals " .. options.intervals or "")
  return setmetatable(session, Session)
end

--- The first line of an error.
local function problem_text(problem) return (tostring(problem):gsub("%s*\n.*", "")) end

--- Runs case number i of all sets.
--- @param scratch string? an empty folder for this case
--- @return table what take() expects
function Session:case(i, scratch)
  local place = self.places[i]
  local ok, found = pcall(place.set.run.case, place.set.run, place.number, scratch or place.set.options.scratch)
  collectgarbage() -- simulations hold memory that Lua's collector does not count
  return ok and found or { problem = problem_text(found) }
end

--- Takes the result of case() in another process, or the reason why there is none.
--- @return table {id}
function Session:take(i, found, problem)
  local place = self.places[i]
  local set, id = place.set, place.set.run.ids[place.number]
  problem = problem ~= "" and problem or type(found) == "table" and found.problem or nil
  if problem then
    set.problems[place.n] = id .. ": " .. problem
    found = nil
  end
  set.answers[place.n] = set.run:take(place.number, found, problem)
  return { id = id }
end

--- "Could not be simulated" with a line per case; "" where there is none.
local function problems_text(set)
  local out = {}
  for n = 1, #set.numbers do out[#out + 1] = set.problems[n] end
  return #out > 0 and not set.kind.lists_problems and "\n\nCould not be simulated\n" .. table.concat(out, "\n") or ""
end

--- @return table {text, document, ran, page}
function Session:finish()
  local done = {}
  for i, set in ipairs(self.sets) do
    local found = set.run:finish(set.answers)
    found.text = errors.text(found.parts) .. problems_text(set)
    found.set = { kind = set.kind.name, at_root = set.kind.at_root, path = set.path, word = set.word,
      cases = #set.numbers }
    done[i] = found
  end
  return report.of(done, self)
end

--- Runs everything at once, for tests and scripts. Results go through JSON, as between processes.
--- @param options table as of open()
function harness.run(options, kinds)
  local session = harness.open(options, kinds)
  for i = 1, session.cases do session:take(i, json.decode(json.encode(session:case(i)))) end
  return session:finish()
end

return harness
