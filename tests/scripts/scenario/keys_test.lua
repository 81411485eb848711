-- The keys of a scenario are declared once: each is accepted with a value of its type and refused with another, and
-- every list of keys is that of the declaration.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local kinds = require "rooflua.program.kinds"
local manual = require "rooflua.help.scenario"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local policy_kinds = require "rooflua.policy.kinds"
local schema = require "rooflua.scenario.schema"

--- What a scenario needs besides the key that is tried, by kind; and a search, by goal.
local bases = {
  serve = { workload = "poisson" },
  price = { price = { { decodes = 1 } } },
  static = { steps = "roofline_v1" },
  search = { workload = "poisson" },
  plan = { workload = "poisson", plan = { load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 1 },
    gpus = { { "h100-sxm", price_per_hour = 2 } } } },
}
local goals = {
  rate = { slo = { ttft_s_p99 = 0.5 }, min = 1, max = 2 },
  cheapest = { slo = { ttft_s_p99 = 0.5 }, deployments = { { name = "one", cost_per_hour = 2, set = {} } } },
  pareto = { vary = { ["deployment.tp"] = { 1, 2 } } },
  sensitivity = {},
}

local function copy(t)
  local out = {}
  for key, value in pairs(t) do out[key] = value end
  return out
end

local function kind_of(entry)
  for _, kind in ipairs { "serve", "price", "static", "search", "plan" } do
    if entry.kinds[kind] then return kind end
  end
  return "serve"
end

--- Tiers with a value at a key of theirs, or of their store.
local function tiers_with(entry, value)
  local store = { name = "cpu", capacity_bytes = 100e9 }
  local out = { policy = "vllm_cpu", stores = { store } }
  local place = entry.group.name == "stores" and store or out
  place[entry.name] = value
  return out
end

local of_pool = { autoscaler = true, min = true, max = true, drain = true, grace_s = true, start = true }

--- An entry of `replicas` with a key of its own, or of `start`.
local function of_replica(entry, group, value)
  if group.name == "replicas" and not of_pool[entry.name] then return { [entry.name] = value } end
  local out = { autoscaler = "target", max = 8 }
  if group.name == "replicas" then
    out[entry.name] = value
  else
    out.start = { [entry.name] = value, link = "store", weight_bytes = 1e9 }
    if entry.name == "link" or entry.name == "weight_bytes" then out.start[entry.name] = value end
  end
  return out
end

