-- Layers in stages (deployment.pp): what is refused, what a priced step says, and what a run shows.
local measure = require "rooflua.measure"
local notes = require "rooflua.machine.notes"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local sweep = require "rooflua.sweep"
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"

local function scenario(changes)
  return scene({ model = "llama-3.1-70b", deployment = { tp = 4, pp = 2 }, seed = 4,
    steps = "kernels", workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 60, prompt_tokens = 3000,
      output_tokens = 60 } }, changes)
end

local function with(deployment, changes)
  local out = scenario(changes)
  out.deployment = deployment
  return out
end

-- What cannot be -------------------------------------------------------------------------------------------------

test("what cannot be is refused by the name of its key", function()
  for message, deployment in pairs {
    ["deployment.pp_batches: there is one stage"] = { tp = 4, pp_batches = 2 },
    ["deployment.pp_send_s"] = { tp = 4, pp = 2, pp_send_s = -1 },
    ["deployment.pp_batches"] = { tp = 4, pp = 2, pp_batches = 0 },
    ["deployment.pp: 81 stages for the 80 layers"] = { tp = 8, pp = 81 },
  } do
    test.raises(message, function() serve.run(with(deployment)) end)
  end
  test.raises("deployment.pp: with dp > 1", function()
    serve.run(with({ tp = 2, dp = 2, ep = 4, pp = 2 }, { model = "mixtral-8x22b" }))
  end)
  test.raises("lie in different nodes of 8 GPUs, and l40s states no network", function()
    serve.run(with({ tp = 8, pp = 2 }, { hardware = "l40s" }))
  end)
end)

test("a network and the GPUs of a node may be given with the GPU", function()
  local given = spec.hardware { from = "l40s", network_bytes_per_s = 25e9, domain_gpus = 4 }
  test.equal(given.domain_gpus, 4)
  local deployment = spec.deployment { model = "llama-3.1-70b", hardware = given, tp = 4, pp = 2 }
  test.near(deployment.stages[2].send_s_per_token, 2 * 8192 * 2 / 25e9, 1e-20)
  test.equal(spec.hardware("h100").network_bytes_per_s, 50e9)
  test.equal(spec.hardware("l40s").network_bytes_per_s, 0)
end)

-- Prices ---------------------------------------------------------------------------------------------------------

local function priced(deployment)
  local given = with(deployment)
  given.workload, given.price = nil, { { prefills = { { new_tokens = 1000 } }, decodes = 24,
    decode_context_tokens = 24000 } }
  return prices.price(Prepared.of(Reader.new "test", given)).batches[1]
end

test("a priced step has the transfers between stages after its operations, and nothing else changes", function()
  local one, three = priced { tp = 4 }, priced { tp = 4, pp = 3, pp_send_s = 1e-3 }
  local count = #one.rows
  test.equal(#three.rows, count + 2)
  for i, row in ipairs(one.rows) do test.equal(three.rows[i].time_s, row.time_s, row.name) end
  test.equal(three.rows[count + 1].name .. " " .. three.rows[count + 1].evidence, "stage_send modelled")
  test.equal(three.rows[count + 2].name .. " " .. three.rows[count + 2].evidence, "stage_send assumed")
  test.near(three.rows[count + 2].time_s, 2e-3, 1e-15)
  test.near(three.time_s, one.time_s + three.rows[count + 1].time_s + 2e-3, 1e-12)
  test.near(three.evidence.assumed * three.time_s, one.evidence.assumed * one.time_s + 2e-3, 1e-12)
end)

test("a step of a live run says what its activations take between the stages, with its evidence", function()
  local live = serve.open(scenario { deployment = { tp = 4, pp = 3 } })
  while live.now_s < 5 do live:step(1) end
  local explained, sends, rest = live:explain(1), {}, 0
  for _, row in ipairs(explained.rows) do
    if row.name == "stage_send" then sends[row.evidence] = row else rest = rest + row.time_s * (row.count or 1) end
  end
  test.near(sends.assumed.time_s, 2 * 10e-6, 1e-15)
  -- Stages 1 and 2 are in one node, stage 3 in the next one.
  test.near(sends.modelled.time_s, explained.tokens * 2 * 8192 * 2 * (1 / 450e9 + 1 / 50e9), 1e-12)
  test.check(explained.time_s > sends.modelled.time_s + sends.assumed.time_s)
  local sum = 0
  for _, share in pairs(explained.evidence) do sum = sum + share end
  test.near(sum, 1, 1e-9)
end)

-- Runs -----------------------------------------------------------------------------------------------------------

test("stages never change the tokens, and two of them hold more KV", function()
  local tokens, blocks
  for _, pp in ipairs { 1, 2, 4 } do
    local summary = serve.run(with { tp = 4, pp = pp }).summary
    tokens = tokens or summary.output_tokens
    test.equal(summary.output_tokens, tokens, pp)
    test.equal(summary.completed, 60, pp)
    for _, replica in ipairs(summary.replicas) do test.check(replica.busy_frac <= 1, "steps overlap") end
    local here = spec.deployment { model = "llama-3.1-70b", hardware = "h100-sxm", tp = 4, pp = pp }.kv_blocks
    test.check(not blocks or here > blocks, pp)
    blocks = here
  end
end)

test("one batch at a time leaves the stages idle in turn", function()
  local burst = { workload = require "workloads.closed_loop" { clients = 30, num_requests = 60, prompt_tokens = 3000,
    output_tokens = 60 } }
  local full = serve.run(with({ tp = 4, pp = 4 }, burst)).summary
  local single = serve.run(with({ tp = 4, pp = 4, pp_batches = 1 }, burst)).summary
  test.check(full.duration_s < single.duration_s, "lanes overlap")
  test.check(full.ttft_s.p50 < single.ttft_s.p50, "the next prompt follows at once")
end)

--- Closed loops of short prompts, which fit one step together.
local function loop(clients, output_tokens)
  return require "workloads.closed_loop" { clients = clients, num_requests = 5 * clients, prompt_tokens = 50,
    output_tokens = output_tokens }
end

test("a pipeline carries more than one GPU in a closed loop, whatever the lengths of the answers", function()
  local spread = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 1000 }
  for name, output_tokens in pairs { equal = 200, spread = spread } do
    for _, engine in ipairs { "vllm 0.11", "sglang 0.5.9", "trtllm" } do
      local rates = {}
      for _, pp in ipairs { 1, 2, 4 } do
        rates[pp] = serve.run(with({ tp = 4, pp = pp }, { engine = engine, workload = loop(128, output_tokens) }))
          .summary.output_tokens_per_s
      end
      -- SGLang plans nothing ahead with stages (server_args.py, _handle_pipeline_parallelism), so it gains least.
      test.check(rates[2] > rates[1], "%s, %s: two stages have %.3f times the rate", name, engine,
        rates[2] / rates[1])
      test.check(rates[4] > rates[2], "%s, %s: four stages", name, engine)
    end
  end
end)

