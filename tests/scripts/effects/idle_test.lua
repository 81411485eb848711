-- A parameter that changes nothing where it stands is told of, in `check` and in `run`: what a policy declares of its
-- parameters (scenario/idle.lua) is true, and covers those of which scenes.lua says that they need others.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local idle = require "rooflua.scenario.idle"
local json = require "rooflua.json"
local kinds = require "rooflua.program.kinds"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local effects = dofile("tests/scripts/effects/scenes.lua").of(test)

--- Parameters that act where the load of a run, a file or a list of the scenario lets them, by patterns of names.
local by_run = {
  ["^admission%.[%a_]+%.deadline_s$"] = "where requests are held", ["^admission%.[%a_]+%.slo_deadline$"] = "the same",
  ["^admission%.[%a_]+%.max_held"] = "the same", ["^admission%.[%a_]+%.interval_s$"] = "the same",
  ["^admission%.[%a_]+%.most$"] = "where several are held", ["^admission%.concurrency%.full$"] = "where it is full",
  ["^admission%.[%a_]+%.credit$"] = "an error with staleness_s = 0", ["^admission%.early_reject"] = "where many wait",
  ["^admission%.concurrency%.mode$"] = "where the limit binds", ["^admission%.program_aware%.flow$"] = "with several",
  ["^candidates%.ladder%.encoders$"] = "refused where no request has images",
  ["^admission%.token_bucket%.%a+"] = "while the bucket is not empty", ["^autoscalers%."] = "as the load goes",
  ["^clients%.impatient%.%a+"] = "where it waits so long", ["^faults%.scripted%.%a+"] = "with a link in its list",
  ["^faults%.links%.link$"] = "two links that stand still are alike",
  ["^routers%.[%a_]+%.imbalance_"] = "as loads differ", ["^routers%.[%a_]+%.balance_"] = "as loads differ",
  ["^routers%.[%a_]+%.block_tokens$"] = "as prompts are", ["^routers%.[%a_]+%.lru_blocks$"] = "where it is full",
  ["^routers%.[%a_]+%.lag_s$"] = "as prompts come", ["^routers%.[%a_]+%.loss$"] = "as prompts come",
  ["^routers%.llm_d%.load_aware$"] = "as queues are", ["^routers%.llm_d%.session$"] = "with sessions",
  ["scheduler_reserve_full_isl$"] = "where blocks are short", ["^schedulers%.sglang%.retract"] = "behind a retraction",
  ["^schedulers%.sarathi%.chunk_size$"] = "its own default", ["^speculators%."] = "as drafts are accepted",
  ["^workloads%.plays%.hash"] = "of files that do not say", ["^workloads%.rollout%.keep_kv$"] = "else an error",
  ["^workloads%.shared_prefix_stages%.gap_s$"] = "with several stages", ["^workloads%.trace%."] = "as the file is",
  ["^workloads%.vllm_bench%.num_special"] = "as lengths are", ["^eviction%.ttl%.from$"] = "as content is used",
}

local function is_by_run(full)
  for pattern in pairs(by_run) do
    if full:find(pattern) then return true end
  end
  return false
end

local function with(...)
  local out = {}
  for _, each in ipairs { ... } do
    for key, value in pairs(each) do out[key] = value end
  end
  return out
end

local function declared_of(class, name) return core.plain(core.plain(class.params)[name]) end

--- Another value of a parameter than its default.
local function other(full, declared)
  if effects.values[full] then return effects.values[full][1] end
  local now = declared.default
  for _, value in ipairs(declared.values and core.plain(declared.values) or {}) do
    if value ~= now then return value end
  end
  if type(now) == "boolean" then return not now end
  if type(now) ~= "number" then return nil end
  local value = now == 0 and 1 or 2 * now
  return declared.max and value > declared.max and now / 2 or value
end

--- The requests of a run in which everything differs.
local function diverse()
  local seen = idle.seen()
  for i = 1, 2 do seen:on_done { class = i, tenant = i, program = i, session = i, priority = i } end
  return seen
end

--- A scenario of which no fact holds.
local Own = policy.define { name = "own", doc = "Says nothing of its requests." }
function Own.requests() return function() end end
local varied = { deployment = { dp = 2, tp = 2, expert_gpus = 8 }, speculation = {}, workload = Own {} }

