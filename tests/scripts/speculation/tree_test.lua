-- Trees of drafts and blocks of one pass: what is accepted, what is verified, what the passes cost, and which options
-- of engines ask for them.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local branches = require "acceptance.curves.branches"
local catalogue = require "rooflua.engines.catalogue"
local command = require "rooflua.applied.command"
local cost, mfu, policy, serve, spec = rooflua.cost, rooflua.mfu, rooflua.policy, rooflua.serve, rooflua.spec

local function constant(rate)
  local out = {}
  for i = 1, 16 do out[i] = rate end
  return out
end

local exponent = policy.parameters(require "acceptance.tree" {}).exponent

--- Mean tokens of a round of a tree.
local function length(rate, steps, topk, nodes)
  local sum, product = 1, 1
  for _, share in ipairs(branches.shares(constant(rate), { steps = steps, topk = topk, nodes = nodes,
    exponent = exponent })) do
    product = product * share
    sum = sum + product
  end
  return sum
end

test("a tree of one branch is a chain of its steps", function()
  local shares = branches.shares(constant(0.6), { steps = 3, topk = 1, nodes = 7, exponent = exponent })
  test.equal(#shares, 3)
  for j = 1, 3 do test.near(shares[j], 0.6, 1e-12) end
end)

test("more steps, more branches and more verified drafts never have less accepted, and never all", function()
  local before = {}
  for _, rate in ipairs { 0.3, 0.6, 0.9 } do
    for steps = 1, 6 do
      for _, topk in ipairs { 1, 2, 4, 8 } do
        for _, nodes in ipairs { 3, 7, 15, 31 } do
          local now = length(rate, steps, topk, nodes)
          test.at_least(1 + steps, now)
          for _, less in ipairs { ("%g %d %d %d"):format(rate, steps - 1, topk, nodes),
            ("%g %d %d %d"):format(rate, steps, topk / 2, nodes),
            ("%g %d %d %d"):format(rate, steps, topk, (nodes - 1) / 2) } do
            if before[less] then test.at_least(now, before[less] - 1e-9, less) end
          end
          before[("%g %d %d %d"):format(rate, steps, topk, nodes)] = now
        end
      end
    end
  end
end)

test("accepted lengths of trees follow from those of chains, of drafters that were left out", function()
  -- SpecForge issue 339: 1.86 with 3 steps, 2.2 and 2.52 with trees of 3, 3, 8 and 7, 4, 16
  test.near(length(0.495, 3, 1, 3), 1.86, 0.01)
  test.near(length(0.495, 3, 3, 7), 2.2, 0.03)
  test.near(length(0.495, 7, 4, 15), 2.52, 0.03)
end)

--- What options of SGLang ask for.
local function drafts(options, target)
  local out = {}
  for name, value in pairs(options) do out["speculative_" .. name] = value end
  return catalogue.of("sglang").drafts(out, target)
end

test("SGLang verifies what is stated of a tree, and steps + 1 tokens of a chain", function()
  local tree = drafts { algorithm = "EAGLE3", num_steps = 4, eagle_topk = 8, num_draft_tokens = 32 }
  test.equal(("%d %d %d %s"):format(tree.draft_tokens, tree.steps, tree.topk, tree.drafter), "31 4 8 eagle")
  local chain = drafts { algorithm = "EAGLE3", num_steps = 2, eagle_topk = 1, num_draft_tokens = 4 }
  test.equal(chain.draft_tokens, 2)
  test.equal(chain.topk, nil)
  local default = drafts({ algorithm = "EAGLE3" }, { family = "llama" })
  test.equal(("%d %d %d"):format(default.draft_tokens, default.steps, default.topk), "7 5 4")
  local block = drafts { algorithm = "DFLASH" }
  test.equal(block.draft_tokens .. block.drafter, "15block_parallel")
  test.equal(drafts { algorithm = "DFLASH", num_draft_tokens = 8 }.draft_tokens, 7)
end)

local tree_flags = "--speculative-algorithm EAGLE3 --speculative-num-steps %d --speculative-eagle-topk %d "
  .. "--speculative-num-draft-tokens %d"

--- The key `speculation` of a command.
local function speculation(words, given)
  local text = "python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct " .. words
  return command.keys(command.read(text), given).speculation
end

test("a command's tree widens the acceptance of a chain; an acceptance that is given is that of the tree", function()
  local own = speculation(tree_flags:format(4, 4, 16))
  local parameters = policy.parameters(own.acceptance)
  test.equal(("%d %d %d"):format(parameters.steps, parameters.topk, parameters.draft_tokens), "4 4 15")
  test.equal(("%d %d"):format(own.drafter.steps, own.drafter.topk), "4 4")
  local given = speculation(tree_flags:format(4, 4, 16), { speculation = { acceptance = "synthetic" } })
  test.equal(policy.parameters(given.acceptance).topk, 1)
end)

--- Tokens of a round and time of a token with 15 drafts.
local function run(drafter, acceptance)
  local summary = serve.run(scene { model = "llama-3.1-8b", hardware = "h100-sxm", steps = "kernels", seed = 3,
    workload = require "workloads.closed_loop" { clients = 4, num_requests = 16, prompt_tokens = 200,
      output_tokens = 100 },
    speculation = { speculator = require "speculators.fixed" { draft_tokens = 15 }, drafter = drafter,
      acceptance = acceptance } }).summary
  return summary.speculation, summary.tpot_s.mean
end

test("no more drafts than steps are accepted, whatever the acceptance of a draft", function()
  local all = require "acceptance.tree" { chain = require "acceptance.constant" { rate = 1 }, steps = 4, topk = 1 }
  local found = run("eagle", all)
  test.near(found.accepted_tokens / found.drafted_tokens, 4 / 15, 0.05)
  test.raises("tree.chain: expected probabilities of drafts, found recorded rounds", function()
    run("eagle", require "acceptance.tree" { chain = require "acceptance.trace" {} })
  end)
end)

test("passes are the steps of a tree, each as wide as its branches; a block is one pass", function()
  local hardware, model = spec.hardware "h100-sxm", spec.model "llama-3.1-8b"
  local context = { model = model, hardware = hardware, async_depth = 2, draft_depth = 15,
    mfu = mfu.open { hardware = hardware }, deployment = spec.deployment { model = model, hardware = hardware,
      kv_blocks = 1000, max_num_seqs = 64, max_num_batched_tokens = 8192 } }
  local function time(name, parameters)
    local drafter = policy.fresh(require("drafters." .. name)(parameters))
    drafter:bind(context)
    return drafter:time(cost.batch { decodes = 8, decode_context_tokens = 16000, decode_tokens = 8 * 16,
      draft_rows = 8, draft_tokens = 8 * 15, draft_passes = 15 })
  end
  local before = 0
  for steps = 1, 15 do
    local now = time("eagle", { steps = steps })
    test.at_least(now, before + 0.1e-3)
    before = now
  end
  test.equal(time("eagle", {}), before, "a pass for each draft")
  test.at_least(time("eagle", { steps = 4, topk = 8 }), time("eagle", { steps = 4 }))
  test.at_least(time("eagle", { steps = 5 }), time("block_parallel", { layers = 5 }) * 0.4)
  test.at_least(before, 2 * time("block_parallel", { layers = 5 }))
end)

test.finish()
