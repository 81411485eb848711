-- Gates: what each policy does to a run, laws of what passes, errors, and forks with held requests.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local function burst(more)
  local own = { rate_per_s = 2, burst_rate_per_s = 50, period_s = 20, burst_s = 4, num_requests = 250,
    prompt_tokens = 1500, output_tokens = 100 }
  for key, value in pairs(more or {}) do own[key] = value end
  return require "workloads.burst"(own)
end

local function scenario(admission, more)
  return scene({ seed = 3, replicas = 2, router = "least_outstanding",
    admission = admission, scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16 }, workload = burst(),
    metrics = { requests = true } }, more)
end

local function run(admission, more) return serve.run(scenario(admission, more)) end

test("a gate that lets every request pass changes no figure", function()
  local with, without = run("always").summary, run(nil).summary
  for _, name in ipairs { "ttft_s", "e2e_s", "queue_s" } do
    test.equal(with[name].mean, without[name].mean)
    test.equal(with[name].p99, without[name].p99)
  end
  test.equal(with.gate.admitted, 250)
  test.equal(with.gate.held, 0)
  test.equal(without.gate, nil)
end)

--- The policy, which writes down when what passes: {now_s, prompt_tokens, in_flight}.
local function recorded(Class, log)
  local Own = policy.define { name = "recorded", doc = "Of this test.", extends = Class }
  local function note(request, view) log[#log + 1] = { view.now_s, request.prompt_tokens, view.in_flight } end
  function Own:admit(request, view)
    local answer = Class.admit(self, request, view)
    if answer == "pass" then note(request, view) end
    return answer
  end
  function Own:next(request, view)
    local passes, again_s = Class.next(self, request, view)
    if passes then note(request, view) end
    return passes, again_s
  end
  return Own
end

test("what passes a token bucket in a window costs at most capacity + rate x window", function()
  for seed = 1, 6 do
    local capacity, rate = 3000 * seed, 2000 + 3000 * seed
    for _, full in ipairs { "reject", "hold" } do
      local passed = {}
      run(recorded(require "admission.token_bucket", passed) { capacity = capacity, rate_per_s = rate, full = full },
        { seed = seed, workload = burst { num_requests = 120, prompt_tokens = { distribution = "uniform", min = 50,
          max = 2900 } } })
      test.at_least(#passed, 10)
      for i = 1, #passed do
        local sum = 0
        for j = i, #passed do
          sum = sum + passed[j][2]
          local most = capacity + rate * (passed[j][1] - passed[i][1])
          test.check(sum <= most + 1e-3, "%g tokens in %g s", sum, passed[j][1] - passed[i][1])
        end
      end
    end
  end
end)

test("a gate that holds keeps the queues of engines short, and one that refuses those of clients", function()
  local none = run("always").summary
  local holds = run(require "admission.saturation" { full = "hold" }).summary
  local refuses = run("saturation").summary
  test.equal(holds.completed, 250)
  test.check(holds.queue_s.p99 < 0.5 * none.queue_s.p99, "%g s, %g s", holds.queue_s.p99, none.queue_s.p99)
  test.at_least(holds.gate.held, 50)
  test.check(refuses.ttft_s.p99 < 0.5 * none.ttft_s.p99, "%g s", refuses.ttft_s.p99)
  test.equal(refuses.gate.refused + refuses.completed, 250)
  test.equal(refuses.failed.refused, refuses.gate.refused)
  test.equal(refuses.gate.completed_frac, refuses.completed / 250)
end)

test("a gate with old load overshoots, and credit takes that back", function()
  local blind = run(require "admission.bands" {}).summary
  local credited = run(require "admission.bands" { credit = true }).summary
  test.check(credited.queue_s.p99 < blind.queue_s.p99, "%g s, %g s", credited.queue_s.p99, blind.queue_s.p99)
end)

test("concurrency bounds what is in flight", function()
  local passed, most = {}, 0
  run(recorded(require "admission.concurrency", passed) { max_concurrency = 5 })
  for _, each in ipairs(passed) do most = math.max(most, each[3] + 1) end
  test.equal(most, 10)
  test.equal(#passed, 250)
end)

test("early rejection keeps TTFT of those that pass below its limit", function()
  local found = run(require "admission.early_reject" { prefill_tokens_per_s = 20000, ttft_s = 1 }).summary
  test.at_least(found.gate.refused, 20)
  test.check(found.ttft_s.p99 < run("always").summary.ttft_s.p99, "%g s", found.ttft_s.p99)
end)

local function tenants()
  return require "workloads.mix" { parts = {
    { name = "noisy", tenant = 0, program = 0, workload = burst { num_requests = 200, prompt_tokens = 3000 } },
    { name = "quiet", tenant = 1, program = 1, deadline_s = 30, workload = require "workloads.poisson" { rate_per_s = 2,
      num_requests = 60, prompt_tokens = 400, output_tokens = 50 } },
  } }
end

local function fair(given)
  given.max_concurrency = 12
  return run(require "admission.concurrency"(given), { workload = tenants(), replicas = 1, router = nil }).summary
end

test("a quiet tenant waits less in turn, by service and by deadline than after a noisy one", function()
  local global = fair {}
  for _, given in ipairs { { fair = "round_robin" }, { fair = "vtc" }, { fair = "las" }, { order = "edf" } } do
    local found = fair(given)
    test.check(found.tenants[2].ttft_s.p99 < 0.5 * global.tenants[2].ttft_s.p99, "%s: %g s, %g s",
      given.fair or given.order, found.tenants[2].ttft_s.p99, global.tenants[2].ttft_s.p99)
    test.check(found.fairness.tenants == 2 and found.fairness.jain_tokens <= 1, "Jain")
  end
end)

test("program_aware serves the program with little service first", function()
  local function of(name)
    return run(require("admission." .. name) { detector = "concurrency", max_concurrency = 12, most = 0,
      flow = "program" }, { workload = tenants(), replicas = 1, router = nil }).summary.tenants[2].ttft_s.p99
  end
  test.check(of "program_aware" < 0.5 * of "bands", "%g s, %g s", of "program_aware", of "bands")
end)

test("deadlines end what is held, and with expire_queued what waits at a replica", function()
  local held = run(require "admission.concurrency" { max_concurrency = 8, deadline_s = 1 }).summary
  test.at_least(held.gate.expired, 20)
  test.equal(held.gate.expired + held.completed, 250)
  test.check(held.gate.held_s.max <= 1, "%g s", held.gate.held_s.max)
  local queued = run(require "admission.concurrency" { deadline_s = 1, expire_queued = true }).summary
  test.at_least(queued.gate.expired, 20)
  test.check(queued.ttft_s.max < run("always").summary.ttft_s.max, "queued")
  local slo = run(require "admission.concurrency" { max_concurrency = 8, slo_deadline = true },
    { slo = { ttft_s = 1 } })
  test.equal(slo.summary.gate.expired, held.gate.expired)
end)

test("the limit of a class is a deadline by the name of the class, too", function()
  local function part(name)
    return { name = name, workload = require "workloads.poisson" { rate_per_s = 40, num_requests = 120,
      prompt_tokens = 800, output_tokens = 60 } }
  end
  local found = run(require "admission.concurrency" { max_concurrency = 4, slo_deadline = true },
    { slo = { classes = { chat = { ttft_s = 0.5 } } },
      workload = require "workloads.mix" { parts = { part "bulk", part "chat" } } }).summary
  test.equal(found.classes[1].failed, 0)
  test.at_least(found.classes[2].failed, 10)
  test.equal(found.gate.expired, found.classes[2].failed)
  test.check(found.classes[2].held_s_mean <= 0.5, "%g s", found.classes[2].held_s_mean)
  test.check(found.classes[1].held_s_mean > found.classes[2].held_s_mean, "%g s", found.classes[1].held_s_mean)
end)

test("why of a request says how long it was held in front, and its times add up", function()
  local given = scenario(require "admission.concurrency" { max_concurrency = 2, deadline_s = 3 })
  local sim = serve.open(given)
  sim:run()
  local held, expired = 0, 0
  for id = 0, 249, 6 do -- each runs the simulation again
    local _, why = sim:why(id)
    local sum = 0
    for name, value in pairs(why) do
      if name:sub(-2) == "_s" and name ~= "e2e_s" and type(value) == "number" then sum = sum + value end
    end
    test.near(sum, why.e2e_s, 1e-9)
    if why.outcome == "completed" and why.held_s then
      test.check(why.held_s > 0 and why.held_s <= 3, "%g s", why.held_s)
      held = held + 1
    end
    if why.outcome == "expired" then
      test.near(why.held_s, 3, 1e-9)
      expired = expired + 1
    end
  end
  test.check(expired > 0 and held > 0, "%d expired, %d held", expired, held)
end)

test("a band that is full refuses", function()
  local found = run(require "admission.concurrency" { max_concurrency = 8, max_held = 10 }).summary
  test.at_least(found.gate.refused, 20)
  test.equal(found.gate.refused + found.completed, 250)
end)

test("a fork in the middle of held requests has the same future", function()
  for _, name in ipairs { "bands", "token_bucket", "concurrency", "program_aware" } do
    local given = name == "token_bucket" and { full = "hold", rate_per_s = 20000 } or
      name == "concurrency" and { max_concurrency = 6, fair = "vtc", deadline_s = 5 } or {}
    local live = serve.open(scenario(require("admission." .. name)(given)))
    live:run_until(3)
    local twin = live:fork()
    live:run()
    twin:run()
    local a, b = live:result().summary, twin:result().summary
    test.equal(a.e2e_s.mean, b.e2e_s.mean)
    test.equal(a.gate.held_s.mean, b.gate.held_s.mean)
    test.equal(a.gate.expired, b.gate.expired)
    test.at_least(a.gate.held, 10)
  end
end)

local function own(methods, more)
  local definition = { name = "own", doc = "Of this test.", params = {} }
  for key, value in pairs(more or {}) do definition[key] = value end
  local Own = policy.define(definition)
  for name, method in pairs(methods) do Own[name] = method end
  return Own {}
end

test("what a gate holds to the end is the gate's, not the scheduler's", function()
  local found = run(own { admit = function() return "hold" end, next = function() return false end })
  test.equal(found.summary.completed, 0)
  test.equal(found.summary.failed.never_admitted, 250)
  test.equal(found.summary.failed.starved, nil)
  local notes = table.concat(found.notes, "\n")
  local text = "250 of 250 requests were held by the gate own to the end: it never let them go"
  test.check(notes:find(text, 1, true), notes)
  test.check(not notes:find "scheduler", notes)
end)

test("a parameter `most` of a policy without interval_s is its own", function()
  local most = { default = 40, unit = "requests", min = 0, integer = true, doc = "Requests in flight." }
  local found = run(own({ admit = function(self, _, view)
    return view.in_flight < self.most and "pass" or "reject"
  end }, { params = { most = most } }))
  test.at_least(found.summary.completed, 40)
  test.raises("most needs interval_s above 0", function()
    local interval_s = { default = 0, unit = "s", doc = "Of the gate." }
    run(own({ admit = function() return "pass" end }, { params = { most = most, interval_s = interval_s } }))
  end)
end)

test("each refusal names who refused", function()
  local count = 0
  local gate = own { admit = function()
    count = count + 1
    return count % 5 == 0 and "reject" or "pass"
  end }
  local router = own({ route = function(_, request) return request.id % 5 ~= 1 and 1 end }, { refuses = true })
  local given = scenario(gate)
  given.router = router
  local notes = table.concat(serve.run(given).notes, "\n")
  test.check(notes:find("100 of 250 requests were refused by the gate own (50); the router own (50)", 1, true), notes)
end)

test("a policy chooses among flows, and reads what the view has", function()
  local seen = {}
  local found = run(own({
    admit = function(_, request, view)
      test.check(view.held_by and view:held_by(request.class) >= 0, "held_by")
      return "hold"
    end,
    next = function(_, _, view) return view.in_flight < 10 end,
    choose = function(self, flows)
      local best = 1
      for i, flow in ipairs(flows) do
        seen[#flows] = true
        if flow.request.prompt_tokens < flows[best].request.prompt_tokens then best = i end
      end
      return best
    end,
  }), { workload = tenants() }).summary
  test.equal(found.completed, 260)
  test.check(seen[2], "two flows")
end)

test("wrong answers and settings are errors that say what is right", function()
  local function fails(pattern, admission, more)
    local ok, message = pcall(run, admission, more)
    test.check(not ok and tostring(message):find(pattern), "%s: %s", pattern, tostring(message))
  end
  fails('must return "pass", "hold" or "reject"', own { admit = function() return "maybe" end })
  fails("no next", own { admit = function() return "hold" end })
  fails("must return true or false", own { admit = function() return "hold" end, next = function() return 1 end })
  fails("whole number from 1", own { admit = function() return "hold" end, next = function() return true end,
    choose = function() return 9 end })
  fails("unknown field", own { admit = function(_, _, view) return view.helld end })
  fails("staleness_s = 0", require "admission.saturation" { credit = true })
  fails("interval_s above 0", require "admission.saturation" { most = 1 })
  fails("has no ttft_s", require "admission.saturation" { slo_deadline = true })
  fails("band", "band")
end)

test.finish()
