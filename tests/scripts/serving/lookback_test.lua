-- The history of a live simulation, and the reports made from it: why, explain, diff, plots.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json, measure = rooflua.serve, rooflua.json, rooflua.measure

local function scenario(changes)
  return scene({
    hardware = "l40s", seed = 4, deployment = { kv_blocks = 500 },
    scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16, max_num_batched_tokens = 512 },
    workload = require "workloads.poisson" {
      rate_per_s = 4, num_requests = 60,
      prompt_tokens = { distribution = "uniform", min = 50, max = 2000 },
      output_tokens = { distribution = "uniform", min = 10, max = 100 },
    },
  }, changes)
end

local function finished(changes)
  local live = serve.open(scenario(changes))
  live:run()
  return live
end

test("what is remembered of a request is what following it finds", function()
  local live = finished()
  test.equal(#live:ended(), 60)
  for _, id in ipairs { 0, 7, 31, 59 } do
    local remembered, followed = select(2, live:why(id)), select(2, measure.why(scenario(), id))
    for key, value in pairs(remembered) do -- the second run adds operations, and the requests that it waited for
      if key ~= "bound_s" then test.equal(json.encode { value }, json.encode { followed[key] }, key) end
    end
  end
end)

test("where a request was adds up to its latency", function()
  for _, each in ipairs(finished { frontend = { base_s = 0.01 } }:ended()) do
    local sum_s = 0
    for _, part_s in pairs(each.where_s) do sum_s = sum_s + part_s end
    test.near(sum_s, each.e2e_s, 1e-9)
  end
end)

test("steps are remembered in order, without gaps in what they count", function()
  local live = finished()
  local steps, before_s, decodes = live:steps(), 0, 0
  for _, step in ipairs(steps) do
    test.check(step.end_s >= before_s and step.start_s < step.end_s, "time goes back")
    before_s, decodes = step.end_s, decodes + step.decodes
  end
  test.equal(#steps, live:result().totals.steps)
  local tokens = 0
  for _, each in ipairs(live:ended()) do tokens = tokens + each.output_tokens end
  -- a request's first token, and the one after each preemption, come from a prefill
  test.equal(decodes + 60 + live:result().totals.preemptions, tokens)
end)

test("the last step, priced again, takes the time it took", function()
  for _, steps in ipairs { "kernels", "roofline_v1" } do
    local live = serve.open(scenario { steps = steps })
    for _ = 1, 30 do
      live:step(7)
      local priced, report = live:explain()
      test.near(priced.time_s, priced.was_s, 1e-12 * priced.was_s)
      test.check(report:find "step", "no report")
    end
  end
end)

test("prices in between, and corrections, do not change a live simulation", function()
  local slow = { corrections = { require "corrections.step_overhead" { overhead_s = 0.01 },
    require "corrections.bandwidth_efficiency" {} } }
  local alone, beside = finished(slow), serve.open(scenario(slow))
  local other = serve.open(scenario())
  while beside:step(5) do
    beside:explain()
    other:step()
  end
  test.equal(json.encode(alone:result().summary), json.encode(beside:result().summary))
end)

test("remembering changes nothing, and can be turned off", function()
  local bare = serve.open(scenario(), { remember = false })
  bare:run()
  test.equal(json.encode(bare:result().summary), json.encode(finished():result().summary))
  local ok, problem = pcall(bare.steps, bare)
  test.check(not ok and tostring(problem):find "remember", "no error: %s", tostring(problem))
end)

test("a fork with the same policies differs in nothing, another one with reasons", function()
  local a = serve.open(scenario())
  a:run_until(5)
  local same, few = a:fork(), a:fork()
  few:set { scheduler = require "schedulers.vllm_v1" { max_num_seqs = 2, max_num_batched_tokens = 512 } }
  a:run() same:run() few:run()
  test.equal(json.encode(a:ended()), json.encode(same:ended()))
  local text, rows = measure.diff(a, same)
  test.equal(#rows, 60)
  for _, row in ipairs(rows) do test.equal(row.change_s, 0) end
  test.check(text:find "the same", text)
  text, rows = measure.diff(a, few, { metric = "ttft", names = { "a", "few" } })
  local before_s, slower = -math.huge, 0
  for _, row in ipairs(rows) do
    test.near(row.b_s - row.a_s, row.change_s, 1e-12)
    test.check(row.change_s >= before_s, "not sorted")
    before_s = row.change_s
    if row.change_s > 0 then
      slower = slower + 1
      test.check(row.reason ~= "", "request %d got slower for no reason", row.id)
    end
  end
  test.check(slower > 5, "%d got slower with two seats", slower)
  test.check(text:find "few against a", text)
end)

test("the headings of a metric add up to it, and its reasons are among them", function()
  local a = serve.open(scenario())
  a:run_until(5)
  local few = a:fork()
  few:set { scheduler = require "schedulers.vllm_v1" { max_num_seqs = 2, max_num_batched_tokens = 512 } }
  a:run() few:run()
  local function sum(headings)
    local out = 0
    for _, time_s in pairs(headings) do out = out + time_s end
    return out
  end
  local after_first = 0
  for _, live in ipairs { a, few } do
    for _, each in ipairs(live:ended()) do
      test.near(sum(each.where_to_first_s), each.ttft_s, 1e-9)
      if each.where_s.decode then after_first = after_first + 1 end
      test.equal(each.where_to_first_s.decode, nil)
    end
  end
  test.check(after_first > 50, "%d requests decoded", after_first)
  for metric, pattern in pairs { ttft_s = "^[^d]", queue_s = "^queue", tpot_s = "^[dpr]" } do
    local _, rows = measure.diff(a, few, { metric = metric })
    for _, row in ipairs(rows) do
      if row.change_s ~= 0 then
        test.check(row.reason:find(pattern), "request %d: %s because of %s", row.id, metric, row.reason)
        test.check(math.abs(row.reason_s) <= 12 * (row.a_s + row.b_s), "%s: %g s of %g s", metric, row.reason_s,
          row.change_s)
      end
    end
  end
end)

test("why knows the scenario of a run, however it was run", function()
  local expected = measure.why(scenario(), 3)
  test.equal(measure.why(serve.run(scenario()), 3), expected)
  local live = serve.open(scenario())
  live:run()
  test.equal(measure.why(live:result(), 3), live:why(3))
  local runs = require("rooflua.sweep").grid { scenario(), vary = { seed = { 1, 2 } } }
  local second = scenario()
  second.seed = 2
  test.equal(measure.why(runs[2], 3), (measure.why(second, 3)))
  test.raises("does not say which scenario", function() measure.why({ summary = {} }, 3) end)
end)

test("a run is written by the ending of the file", function()
  local folder = os.tmpname()
  os.remove(folder)
  local function written(run, ending)
    measure.write(run, folder .. ending)
    local file = assert(io.open(folder .. ending))
    local text = file:read "*a"
    file:close()
    os.remove(folder .. ending)
    return text
  end
  local run, live = serve.run(scenario()), serve.open(scenario())
  live:run()
  local csv = written(run, ".csv")
  test.check(csv:find "^id,class,session,replica,", csv:sub(1, 60))
  local _, lines = csv:gsub("\n", "")
  test.equal(lines, run.summary.requests + 1)
  test.equal(written(live, ".csv"), csv)
  test.equal(json.decode(written(run, ".json")).requests, run.summary.requests)
  test.raises("ends in .json", function() measure.write(run, folder .. ".txt") end)
  test.raises("no requests any more", function() measure.write({ summary = {} }, folder .. ".csv") end)
end)

test("why of a request that is not over goes on in a fork", function()
  local live = serve.open(scenario())
  live:run_until(5)
  local id = live:replica(1).running[1].id
  test.equal(live:why(id), nil)
  local text = measure.why(live, id)
  test.check(text:find "^not over", text)
  test.equal(live.now_s, 5)
end)

test("a scheduler by name takes over seats and budget, an instance must not want more", function()
  local live = serve.open(scenario())
  live:run_until(2)
  live:set { scheduler = "sjf" }
  live:run()
  test.equal(live:result().summary.completed, 60)
  local greedy = require "schedulers.sjf" { max_num_seqs = 16, max_num_batched_tokens = 8192 }
  local ok, problem = pcall(live.set, live, { scheduler = greedy })
  test.check(not ok and tostring(problem):find "8192 is more than the 512", tostring(problem))
end)

test("a policy's error leaves the fork before it intact", function()
  local policy = require "rooflua.policy"
  local Late = policy.define { name = "late", doc = "Fails after 3 s.", extends = require "schedulers.vllm_v1" }
  local plan = Late.plan
  function Late:plan(replica, step)
    plan(self, replica, step)
    if replica.now_s > 3 then error "no more" end
  end
  local live = serve.open(scenario { scheduler = Late { max_num_seqs = 16, max_num_batched_tokens = 512 } })
  live:run_until(2)
  local saved = live:fork()
  local ok, problem = pcall(live.run, live)
  test.check(not ok and tostring(problem):find "no more", tostring(problem))
  ok, problem = pcall(live.run, live)
  test.check(not ok and tostring(problem):find "middle of a step", tostring(problem))
  saved:set { scheduler = "vllm_v1" }
  saved:run()
  test.equal(saved:result().summary.completed, 60)
end)

test("charts are as wide as asked, and have something in them", function()
  local live = finished()
  for _, view in ipairs { "load", "ttft_s", "tpot", "e2e_s", "queue_s", "roofline" } do
    local text = measure.plot(live, view, { width = 60 })
    test.check(text:find "[\226][\160-\163]", "%s: no dots:\n%s", view, text)
    for line in text:gmatch "[^\n]+" do
      local _, dots = line:gsub("[^\128-\191]", "")
      test.check(dots <= 90 and (line:find "│" == nil or dots <= 60), "%s: %d columns", view, dots)
    end
  end
  test.check(measure.plot(serve.open(scenario())):find "nothing to show", "an empty plot")
  test.check(not pcall(measure.plot, live, "ttfp"), "a metric that is none")
end)

test.finish()
