-- Faults: what is lost, how it is found out, and what clients do about it.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

local function scenario(faults, changes)
  return scene({
    hardware = "h200", mfu = { tables = false }, seed = 4, faults = faults, replicas = 4,
    steps = require "steps.kernels" {}, scheduler = require "schedulers.vllm_v1" {}, router = "round_robin",
    workload = require "workloads.poisson" { rate_per_s = 40, num_requests = 1600,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 100, max = 300 } },
  }, changes)
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

-- Prefill and decode split, with one interface per node.
local function split(faults, changes)
  local out = { links = { nic = { bytes_per_s = 12.5e9 } }, network = { path = { "nic" } },
    disaggregation = { order = "prefill_first" },
    replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } },
    workload = require "workloads.poisson" { rate_per_s = 10, num_requests = 400, prompt_tokens = 2000,
      output_tokens = 100 } }
  for key, value in pairs(changes or {}) do out[key] = value end
  return summary_of(faults, out)
end

local function down(more, at)
  local entry = { time_s = 10, link = "nic", factor = 0, for_s = 5 }
  for key, value in pairs(at or {}) do entry[key] = value end
  return scripted({ entry }, more)
end

--- Figures of a run in one text; prefill replicas complete nothing, so that not every number of a summary is finite.
local function told(s)
  return ("%d %.17g %.17g %.17g"):format(s.completed, s.e2e_s.mean, s.ttft_s.p99, s.output_tokens_per_s)
end

test("a link that carries all it can changes nothing", function()
  local none, whole = split(nil), split(down(nil, { factor = 1 }))
  test.equal(whole.faults.degraded_s, 0)
  test.equal(told(whole), told(none))
end)

test("KV stands still while its link carries nothing, and fails when that lasts too long", function()
  local calm, waits = split(nil), split(down())
  test.equal(waits.completed, 400)
  test.equal(waits.faults.failed_transfers, 0)
  test.equal(waits.faults.degraded_s, 20, "two nodes, two directions")
  test.check(waits.e2e_s.max > calm.e2e_s.max + 3, "%g and %g", waits.e2e_s.max, calm.e2e_s.max)
  local lost = split(down { timeout_s = 1 })
  test.check(lost.faults.failed_transfers > 10, "%d", lost.faults.failed_transfers)
  test.equal(lost.failed.replica_lost, lost.faults.failed_transfers)
  test.equal(lost.completed + lost.failed.replica_lost, 400)
  local again = split(down { timeout_s = 1, kv_load_failure_policy = "recompute" })
  test.equal(again.completed, 400)
  test.check(again.faults.failed_transfers > 10, "%d", again.faults.failed_transfers)
  test.check(again.e2e_s.max < waits.e2e_s.max, "computing takes longer: %g and %g", again.e2e_s.max, waits.e2e_s.max)
end)

test("a slow link lengthens transfers at least in proportion, or only those of one node", function()
  local half = split(down(nil, { time_s = 0, factor = 0.25, for_s = 1e5 }))
  local calm = split(nil)
  local slow, usual = half.disaggregation.kv_wait_s.p50, calm.disaggregation.kv_wait_s.p50
  test.check(slow >= 4 * usual, "they share what is left: %g and %g", slow, usual)
  local of_first = split(down(nil, { replica = 1 }))
  test.equal(of_first.faults.degraded_s, 10, "the node of the first replica")
end)

test("links fail now and then", function()
  local often = require "faults.links" { link = "nic", every_s = 4, for_s = 1, timeout_s = 0.5,
    kv_load_failure_policy = "recompute" }
  local s = split(often)
  test.check(s.faults.degraded_s > 8 and s.faults.failed_transfers > 5, "%g s, %d", s.faults.degraded_s,
    s.faults.failed_transfers)
  test.equal(s.completed, 400)
  test.equal(told(split(often)), told(s))
  local always = split(require "faults.links" { link = "nic", every_s = 0, factor = 0.5 })
  test.check(always.faults.degraded_s > 4 * 30, "%g", always.faults.degraded_s)
end)

-- A store behind a link of its own, which answers come from.
local function stored(faults)
  return summary_of(faults, { replicas = 1, links = { disk = { bytes_per_s = 2e9 } },
    deployment = { kv_blocks = 2000 },
    tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 100e9, read = { "disk" } } } },
    workload = require "workloads.multi_turn" { sessions = 20, session_rate_per_s = 2 } })
end

test("a load that fails is computed, or ends its request", function()
  local function broken(what)
    return stored(scripted({ { time_s = 1, link = "disk", factor = 0, for_s = 30 } },
      { timeout_s = 0.5, kv_load_failure_policy = what }))
  end
  local calm, computed, ended = stored(nil), broken "recompute", broken "fail"
  test.check(computed.faults.failed_transfers > 0, "no load fails")
  test.equal(computed.completed, calm.completed)
  test.check(ended.failed.replica_lost > 0, "no request ends")
end)

test("links that are not there, and faults that are wrong, are errors", function()
  test.raises("nic", function() split(down(nil, { link = "nick" })) end)
  test.raises("no transfer uses links", function() summary_of(down()) end)
  test.raises("from 0 to 1", function() split(down(nil, { factor = 2 })) end)
  test.raises("factor is missing", function() split(scripted { { time_s = 1, link = "nic" } }) end)
  test.raises("a link has for_s", function()
    split(scripted { { time_s = 1, link = "nic", factor = 0, repair_s = 3 } })
  end)
end)

test.finish()