local function each_parameter(visit)
  for _, folder in ipairs(effects.folders) do
    for _, file in ipairs(native.list_folder(native.home .. "/scripts/" .. folder, ".lua")) do
      local class = require(folder .. "." .. file)
      for _, name in ipairs(policy.is_class(class) and core.sorted_keys(core.plain(class.params)) or {}) do
        visit(folder .. "." .. file .. "." .. name, class, name, folder, folder .. "." .. file)
      end
    end
  end
end

test("a parameter that needs others is told of without them, and not with them", function()
  local missing, wrong, count = {}, {}, 0
  each_parameter(function(full, class, name)
    local needed = effects.needs[full]
    if not needed then return end
    count = count + 1
    local own = { [name] = needed[name] }
    if own[name] == nil then own[name] = other(full, declared_of(class, name)) end
    local ok, alone = pcall(class, own)
    local none = idle.seen()
    none:on_done {}
    local why = ok and idle.why(alone, name, { workload = require "workloads.poisson" {} }, none)
    if ok and not why and not is_by_run(full) then missing[#missing + 1] = full end
    why = idle.why(class(with(needed, own)), name, varied, diverse())
    if why and not effects.without[full] then wrong[#wrong + 1] = full .. ": " .. why end
  end)
  test.at_least(count, 100, "parameters")
  test.equal(table.concat(missing, ", "), "", "not told of")
  test.equal(table.concat(wrong, ", "), "", "told of")
end)

-- What is declared is true -------------------------------------------------------------------------------------------

--- A value with which a condition of a case holds.
local function holding(expected, declared)
  if type(expected) ~= "table" then return expected end
  if expected.above then return expected.above + 0.5 end
  if expected.other_than == nil then return type(declared.default) == "table" and expected or expected[1] end
  if type(expected.other_than) == "table" then return nil end
  for _, value in ipairs(declared.values and core.plain(declared.values) or {}) do
    if value ~= expected.other_than then return value end
  end
end

--- The parameters with which a case holds; nil where they cannot be made up, or where it is of facts.
local function parameters_of(case, class)
  local out = {}
  for key, expected in pairs(core.plain(case)) do
    if type(key) == "number" then return nil end
    if key ~= "why" then
      out[key] = holding(core.plain(expected), declared_of(class, key))
      if out[key] == nil then return nil end
    end
  end
  return out
end

local function result_of(given)
  local opened = opening.table(given, { file = "made up" })
  local found = kinds.run(opened, 1, { document = true })
  if found.plan then found = { found.plan.ranks } end
  return json.encode { found.summary or false, found.batches or false, found.static or false, found[1] or false }
end

local is_long = { candidates = true, strategies = true, objectives = true, power = true }
local tried, acting = 0, {}

local function check_case(full, class, name, folder, file, case)
  local made, value = parameters_of(case, class), other(full, declared_of(class, name))
  if not made or value == nil or is_long[folder] then return end
  local scene = (effects.own[full] or effects.own[file] or effects.scenes[folder])[1]
  local base = with(effects.needs[file] or {}, effects.needs[full] or {}, made)
  base[name] = nil
  local can_be, first = pcall(class, base)
  if not can_be then return end
  local second = class(with(base, { [name] = value }))
  test.check(idle.why(second, name, varied, diverse()), "%s is not told of", full)
  if result_of(scene(second)) ~= result_of(scene(first)) then acting[#acting + 1] = full end
  tried = tried + 1
end

test("what is declared to change nothing changes nothing", function()
  each_parameter(function(full, class, name, folder, file)
    local cases = declared_of(class, name).idle
    cases = cases and core.plain(cases)
    for _, case in ipairs(cases and (type(cases[1]) == "table" and cases or { cases }) or {}) do
      check_case(full, class, name, folder, file, case)
    end
  end)
  test.equal(table.concat(acting, ", "), "", "acts though a case of it holds")
  test.at_least(tried, 60, "cases")
end)

test("cases name facts that there are", function()
  each_parameter(function(full, class, name)
    local cases = declared_of(class, name).idle
    cases = cases and core.plain(cases)
    for _, case in ipairs(cases and (type(cases[1]) == "table" and cases or { cases }) or {}) do
      for _, fact in ipairs(core.plain(case)) do test.check(idle.is_fact(fact), "%s: %s", full, fact) end
    end
  end)
end)

-- In `check` and `run` ------------------------------------------------------------------------------------------------

local function scenario(text, workload)
  return test.file(".lua", ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.24",
    replicas = 2, workload = %s, %s }]]):format(workload or [[require "workloads.poisson" { rate_per_s = 40,
    num_requests = 120, prompt_tokens = 400, output_tokens = 5 }]], text))
