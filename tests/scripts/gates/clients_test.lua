-- Clients: each changes a figure of its scenario in the direction that it claims.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

--- A GPU with too few seats for a burst of requests, and enough for the rest.
local function scenario(client, changes)
  return scene({
    hardware = "h200", mfu = { tables = false }, seed = 4, client = client,
    steps = require "steps.kernels" {}, deployment = { max_num_seqs = 16 },
    scheduler = require "schedulers.vllm_v1" {},
    workload = require "workloads.burst" {
      rate_per_s = 5, burst_rate_per_s = 100, burst_s = 3, period_s = 1000, num_requests = 500,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 100, max = 300 },
    },
  }, changes)
end

local function impatient(given) return require "clients.impatient" (given) end

local function result_of(client, changes)
  local live = serve.open(scenario(client, changes))
  live:run()
  return live:result(), live
end

local function text_of(result) return json.encode { result.summary, result.notes } end

test("a patient client is none", function()
  local none = result_of(nil)
  test.equal(text_of(result_of "patient"), text_of(none))
  test.equal(none.summary.clients, nil)
  local endless = result_of(impatient { first_token_s = 1e6 })
  endless.summary.clients = nil
  test.equal(json.encode(endless.summary), json.encode(none.summary))
end)

test("impatient clients lose answers and shorten the queue of the others", function()
  local calm = result_of(nil).summary
  local result = result_of(impatient { first_token_s = 2 })
  local s = result.summary
  test.check(s.failed.timed_out > 50, "timed_out: %s", tostring(s.failed.timed_out))
  test.check(s.ttft_s.p99 <= 2 and calm.ttft_s.p99 > 4, "%g and %g", s.ttft_s.p99, calm.ttft_s.p99)
  local c = s.clients
  test.equal(c.asked, 500)
  test.equal(c.answered + c.given_up, 500)
  test.equal(c.answered, s.completed)
  test.equal(c.attempts_mean, 1)
  test.equal(c.retried_frac, 0)
  test.check(table.concat(result.notes, "\n"):find("timed out", 1, true) ~= nil, "no note")
end)

test("retries answer more questions, and clients wait longer than any of their requests", function()
  local once = result_of(impatient { first_token_s = 2 }).summary.clients
  local s = result_of(impatient { first_token_s = 2, retries = 10, delay_s = 1 }).summary
  local c = s.clients
  test.check(c.answered > once.answered, "%d and %d", c.answered, once.answered)
  test.check(c.attempts_mean > 1 and c.attempts_max <= 11, "%g, %d", c.attempts_mean, c.attempts_max)
  test.check(c.client_ttft_s.max > 2 and s.ttft_s.max <= 2, "%g and %g", c.client_ttft_s.max, s.ttft_s.max)
  test.equal(c.asked, 500)
  test.check(c.retried_frac > 0 and s.requests == 500 + c.retried_frac * s.requests, "requests")
end)

test("jitter parts retries that would come together", function()
  local function most_at_once(jitter)
    local live = serve.open(scenario(impatient { first_token_s = 1, retries = 20, delay_s = 2, jitter = jitter }, {
      workload = require "workloads.burst" { rate_per_s = 0.01, burst_rate_per_s = 1e5, burst_s = 0.1, period_s = 1e6,
        num_requests = 300, prompt_tokens = 300, output_tokens = 200 } }))
    live:run()
    return live:result().summary.clients.client_e2e_s.max
  end
  test.check(most_at_once(0.9) < most_at_once(0), "jitter does not help")
end)

test("openai decides by the status, and its delays double to a limit", function()
  local draws = require("rooflua.random").streams(1):stream "x"
  local client = require "clients.openai" {}
  for _, status in ipairs { 429, 503, 500, 408, 409 } do
    local delay_s = client:again(nil, { attempt = 0, status = status, output_tokens = 0 }, draws)
    test.check(delay_s > 0.375 and delay_s <= 0.5, "%d: %s", status, tostring(delay_s))
  end
  test.equal(client:again(nil, { attempt = 0, status = 400, output_tokens = 0 }, draws), nil)
  test.equal(client:again(nil, { attempt = 2, status = 429, output_tokens = 0 }, draws), nil)
  test.check(client:again(nil, { attempt = 0, output_tokens = 0 }, draws), "its own timeout")
  local streaming = require "clients.openai" { stream = true, max_retries = 9 }
  test.equal(streaming:again(nil, { attempt = 0, output_tokens = 3 }, draws), nil)
  local late = streaming:again(nil, { attempt = 8, output_tokens = 0 }, draws)
  test.check(late > 6 and late <= 8, "%s", tostring(late))
end)