--- A scenario with a value at the key of `entry`.
local function scenario_with(entry, value)
  local kind = kind_of(entry)
  local given = copy(bases[kind])
  given.model, given.hardware, given.kind = "llama-3.1-8b", "h200-sxm", kind
  if kind == "search" then
    local goal = "rate"
    for _, each in ipairs { "sensitivity", "pareto", "cheapest", "rate" } do
      if entry.goals and entry.goals[each] then goal = each end
    end
    given.search = copy(goals[goal])
    given.search.goal = goal
  end
  if entry.name == "bucketing" then given.steps = "roofline_v2" end
  local group = entry.group
  if entry.name == "experts" then
    given.model, given.deployment, given.steps = "mixtral-8x7b", { tp = 2, ep = 2 }, "kernels"
  end
  if not group then
    given[entry.name] = value
  elseif group.name == "replicas" or group.name == "start" then
    given.replicas = { of_replica(entry, group, value) }
    if group.name == "start" then given.links = { store = { bytes_per_s = 1e9 } } end
  elseif group.name == "day" or entry.path == "plan.day" then
    given.plan = copy(given.plan)
    given.plan.load = { rate_per_s = 1, peak = 2 }
    given.plan.day = entry.path == "plan.day" and value or { autoscalers = { "target" }, [entry.name] = value }
  elseif group.name == "adapters" then
    given.adapters = { count = 8, [entry.name] = value }
    if entry.name == "max_cpu_loras" then given.adapters.store_bytes_per_s = 1e9 end
  elseif group.name == "experts" then
    given.model, given.deployment, given.steps = "mixtral-8x7b", { tp = 2, ep = 2 }, "kernels"
    given.experts = { [entry.name] = value }
    if entry.name ~= "zipf" and entry.name ~= "weights" then given.experts.zipf = 1 end
    if entry.name == "update_steps" then given.experts.drift_steps = 100 end
  elseif group.name == "encoder" then
    given.deployment = { encoder = { [entry.name] = value } }
  elseif group.name == "tiers" or group.name == "stores" then
    given.tiers = tiers_with(entry, value)
    given.links = { nic = { bytes_per_s = 1e9 }, pcie = { bytes_per_s = 1e9, per = "replica" } }
  elseif group.named then
    given[group.name] = { nic = { bytes_per_s = 1e9 } }
    given[group.name].nic[entry.name] = value
  elseif group.name == "sweep" then
    given.sweep = { n = 2, params = { ["steps.host_step_s"] = { 0.001, 0.002 } } }
    given.sweep[entry.name] = value
  else
    given[group.name] = copy(given[group.name] or {})
    if group.name == "network" then given.links = { nic = { bytes_per_s = 1e9 }, nvlink = { bytes_per_s = 1e9 } } end
    if entry.name == "within" then given.network.path = { "nic" } end
    if group.name == "speculation" then given.speculation = { speculator = "fixed", acceptance = "constant" } end
    given[group.name][entry.name] = value
  end
  return given
end

local function check(given) kinds.check(opening.table(given, { file = "made up" })) end

local example_of
function example_of(entry)
  if entry.same_as then return example_of(schema.entry(entry.same_as)) end
  if entry.example then return assert(loadstring("return " .. entry.example), entry.path)() end
  if entry.default ~= nil then return entry.default end
  return {}
end

local wrong = { text = 3, integer = "x", number = "x", boolean = 3, ["function"] = 3, table = 3, list = 3,
  choice = "no such choice", policy = 3, ["text or table"] = true, ["integer or list"] = true,
  ["text or policy"] = true, ["table or text"] = 3, ["text or list"] = 3 }

