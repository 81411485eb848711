-- AFD (deployment.expert_gpus): what is refused, what both pools hold, runs and plans. Prices:
-- prices_test.lua.
local capacity = require "rooflua.serving.capacity"
local capacity_text = require "rooflua.serving.capacity_text"
local flags = require "rooflua.plan.flags"
local runs = require "rooflua.explore.runs"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local afd = dofile "tests/scripts/afd/setup.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local test = dofile "tests/scripts/harness.lua"

local merged, scenario = afd.merged, afd.scenario

-- What cannot be --------------------------------------------------------------------------------------------------

test("what does not divide, does not fit or is not combined is refused by the names of its keys", function()
  local function deploy(model, options, hardware)
    options.model, options.hardware, options.kv_blocks = model, hardware or "h200-sxm", 1000
    return spec.deployment(options)
  end
  for message, case in pairs {
    ["deployment.micro_batches: 2 need a pool of experts"] = { "deepseek-v3", { tp = 8, micro_batches = 2 } },
    ["deployment.expert_gpus: llama-3.1-70b has no experts"] = { "llama-3.1-70b", { tp = 8, expert_gpus = 8 } },
    ["deployment.expert_gpus: with pp > 1"] = { "deepseek-v3", { tp = 8, pp = 2, expert_gpus = 8 } },
    ["deployment.expert_gpus: with cp > 1"] = { "deepseek-v3", { tp = 2, cp = 2, expert_gpus = 8 } },
    ["deployment.expert_gpus: with dcp > 1"] = { "deepseek-v3", { tp = 8, dcp = 2, expert_gpus = 8 } },
    ["deployment.ep: 5 does not divide the 16 ranks of expert_gpus"] =
      { "deepseek-v3", { dp = 4, ep = 5, expert_gpus = 16 } },
    ["deployment.moe_tp: moe_tp * ep is 32, but expert_gpus is 16"] =
      { "deepseek-v3", { dp = 4, ep = 16, moe_tp = 2, expert_gpus = 16 } },
    ["deployment.ep: 256 experts of deepseek-v3 do not divide by ep = 24"] =
      { "deepseek-v3", { dp = 4, ep = 24, expert_gpus = 24 } },
    ["experts of deepseek-v3 do not fit on 4 x h200-sxm: "] = { "deepseek-v3", { dp = 4, ep = 4, expert_gpus = 4 } },
    ["they fit with expert_gpus = 8 and ep = 8"] = { "deepseek-v3", { dp = 4, ep = 4, expert_gpus = 4 } },
    ["lie in several nodes of 8, and gh200 states no network"] =
      { "deepseek-v3", { dp = 4, ep = 8, expert_gpus = 8 }, "gh200" },
    ["deployment.expert_gpus: expected"] = { "deepseek-v3", { dp = 4, expert_gpus = -1 } },
  } do
    test.raises(message, function() deploy(case[1], case[2], case[3]) end)
  end
end)

test("what a run does not combine with it is refused, and a step model that does not price it", function()
  local drafts = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {} }
  local deployment = { dp = 4, ep = 16, expert_gpus = 16 }
  for message, changes in pairs {
    ["deployment.expert_gpus: with speculation is not modelled"] = { speculation = drafts },
    ["steps: roofline_v1 does not price AFD"] = { steps = "roofline_v1" },
    ["steps.kernels: exchange = \"gathered\""] = { steps = require "steps.kernels" { exchange = "gathered" } },
    ["adapters: are not priced with deployment.expert_gpus"] = { engine = "vllm 0.24",
      adapters = { count = 4, rank = 16, max_loras = 2 } },
  } do
    test.raises(message, function() serve.run(scenario(merged(deployment, {}), changes)) end)
  end
end)

test("a release that does not do it is said in the notes of a run", function()
  local result = serve.run(scenario({ dp = 4, ep = 16, expert_gpus = 16 }, { engine = "vllm 0.24" }))
  local notes = table.concat(result.notes or {}, "\n")
  test.check(notes:find("deployment.expert_gpus: vllm 0.24 has no AFD", 1, true), notes)
  notes = table.concat(serve.run(scenario { tp = 8 }).notes or {}, "\n")
  test.check(not notes:find("has no AFD", 1, true), notes)
end)

-- Memory ----------------------------------------------------------------------------------------------------------

test("both pools together hold the weights of one", function()
  for _, case in ipairs { { "deepseek-v3", { 8, 16, 64 } }, { "qwen3-235b-a22b", { 8, 16 } },
    { "qwen3-30b-a3b", { 1, 4 } } } do
    local whole = spec.deployment { model = case[1], hardware = "gb200", tp = 1, kv_blocks = 10 }
    for _, gpus in ipairs(case[2]) do
      for _, divided in ipairs { { ep = gpus }, { moe_tp = gpus } } do
        local own = spec.deployment(merged({ model = case[1], hardware = "gb200", tp = 1, expert_gpus = gpus,
          kv_blocks = 10 }, divided))
        test.near(own.weight_bytes + gpus * own.expert_weight_bytes, whole.weight_bytes, 1e-12, case[1])
        test.check(own.expert_needed_bytes > own.expert_weight_bytes)
      end
    end
    test.equal(whole.expert_weight_bytes + whole.expert_needed_bytes, 0)
  end
end)

test("GPUs of attention have the more room for KV, by the bytes of the experts that they do not hold", function()
  local function room(more)
    return spec.deployment(merged({ model = "deepseek-v3", hardware = "h200-sxm", tp = 8 }, more))
  end
  local own, together = room { ep = 16, expert_gpus = 16 }, room { ep = 8 }
  local more = (own.kv_blocks - together.kv_blocks) * own.kv_bytes_per_block
  test.near(more, together.weight_bytes + together.activation_bytes - own.weight_bytes - own.activation_bytes, 1e-3)
  test.check(own.kv_blocks > 2 * together.kv_blocks)
end)

