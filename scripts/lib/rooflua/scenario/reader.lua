-- Reads a scenario: a table of names, numbers and policy instances. Every mistake of the user is found
-- here, with file and key path. Nothing runs before `run`.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local policy = require "rooflua.policy"
local spec = require "rooflua.spec"
local mfu = require "rooflua.mfu"
local json = require "rooflua.json"
local notes = require "rooflua.scenario.notes"
local paths = require "rooflua.scenario.paths"
local variants = require "rooflua.scenario.variants"

local scenario = {}
local schema_version = 1

local keys = { "rooflua", "title", "seed", "kind", "model", "hardware", "deployment", "mfu",
  "steps", "bucketing",
  "corrections", "scheduler", "router", "replicas", "workload", "frontend", "async_depth", "slo",
    "vary", "report",
  "price", "static", "search", "sweep", "metrics", "network", "prefill_replicas", "decode_replicas" }
local kinds = { price = true, serve = true, static = true, search = true }

local at, wrong = paths.at, paths.wrong
scenario.at, scenario.wrong = at, wrong

--- The scenario with the value at a key path replaced (paths.lua).
local function set(file, table_, path, value)
  return paths.set(file, table_, path, value, keys, scenario.policy)
end
scenario.set, scenario.keys = set, keys

--- "1.8" is a number, "true" a boolean, "[1,2]" a list, the rest text.
local function parse_value(text)
  local number = tonumber(text)
  if number then return number end
  if text == "true" then return true end
  if text == "false" then return false end
  if text:find "^[%[{\"]" then
    local ok, value = pcall(json.decode, text)
    if ok then return value end
  end
  return text
end

-- Policies -----------------------------------------------------------------------------------------------

local folders = { steps = "steps", scheduler = "schedulers", router = "routers",
  workload = "workloads",
  bucketing = "bucketing", corrections = "corrections" }
local defaults = { steps = "kernels", scheduler = "vllm_v1", router = "round_robin" }

--- A policy instance of a scenario: the instance itself, a class, or "name" or "name:preset".
function scenario.policy(file, key, given)
  local folder = folders[key:match "^[%a_]+"]
  if given == nil then given = defaults[key] end
  if policy.is_instance(given) then return given end
  if policy.is_class(given) then return at(file, key, function() return given {} end) end
  if type(given) ~= "string" then
    wrong(file, key, "expected a policy (require \"%s.NAME\" {}), found %s", folder,
      core.describe(given))
  end
  local name, preset = given:match "^([^:]+):(.+)$"
  name = (name or given):gsub("^" .. folder .. "%.", "")
  local class
  if chunks.is_there(folder .. "." .. name) then
    class = at(file, key, chunks.require, folder .. "." .. name)
  elseif chunks.is_there(name) then
    class = at(file, key, chunks.require, name)
  else
    wrong(file, key, "%s", native.unknown_name("policy of " .. folder, name, chunks.names_in(folder)))
  end
  if not policy.is_class(class) then wrong(file, key, "'%s' is not a policy class", name) end
  if preset then return at(file, key, function() return class:preset(preset) {} end) end
  return at(file, key, function() return class {} end)
end

local function corrections_of(file, given, steps)
  local out = {}
  if given == nil then return out end
  if type(given) ~= "table" or policy.is_instance(given) or policy.is_class(given) then
    wrong(file, "corrections", "expected a list of corrections, as in { require \"corrections.step_overhead\" {} }")
  end
  for _, key in ipairs(core.sorted_keys(core.plain(given))) do
    if type(key) ~= "number" or key < 1 or key > #core.plain(given) or key % 1 ~= 0 then
      wrong(file, "corrections", "expected a list of corrections, found the key %s", core.describe(key))
    end
  end
  for i, each in ipairs(core.plain(given)) do
    local key = "corrections[" .. i .. "]"
    local one = policy.is_instance(each) and each or scenario.policy(file, "corrections", each)
    if type(one.op) ~= "function" and type(one.step) ~= "function" then
      wrong(file, key, "'%s' has neither an op nor a step method", tostring(one.name))
    end
    if policy.describe(steps).params[one.name] ~= nil and
      policy.parameters(steps)[one.name] ~= nil then
      wrong(file, key, "'%s' is a parameter of the step model %s as well; use one of them",
        one.name, steps.name)
    end
    out[i] = one
  end
  return out
end

-- Opening --------------------------------------------------------------------------------------------------

local current

