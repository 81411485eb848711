-- What nothing reads is refused or told: keys of scenarios in every place, fields of a workload's requests, content
-- that no request shares.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local unread_keys = require "rooflua.serving.unread_keys"

local poisson = require "workloads.poisson" { rate_per_s = 2, num_requests = 5, prompt_tokens = 100, output_tokens = 4 }

local function scenario(more)
  return scene({ engine = "vllm 0.24", workload = poisson }, more)
end

local function run(more, index)
  return kinds.run(opening.table(scenario(more), { file = "made up" }), index or 1)
end

local function refused(more, part)
  local ok, problem = pcall(run, more)
  test.check(not ok and tostring(problem):find(part, 1, true), "expected '%s', found %s", part,
    ok and "no error" or tostring(problem))
end

test("a key of no place is refused, and the message says where its meaning belongs", function()
  refused({ prefill_replicas = 2 }, 'say role = "prefill" in an entry of `replicas`')
  refused({ decode_replicas = 2 }, 'say role = "decode" in an entry of `replicas`')
  refused({ vary = { prefill_replicas = { 1, 2 } } }, "unknown key 'prefill_replicas'")
  refused({ tp = 2 }, "tp is a key of deployment")
  refused({ ttft_s = 2 }, "ttft_s is a key of slo")
  refused({ role = "both" }, "role is a key of replicas's entries")
end)

local odd = "no_such_key"

test("every table of a scenario refuses a key that nothing reads", function()
  refused({ [odd] = 1 }, odd)
  refused({ deployment = { [odd] = 1 } }, "deployment: unknown key '" .. odd)
  refused({ replicas = { { [odd] = 1 } } }, odd)
  refused({ replicas = { { deployment = { [odd] = 1 } } } }, odd)
  refused({ mfu = { [odd] = 1 } }, odd)
  refused({ mfu = { model = { [odd] = 1 } } }, odd)
  refused({ slo = { [odd] = 1 } }, odd)
  refused({ frontend = { [odd] = 1 } }, odd)
  refused({ network = { [odd] = 1 } }, odd)
  refused({ metrics = { [odd] = 1 } }, odd)
  refused({ sweep = { n = 1, [odd] = 1 } }, odd)
  refused({ hardware = { from = "h100", [odd] = 1 } }, odd)
  refused({ vary = { ["deployment." .. odd] = { 1, 2 } } }, odd)
  refused({ vary = { ["deployment.tp"] = { { label = "a", value = 1, [odd] = 1 } } } }, odd)
  refused({ vary = { ["deployment.tp"] = { { label = "a", value = 1, set = {} } } } }, "expected one of them")
  refused({ kind = "price", price = { { decodes = 1, [odd] = 1 } } }, odd)
  refused({ kind = "price", price = { { decodes = 1 } }, deployment = { [odd] = 1 } }, odd)
  refused({ kind = "static", steps = "infersim", static = { [odd] = 1 } }, odd)
  refused({ kind = "search", search = { [odd] = 1 } }, odd)
  local one = { name = "one", cost_per_hour = 2, set = { ["deployment." .. odd] = 1 } }
  refused({ kind = "search", search = { goal = "cheapest", slo = { ttft_s_p99 = 1 }, deployments = { one } } }, odd)
  refused({ kind = "search", search = { goal = "pareto", vary = { ["deployment." .. odd] = { 1, 2 } } } }, odd)
end)

local function paths_of(given, kind)
  local out = {}
  for i, each in ipairs(unread_keys.of(given, kind)) do out[i] = each[1] end
  return table.concat(out, " ")
end

test("a key that another kind reads is told: it may wait for --set kind=", function()
  local given = { price = { { decodes = 1 } }, slo = {}, deployment = { tp = 2, prefix_caching = false } }
  test.equal(paths_of(given, "price"), "deployment.prefix_caching slo")
  test.equal(paths_of(given, "serve"), "price")
  local result = run { kind = "price", price = { { decodes = 1 } }, slo = { ttft_s = 1 } }
  test.equal(table.concat(result.notes, "\n"), 'workload: nothing reads it: kind "price" does not read it\n'
    .. 'slo: nothing reads it: kind "price" does not read it')
end)

test("a key that the replicas or their roles leave without a reader is told", function()
  test.equal(paths_of({ scheduler = "sjf", replicas = { { scheduler = "sjf" }, { scheduler = "sjf" } } }, "serve"),
    "scheduler")
  test.equal(paths_of({ scheduler = "sjf", replicas = { { scheduler = "sjf" }, {} } }, "serve"), "")
  test.equal(paths_of({ network = {}, replicas = 2 }, "serve"), "network")
  test.equal(paths_of({ network = {}, replicas = { { role = "prefill" }, { role = "decode" } } }, "serve"), "")
end)

--- A workload of three requests with these fields.
local function requests_with(fields, shares_content)
  local Own = policy.define { name = "own", doc = "Three requests." }
  function Own.requests()
    local sent = 0
    return { shares_content = shares_content, next = function()
      sent = sent + 1
      if sent <= 3 then return sent, 100, 4, fields end
    end }
  end
  return { workload = Own {} }
end

test("a field of a request that nothing reads is refused with a suggestion", function()
  refused(requests_with { outputcontent = 3 },
    "request 1: unknown field 'outputcontent'; did you mean 'output_content'")
  refused(requests_with { prority = 3 }, "did you mean 'priority'")
  refused(requests_with { 7 }, "unknown field")
  run(requests_with { priority = 3, class = 1, session = 2, max_output_tokens = 9, predicted_output_tokens = 5 })
end)

test("content that no request shares is refused", function()
  local content = { content = { { 1, 100 } } }
  refused(requests_with(content, false), "does not say shares_content = true")
  refused(requests_with({ output_content = 5 }, false), "does not say shares_content = true")
  test.check(run(requests_with(content, true)).text ~= nil, "the same content, shared")
end)

test("every search of loads, deployments or variants shows further metrics", function()
  local function text_of(search)
    search.show = { "queue_s_p90" }
    return run({ kind = "search", search = search }).text
  end
  local one = { name = "one", cost_per_hour = 2, set = {} }
  test.check(text_of { slo = { ttft_s_p99 = 9 }, min = 1, max = 2 }:find "queue_s_p90", "rate")
  test.check(text_of { goal = "cheapest", slo = { ttft_s_p99 = 9 }, deployments = { one } }:find "queue_s_p90",
    "cheapest")
  test.check(text_of { goal = "pareto", vary = { seed = { 1, 2 } } }:find "queue_s_p90", "pareto")
end)

test.finish()
