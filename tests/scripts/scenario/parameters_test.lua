-- Every number in a scenario, of every policy file and of the scenario's own keys: an impossible value is refused
-- with an error that names the key, and a value that is not refused runs.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policy, serve = rooflua.policy, rooflua.serve
local inf, nan = math.huge, 0 / 0

local bad = { nan, inf, -inf, -1, 0, 0.5, 1e300, -1e300, 2 ^ 53, "x", "7", true, {}, function() end }

--- Six requests, so that each takes a millisecond.
local function base()
  return { model = "llama-3.1-8b", hardware = "h200", steps = require "steps.roofline_v1" {},
    workload = require "workloads.poisson" { rate_per_s = 50, num_requests = 6, prompt_tokens = 40,
      output_tokens = 4 } }
end

local small = { num_requests = 6, num_prompts = 6, sessions = 3, prompt_tokens = 40, output_tokens = 4,
  random_input_len = 40, random_output_len = 4, turns = 2, clients = 2, plays = 2, lanes = 2, duration_s = 20,
  path = test.file("trace.csv", "arrival_s,prompt_tokens,output_tokens\n0,40,4\n0.1,30,5\n") }

local of_plays = test.file("plays.jsonl", '{"session_id": "a", "input_length": 600, "output_length": 3, '
  .. '"hash_ids": [1], "timestamp": 0}\n')
local captured = test.file("captures.jsonl", '{"id": "a", "block_size": 64, "requests": [{"t": 0, "type": "n", '
  .. '"in": 70, "out": 3, "hash_ids": [1]}, {"t": 5, "type": "n", "in": 140, "out": 3, "hash_ids": [1, 2]}]}\n')
local paths = { agentx = captured, plays = of_plays }

--- Legal sizes that would take too long.
local function endless(name, value)
  return type(value) == "number" and value > 100 and
    (small[name] ~= nil or name == "max_context_tokens" or name:find "_tokens" ~= nil)
end

--- A scenario that uses one policy of a folder.
local function using(folder, instance)
  local given = base()
  if folder == "steps" then given.steps = instance end
  if folder == "bucketing" then given.steps = require "steps.roofline_v2" { bucketing = instance } end
  if folder == "schedulers" then given.scheduler = instance end
  if folder == "routers" then given.router, given.replicas = instance, 2 end
  if instance.name == "adapter_affinity" then given.adapters, given.steps = { count = 4 }, nil end
  if folder == "workloads" then given.workload = instance end
  if instance.name == "with_pictures" then given.model = "qwen3-vl-30b-a3b" end
  if folder == "corrections" then given.corrections = { instance } end
  if folder == "tiers" or folder == "eviction" then
    local store = { name = "cpu", capacity_bytes = 1e9, eviction = folder == "eviction" and instance or nil }
    given.tiers = { policy = folder == "tiers" and instance or "vllm_cpu", stores = { store } }
  end
  if folder == "lookup" then given.mfu, given.steps = { lookup = instance }, nil end
  local slot = ({ speculators = "speculator", acceptance = "acceptance", drafters = "drafter" })[folder]
  if slot then
    given.speculation = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {} }
    given.speculation[slot] = instance
  end
  return given
end

--- The policy with sizes of a small run and one given value.
local function made(class, name, value)
  local overrides = {}
  for key, size in pairs(small) do
    if core.plain(class.params)[key] ~= nil then overrides[key] = size end
  end
  if overrides.path then overrides.path = paths[class.name] or overrides.path end
  if core.plain(class.params).of then overrides.of = require "workloads.poisson" { num_requests = 4 } end
  overrides[name] = value
  return class(overrides)
end

local function shown(value) return type(value) == "string" and ("%q"):format(value) or tostring(value) end

-- Every parameter of a step model has a source.
test("every parameter of a step model has a unit where it is a number, and a source", function()
  local seen = 0
  for _, name in ipairs { "infersim", "kernels", "roofline_v1", "roofline_v2" } do
    for key, declared in pairs(core.plain(policy.describe(require("steps." .. name)).params)) do
      seen = seen + 1
      test.check(type(declared.source) == "string" and declared.source ~= "", "steps.%s.%s has no source", name, key)
      test.check(type(declared.default) ~= "number" or declared.unit ~= nil, "steps.%s.%s has no unit", name, key)
    end
  end
  test.at_least(seen, 70)
end)

local asked, refused, ran = 0, 0, 0

