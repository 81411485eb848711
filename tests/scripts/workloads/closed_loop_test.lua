-- The workload closed_loop: the rate at which its clients begin, and lengths that are listed. More of it is in
-- workloads_test.lua and distinct_prompts_test.lua.
local test = dofile "tests/scripts/harness.lua"
local random = require "rooflua.random"
local serve = require "rooflua.serve"
local ClosedLoop = require "workloads.closed_loop"

--- What the clients of a loop send first: times, prompts.
local function first(parameters, seed)
  local source, times, prompts = ClosedLoop(parameters):requests(random.streams(seed or 1)), {}, {}
  local at, prompt = source.next(source)
  while at do
    times[#times + 1], prompts[#prompts + 1] = at, prompt
    at, prompt = source.next(source)
  end
  return times, prompts, source
end

test("without a rate all clients begin at time 0", function()
  local times = first { clients = 50, num_requests = 200 }
  test.equal(#times, 50)
  for _, at in ipairs(times) do test.equal(at, 0) end
end)

test("clients begin at the rate that is stated, one after the other, as a Poisson process", function()
  local clients, rate = 4000, 250
  local times, gaps, squares, before = first { clients = clients, num_requests = 10 * clients,
    start_rate_per_s = rate }, 0, 0, 0
  test.equal(#times, clients)
  for _, at in ipairs(times) do
    local gap = at - before
    test.check(gap > 0)
    gaps, squares, before = gaps + gap, squares + gap * gap, at
  end
  local mean = gaps / clients
  test.near(mean, 1 / rate, 4 / math.sqrt(clients))
  test.near(squares / clients - mean * mean, mean * mean, 0.15, "the variance of exponential gaps")
end)

test("clients that think begin after a first pause, all of them within their think times", function()
  local clients, think_s = 4000, 12
  local times, sum = first { clients = clients, num_requests = 10 * clients, think_time_s = think_s }, 0
  test.equal(#times, clients)
  for i = 2, clients do test.check(times[i] > times[i - 1]) end
  for _, at in ipairs(times) do sum = sum + at end
  test.near(sum / clients, think_s, 4 * think_s / math.sqrt(clients), "exponential pauses")
  test.near(times[clients / 2], think_s * math.log(2), 0.6, "their median")
end)

test("clients that think begin together where the scenario says so", function()
  for _, at in ipairs((first { clients = 9, think_time_s = 12, start_rate_per_s = math.huge })) do test.equal(at, 0) end
end)

test("the report says that p99 is of the first instant, and only where it is", function()
  local function notes_of(more)
    local workload = { clients = 20, num_requests = 400, prompt_tokens = 500,
      output_tokens = { distribution = "uniform", min = 20, max = 200 } }
    for key, value in pairs(more) do workload[key] = value end
    local scenario = { model = "llama-3.1-8b", hardware = "h100-sxm", workload = ClosedLoop(workload) }
    local found = serve.run(scenario)
    return table.concat(found.notes or {}, "\n"), found.summary
  end
  local text, together = notes_of {}
  test.check(text:find("p99 has the start in it: all 20 clients begin at time 0", 1, true), text)
  local thinking, spread = notes_of { think_time_s = 5 }
  test.check(not thinking:find "p99 has the start", thinking)
  test.check(spread.ttft_s.p99 < together.ttft_s.p99)
  test.check(not notes_of { num_requests = 4000 }:find "p99 has the start")
  local played = serve.run { model = "llama-3.1-8b", hardware = "h100-sxm",
    workload = require "workloads.conversations" { clients = 20, num_requests = 400, private_tokens = 4000 } }
  test.has(table.concat(played.notes, "\n"), "all 20 clients begin at time 0, and their first requests are 5 % of all; "
    .. "more requests outweigh them")
end)

test("the rate changes no length, and nothing after the first answers", function()
  local lengths = { distribution = "uniform", min = 100, max = 900 }
  local _, plain = first { clients = 20, num_requests = 100, prompt_tokens = lengths }
  local _, rated, source = first { clients = 20, num_requests = 100, prompt_tokens = lengths, start_rate_per_s = 3 }
  test.equal(table.concat(rated, " "), table.concat(plain, " "))
  test.equal((source.done(source, 77)), 77, "the next request follows its answer at once")
end)

test("fewer requests than clients: only so many begin", function()
  test.equal(#first { clients = 20, num_requests = 7, start_rate_per_s = 3 }, 7)
end)

test("a rate that passes the end of the clock is named, and so is one below 0", function()
  test.raises("workload.start_rate_per_s: request 1 of", function()
    first { clients = 2, num_requests = 5, start_rate_per_s = 1e-12 }
  end)
  test.raises("start_rate_per_s", function() ClosedLoop { start_rate_per_s = -1 } end)
end)

test("requests have listed lengths in the order of sending", function()
  local scenario = { model = "llama-3.1-8b", hardware = "h100-sxm", workload = ClosedLoop { clients = 2,
    num_requests = 5, prompt_tokens = { distribution = "listed", values = { 300, 200, 100 } },
    output_tokens = { distribution = "listed", values = { 4, 3 } } } }
  local requests = serve.run(scenario, { requests = true }).requests
  test.equal(table.concat(requests.input_lens, " "), "300 200 100 300 200")
  test.equal(table.concat(requests.output_lens, " "), "4 3 4 3 4")
end)

test("a prompt that is sent again has the listed length of its own", function()
  local values = { 300, 200, 100 }
  local source = ClosedLoop { clients = 1, num_requests = 9, distinct_prompts = 3,
    prompt_tokens = { distribution = "listed", values = values } }:requests(random.streams(1))
  local _, prompt, _, fields = source.next(source)
  for i = 1, 9 do
    local id, tokens = fields.content[1][1], fields.content[1][2]
    test.equal(prompt, values[id], "request " .. i)
    test.equal(tokens, prompt)
    _, prompt, _, fields = source.done(source, i)
  end
end)

test.finish()
