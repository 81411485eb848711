-- A front end that is a queue: rates of engines, what reports say, what is refused.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

--- Clients that all begin at once, on an engine that is faster than its front end.
local function scenario(frontend, changes)
  return scene({
    hardware = "h200", mfu = { tables = false }, seed = 4, frontend = frontend, engine = "vllm 0.11",
    workload = require "workloads.closed_loop" { clients = 40, num_requests = 80, prompt_tokens = 64,
      output_tokens = 8 },
  }, changes)
end

local function summary_of(frontend, changes) return serve.run(scenario(frontend, changes)).summary end
local function error_of(frontend, changes)
  local ok, message = pcall(serve.run, scenario(frontend, changes))
  return ok and "" or tostring(message)
end
local function has(text, part) test.check(text:find(part, 1, true) ~= nil, "%s", text) end

test("without times there is no such part", function()
  local plain = summary_of(nil)
  test.equal(plain.frontend, nil)
  test.equal(json.encode(summary_of { endpoint = "none" }), json.encode(plain))
end)

local one = { server_request_s = 0.1, server_chunk_s = 1e-4 }
local slow = summary_of(one)
local function with(changes)
  local out = {}
  for _, list in ipairs { one, changes } do
    for key, value in pairs(list) do out[key] = value end
  end
  return summary_of(out)
end

test("a slow front end decides", function()
  test.check(math.abs(slow.requests_per_s - 1 / (0.1 + 8e-4)) < 0.3, "%g", slow.requests_per_s)
  local own = slow.frontend
  test.check(own.busy_frac > 0.95 and own.busy_frac <= 1, "%g", own.busy_frac)
  test.check(slow.ttft_s.p50 > 3.5, "%g", slow.ttft_s.p50) -- behind the requests of others
  test.equal(own.chunks, 80 * 8)
end)

test("servers that only stream send first tokens at once", function()
  local apart = with { egress_servers = 1 }
  test.check(apart.ttft_s.p50 < slow.ttft_s.p50, "%g", apart.ttft_s.p50)
  test.check(apart.frontend.egress_busy_frac < 0.1, "%g", apart.frontend.egress_busy_frac)
end)

test("four servers are about four times as fast", function()
  local four = with { servers = 4 }
  test.check(four.requests_per_s > 3.5 * slow.requests_per_s, "%g", four.requests_per_s)
end)

test("with a second turn the engine gets requests of one instant together", function()
  local turns = with { server_turns = 2 }
  test.check(turns.tpot_s.mean > slow.tpot_s.mean, "%g", turns.tpot_s.mean)
  test.check(turns.frontend.wait_s > slow.frontend.wait_s, "%g", turns.frontend.wait_s)
  local once = require "workloads.closed_loop" { clients = 40, num_requests = 40, prompt_tokens = 64,
    output_tokens = 8 }
  local last = summary_of({ server_request_s = 0.1, server_turns = 2 }, { workload = once })
  test.check(last.ttft_s.p50 >= 40 * 0.1 and last.ttft_s.p99 < 1.2 * last.ttft_s.p50, "%g", last.ttft_s.p50)
  test.check(summary_of({ server_request_s = 0.1 }, { workload = once }).ttft_s.p50 < 0.6 * last.ttft_s.p50)
end)

test("a longer interval makes fewer chunks", function()
  local coarse = summary_of { server_chunk_s = 1e-3, stream_interval = 4 }.frontend
  test.check(coarse.chunks < 80 * 8 and coarse.chunks >= 80 * 2, "%d", coarse.chunks)
end)

test("the clients' process is a queue, too", function()
  local client = summary_of { client_request_s = 0.05, client_chunk_s = 1e-3 }
  test.check(client.frontend.client_busy_frac > 0.9, "%g", client.frontend.client_busy_frac)
  test.check(client.ttft_s.p50 > 1, "%g", client.ttft_s.p50)
end)

test("times of an engine and its release", function()
  local chat, completions = summary_of { endpoint = "chat" }, summary_of { endpoint = "completions" }
  test.check(chat.frontend.busy_frac > completions.frontend.busy_frac)
  test.check(summary_of { endpoint = "chat", server_request_s = 1e-4 }.ttft_s.mean < chat.ttft_s.mean)
  local later = summary_of({ endpoint = "chat" }, { engine = "vllm 0.12" })
  test.check(later.ttft_s.mean < chat.ttft_s.mean)
  local two = summary_of({ endpoint = "chat" }, { engine = { "vllm 0.11", api_server_count = 2 } })
  test.check(two.frontend.wait_s < chat.frontend.wait_s)
  local far = summary_of({ endpoint = "chat" }, { engine = { "vllm 0.12", stream_interval = 4 } })
  test.check(far.frontend.chunks < later.frontend.chunks)
  local harmony = summary_of({ endpoint = "chat" }, { model = "gpt-oss-20b" })
  test.check(harmony.frontend.busy_frac < chat.frontend.busy_frac)
  local sglang = summary_of({ endpoint = "chat" }, { engine = "sglang 0.5.9" })
  test.check(sglang.frontend.busy_frac > 0)
end)

test("what means nothing is refused", function()
  has(error_of({ endpoint = "chat" }, { engine = "trtllm 1.0" }), "frontend.endpoint: the times of the front end")
  has(error_of { servers = 2 }, "frontend.servers")
  has(error_of { egress_servers = 2 }, "frontend.egress_servers")
  has(error_of { server_chunk_s = 1, server_turns = 2 }, "frontend.server_turns")
  has(error_of { chunk_s = 1 }, "chunk_s")
end)

test.finish()