--- Runs `body`; an error must name the parameter. Adds a line for each value that was wrongly accepted or refused
--- without that name.
local function ask(name, value, must_refuse, body)
  asked = asked + 1
  local ok, problem = pcall(body)
  if ok then
    ran = ran + 1
    test.check(not must_refuse, "%s = %s was taken", name, shown(value))
    return
  end
  refused = refused + 1
  test.check(tostring(problem):find(name, 1, true), "%s = %s: the message does not name it: %s", name, shown(value),
    tostring(problem))
end

local function is_number(declared)
  return type(declared.default) == "number" or declared.type == "number"
end

for _, folder in ipairs { "acceptance", "bucketing", "corrections", "drafters", "eviction", "lookup", "routers",
  "schedulers", "speculators", "steps", "tiers", "workloads" } do
  for _, file in ipairs(native.list_folder(native.home .. "/scripts/" .. folder, ".lua")) do
    local class = require(folder .. "." .. file)
    for _, name in ipairs(core.sorted_keys(core.plain(class.params))) do
      if is_number(class.params[name]) then
        local declared = class.params[name]
        test(("%s.%s.%s names itself"):format(folder, file, name), function()
          for _, value in ipairs(bad) do
            local wrong = type(value) ~= "number" and declared.type ~= "any" or value ~= value
              or (value == inf or value == -inf) and not declared.infinite
            if not endless(name, value) then
              ask(name, value, wrong, function() serve.run(using(folder, made(class, name, value))) end)
            end
          end
        end)
      end
    end
  end
end

-- Keys of the scenario itself ----------------------------------------------------------------------------

--- Key path, and the values of `bad` that are allowed there.
local own_keys = {
  ["seed"] = { 0 }, ["replicas"] = {}, ["async_depth"] = {},
  ["frontend.base_s"] = { 0, 0.5 }, ["frontend.per_prompt_token_s"] = { 0, 0.5 },
  ["frontend.per_output_token_s"] = { 0, 0.5 }, ["frontend.server_request_s"] = { 0, 0.5 },
  ["frontend.server_prompt_token_s"] = { 0, 0.5 }, ["frontend.server_chunk_s"] = { 0, 0.5 },
  ["frontend.client_request_s"] = { 0, 0.5 }, ["frontend.client_chunk_s"] = { 0, 0.5 },
  ["frontend.servers"] = {}, ["frontend.server_turns"] = {},
  ["frontend.egress_servers"] = { 0 }, ["frontend.stream_interval"] = {},
  ["slo.ttft_s"] = { 0, 0.5 }, ["slo.tpot_s"] = { 0, 0.5 },
  ["slo.e2e_s"] = { 0, 0.5 },
  ["network.alpha_s"] = { 0, 0.5 }, ["network.bytes_per_s"] = { 1e300, 2 ^ 53 },
  ["network.bytes_per_token"] = { 0, 0.5, 2 ^ 53 },
  ["deployment.tp"] = {}, ["deployment.dp"] = {}, ["deployment.ep"] = {}, ["deployment.moe_tp"] = {},
  ["deployment.cp"] = {}, ["deployment.dcp"] = {}, ["deployment.expert_gpus"] = { 0 },
  ["deployment.micro_batches"] = {},
  ["deployment.pp"] = {}, ["deployment.pp_batches"] = {}, ["deployment.pp_send_s"] = { 0, 0.5 },
  ["deployment.kv_blocks"] = {}, ["deployment.memory_utilization"] = { 0.5 },
  ["deployment.max_num_seqs"] = {}, ["deployment.max_num_batched_tokens"] = {}, ["deployment.block_size"] = {},
  ["deployment.max_model_len"] = { 0 }, ["deployment.dp_sync_s"] = { 0, 0.5 },
  ["deployment.encoder.item_s"] = { 0, 0.5 }, ["deployment.encoder.pixel_s"] = { 0, 0.5 },
  ["hardware.memory_bytes_per_s"] = {}, ["hardware.memory_bytes"] = {}, ["hardware.usable_memory_bytes"] = {},
  ["hardware.link_bytes_per_s"] = {}, ["hardware.domain_gpus"] = {}, ["hardware.node_gpus"] = {},
  ["hardware.network_bytes_per_s"] = { 0 }, ["hardware.host_bytes_per_s"] = { 0 },
  ["hardware.clock_hz"] = {}, ["hardware.l2_bytes"] = {}, ["hardware.sms"] = {},
  ["hardware.peak_flop_per_s.bf16"] = { 2 ^ 53 },
}