test("openai times out, and sends again twice", function()
  local s = result_of(require "clients.openai" { timeout_s = 3 }).summary
  test.check(s.failed.timed_out > 50, "%s", tostring(s.failed.timed_out))
  test.equal(s.clients.attempts_max, 3)
end)

test("a share of requests is cancelled, and is not sent again", function()
  local s = result_of(require "clients.cancelling" { share = 0.2, after_s = 0.5 }).summary
  test.check(s.failed.cancelled > 60 and s.failed.cancelled < 140, "%s", tostring(s.failed.cancelled))
  test.equal(s.clients.attempts_max, 1)
  local all = result_of(require "clients.cancelling" { share = 1, after_s = 0 }).summary
  test.equal(all.failed.cancelled, 500)
end)

test("a question keeps its draws when the load changes", function()
  local function cancelled(rate)
    local _, live = result_of(require "clients.cancelling" { share = 0.3, after_s = 0 }, {
      workload = require "workloads.poisson" { rate_per_s = rate, num_requests = 100, prompt_tokens = 100,
        output_tokens = 10 } })
    return live:result().summary.failed.cancelled
  end
  test.equal(cancelled(5), cancelled(50))
end)

test("wrong answers of a client are errors that name it", function()
  local policy = require "rooflua.policy"
  local function failing(part, methods)
    local Mine = policy.define { name = "mine", doc = "A test.", params = {} }
    for name, method in pairs(methods) do Mine[name] = method end
    test.raises(part, function() result_of(Mine {}) end)
  end
  local function one() return 1 end
  failing("patience must return seconds from 0 on", { patience = function() return -1 end })
  failing("client mine", { patience = function() return "soon" end })
  failing("again must return", { patience = one, again = function() return -2 end })
  failing("status", { patience = one, again = function(_, _, ending) return ending.statuss end })
  failing("give up", { patience = function() return 0 end, again = function() return 0 end })
end)

test("an unknown client is an error with a suggestion", function()
  test.raises("impatient", function() serve.open(scenario "impatent") end)
end)

test("a copy goes on with the same clients", function()
  local live = serve.open(scenario(impatient { first_token_s = 1, retries = 5, delay_s = 1, jitter = 0.5 }))
  live:run_until(4)
  local copy = live:fork()
  live:run()
  copy:run()
  test.equal(json.encode(copy:result().summary), json.encode(live:result().summary))
end)

test("a closed loop keeps its slot while a client sends again", function()
  local s = result_of(impatient { total_s = 0.5, first_token_s = 0, retries = 3 }, {
    workload = require "workloads.closed_loop" { clients = 8, num_requests = 40, prompt_tokens = 200,
      output_tokens = 200 } }).summary
  test.equal(s.clients.asked, 40)
  test.equal(s.peak_concurrency, 8)
  test.check(s.clients.attempts_mean > 1, "nothing is sent again")
end)

test("a gate that refuses ends what retries at once keep up", function()
  local function answered(gate)
    return result_of(impatient { first_token_s = 0, total_s = 15, retries = 20 }, { admission = gate,
      hardware = "h100-sxm", deployment = {},
      workload = require "workloads.burst" { rate_per_s = 7, burst_rate_per_s = 60, burst_s = 20, period_s = 1e5,
        num_requests = 2000, prompt_tokens = 1024, output_tokens = 256 } }).summary
  end
  local open, gated = answered(nil), answered(require "admission.saturation" {})
  test.check(gated.clients.answered_frac > 2 * open.clients.answered_frac, "%g and %g", gated.clients.answered_frac,
    open.clients.answered_frac)
  test.check((gated.wasted_output_tokens or 0) < open.wasted_output_tokens / 3)
  test.check(gated.gate.refused > 1000, "%d", gated.gate.refused)
end)

test.finish()
