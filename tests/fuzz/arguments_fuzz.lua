-- Every function and method that has a stub, with arguments that fit its declaration and arguments that do not, in
-- programs of many calls that share their objects: also views that a policy kept, closed simulations, and the plan of
-- a step that is being made. Each call returns or raises an error that a user may see. No price is NaN.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local arguments = dofile "tests/fuzz/arguments.lua"
local help = require "rooflua.help.topics"
local rooflua = require "rooflua"
local spec, mfu, cost, serve, policy = rooflua.spec, rooflua.mfu, rooflua.cost, rooflua.serve, rooflua.policy
local VllmV1 = require "schedulers.vllm_v1"

-- The functions ------------------------------------------------------------------------------------------------

local modules = { "arrivals", "cost", "fit", "json", "lengths", "measure", "mfu", "policy", "quantiles", "random",
  "rooflua", "serve", "spec", "sweep", "trace" }
local slow = { ["serve.run"] = true, ["serve.open"] = true, ["fit.fit"] = true, ["sweep.grid"] = true,
  ["sweep.sample"] = true, ["sweep.search"] = true, ["sweep.sensitivity"] = true, ["measure.why"] = true,
  ["Database:leave_one_out"] = true, ["Database:compare"] = true, ["Database:report"] = true, ["Live:fork"] = true,
  ["Database:rows"] = true, ["Live:why"] = true, ["Live:run"] = true, ["mfu.open"] = true, ["rooflua.list"] = true,
  ["rooflua.help"] = true, ["measure.diff"] = true, ["measure.plot"] = true, ["measure.write"] = true,
  ["Live:explain"] = true, ["Live:close"] = true, ["mfu.ops"] = true }