test("every declared key is accepted with a value of its type", function()
  local refused = {}
  for _, entry in ipairs(schema.all()) do
    local ok, problem = pcall(check, scenario_with(entry, example_of(entry)))
    if not ok then refused[#refused + 1] = entry.path .. ": " .. tostring(problem) end
  end
  test.equal(table.concat(refused, "\n"), "")
end)

test("a value of another type is refused with its key path, where that is checked", function()
  local asked, bad = 0, {}
  for _, entry in ipairs(schema.all()) do
    if entry.checked ~= false then
      local value = wrong[entry.type]
      test.check(value ~= nil, "%s: there is no wrong value for the type %s", entry.path, entry.type)
      local ok, problem = pcall(check, scenario_with(entry, value))
      local named = not ok and tostring(problem):find(entry.name, 1, true)
      if not named then bad[#bad + 1] = entry.path .. ": " .. (ok and "accepted" or tostring(problem)) end
      asked = asked + 1
    end
  end
  test.equal(table.concat(bad, "\n"), "")
  test.at_least(asked, 60)
end)

test("an unknown key is refused with the declared ones", function()
  for _, entry in ipairs(schema.all()) do
    if entry.fields and entry.name ~= "metrics" then
      local given = scenario_with({ name = "no_such_key", group = entry, kinds = entry.kinds }, 1)
      local ok, problem = pcall(check, given)
      test.check(not ok and tostring(problem):find("unknown key 'no_such_key'", 1, true), "%s: %s", entry.path,
        tostring(problem))
      for _, field in ipairs(entry.fields) do
        local read = not field.goals or field.goals.rate
        if read and (entry.name ~= "deployment" or field.read_by == "spec") then
          test.check(tostring(problem):find("%f[%w_]" .. field.name .. "%f[^%w_]"), "%s: %s is not in: %s", entry.path,
            field.name, tostring(problem))
        end
      end
    end
  end
end)

test("--set reaches every key that is no function", function()
  local changes = require "rooflua.applied.changes"
  local paths = require "rooflua.scenario.paths"
  local reader = require("rooflua.scenario.reader").new "made up"
  for _, entry in ipairs(schema.all()) do
    if entry.type ~= "function" and not entry.path:find("replicas[]", 1, true) then
      local value = example_of(entry)
      test.check(paths.value(changes.set(reader, {}, entry.path, value), entry.path) == value, "%s", entry.path)
    end
  end
  test.raises("did you mean 'replicas'", function() changes.set(reader, {}, "replica", 2) end)
end)

test("help knows every key", function()
  local help = require "rooflua.help.topics"
  local all = help.text "scenario"
  for _, entry in ipairs(schema.all()) do
    if not entry.group then test.check(all:find("\n  " .. entry.name .. ":", 1, true), "%s", entry.name) end
    local text = help.text("scenario." .. entry.path)
    test.check(text:find(entry.path .. ":", 1, true) == 1, "%s: %s", entry.path, text)
  end
  test.check(help.text("scenario.deployment.tp"):find("GPUs; default 1", 1, true), "unit and default")
end)

test("a key that no kind of scenario reads says so", function()
  for _, entry in ipairs(schema.all()) do
    if next(entry.kinds) == nil then
      test.check(not entry.read_by and manual.help("scenario." .. entry.path):find("kinds: none", 1, true), "%s",
        entry.path)
    else
      local module = native.home .. "/scripts/lib/rooflua/" .. tostring(entry.read_by):gsub("%.", "/") .. ".lua"
      test.check(native.file_exists(module), "%s is read by %s, which is no module", entry.path, entry.read_by)
    end
  end
end)

test("a key that takes policies names a kind of them, and every kind but campaigns and processors has a key", function()
  local left = {}
  for _, row in ipairs(policy_kinds.rows()) do left[row.folder] = row.of ~= "campaign" and row.of ~= "model" end
  for _, entry in ipairs(schema.all()) do
    test.check(not entry.folder or left[entry.folder] ~= nil, "%s: %s is no kind", entry.path, entry.folder)
    test.check(not entry.type:find "policy" or entry.folder, "%s: names no folder", entry.path)
  end
  for _, entry in ipairs(schema.all()) do left[entry.folder or ""] = false end
  for folder, is_left in pairs(left) do test.check(not is_left, "%s: no key takes them", folder) end
end)

test("a folder of scripts/ that holds policies is a kind of them", function()
  local kinds_of = policy_kinds.folders()
  for _, folder in ipairs(native.list_folder(native.home .. "/scripts", "")) do
    local name = native.list_folder(native.home .. "/scripts/" .. folder, ".lua")[1]
    local is_policy = name and folder ~= "meta" and policy.is_class(chunks.require(folder .. "." .. name))
    test.equal(core.is_among(folder, kinds_of), is_policy or false, folder)
  end
end)

test("the seed of a variant is that which its run takes, however it is varied", function()
  local function seeds(vary)
    local out = {}
    local opened = opening.table { rooflua = 1, seed = 3, model = "qwen3-8b", hardware = "h100-sxm",
      workload = "poisson", vary = vary }
    for i, each in ipairs(opened.variants) do out[i] = each.seed end
    return table.concat(out, " ")
  end
  test.equal(seeds { ["deployment.tp"] = { 1, 2 } }, "3 3")
  test.equal(seeds { seed = { 5, 6 } }, "5 6")
  test.equal(seeds { seed = { { label = "one", value = 5 }, 6 } }, "5 6")
  test.equal(seeds { case = { { label = "one", set = { seed = 5 } }, { label = "none", set = {} } } }, "5 3")
end)

test.finish()
