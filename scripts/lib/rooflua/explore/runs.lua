-- Many runs of one scenario: in worker processes, kept in a results file where one is named. Results are in the
-- order of the variants, whatever the number of jobs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local json = require "rooflua.json"
local lookback = require "rooflua.serving.lookback"
local changes = require "rooflua.applied.changes"
local Reader = require "rooflua.scenario.reader"
local run_hash = require "rooflua.runs.hash"
local shape = require "rooflua.scenario.shape"
local single = require "rooflua.runs.single"
local variants = require "rooflua.scenario.variants"

local runs = {}
local fail = core.fail

--- A copy of a scenario's table, from a table or (trusted) from a file, and a reader of it.
function runs.scenario(given, what)
  local reader = Reader.new "scenario"
  if type(given) == "string" then
    if not native.trusted then fail("%s: scenarios cannot read files; give a table", what) end
    reader, given = Reader.new(given), chunks.load_scenario(given)
  end
  core.table(given, what .. ": scenario")
  local copy = core.copy(given)
  shape.check_keys(reader, copy)
  return copy, reader
end

--- GPUs of one engine.
local function gpus_of_engine(deployment)
  if deployment == nil then return 1 end
  local own = type(deployment) == "table" and core.plain(deployment) or deployment
  return (own.tp or 1) * (own.dp or 1) * (own.pp or 1) * (own.cp or 1) + (own.expert_gpus or 0)
end

--- How many GPUs a scenario's table stands for.
function runs.gpus_of(given)
  local replicas = given.replicas or 1
  if type(replicas) == "number" then return replicas * gpus_of_engine(given.deployment) end
  local count = 0
  for _, each in ipairs(core.plain(replicas)) do
    count = count + (each.count or 1) * gpus_of_engine(each.deployment or given.deployment)
  end
  return count
end

--- The document of one run.
local function document_of(reader, given, row)
  local kind = given.kind or "serve"
  if not single.has(kind) then reader:fail("kind", "'%s' cannot be run many times", kind) end
  local result = single.run(kind, reader, given, { document = true, operations = false })
  if result.partial then error(result.partial.message or "stopped", 0) end
  local summary = kind == "serve" and result.summary or { time_s = result.time_s, evidence = result.evidence,
    noted_frac = result.noted_frac }
  return { name = row.name, parameters = row.parameters, seed = row.seed, gpus = runs.gpus_of(given),
    summary = summary,
    static = result.static, left_out = result.left_out, notes = result.notes, intervals = result.intervals }
end

local function seed_of(given, variant)
  local own = variant.parameters.seed
  return type(own) == "number" and own or given.seed or 0
end

local most_jobs, most_seeds, most_runs = 1024, 100000, 1000000

--- Refuses so many variants with so many seeds.
function runs.check_count(variants_count, seeds_count, what)
  if variants_count * seeds_count > most_runs then
    fail("%s: %d variants with %d seeds make more than %d runs", what, variants_count, seeds_count, most_runs)
  end
end

--- Seeds as a list: {1, 2, 3}, or a number of them, or nil.
function runs.seeds(given, what)
  if given == nil then return nil end
  if type(given) == "number" then
    local list = {}
    for i = 1, core.whole(given, what, 1, most_seeds) do list[i] = i end
    return list
  end
  local list = {}
  for i, each in ipairs(core.plain(core.table(given, what))) do list[i] = core.whole(each, what) end
  if #list == 0 then fail("%s: expected a number of seeds or a list of them", what) end
  return list
end

runs.option_keys = { "jobs", "results", "progress" }

--- The user's options that say how to run, checked.
function runs.options(given, what)
  local options = { jobs = core.whole(given.jobs or 1, what .. ": jobs", 1, most_jobs), progress = given.progress }
  if given.results ~= nil then
    if not native.trusted then fail("%s: results: scenarios write no files; use `rooflua run --results`", what) end
    options.results = core.text(given.results, what .. ": results")
  end
  return options
end

--- Finds what is wrong with the variants before the first of them runs.
function runs.check(reader, given, list)
  if (given.kind or "serve") ~= "serve" then return end
  single.check("serve", reader, changes.apply(reader, given, list[1].changes))
  for i = 2, #list do changes.apply(reader, given, list[i].changes) end
end

