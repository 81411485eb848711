-- A value of a wrong type at any declared key, of any kind of scenario and of any policy: refused by the key, or taken.
-- No message names a line of the program.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local core = require "rooflua.base.core"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local seed = tonumber(os.getenv "ROOFLUA_SEED") or 1
-- How many of the values are tried at each key, drawn with the seed.
local share = tonumber(os.getenv "ROOFLUA_SHARE") or 0.05

local function load(more)
  local parameters = { rate_per_s = 50, num_requests = 3, prompt_tokens = 10, output_tokens = 3 }
  for key, value in pairs(more or {}) do parameters[key] = value end
  return require "workloads.poisson" (parameters)
end

local slo = { ttft_s_p99 = 1 }
local bases = {
  serve = function() return { workload = load() } end,
  price = function() return { price = { { decodes = 1, decode_context_tokens = 10 } } } end,
  static = function() return { steps = require "steps.infersim" {}, hardware = "h20", model = "qwen3-8b",
    static = { prompt_tokens = 10, output_tokens = 3 } } end,
  rate = function() return { kind = "search", workload = load(), search = { slo = slo, min = 1, max = 2,
    checks = 0 } } end,
  cheapest = function() return { kind = "search", workload = load(), search = { goal = "cheapest", slo = slo,
    deployments = { { name = "one", cost_per_hour = 2, set = {} } } } } end,
  pareto = function() return { kind = "search", workload = load(), search = { goal = "pareto", slo = slo,
    vary = { ["deployment.tp"] = { 1, 2 } } } } end,
  sensitivity = function() return { kind = "search", workload = load(), search = { goal = "sensitivity",
    metrics = { "ttft_s_p99" }, params = { "steps.host_step_s" } } } end,
  plan = function() return { kind = "plan", workload = load(), plan = { load = { rate_per_s = 5 }, slo = slo,
    gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } }, replicates = 0, requests = 10 } } end,
}

local function scenario(kind, more)
  local out = bases[kind]()
  out.rooflua, out.kind = 1, out.kind or kind
  out.model, out.hardware = out.model or "llama-3.1-8b", kind ~= "plan" and (out.hardware or "h100-sxm") or nil
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local nested = {}
for _ = 1, 150 do nested = { nested } end

-- Values that are wrong nearly everywhere. Numbers that make long runs are none of the types' business.
local wrong = { { "-1", -1 }, { "0", 0 }, { "0.5", 0.5 }, { "1e300", 1e300 }, { "-1e308", -1e308 }, { "nan", 0 / 0 },
  { "inf", 1 / 0 }, { "text", "x" }, { "no text", "" }, { "a path", "../x" }, { "a long text", ("x"):rep(1000) },
  { "true", true }, { "false", false }, { "{}", {} }, { "{5}", { 5 } }, { "{{5}}", { { 5 } } }, { "{x=5}", { x = 5 } },
  { "{'x'}", { "x" } }, { "{[{}]=1}", { [{}] = 1 } }, { "{[0.5]=1}", { [0.5] = 1 } }, { "{{}}", { {} } },
  { "a function", rawequal }, { "a Lua function", function() end }, { "a coroutine", coroutine.create(print) },
  { "an object", rooflua.spec.model "llama-3.1-8b" }, { "a stream", rooflua.random.streams(1):stream "x" },
  { "a policy", require "routers.round_robin" {} }, { "a class", require "routers.round_robin" },
  { "deep", nested }, { "null", rooflua.json.null }, { "a module", rooflua.cost } }

local found, calls, refused = {}, 0, 0
local here = debug.getinfo(1, "S").source:sub(2):gsub("%p", "%%%0") .. ":%d+" -- where policies are made

-- What a message for a user does not have: lines of the program, Lua's words for a mistake in it, addresses.
local never = { "rooflua%.[%w.]+:%d+:", "scripts/[%w/_]+%.lua", "bad argument", "attempt to", "0x%x%x%x%x",
  "internal error", "stack overflow", "assertion", "'nil'", "'function: ", "'table: ", "'table'", "found cdata",
  "'userdata: ", "'thread: " }