end

local two_classes = [[require "workloads.mix" { parts = { { name = "a", tenant = 0, workload =
  require "workloads.poisson" { num_requests = 60, rate_per_s = 20, prompt_tokens = 400, output_tokens = 5 } },
  { name = "b", tenant = 1, deadline_s = 9, workload = require "workloads.poisson" { num_requests = 60, rate_per_s = 20,
  prompt_tokens = 400, output_tokens = 5 } } } }]]

--- Both commands say this of the scenario; or neither says that something has no effect.
local function both(path, part)
  for _, command in ipairs { "check", "run" } do
    local said = test.printed(command .. " " .. path, ".")
    test.check(not said:find "error", "%s", said)
    if part then test.has(said, part) else test.check(not said:find "no effect", "%s: %s", command, said) end
  end
end

local function tiers(ttl)
  return ('tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9, eviction = '
    .. 'require "eviction.ttl" { %s } } } }'):format(ttl)
end

test("times to live of one class are told of, those of two are not", function()
  both(scenario(tiers "ttl_s = 30"), "tiers.stores[1].eviction.ttl_s: it has no effect here: class_ttl_s is {}")
  both(scenario(tiers "class_ttl_s = { [1] = 30 }"),
    "eviction.class_ttl_s: it has no effect here: all requests are of one class")
  both(scenario(tiers "ttl_s = 30, class_ttl_s = { [1] = 5 }", two_classes))
  both(scenario(tiers 'from = "put"'))
end)

test("an order of flows is told of where there is one flow, and not where there are two", function()
  local gate = 'admission = require "admission.concurrency" { max_concurrency = 2, fair = "vtc"%s }'
  both(scenario(gate:format ""), "admission.fair: it has no effect here: all requests are of one tenant")
  both(scenario(gate:format "", two_classes))
  both(scenario(gate:format ', flow = "program"', two_classes), "requests are of one program, and flow is")
  both(scenario('admission = require "admission.concurrency" { order = "edf" }'),
    "admission.order: it has no effect here: no request has a deadline")
  both(scenario('admission = require "admission.concurrency" { order = "edf" }', two_classes))
end)

test("a switch that is off, and a preset that says a parameter, say nothing of what was not stated", function()
  both(scenario('scheduler = require "schedulers.trtllm" { chunk_unit_size = 64 }'),
    "scheduler.chunk_unit_size: it has no effect here: enable_chunked_context is false")
  both(scenario('scheduler = require "schedulers.trtllm" {}'))
  both(scenario('admission = require("admission.bands"):preset "llm_d_next" {}'))
end)

test("a parameter of a user's policy is told of by its own declaration", function()
  local path = scenario("", "1"):gsub("[^/]*$", "")
  local handle = assert(io.open(path .. "own.lua", "w"))
  handle:write [[
local policy = require "rooflua.policy"
return policy.define { name = "own", doc = "As vLLM.", extends = require "schedulers.vllm_v1", params = {
  late = { default = false, doc = "A switch." }, late_s = { default = 1, doc = "A time.", idle = { late = false } } } }
]]
  handle:close()
  both(scenario('scheduler = require "own" { late_s = 3 }'),
    "scheduler.late_s: it has no effect here: late is false")
  both(scenario('scheduler = require "own" { late_s = 3, late = true }'))
  test.raises("x: params.a.idle: unknown parameter 'c'", function()
    policy.define { name = "x", doc = "x", params = { a = { default = 1, doc = "a", idle = { c = 1 } } } }
  end)
end)

test.finish()