--- Finds misspelt keys of a variant. Other mistakes are results: a deployment of a list may not fit.
function runs.check_keys(reader, given, variant)
  local changed = changes.apply(reader, given, variant.changes)
  if (given.kind or "serve") ~= "serve" then return end
  local ok, problem = pcall(single.check, "serve", reader, changed)
  if not ok and tostring(problem):find("unknown ", 1, true) then error(problem, 0) end
end

--- Finds what is wrong with all of the variants: the mistake of the first, if none can run.
function runs.check_any(reader, given, list)
  local first
  for _, variant in ipairs(list) do
    local ok, problem = pcall(runs.check, reader, given, { variant })
    if ok then return end
    first = first or problem
  end
  error(first, 0)
end

--- Rows of the results file with the names of their runs, and the set that they are. `options.book` is the set of a
--- search, to which every call adds runs.
local function rows_of(reader, given, list, options)
  local rows = json.array {}
  local hasher = options.results
    and run_hash.of_scenario { given = given, list = list, path = chunks.scenario_file() }
  local book = options.book
  local mine = options.round and native.dealt(#list, options.round.count)
  for i, variant in ipairs(list) do
    rows[i] = { name = variant.name, parameters = variant.parameters, seed = seed_of(given, variant),
      position = (book and book.asked or 0) + i - 1, here = not mine or mine[i] == options.round.index,
      run_hash = hasher and hasher:of(changes.apply(reader, given, variant.changes), "a search's run") or nil }
  end
  if not hasher then return rows end
  if not book then
    return rows, { hash = run_hash.of_set(rows), title = given.title or "", total = #rows, file = reader.file }
  end
  book.asked = book.asked + #rows
  return rows, { hash = book.hash, title = book.title, total = book.asked, file = book.file }
end

--- Runs every variant ({name, parameters, changes}). Returns a list of runs {name, parameters, seed, gpus, summary} in
--- that order, and {failed, rows, reused}: rows by the variant's number, of which those that failed have a `problem`.
--- A run that fails is an error, unless options.tolerant.
---@param options table jobs, results, also (more files to read), book, progress, tolerant; round, where other
--- processes do some of the runs: {index, count} of this one's part. Where runs of others are missing, its own are
--- done, round.waits is set, and that is an error.
function runs.run(reader, given, list, options)
  local rows, set = rows_of(reader, given, list, options)
  if #rows == 0 then return {}, { failed = {}, rows = {}, reused = 0 } end
  local documents, problems, about = native.run_many(rows,
    { jobs = options.jobs or 1, results = options.results, also = options.also, set = set, title = options.progress,
      round = options.round ~= nil, told = options.book and options.book.told },
    function(i) return document_of(reader, changes.apply(reader, given, list[i].changes), rows[i]) end)
  if options.book then options.book.told = true end
  local finished, said = {}, { failed = {}, rows = {}, reused = about.reused }
  if about.interrupted then error("interrupted", 0) end
  if options.round and about.missing > 0 then
    options.round.waits = true
    error(("%d runs of other shards are missing"):format(about.missing), 0)
  end
  for i, document in ipairs(documents) do
    if document then
      said.rows[i] = lookback.note(document, reader.file, changes.apply(reader, given, list[i].changes))
      finished[#finished + 1] = document
    elseif options.tolerant then
      said.rows[i] = { name = rows[i].name, parameters = rows[i].parameters, problem = problems[i] }
      said.failed[#said.failed + 1] = said.rows[i]
    else
      error(problems[i], 0)
    end
  end
  return finished, said
end

--- Runs every variant with every seed. Returns, by the variant's number, {runs = {one per seed}, problem}, and
--- all runs as a list.
function runs.by_seed(reader, given, list, seeds, options)
  runs.check_count(#list, #seeds, "seeds")
  local all = {}
  for _, variant in ipairs(list) do
    for _, seed in ipairs(seeds) do all[#all + 1] = variants.with(variant, "seed", seed) end
  end
  local finished, about = runs.run(reader, given, all, options)
  local out = {}
  for i in ipairs(list) do
    out[i] = { runs = {} }
    for j in ipairs(seeds) do
      local run = about.rows[(i - 1) * #seeds + j]
      if run.problem then out[i].problem = run.problem else table.insert(out[i].runs, run) end
    end
  end
  return out, finished
end

return runs