test("the requests of a closed loop spread over the lanes", function()
  for name, output_tokens in pairs { equal = 200, spread = { distribution = "uniform", min = 50, max = 350 } } do
    local live = serve.open(with({ tp = 4, pp = 2 }, { engine = "vllm 0.11", workload = loop(64, output_tokens) }))
    local least, before = 1, nil
    live:run_until(5)
    for _, step in ipairs(live:steps()) do
      if step.running == 64 and step.prefills == 0 then
        if before then least = math.min(least, step.decodes / 64, before / 64) end
        before = step.decodes
      end
    end
    live:close()
    test.check(before, "%s: no step decodes all", name)
    test.check(least > 0.25, "%s: a lane has %.0f %% of the requests", name, 100 * least)
  end
end)

test("a live replica shows its lanes", function()
  local live, most = serve.open(scenario { deployment = { tp = 4, pp = 4 } }), 0
  local flown = false
  while live.now_s < 8 do
    live:step(1)
    local state = live:replica(1)
    test.equal(state.stages, 4)
    most = math.max(most, state.planned_steps)
    flown = flown or state.in_flight > 0
    for _, request in ipairs(state.running) do
      flown = flown or request.phase == "in_flight"
      if request.phase == "in_flight" then test.equal(request.pending_tokens or 0, 0) end
    end
  end
  test.check(most > 1, "several steps are under way")
  test.check(most <= 4, "as many as stages")
  test.check(flown, "a request waits for its token")
end)

test("every second of a request in stages is counted once", function()
  local _, why = measure.why(scenario { deployment = { tp = 4, pp = 4 }, workload = require "workloads.poisson" {
    rate_per_s = 50, num_requests = 60, prompt_tokens = 3000, output_tokens = 60 } }, 17)
  local sum, waited_s, ops_s = 0, 0, 0
  for key, value in pairs(why) do
    if key:find "_s$" and key ~= "e2e_s" and type(value) == "number" then sum = sum + value end
  end
  for _, op in ipairs(why.ops) do
    ops_s = ops_s + op.time_s
    if op.op == "wait_for_stages" then waited_s = waited_s + op.time_s end
  end
  test.near(sum, why.e2e_s, 1e-9)
  test.check(waited_s > 0 and waited_s < ops_s, "its tokens wait for other lanes")
end)

test("GPUs of all stages count", function()
  local runs = sweep.grid { scenario = with { tp = 4, pp = 2 }, vary = { seed = { 4 } } }
  test.equal(runs[1].gpus, 8)
end)

test("layers of several kinds are noted, because stages are taken to hold the same mixture", function()
  local function notes_of(model, deployment)
    local prepared = Prepared.of(Reader.new "test", with(deployment, { model = model, hardware = "h200" }))
    return table.concat(notes.of { prepared } or {}, "\n")
  end
  local part = "spread evenly over the 2 stages"
  test.check(notes_of("gemma-3-27b", { tp = 2, pp = 2 }):find(part, 1, true), "windows and full attention")
  test.check(not notes_of("llama-3.1-70b", { tp = 2, pp = 2 }):find(part, 1, true), "alike")
  test.check(not notes_of("gemma-3-27b", { tp = 2 }):find("stages", 1, true), "one stage")
end)

test.finish()
