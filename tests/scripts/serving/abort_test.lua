-- Requests of a live simulation that are ended before their last token.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

local function scenario(changes)
  return scene({
    hardware = "h200", mfu = { tables = false }, seed = 4, deployment = { kv_blocks = 400 },
    steps = require "steps.kernels" {},
    scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16, max_num_batched_tokens = 512 },
    workload = require "workloads.poisson" {
      rate_per_s = 60, num_requests = 200,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 10, max = 100 },
    },
  }, changes)
end

--- A running request and a waiting one, if there are any.
local function some_of(live)
  local replica = live:replica(1)
  return replica.running[1] and replica.running[1].id, replica.waiting[1] and replica.waiting[1].id
end

test("an aborted request is gone at once, and the others go on", function()
  local live = serve.open(scenario())
  live:run_until(1.5)
  local running, waiting = some_of(live)
  test.check(running and waiting, "nothing runs or nothing waits")
  test.check(live:abort(running) == true and live:abort(waiting, "expired") == true, "they were alive")
  for _, id in ipairs { running, waiting } do
    test.equal(live:request(id), nil, "request " .. id)
    test.equal(live:abort(id), false, "a second time")
  end
  test.equal(live.now_s, 1.5)
  live:run()
  local result = live:result()
  local summary = result.summary
  test.equal(summary.completed, 198)
  test.equal(json.encode(summary.failed), json.encode { cancelled = 1, expired = 1 })
  test.check(summary.wasted_prompt_tokens > 0 and summary.wasted_output_tokens >= 0)
  test.equal(live:replica(1).free_blocks, 400)
  local notes = table.concat(result.notes, "\n")
  test.check(notes:find("1 of 200 requests were cancelled by their clients", 1, true), "%s", notes)
  test.check(notes:find("1 of 200 requests expired: their deadlines passed first", 1, true), "%s", notes)
end)

test("nothing happens to a request that has ended or has not come", function()
  local live, calm = serve.open(scenario()), serve.open(scenario())
  live:run_until(1)
  test.equal(live:abort(live:ended()[1].id), false)
  test.equal(live:abort(199), false)
  live:run()
  calm:run()
  test.equal(json.encode(live:result().summary), json.encode(calm:result().summary))
  test.equal(calm:result().summary.wasted_prompt_tokens, nil)
end)

test("a closed loop goes on: a cancelled client sends the next request", function()
  local live = serve.open(scenario { workload = require "workloads.closed_loop" { clients = 8, num_requests = 60,
    prompt_tokens = 100, output_tokens = 50 } })
  local cancelled = 0
  for _ = 1, 10 do
    live:step(20)
    local running = some_of(live)
    if running and live:abort(running, "timed_out") then cancelled = cancelled + 1 end
  end
  live:run()
  local summary = live:result().summary
  test.check(cancelled >= 5, "%d were cancelled", cancelled)
  test.equal(summary.requests, 60)
  test.equal(summary.failed.timed_out, cancelled)
  test.equal(summary.completed, 60 - cancelled)
end)

test("a fork keeps what was aborted, and why accounts for the time of such a request", function()
  local live = serve.open(scenario())
  live:run_until(1.25)
  local id = some_of(live)
  local sent_s = live:request(id).arrival_s
  live:abort(id, "replica_lost")
  local fork = live:fork()
  live:run()
  fork:run()
  test.equal(json.encode(fork:result().summary), json.encode(live:result().summary))
  local text, document = live:why(id)
  test.equal(document.outcome, "replica_lost")
  test.check(document.followed == nil, "it was not followed:\n%s", text)
  local sum = 0
  for key, value in pairs(document) do
    if type(value) == "number" and key:find "_s$" and key ~= "e2e_s" then sum = sum + value end
  end
  test.near(sum, 1.25 - sent_s, 1e-9)
  local other = live:ended()[150].id
  local _, followed = live:why(other)
  test.check(followed.followed == nil, "a request behind it was not followed")
end)

test("what makes no sense is refused with what would", function()
  local live = serve.open(scenario())
  live:run_until(0.5)
  local function problem(...)
    local ok, found = pcall(live.abort, live, ...)
    test.check(not ok, "it was accepted")
    return tostring(found)
  end
  test.check(problem(0, "canceled"):find("unknown outcome 'canceled'; did you mean 'cancelled'", 1, true))
  test.check(problem(0, "completed"):find("unknown outcome 'completed'", 1, true))
  test.check(problem(0, {}):find("abort: expected an outcome", 1, true))
  for _, id in ipairs { "x", -1, 0.5, 1e15 } do test.check(problem(id):find("abort: request", 1, true), "%s", id) end
  live:run()
  test.equal(live:result().summary.completed, 200)
end)

test.finish()
