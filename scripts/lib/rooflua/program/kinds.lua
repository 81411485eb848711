-- What an opened scenario does, by its kind: a search is many runs, every other kind one run per variant. What only
-- some scenarios need is loaded when it is needed, as in runs/single.lua.
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local json = require "rooflua.json"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local run_hash = require "rooflua.runs.hash"
local single = require "rooflua.runs.single"
local unread_keys = require "rooflua.serving.unread_keys"

local kinds = {}

--- Mean shares of evidence of many runs.
local function mean_evidence(runs)
  local shares = {}
  for _, run in ipairs(runs) do
    for name, share in pairs(run.summary.evidence) do shares[name] = (shares[name] or 0) + share / #runs end
  end
  return shares
end

--- For each source, the most that a run left out (measure/write/left_out.h); nil where every run sent everything.
local function most_left_out(runs)
  local list, index = {}, {}
  for _, run in ipairs(runs) do
    for _, each in ipairs(run.left_out or {}) do
      local i = index[each.source] or #list + 1
      index[each.source] = i
      if not list[i] or each.count > list[i].count then list[i] = each end
    end
  end
  return #list > 0 and list or nil
end

--- The set of a search's runs: it grows as the search asks for runs, in an order that does not depend on what a
--- results file has.
local function search_book(reader, given)
  local hasher = run_hash.of_scenario { given = given, path = chunks.scenario_file() }
  return { hash = hasher:of(given, "the set of a search"), asked = 0,
    title = (given.title or "") ~= "" and given.title .. " (search)" or "search", file = reader.file }
end

local function search(reader, given, options)
  local result, runs = require("rooflua.explore.searching").run(reader, given, given.search,
    { jobs = options.jobs, results = options.results, also = options.also, progress = options.progress,
      round = options.round,
      book = options.results and search_book(reader, given) })
  local summaries = {}
  for i, run in ipairs(runs) do summaries[i] = run.summary end
  local told = notes.of_runs(runs) or {}
  local compared = require("rooflua.explore.differences").of(runs, nil, true)
  if compared then told[#told + 1] = require("rooflua.intervals.levers").text(compared.levers) end
  return { kind = "search", search = result, evidence = mean_evidence(runs), noted_frac = notes.mean_share(summaries),
    text = require("rooflua.explore.text").of_search(result), left_out = most_left_out(runs),
    notes = #told > 0 and told or nil }
end

--- Runs one variant of an opened scenario. options: explain and what else the kind takes.
function kinds.run(opened, index, options)
  local given, variant = opening.variant(opened, index)
  options = options or {}
  if opened.kind == "search" or opened.kind == "plan" then
    local run = opened.kind == "search" and search or require("rooflua.plan.run").variant
    local ok, found = pcall(opened.reader.at, opened.reader, opened.kind, run, opened.reader, given, options)
    if not ok and options.round and options.round.waits then return { kind = opened.kind, waits = true } end
    if not ok then error(found, 0) end
    found.notes = notes.of_unread(unread_keys.of(given, opened.kind), found.notes or {})
    return found
  end
  local result = single.run(opened.kind, opened.reader, given, options)
  result.notes = notes.of_unread(unread_keys.of(given, opened.kind), result.notes)
  if opened.kind ~= "serve" then result.name, result.parameters = variant.name, variant.parameters end
  return result
end

local most_listed = 1000

--- Whether a report lists the operations of every batch without being asked: those of one variant, where they are
--- not too many to read.
function kinds.lists_operations(opened)
  if opened.kind ~= "price" or #opened.all ~= 1 then return false end
  return require("rooflua.machine.prices").size(opening.changed(opened, opened.all[1]).price) <= most_listed
end

--- Finds what is wrong with every variant, without running any.
function kinds.check(opened)
  for index = 1, #opened.variants do
    local given = opening.variant(opened, index)
    if opened.kind == "search" then
      opened.reader:at("search", require("rooflua.explore.searching").check, opened.reader, given, given.search)
    elseif opened.kind == "plan" then
      opened.reader:at("plan", require("rooflua.plan.run").check, opened.reader, given)
    else
      single.check(opened.kind, opened.reader, given)
    end
  end
end

--- The names of an opened scenario's runs: {set = {hash, title, total, file}, runs = {{run_hash, position}...}}.
--- Runs of which more is kept have names of their own, so that what is taken from a file has the bytes of a new run.
---@param explain boolean? whether reports list the operations of a step
---@param sketch boolean? whether what a page draws is kept, for which steps are sampled
function kinds.hashes(opened, explain, sketch)
  local hasher = run_hash.of_scenario { given = opened.given, path = opened.path, list = opened.all }
  local all, mine = {}, json.array {}
  local form = "run" .. (explain and ", explained" or "") .. (sketch and ", drawn" or "")
  for i, variant in ipairs(opened.all) do
    all[i] = { name = variant.name, run_hash = hasher:of(opening.changed(opened, variant), form) }
  end
  for i, variant in ipairs(opened.variants) do
    mine[i] = { run_hash = all[variant.position + 1].run_hash, position = variant.position }
  end
  return { set = { hash = run_hash.of_set(all), title = opened.title, total = #all, file = opened.reader.file },
    runs = mine }
end

--- Files of the user that an opened scenario's runs depend on, sorted: modules, tables, traces, models.
function kinds.files(opened)
  local hasher, set = run_hash.of_scenario { given = opened.given, path = opened.path, list = opened.all }, {}
  for _, variant in ipairs(opened.all) do
    local _, files = hasher:of(opening.changed(opened, variant), "run")
    for path in pairs(files) do set[path] = true end
  end
  for path in pairs(hasher:common_files()) do set[path] = true end
  return core.sorted_keys(set)
end

return kinds