local function allowed(list, value)
  for _, each in ipairs(list) do
    if each == value then return true end
  end
  return false
end

--- The scenario with a value at a key path of two parts at most, three in hardware.
local function with(path, value)
  local given = base()
  local first, second, third = path:match "^([^.]+)%.?([^.]*)%.?([^.]*)$"
  if first == "network" then given.replicas = { { role = "prefill" }, { role = "decode" } } end
  if second == "" then
    given[first] = value
  else
    given[first] = { [second] = third ~= "" and { [third] = value } or value }
    if first == "hardware" then given.hardware.from = "h200" end
    if second == "encoder" then given.model = "qwen3-vl-30b-a3b" end
  end
  return given
end

for _, path in ipairs(core.sorted_keys(own_keys)) do
  test(path .. " names itself", function()
    for _, value in ipairs(bad) do
      local wrong = not allowed(own_keys[path], value)
      ask(path:match "[^.]+$", value, wrong, function() serve.run(with(path, value)) end)
    end
  end)
end

test("the numbers of a batch, a search and a sensitivity name themselves", function()
  local kinds, opening = require "rooflua.program.kinds", require "rooflua.runs.opening"
  local function run(given)
    given.model, given.hardware, given.steps = "llama-3.1-8b", "h200", require "steps.roofline_v1" {}
    return function()
      kinds.run(opening.table(given, { file = "made up" }), 1)
    end
  end
  local fine = { -- key -> values of `bad` that mean something
    decodes = { 0 }, decode_context_tokens = { 0, 0.5, 2 ^ 53 }, new_tokens = {}, context_tokens = { 0 },
    min = { 0.5 }, max = {}, tolerance = { 0.5, 1e300, 2 ^ 53 }, checks = { 0 }, seeds = {}, step = { 0.5 } }
  for _, value in ipairs(bad) do
    for _, key in ipairs { "decodes", "decode_context_tokens" } do
      local batch = { name = "n", decodes = 4, decode_context_tokens = 100 }
      batch[key] = value
      if key ~= "decodes" or value ~= 0 then
        ask(key, value, not allowed(fine[key], value), run { kind = "price", price = { batch } })
      end
    end
    for _, key in ipairs { "new_tokens", "context_tokens" } do
      local prefill = { new_tokens = 4, context_tokens = 100 }
      prefill[key] = value
      ask(key, value, not allowed(fine[key], value),
        run { kind = "price", price = { { name = "n", prefills = { prefill } } } })
    end
    for _, key in ipairs { "min", "max", "tolerance", "checks", "seeds" } do
      local search = { goal = "rate", slo = { ttft_s_p99 = 0.5 }, min = 1, max = 2, checks = 1 }
      search[key] = value
      local bound = key == "min" or key == "max" -- told as "search: min" or "search.workload.rate_per_s: -1 to 2"
      local name = bound and type(value) == "number" and (value > 2 and "rate_per_s" or "search") or key
      ask(name, value, not allowed(fine[key], value),
        run { kind = "search", search = search, workload = base().workload })
    end
    for _, key in ipairs { "step", "seeds" } do
      local search = { goal = "sensitivity", params = { "steps.mfu_prefill" }, metrics = { "tpot_s_mean" } }
      search[key] = value
      ask(key, value, not allowed(fine[key], value),
        run { kind = "search", search = search, workload = base().workload })
    end
  end
end)

test("the list of keys is complete", function()
  local declared = require "rooflua.applied.declared"
  for _, each in ipairs(declared.all(require("rooflua.scenario.reader").new "scenario", base())) do
    if not each.path:find "^steps%." and not each.path:find "^workload%." and not each.path:find "^scheduler%." then
      test.check(own_keys[each.path], "%s is not among them", each.path)
    end
  end
end)

test("enough was asked to mean something, some of it refused, some of it run", function()
  test.at_least(asked, 1500)
  test.at_least(refused, 1000)
  test.at_least(ran, 200)
end)

test("an infinite rate is allowed where it is declared, and nowhere else", function()
  local bench = require "workloads.vllm_bench"
  test.equal(policy.parameters(bench { request_rate = inf }).request_rate, inf)
  test.raises("poisson.rate_per_s: expected a finite number requests/s, found inf", function()
    require "workloads.poisson" { rate_per_s = inf }
  end)
end)

test.finish()