--- Notes a message that is none for a user.
local function judge(what, problem)
  local text = tostring(problem):gsub(here .. ":? ?", "")
  for _, bad in ipairs(never) do
    if text:find(bad) then
      found[#found + 1] = what .. ": " .. text
      return
    end
  end
end

--- Runs the scenario, and notes a message that is none for a user.
local function try(what, given)
  calls = calls + 1
  local began = os.clock()
  local ok, problem = pcall(function()
    local opened = opening.table(given)
    kinds.check(opened)
    return kinds.run(opened, 1, {})
  end)
  if os.clock() - began > 15 then found[#found + 1] = ("%s: takes %.1f s"):format(what, os.clock() - began) end
  if ok then return end
  refused = refused + 1
  judge(what, problem)
end

local random = require("rooflua.random").streams(seed):stream "wrong values"

--- Tries each of the wrong values, or some of them, at a place.
local function try_all(what, place)
  for _, each in ipairs(wrong) do
    if random:uniform() < share then
      local ok, given = pcall(place, each[2])
      if ok then try(what .. " = " .. each[1], given) end
    end
  end
end

--- A copy of a table with the value at a list of keys.
local function with(given, path, value, from)
  from = from or 1
  local out = {}
  local before = type(given) == "table" and not policy.is_instance(given) and given or {}
  for key, each in pairs(before) do out[key] = each end
  if from == #path then
    out[path[from]] = value
  else
    out[path[from]] = with(out[path[from]], path, value, from + 1)
  end
  return out
end

local function of_kind(entry, kind)
  local name = ({ rate = "search", cheapest = "search", pareto = "search", sensitivity = "search" })[kind] or kind
  return entry.kinds[name]
end

--- Every key path of a group, with 1 for the entries of a list.
local function each_path(entry, path, visit)
  path = { unpack(path) }
  path[#path + 1] = entry.name
  visit(path)
  if entry.type:find "list" then
    path[#path + 1] = 1
    visit(path)
  end
  if entry.named then path[#path + 1] = "nic" end
  for _, field in ipairs(entry.fields or {}) do each_path(field, path, visit) end
end

local function tell(what)
  local text = table.concat(found, "\n  ", 1, math.min(#found, 60))
  local count = #found
  found = {}
  test.check(count == 0, "%s: %d messages of %d:\n  %s", what, count, calls, text)
end

local function small_tiers()
  return { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9 } } }
end

--- A scenario with what the key of a path needs besides it.
local function complete(kind, path)
  return scenario(kind, path[1] == "tiers" and { tiers = small_tiers() } or nil)
end

for _, kind in ipairs(core.sorted_keys(bases)) do
  test("every key of a scenario, " .. kind, function()
    for _, entry in ipairs(schema.fields()) do
      if of_kind(entry, kind) then
        each_path(entry, {}, function(path)
          local name = table.concat(path, ".")
          try_all(kind .. ": " .. name, function(value) return with(complete(kind, path), path, value) end)
        end)
      end
    end
    tell(kind)
  end)
end

test("a key that is true or false, a word of a list, or a policy takes nothing else, in any kind", function()
  local seen = 0
  for _, kind in ipairs(core.sorted_keys(bases)) do
    local function refuses(entry, path)
      for _, each in ipairs(wrong) do
        local value = each[2]
        local fits = entry.type == "boolean" and type(value) == "boolean" or value == nil
          or entry.type == "policy" and (type(value) == "string" or policy.is_instance(value) or policy.is_class(value))
        if not fits then
          seen = seen + 1
          local ok, problem = pcall(opening.table, with(scenario(kind), path, value))
          test.check(not ok, "%s: %s = %s is taken", kind, entry.path, each[1])
          test.check(tostring(problem):find(entry.name, 1, true), "%s: the key is not named: %s", entry.path, problem)
        end
      end
    end
    for _, entry in ipairs(schema.fields()) do
      if of_kind(entry, kind) and entry.type == "policy" then refuses(entry, { entry.name }) end
      for _, field in ipairs(of_kind(entry, kind) and entry.type == "table" and entry.fields or {}) do
        local is_closed = field.type == "boolean" or field.type == "choice"
        local path = entry.named and { entry.name, "nic", field.name } or { entry.name, field.name }
        if is_closed and field.checked ~= false then refuses(field, path) end
      end
    end
  end
  test.at_least(seen, 500)
end)

-- Where policies of a folder stand.
local slots = { steps = { "steps" }, schedulers = { "scheduler" }, routers = { "router" }, workloads = { "workload" },
  bucketing = { "bucketing" }, corrections = { "corrections", 1 }, lookup = { "mfu", "lookup" },
  metrics = { "metrics", "mine" }, speculators = { "speculation", "speculator" },
  acceptance = { "speculation", "acceptance" }, drafters = { "speculation", "drafter" },
  tiers = { "tiers", "policy" }, eviction = { "tiers", "stores", 1, "eviction" },
  candidates = { "plan", "candidates" }, objectives = { "plan", "objective" }, strategies = { "plan", "strategy" },
  power = { "plan", "power" } }
local of_plans = { candidates = true, objectives = true, strategies = true, power = true }

local function scenario_of(folder)
  local given = scenario(of_plans[folder] and "plan" or "serve")
  if slots[folder][1] == "tiers" then given.tiers = small_tiers() end
  if slots[folder][1] == "speculation" then
    given.speculation = { speculator = require "speculators.fixed" { drafts = 2 },
      acceptance = require "acceptance.constant" { rate = 0.7 }, drafter = require "drafters.free" {} }
  end
  return given
end

for _, folder in ipairs(core.sorted_keys(slots)) do
  test("every parameter of policies, " .. folder, function()
    for _, about in ipairs(rooflua.list(folder)) do
      local class = require(about.module)
      for _, name in ipairs(core.sorted_keys(about.params)) do
        try_all(about.module .. "." .. name, function(value)
          local given = scenario_of(folder)
          local ok, instance = pcall(class, { [name] = value })
          if not ok then
            judge(about.module .. "." .. name, instance)
            error("refused", 0)
          end
          return with(given, slots[folder], instance)
        end)
        for _, part in ipairs { 1, "x", "distribution" } do
          try_all(("%s.%s.%s"):format(about.module, name, part), function(value)
            return with(scenario_of(folder), slots[folder], class { [name] = { [part] = value } })
          end)
        end
      end
    end
    tell(folder)
  end)
end

print(("seed %d: %d scenarios with wrong values, %d of them refused"):format(seed, calls, refused))
test.finish()