local function check_shape(file, given)
  if type(given) ~= "table" then
    wrong(file, "", "expected the file to return a table, found %s", core.describe(given))
  end
  at(file, "", core.check_keys, given, keys, file)
  local version = given.rooflua
  if version ~= nil and (type(version) ~= "number" or version > schema_version) then
    wrong(file, "rooflua",
      "this scenario is of schema %s, this program reads up to %d; install a newer rooflua, or say "
        .. "rooflua = %d and see what `rooflua check` finds",
      tostring(version), schema_version, schema_version)
  end
  local kind = given.kind or "serve"
  if not kinds[kind] then
    wrong(file, "kind", "%s", type(kind) == "string" and native.unknown_name("kind", kind,
      core.sorted_keys(kinds)) or
      "expected text, found " .. core.describe(kind))
  end
  for _, key in ipairs { "model", "hardware" } do
    if given[key] == nil and given.replicas == nil then wrong(file, key, "is missing") end
  end
  for _, key in ipairs { "price", "static", "search" } do -- with a kind it may be for another `--set kind=`
    if given[key] ~= nil and given.kind == nil then
      wrong(file, key, "only kind \"%s\" reads it: say kind = \"%s\", or leave it out", key, key)
    end
  end
  if kind == "price" and (type(given.price) ~= "table" or #core.plain(given.price) == 0) then
    wrong(file, "price", "expected a list of batches")
  end
  if kind == "search" and type(given.search) ~= "table" then
    wrong(file, "search", "expected a table, as in { goal = \"rate\", slo = { ttft_s_p99 = 0.5 }, min = 1, max = 100 }")
  end
  if given.title ~= nil and type(given.title) ~= "string" then
    wrong(file, "title", "expected text, found %s", core.describe(given.title))
  end
  if given.report ~= nil and type(given.report) ~= "function" then wrong(file, "report",
    "expected a function, found %s", core.describe(given.report)) end
  local seed = given.seed
  if seed ~= nil and (type(seed) ~= "number" or seed % 1 ~= 0 or seed < 0 or seed > 2147483647) then
    wrong(file, "seed", "expected a whole number from 0 to 2147483647, found %s", core.describe(seed))
  end
  return kind
end

--- Applies "key=value" texts.
local function apply_sets(file, given, sets)
  for _, text in ipairs(sets or {}) do
    local path, value = text:match "^%s*([^=%s]+)%s*=(.*)$"
    if not path then wrong(file, "--set " .. text, "expected key=value") end
    given = set(file, given, path, parse_value(value))
  end
  return given
end

--- File, table and kind of the open scenario.
function scenario.opened() return current.file, current.given, current.kind end

--- The table of one variant: the scenario with its changes applied.
function scenario.variant_table(index)
  local variant = current.variants[index]
  local given = current.given
  for _, change in ipairs(variant.changes) do
    given = set(current.file, given, change.path, change.value)
  end
  return given, variant
end

local function open_table(file, returned, options)
  local given = {}
  if type(returned) ~= "table" then check_shape(file, returned) end
  for key, value in pairs(core.plain(returned)) do given[key] = value end
  given = apply_sets(file, given, options and options.set)
  local kind = check_shape(file, given)
  if options and options.seed then given.seed = options.seed end
  current = { file = file, path = options and options.path, set = options and options.set,
    given = given, kind = kind, variants = variants.of(file, given),
    seed = given.seed or 0 }
  local list = json.array {}
  for i, variant in ipairs(current.variants) do
    local own = variant.parameters.seed -- vary = { seed = {1, 2, 3} }
    list[i] = { name = variant.name, parameters = variant.parameters,
      seed = type(own) == "number" and own or current.seed }
  end
  return { file = file, kind = kind, title = given.title or "", seed = current.seed,
    variants = list,
    has_report = given.report ~= nil }
end

--- Loads and checks a scenario file. options: set = list of "key=value", seed.
--- @return table {file, kind, title, seed, variants = {{name, parameters}}, has_report}
function scenario.open(path, options)
  local more = { path = path }
  for key, value in pairs(options or {}) do more[key] = value end
  return open_table(path, chunks.load_scenario(path), more)
end

--- The same of a table that a script made.
function scenario.open_table(given, options)
  return open_table(options and options.file or "scenario", given, options)
end

-- Preparing ------------------------------------------------------------------------------------------------

-- Keys of `deployment` that only serving reads.
local of_serving = { prefix_caching = true, max_model_len = true }

--- Everything a run needs, made of one variant: engine objects and a bound step model.
function scenario.prepare(given, file)
  local out = { given = given, file = file }
  out.model = at(file, "model", spec.model, given.model)
  out.hardware = at(file, "hardware", spec.hardware, given.hardware)
  local model = type(given.mfu) == "table" and core.plain(given.mfu).model
  if model then out.hardware = at(file, "mfu.model", spec.with_constants, out.hardware, model) end
  local deployment = given.deployment
  if not spec.is(deployment, "Deployment") then
    local options = {}
    if deployment ~= nil and type(deployment) ~= "table" then
      wrong(file, "deployment", "expected a table, found %s", core.describe(deployment))
    end
    for key, value in pairs(core.plain(deployment or {})) do
      if not of_serving[key] then options[key] = value end
    end
    options.model, options.hardware = out.model, out.hardware
    deployment = at(file, "deployment", spec.deployment, options)
  end
  out.deployment = deployment
  local tables = given.mfu
  if not mfu.is_database(tables) then
    local options = {}
    if type(tables) == "string" then tables = { lookup = tables } end
    for key, value in pairs(core.plain(tables or {})) do options[key] = value end
    if options.gpu == nil or options.hardware == nil then
      options.hardware = options.hardware or out.hardware
    end
    tables = at(file, "mfu", mfu.open, options)
  end
  out.mfu = tables
  out.async_depth = given.async_depth or 2
  if out.async_depth ~= 1 and out.async_depth ~= 2 then
    wrong(file, "async_depth", "expected 1 or 2, found %s", core.describe(out.async_depth))
  end
  local steps = scenario.policy(file, "steps", given.steps)
  if given.bucketing ~= nil then
    local bucketing = scenario.policy(file, "bucketing", given.bucketing)
    if not policy.describe(steps).params.bucketing then
      wrong(file, "bucketing", "the step model %s takes none", steps.name)
    end
    if type(bucketing.groups) ~= "function" then
      wrong(file, "bucketing", "%s has no groups method", bucketing.name)
    end
    steps = at(file, "bucketing", policy.with, steps, { bucketing = bucketing })
  end
  out.step_policy = steps
  out.corrections = corrections_of(file, given.corrections, steps)
  for i, each in ipairs(out.corrections) do
    out.corrections[i] = scenario.bind(out, each, "corrections[" .. i .. "]")
  end
  return out
end

--- A fresh step model, bound: one per replica and variant.
function scenario.bind_steps(prepared)
  return scenario.bind(prepared, prepared.step_policy, "steps")
end

--- A step model or correction of its own, told what it prices for.
--- @param key string the key of the scenario it stands at
function scenario.bind(prepared, instance, key)
  local own = policy.fresh(instance)
  if type(own.bind) == "function" then
    at(prepared.file, key, function()
      own:bind { model = prepared.model, deployment = prepared.deployment, hardware = prepared.hardware,
        mfu = prepared.mfu, async_depth = prepared.async_depth }
    end)
  end
  return own
end

-- Running --------------------------------------------------------------------------------------------------

--- Mean shares of evidence of many runs.
local function mean_evidence(runs)
  local shares = {}
  for _, run in ipairs(runs) do
    for name, share in pairs(run.summary.evidence) do shares[name] = (shares[name] or 0) + share / #runs end
  end
  return shares
end

--- Of every source the most that a run left out (measure/write/left_out.h); nil where all of them sent everything.
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

local function search(given, options)
  local result, runs = require("rooflua.explore.searching").run(current.file, given, given.search,
    { jobs = options.jobs, results = options.results, progress = options.progress })
  return { kind = "search", search = result, evidence = mean_evidence(runs),
    text = require("rooflua.sweep").report(result), left_out = most_left_out(runs),
    notes = notes.of_runs(runs) }
end

local runners = {
  price = function(prepared, options) return require("rooflua.scenario.prices").price(prepared, options) end,
  static = function(prepared, options)
    return require("rooflua.scenario.prices").static(prepared, options)
  end,
}

--- Runs variant `index`. options: explain.
function scenario.run(index, options)
  local given, variant = scenario.variant_table(index)
  if current.kind == "serve" then
    return require("rooflua.serve").run_variant(current.file, given, options or {})
  end
  if current.kind == "search" then return at(current.file, "search", search, given, options or {}) end
  local runner = runners[current.kind]
  local prepared = scenario.prepare(given, current.file)
  local result = runner(prepared, options or {})
  result.name, result.parameters = variant.name, variant.parameters
  return result
end

--- Checks every variant as far as possible without running it.
function scenario.check()
  for index = 1, #current.variants do
    local given = scenario.variant_table(index)
    if current.kind == "serve" then
      require("rooflua.serve").check(current.file, given)
    elseif current.kind == "search" then
      at(current.file, "search", require("rooflua.explore.searching").check, current.file, given, given.search)
    else
      local prepared = scenario.prepare(given, current.file)
      if current.kind == "price" then require("rooflua.scenario.prices").batches(prepared) end
    end
  end
end

--- A hash of everything that results depend on (fingerprint.lua).
function scenario.fingerprint()
  local first = scenario.variant_table(1)
  if current.kind == "serve" then
    require("rooflua.serve").check(current.file, first) -- loads the policies that stand for names
  end
  return require("rooflua.scenario.fingerprint").of(current.given,
    { path = current.path, set = current.set, seed = current.seed })
end

--- Differences between variants over seeds as text; "" where there are no seeds to compare over, and of points
--- of a sample, none of which is a baseline.
function scenario.over_seeds(results)
  if current.given.sweep ~= nil then return "" end
  return require("rooflua.explore.text").over_seeds(results)
end

--- What a page says of many runs: {sections, has_baseline} of exploration_page.lua.
function scenario.explored(results)
  return require("rooflua.explore.page").of(results, current.kind, current.given.sweep ~= nil)
end

--- What the scenario's own report makes of the results: text.
function scenario.report(results)
  local report = current.given.report
  if not report then return "" end
  local out = at(current.file, "report", report, results)
  if type(out) == "string" then return out end
  if type(out) == "table" then return require("rooflua.text.columns").values(out) end
  return wrong(current.file, "report", "expected text or tables, found %s", core.describe(out))
end

return scenario
