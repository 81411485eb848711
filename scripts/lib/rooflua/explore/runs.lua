-- Many runs of one scenario: in worker processes, kept in a results file where one is named. What comes
-- back is in the order of the variants, whatever the number of jobs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local fingerprint = require "rooflua.scenario.fingerprint"
local json = require "rooflua.json"
local lookback = require "rooflua.measure.lookback"
local paths = require "rooflua.scenario.paths"
local scenario = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local variants = require "rooflua.scenario.variants"

local many = {}
local fail = core.fail

--- A scenario's table as a copy, from a table or (trusted) from a file. Returns it and what errors call it.
function many.scenario(given, what)
  local name = "scenario"
  if type(given) == "string" then
    if not native.trusted then fail("%s: scenarios cannot read files; give a table", what) end
    name, given = given, chunks.load_scenario(given)
  end
  core.table(given, what .. ": scenario")
  local copy = {}
  for key, value in pairs(core.plain(given)) do copy[key] = value end
  paths.at(name, "", core.check_keys, copy, scenario.keys, name)
  return copy, name
end

local function tp_of(deployment)
  if deployment == nil then return 1 end
  return type(deployment) == "table" and core.plain(deployment).tp or deployment.tp or 1
end

--- How many GPUs a scenario's table stands for.
function many.gpus(given)
  local replicas = given.replicas or 1
  if type(replicas) == "number" then return replicas * tp_of(given.deployment) end
  local count = 0
  for _, each in ipairs(core.plain(replicas)) do
    count = count + (each.count or 1) * tp_of(each.deployment or given.deployment)
  end
  return count
end

local function summary_of(name, given)
  local kind = given.kind or "serve"
  if kind == "serve" then
    local result = serve.run_variant(name, given, {})
    if result.partial then error(result.partial.message or "stopped", 0) end
    return json.decode(result.summary), nil, result.left_out, result.notes
  end
  local prices = require "rooflua.scenario.prices"
  if kind ~= "price" and kind ~= "static" then paths.wrong(name, "kind", "'%s' cannot be run many times", kind) end
  local result = prices[kind](scenario.prepare(given, name))
  return { time_s = result.time_s, evidence = result.evidence }, result.static, nil, result.notes
end

local function apply(name, given, changes)
  for _, change in ipairs(changes) do given = scenario.set(name, given, change.path, change.value) end
  return given
end
many.apply = apply

local function seed_of(given, variant)
  local own = variant.parameters.seed
  return type(own) == "number" and own or given.seed or 0
end

--- Seeds as a list: {1, 2, 3}, or a number of them, or nil.
function many.seeds(given, what)
  if given == nil then return nil end
  if type(given) == "number" then
    local list = {}
    for i = 1, core.whole(given, what, 1) do list[i] = i end
    return list
  end
  local list = {}
  for i, each in ipairs(core.plain(core.table(given, what))) do list[i] = core.whole(each, what) end
  if #list == 0 then fail("%s: expected a number of seeds or a list of them", what) end
  return list
end

many.option_keys = { "jobs", "results", "progress" }

--- Options of the user that say how to run, checked.
function many.options(given, what)
  local options = { jobs = core.whole(given.jobs or 1, what .. ": jobs", 1), progress = given.progress }
  if given.results ~= nil then
    if not native.trusted then fail("%s: results: scenarios write no files; use `rooflua run --results`", what) end
    options.results = core.text(given.results, what .. ": results")
  end
  return options
end

--- Finds what is wrong with the variants before the first of them runs.
function many.check(name, given, list)
  if (given.kind or "serve") ~= "serve" then return end
  serve.check(name, apply(name, given, list[1].changes))
  for i = 2, #list do apply(name, given, list[i].changes) end
end

--- Runs every variant ({name, parameters, changes}). Returns a list of runs {name, parameters, seed, gpus,
--- summary} in that order, and what else is to say: failed (empty unless options.tolerant: then a run that
--- fails is no error), rows (both by the variant's number; what failed has a `problem`), reused.
function many.run(name, given, list, options)
  local rows, texts, varied = json.array {}, {}, {}
  for i, variant in ipairs(list) do
    for _, change in ipairs(variant.changes) do varied[#varied + 1] = { [change.path] = change.value } end
    rows[i] = { name = variant.name, parameters = variant.parameters, seed = seed_of(given, variant) }
    texts[i] = variant.name .. " " .. rows[i].seed
  end
  if #rows == 0 then return {}, { failed = {}, rows = {}, reused = 0 } end
  local script = rawget(_G, "arg")
  local hash = options.results and fingerprint.of(given, { seed = given.seed, varied = varied,
    more = table.concat(texts, "\n"), path = type(script) == "table" and script[0] or nil }) or ""
  local documents, problems, about = native.run_many(rows,
    { jobs = options.jobs or 1, results = options.results, hash = hash, scenario = name, title = options.progress },
    function(i)
      local mine = apply(name, given, list[i].changes)
      local summary, static, left_out, notes = summary_of(name, mine)
      return { name = rows[i].name, parameters = rows[i].parameters, seed = rows[i].seed, gpus = many.gpus(mine),
        summary = summary, static = static, left_out = left_out, notes = notes }
    end)
  local runs, said = {}, { failed = {}, rows = {}, reused = about.reused }
  if about.interrupted then error("interrupted", 0) end
  for i, document in ipairs(documents) do
    if document then
      said.rows[i] = lookback.note(document, name, apply(name, given, list[i].changes))
      runs[#runs + 1] = document
    elseif options.tolerant then
      said.rows[i] = { name = rows[i].name, parameters = rows[i].parameters, problem = problems[i] }
      said.failed[#said.failed + 1] = said.rows[i]
    else
      error(problems[i], 0)
    end
  end
  return runs, said
end

--- Runs every variant with every seed. Returns, by the variant's number, {runs = {one per seed}, problem}, and
--- all runs as a list.
function many.by_seed(name, given, list, seeds, options)
  local all = {}
  for _, variant in ipairs(list) do
    for _, seed in ipairs(seeds) do all[#all + 1] = variants.with(variant, "seed", seed) end
  end
  local runs, about = many.run(name, given, all, options)
  local out = {}
  for i in ipairs(list) do
    out[i] = { runs = {} }
    for j in ipairs(seeds) do
      local run = about.rows[(i - 1) * #seeds + j]
      if run.problem then out[i].problem = run.problem else table.insert(out[i].runs, run) end
    end
  end
  return out, runs
end

return many
