-- Faults: what is lost, who finds out, and what clients do about it.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

local function scenario(faults, changes)
  local out = {
    model = "llama-3.1-8b", hardware = "h200", mfu = { tables = false }, seed = 4, faults = faults, replicas = 4,
    steps = require "steps.kernels" {}, scheduler = require "schedulers.vllm_v1" {}, router = "round_robin",
    workload = require "workloads.poisson" { rate_per_s = 40, num_requests = 1600,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 100, max = 300 } },
  }
  for key, value in pairs(changes or {}) do out[key] = value end
  return out
end

local function summary_of(faults, changes)
  local live = serve.open(scenario(faults, changes))
  live:run()
  return live:result().summary
end

local function scripted(list, more)
  local given = { list = list }
  for key, value in pairs(more or {}) do given[key] = value end
  return require "faults.scripted" (given)
end

local one = { { time_s = 10, replica = 2, repair_s = 10 } }

test("faults that never come change nothing", function()
  local none, later = summary_of(nil), summary_of(scripted { { time_s = 1e5, replica = 1 } })
  test.equal(later.faults.failures, 0)
  test.equal(later.faults.availability, 1)
  later.faults = nil
  test.equal(json.encode(later), json.encode(none))
end)

test("what runs on a replica that fails is lost, and the rest is not", function()
  local s = summary_of(scripted(one))
  local f = s.faults
  test.equal(f.failures, 1)
  test.check(f.lost_requests > 5 and f.lost_requests < 80, "%d", f.lost_requests)
  test.equal(s.failed.replica_lost, f.lost_requests)
  test.equal(s.completed + f.lost_requests, 1600)
  test.check(f.lost_tokens > 0 and f.recomputed_tokens == 0)
  test.near(f.availability, 1 - 10 / (4 * s.duration_s), 0.01)
end)

test("clients that send again get every answer, and migration keeps what they have", function()
  local lost = summary_of(scripted(one))
  local again = summary_of(scripted(one), { client = "openai" })
  local migrated = summary_of(scripted(one), { client = "migrating" })
  for name, s in pairs { openai = again, migrating = migrated } do
    test.equal(s.clients.answered, 1600, name)
    test.equal(s.faults.lost_requests, lost.faults.lost_requests, name)
    test.check(s.faults.recomputed_tokens > 0, "%s computes nothing again", name)
  end
  test.check(migrated.faults.lost_tokens < again.faults.lost_tokens, "%d and %d", migrated.faults.lost_tokens,
    again.faults.lost_tokens)
  test.check(migrated.clients.kept_output_tokens > 0 and again.clients.kept_output_tokens == 0)
  test.check(migrated.clients.client_e2e_s.max < again.clients.client_e2e_s.max, "no sooner")
end)

test("until a loss is detected, what is sent there is lost as well", function()
  local known, unknown = summary_of(scripted(one)), summary_of(scripted(one, { detect_s = 4, connect_s = 0.5 }))
  local more = unknown.faults.lost_requests - known.faults.lost_requests
  test.check(more > 20 and more < 60, "a quarter of 160: %d", more)
  local hole = summary_of(scripted(one, { detect_s = 4, connect_s = 0 }), { router = "least_outstanding" })
  test.check(hole.faults.lost_requests > unknown.faults.lost_requests, "an idle replica attracts: %d and %d",
    hole.faults.lost_requests, unknown.faults.lost_requests)
end)

test("a slow replica lengthens answers while it is slow", function()
  local calm = summary_of(nil)
  local slow = summary_of(scripted { { time_s = 5, replica = 1, factor = 4, for_s = 15 } })
  local always = summary_of(scripted { { time_s = 0, replica = 1, factor = 4 } })
  test.equal(slow.completed, 1600)
  test.check(slow.tpot_s.p99 > 1.5 * calm.tpot_s.p99, "%g and %g", slow.tpot_s.p99, calm.tpot_s.p99)
  test.check(always.tpot_s.mean > slow.tpot_s.mean and slow.tpot_s.mean > calm.tpot_s.mean)
  test.equal(slow.faults.failures, 0)
end)

test("stragglers are a share of the replicas, and a router that counts avoids them", function()
  local stragglers = require "faults.stragglers" { share = 0.25, factor = 4 }
  local blind = summary_of(stragglers)
  local counting = summary_of(stragglers, { router = "least_outstanding" })
  test.check(counting.e2e_s.p99 < blind.e2e_s.p99, "%g and %g", counting.e2e_s.p99, blind.e2e_s.p99)
end)

test("failures at random come as often as they are said to", function()
  local s = summary_of(require "faults.exponential" { mtbf_s = 20, repair_s = 1 }, { client = "migrating" })
  local expected = 4 * s.duration_s / 21
  local found = s.faults.failures
  test.check(found > expected / 2 and found < 2 * expected, "%d, expected %g", found, expected)
  test.equal(json.encode(summary_of(require "faults.exponential" { mtbf_s = 20, repair_s = 1 },
    { client = "migrating" })), json.encode(s))
end)

test("a copy goes on with the same faults", function()
  local live = serve.open(scenario(require "faults.exponential" { mtbf_s = 15, repair_s = 2, detect_s = 1 },
    { client = "openai" }))
  live:run_until(12)
  local copy = live:fork()
  live:run()
  copy:run()
  test.equal(json.encode(copy:result().summary), json.encode(live:result().summary))
end)

test("wrong lists of faults are errors", function()
  local function wrong(part, list)
    test.raises(part, function() summary_of(scripted(list)) end)
  end
  wrong("unknown key 'repair'", { { time_s = 1, replica = 1, repair = 2 } })
  wrong("time_s is missing", { { replica = 1 } })
  wrong("lies before", { { time_s = 2, replica = 1 }, { time_s = 1, replica = 2 } })
  wrong("expected a number from 1 to 4", { { time_s = 1, replica = 9 } })
  wrong("say repair_s", { { time_s = 1, replica = 1, for_s = 2 } })
end)

test.finish()