local quick, costly, of_plan = {}, {}, {}
for _, module in ipairs(modules) do
  local functions = module == "rooflua" and rooflua or require("rooflua." .. module)
  for _, entry in ipairs(help.read_stub(module).entries) do
    if entry.signature then
      local owner, name = entry.name:match "^(%w+)[.:]([%w_]+)$"
      local each = { name = entry.name, parameters = arguments.parameters(entry.doc), key = name }
      if entry.name:find(":", 1, true) then
        each.class = owner
      else
        each.call = functions[name]
      end
      local list = slow[entry.name] and costly or quick
      list[#list + 1] = each
      if owner == "Plan" or owner == "Replica" then of_plan[#of_plan + 1] = each end
    end
  end
end

-- The objects that calls share ---------------------------------------------------------------------------------

local pool = { hardware = spec.hardware "h200-sxm" }
local objects = {}

function pool.has(class) return objects[class] ~= nil end
function pool.of(random, class) return random:pick(objects[class]) end

local classes
function pool.any(random) return random:pick(objects[random:pick(classes)]) end

pool.datasheet = mfu.open { gpu = "h200-sxm", tables = false }
local measured = mfu.open "h800"
local kept_table
local looked_up = measured:with(function(table_, _, tables)
  kept_table = table_ or tables[1]
  return 1e-3, "measured"
end)
local _, estimate = measured:gemm(16, 4096, 4096)
looked_up:lookup { op = "gemm", m = 16, k = 4096, n = 4096, dtype = "fp8_block" }
pool.estimate, pool.lookups, pool.tables = estimate, mfu.lookups(), {}
for i, each in ipairs(measured:tables()) do pool.tables[i] = each.name end
pool.batch = cost.batch { prefills = { { new_tokens = 8 }, { new_tokens = 100 } }, decode_contexts = { 1, 2 } }
pool.class = policy.define { name = "sample", doc = "A sample.", params = { a = { default = 1, doc = "A." } } }
pool.bucketing = require "bucketing.pow2" {}

local function stay()
  local streams = rooflua.random.streams(1)
  objects = {
    Model = { spec.model "llama-3.1-8b", spec.model "deepseek-v3", spec.model "qwen3-30b-a3b" },
    Hardware = { pool.hardware, spec.hardware "h800", spec.hardware "mi300x" },
    Database = { measured, pool.datasheet, looked_up }, Estimate = { estimate }, Batch = { pool.batch },
    Prefill = { pool.batch.prefills[1] }, Random = { streams }, RandomStream = { streams:stream "fuzz" },
    Table = { kept_table }, PolicyClass = { pool.class, VllmV1 },
    Prepared = { measured:prepare { one = { op = "gemm", k = 4096, n = 6144, m = "first" } } },
  }
  objects.Deployment = { spec.deployment { model = objects.Model[1], hardware = pool.hardware } }
end
stay()

-- A scheduler that calls anything while it plans, and keeps its views.
local current
local Probe = policy.define { name = "probe", doc = "Calls anything.", params = {}, extends = VllmV1 }

local function own_request(replica, random)
  local list = random:chance(0.5) and replica:waiting() or replica:running()
  return list[1] and list[random:whole(1, #list)]
end

function Probe:plan(replica, plan)
  local random = current
  objects.Replica, objects.Plan = { replica }, { plan }
  objects.Request = { own_request(replica, random) or objects.Request and objects.Request[1] or replica }
  for _ = 1, 15 do
    local entry = random:pick(of_plan)
    local receiver = entry.class == "Plan" and plan or replica
    local given, count = arguments.draw(random, entry, pool)
    if not (entry.key == "wake_at" and given[1] == math.huge) then
      fuzzer.try(entry.name, receiver[entry.key], receiver, unpack(given, 1, count))
    end
    fuzzer.try("a field", function() return receiver[arguments.anything(random, pool)] end)
  end
  return VllmV1.plan(self, replica, plan)
end

--- The objects of one case.
local function begin(random)
  current = random
  objects.Live = {}
  local given = arguments.scenario(random, pool)
  given.scheduler = Probe {}
  local ok, result = fuzzer.try("serve.run", serve.run, given)
  pool.result, pool.runs = ok and result or {}, { ok and result or {}, ok and result or {} }
  if not objects.Plan then objects.Plan, objects.Replica, objects.Request = { {} }, { {} }, { {} } end
  for i = 1, 2 do
    given = arguments.scenario(random, pool)
    given.steps, given.scheduler, given.replicas, given.router = nil, nil, nil, nil
    objects.Live[i] = serve.open(given)
    objects.Live[i]:step(random:whole(1, 4))
  end
  classes = {}
  for name in pairs(objects) do classes[#classes + 1] = name end
  table.sort(classes)
end

-- Calls ----------------------------------------------------------------------------------------------------------

--- Prices and times are numbers.
local function check_answer(entry, given, count, ok, first)
  if ok and type(first) == "number" and first ~= first and entry.name:find "^cost%." and entry.name ~= "cost.apart" then
    local told = {}
    for i = 1, count do told[i] = tostring(given[i]) end
    error(("%s(%s): a price is NaN"):format(entry.name, table.concat(told, ", ")), 0)
  end
end

local function call_one(random, folder)
  local entry = random:chance(0.02) and random:pick(costly) or random:pick(quick)
  local given, count = arguments.draw(random, entry, pool)
  if entry.name == "measure.write" then
    given[2] = folder .. "/out" .. random:pick { ".json", ".csv", "", ".x", "/a.csv" }
    count = math.max(count, 2)
  end
  local results
  if entry.class then
    local receiver = random:chance(0.93) and pool.of(random, entry.class) or arguments.anything(random, pool)
    local method = pool.of(random, entry.class)[entry.key]
    results = { fuzzer.try(entry.name, method, receiver, unpack(given, 1, count)) }
  else
    results = { fuzzer.try(entry.name, entry.call, unpack(given, 1, count)) }
  end
  check_answer(entry, given, count, results[1], results[2])
  if results[1] and type(results[2]) == "function" and #entry.parameters > 0 then
    fuzzer.try("what " .. entry.name .. " returns", results[2], arguments.anything(random, pool),
      arguments.anything(random, pool))
  end
  if random:chance(0.05) then
    local object, key = pool.any(random), arguments.anything(random, pool)
    fuzzer.try("a field", function() return object[key] end)
    if not policy.is_class(object) then fuzzer.try("an assigned field", function() object[key] = 1 end) end
  end
end

fuzzer.main(function(random, folder)
  begin(random)
  for _ = 1, 300 do call_one(random, folder) end
  for _, live in ipairs(objects.Live) do fuzzer.try("close", live.close, live) end
end)