test("capacity says what both pools hold, and why one does not start", function()
  local found = capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = "sglang 0.5.14",
    deployment = { tp = 1, dp = 8, ep = 16, expert_gpus = 16 } }
  test.check(found.starts, found.reason)
  test.equal(found.experts.gpus, 16)
  test.check(capacity_text.answer(found):find "experts on 16 GPUs: each weights 3%d%.%d+ GiB, with activations")
  test.check(capacity_text.title(found):find(", expert_gpus 16", 1, true))
  test.equal(capacity_text.document(found).experts.weight_bytes, found.experts.weight_bytes)
  local halves = capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = "sglang 0.5.14",
    deployment = { tp = 1, dp = 8, ep = 16, expert_gpus = 16, micro_batches = 2 } }
  test.check(halves.experts.needed_bytes < found.experts.needed_bytes)
  test.check(capacity_text.title(halves):find(", expert_gpus 16, micro_batches 2", 1, true))
  test.equal(capacity_text.document(halves).deployment.micro_batches, 2)
  test.equal(capacity_text.document(found).deployment.micro_batches, nil)
  found = capacity.of { model = "deepseek-v3", hardware = "h200-sxm", engine = "sglang 0.5.14",
    deployment = { tp = 1, dp = 8, ep = 4, expert_gpus = 4 } }
  test.check(not found.starts and found.reason:find "experts of deepseek%-v3 do not fit on 4", found.reason)
  test.check(capacity_text.answer(found, capacity.fits(found)):find "they fit with expert_gpus = 8 and ep = 8$")
  local plain = capacity_text.document(capacity.of { model = "deepseek-v3", hardware = "h200-sxm",
    engine = "sglang 0.5.14", deployment = { tp = 8 } })
  test.check(plain.experts == nil and plain.deployment.expert_gpus == nil)
end)

-- Runs ------------------------------------------------------------------------------------------------------------

test("runs end every request with the same tokens, with and without micro-batches, and steps cost what they cost alone",
  function()
    for _, batches in ipairs { 1, 2, 4 } do
      local deployment = { dp = 4, ep = 16, expert_gpus = 16, micro_batches = batches }
      local summary = serve.run(scenario(merged(deployment, {}), { metrics = { utilisation = true } })).summary
      test.equal(summary.completed, 20)
      test.equal(summary.output_tokens, 800)
      test.check(summary.overall_mfu > 0 and summary.overall_mfu < 0.5)
      local live = serve.open(scenario(merged(deployment, {})))
      for _ = 1, 20 do
        live:step(1)
        local last = live:last_step(1)
        if last then test.near(live:explain(1).time_s, last.own_s or last.time_s, 1e-6) end
      end
    end
  end)

test("decode engines may have both pools where prefill engines have one", function()
  local summary = serve.run(scenario({ tp = 8 }, { replicas = { { role = "prefill" },
    { role = "decode", deployment = { dp = 4, ep = 16, expert_gpus = 16, micro_batches = 2 } } },
    network = {} })).summary
  test.equal(summary.completed, 20)
end)

test("GPUs of both pools are counted", function()
  local deployment = { dp = 4, ep = 16, expert_gpus = 16 }
  test.equal(runs.gpus_of { deployment = deployment, replicas = 2 }, 40)
  test.equal(runs.gpus_of { deployment = { tp = 8 }, replicas = { { role = "prefill", count = 2 },
    { role = "decode", deployment = deployment } } }, 36)
end)

-- Plans -----------------------------------------------------------------------------------------------------------

test("a plan refuses values that no candidate can have", function()
  for part, axes in pairs {
    ["candidates.ladder: micro_batches = 2: needs a pool of experts"] = { tp = { 8 }, micro_batches = { 2 } },
    ["candidates.ladder: dcp = 3: divides no tp that is tried: 4, 8"] = { tp = { 4, 8 }, dcp = { 1, 3 } },
  } do
    test.raises(part, function()
      setup.searched({ gpus = { { "h200-sxm", most = 8 } }, candidates = require "candidates.ladder" (axes) },
        { model = "deepseek-v3" })
    end)
  end
end)

test("a plan tries it, counts the GPUs of both pools, and writes no command that cannot say it", function()
  local done = setup.searched({ load = { rate_per_s = 1 }, slo = { ttft_s_p99 = 20 }, requests = 20,
    gpus = { { "h200-sxm", most = 24, price_per_hour = 4 } },
    candidates = require "candidates.ladder" { tp = { 1 }, dp = { 4 }, ep = { "all" }, expert_gpus = { 0, 8, 16 },
      micro_batches = { 1, 2 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 4096 } } },
    { steps = "kernels", model = "deepseek-v3", engine = "sglang 0.5.14",
      workload = require "workloads.poisson" { prompt_tokens = 1000, output_tokens = 40 } })
  local seen = 0
  for _, each in ipairs(done.found.list or done.found.candidates) do
    if each.expert_gpus then
      seen = seen + 1
      test.check(each.name:find("expert_gpus " .. each.expert_gpus, 1, true), each.name)
      test.equal(each.ep, each.expert_gpus)
      if each.result and each.result.deployment then
        test.equal(each.result.deployment.gpus % (4 + each.expert_gpus), 0, each.name)
      end
      test.raises("no release of sglang that is known has AFD", function()
        flags.options(done.question, each, "0.5.14")
      end)
    end
  end
  test.equal(seen, 4)
end)

test.finish()
