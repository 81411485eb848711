-- The limits of a deployment hold beside any scheduler: it takes them, the engine holds them, or they are refused.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy = rooflua.policy
local serve = rooflua.serve
local VllmV1 = require "schedulers.vllm_v1"

--- The most requests and tokens of a step of 60 requests that come at once.
local function most(scheduler, deployment)
  local live = serve.open { model = "llama-3.1-8b", hardware = "h200-sxm", scheduler = scheduler,
    deployment = deployment, workload = require "workloads.constant" { rate_per_s = 1e5, num_requests = 60,
      prompt_tokens = 50, output_tokens = 20 } }
  live:run()
  local requests, tokens = 0, 0
  for _, step in ipairs(live:steps()) do
    requests = math.max(requests, step.running)
    tokens = math.max(tokens, step.decodes + step.prefill_tokens)
  end
  test.equal(live:result().summary.completed, 60)
  return requests, tokens
end

test("a scheduler takes the limits that it leaves open", function()
  for _, scheduler in ipairs { "vllm_v1", VllmV1, VllmV1 {}, VllmV1 { watermark = 0.01 } } do
    test.equal((most(scheduler, { max_num_seqs = 3 })), 3)
    test.equal(select(2, most(scheduler, { max_num_batched_tokens = 64 })), 64)
  end
  test.equal((most(nil, { max_num_seqs = 3 })), 3)
  test.equal((most(VllmV1 { max_num_seqs = 2 }, { max_num_seqs = 3 })), 2)
end)

test("a scheduler that asks for more is refused", function()
  test.raises("deployment.max_num_seqs: 1 is less than the 16 of the scheduler vllm_v1; give one of them only",
    function() most(VllmV1 { max_num_seqs = 16 }, { max_num_seqs = 1 }) end)
  test.raises("deployment.max_num_batched_tokens: 64 is less than the 128 of the scheduler vllm_v1", function()
    most(VllmV1 { max_num_batched_tokens = 128 }, { max_num_batched_tokens = 64 })
  end)
  local made = rooflua.spec.deployment { model = "llama-3.1-8b", hardware = "h200-sxm", max_num_seqs = 1 }
  test.raises("1 is less than the 16", function() most(VllmV1 { max_num_seqs = 16 }, made) end)
  test.equal((most(VllmV1 {}, made)), 1)
end)

test("the engine holds them for a scheduler without such parameters", function()
  local Own = policy.define { name = "own", doc = "Runs what it can." }
  function Own:plan(replica, plan) -- luacheck: ignore self
    plan:decode_all(replica.decodes)
    local begun, waiting = replica:prefilling(), replica:waiting()
    for i = 1, #begun do plan:prefill(begun[i], begun[i].pending_tokens) end
    while #waiting > 0 and plan:admit(waiting[1], waiting[1].pending_tokens) do end -- luacheck: ignore 542
  end
  test.equal((most(Own {}, nil)), 60)
  test.equal((most(Own {}, { max_num_seqs = 3 })), 3)
  test.raises("the step would exceed max_num_batched_tokens", function()
    most(Own {}, { max_num_batched_tokens = 64 })
  end)
end)

test("a replica's own deployment limits its scheduler", function()
  local result = serve.run { model = "llama-3.1-8b", hardware = "h200-sxm",
    replicas = { { deployment = { max_num_seqs = 1 } }, {} },
    workload = require "workloads.constant" { rate_per_s = 1000, num_requests = 40, prompt_tokens = 50,
      output_tokens = 20 } }
  test.equal(result.summary.replicas[1].decode_batch_mean, 1)
  test.at_least(result.summary.replicas[2].decode_batch_mean, 5)
end)

test("ranks are counted over all replicas", function()
  local function run(replicas, dp)
    return require("rooflua.serve").run { model = "qwen3-30b-a3b", hardware = "h100-sxm", replicas = replicas,
      deployment = { dp = dp, kv_blocks = 1000 },
      workload = require "workloads.poisson" { num_requests = 3, prompt_tokens = 10, output_tokens = 2 } }
  end
  test.raises("more than 16384 ranks in all", function() run(2048, 64) end)
  test.check(run(4, 2).summary ~= nil)
end)

test.finish()
