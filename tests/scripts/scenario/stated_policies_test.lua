-- A policy that JSON states, {"name": ..., parameters}, is that policy at every key that takes one.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local named_policies = require "rooflua.sandbox.named_policies"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"
local stated_policies = require "rooflua.applied.stated_policies"

local reader = Reader.new "json"

--- The name of a policy of a folder that needs no parameters.
local function name_of(folder)
  for _, name in ipairs(named_policies.names(folder)) do
    local ok, made = pcall(function() return named_policies.class(folder, name) {} end)
    if ok and policy.is_instance(made) then return name end
  end
end

--- The value at the first key of a path, with `inner` at its end; and how to find that again.
local function nested(path, inner)
  local first, rest = path:match "^([^.%[]+)(.*)$"
  local function value_of(rest_of)
    if rest_of == "" then return inner, function(value) return value end end
    local list, after = rest_of:match "^(%[%])(.*)$"
    local key
    if not list then key, after = rest_of:match "^%.([^.%[]+)(.*)$" end
    local value, find = value_of(after)
    if list then return { {}, value }, function(given) return find(given[2]) end end
    key = key == "*" and "mine" or key
    return { [key] = value }, function(given) return find(given[key]) end
  end
  return first, value_of(rest)
end

test("at every key that takes a policy", function()
  local count = 0
  for path, folder in pairs(schema.policy_folders()) do
    local name = name_of(folder)
    if name then
      local first, value, find = nested(path, { name = name })
      local made = find(stated_policies.of(reader, first, json.decode(json.encode(value))))
      test.equal(policy.is_instance(made), true)
      test.equal(made.name, named_policies.instance(folder, name).name)
      count = count + 1
    end
  end
  test.at_least(count, 20)
  local list = stated_policies.of(reader, "corrections", json.decode '[{"name": "step_overhead"}, "causal_mask"]')
  test.equal(policy.is_instance(list[1]), true)
  test.equal(list[2], "causal_mask")
end)

local function opened(...)
  return opening.table({ model = "llama-3.1-8b", hardware = "h200-sxm", workload = require "workloads.poisson" {
    rate_per_s = 1, num_requests = 5 }, replicas = { {}, {} } }, { set = { ... } }).given
end

test("--set takes it, at a key and at a place of a list", function()
  local given = opened('workload={"name": "constant", "rate_per_s": 3, "num_requests": 7}',
    'replicas.2.scheduler={"name": "vllm_v1", "max_num_seqs": 4}')
  test.equal(given.workload.name, "constant")
  test.equal(policy.parameters(given.workload).num_requests, 7)
  test.equal(policy.parameters(given.replicas[2].scheduler).max_num_seqs, 4)
end)

test("what is wrong with it is told with its key", function()
  for set, part in pairs {
    ['workload={"name": "poison"}'] = "workload: unknown policy of workloads 'poison'; did you mean 'poisson'?",
    ['workload={"name": "poisson", "rate": 3}'] = "unknown parameter 'rate'",
    ['workload={"rate_per_s": 3}'] = "workload: expected a policy",
    ['workload={"name": "a/../b"}'] = "workload: unknown policy of workloads",
    ['replicas.2.scheduler={"name": "vllm"}'] = "replicas.2.scheduler: unknown policy",
  } do
    test.raises(part, function() opened(set) end)
  end
end)

test.finish()
