-- vLLM with the prefix cache of models with recurrent layers: how large blocks are, and where prompts are cut.
local run = dofile "tests/reference/engines/run.lua"
local test = dofile "tests/scripts/harness.lua"
local serve = require "rooflua.serve"

local set = { name = "vllm", model = "qwen3-next-80b-a3b", engine = { enable_prefix_caching = true },
  deployment = { tp = 4, kv_blocks = 200, block_size = 1600 } }

--- A row of tests/reference/engines holds at a release.
local function expect(release, row)
  local found = run.differences(set, row, release)
  test.check(#found == 0, "%s: %s", release, table.concat(found, "; "))
end

local function text(...) return { content = { ... } } end

--- Tokens of a block of a run that states none.
local function block_size(model, engine, deployment)
  local live = serve.open { rooflua = 1, model = model, hardware = "h100-sxm", engine = engine, deployment = deployment,
    workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 8, output_tokens = 1 } }
  return live:replica(1).block_size
end

test("a block is the page that the engine's memory is divided into", function()
  test.equal(block_size("qwen3-next-80b-a3b", "vllm 0.24", { tp = 4 }), 272)
  test.equal(block_size("qwen3-next-80b-a3b", "vllm 0.24", { tp = 4, prefix_caching = true }), 272)
  test.check(block_size("qwen3.5-27b", "vllm 0.24", { tp = 1 }) > 272)
  test.equal(block_size("llama-3.1-8b", "vllm 0.24", {}), 16)
  test.equal(block_size("qwen3-next-80b-a3b", "sglang 0.5.9", { tp = 4 }), block_size("llama-3.1-8b", "sglang 0.5.9", {}))
end)

test("--block-size is the least size, and a scenario's block_size is taken as it is", function()
  test.equal(block_size("qwen3-next-80b-a3b", { "vllm 0.24", block_size = 64 }, { tp = 4 }), 272)
  test.equal(block_size("qwen3-next-80b-a3b", { "vllm 0.24", block_size = 800 }, { tp = 4 }), 800)
  test.equal(block_size("qwen3-next-80b-a3b", "vllm 0.24", { tp = 4, block_size = 64 }), 64)
end)

test("a prompt that is shorter than a block hits nothing", function()
  for _, case in ipairs { { 250, 0 }, { 300, 272 }, { 600, 544 } } do
    local tokens, cached = case[1], case[2]
    local found = run.differences({ name = "vllm", model = set.model, engine = set.engine, deployment = { tp = 4 } },
      { requests = { { 0, tokens, 1, text { 1, tokens } }, { 10, tokens, 1, text { 1, tokens } } },
        cached = { A = 0, B = cached } }, "0.24.0")
    test.check(#found == 0, "%d tokens: %s", tokens, table.concat(found, "; "))
  end
end)

test("a step ends at the last block of a prompt", function()
  for _, release in ipairs { "0.14.0", "0.24.0", "0.26.0" } do
    expect(release, { requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3200\n1: A+402\n2: -" })
    expect(release, { requests = { { 0, 3200, 1, text { 1, 3200 } } }, steps = "0: A+3200\n1: -" })
    expect(release, { requests = { { 0, 1599, 1, text { 1, 1599 } } }, steps = "0: A+1599\n1: -" })
  end
end)

test("no prompt is cut before states are kept, without the cache, or where kernels keep the last one", function()
  expect("0.13.0", { requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3602" })
  expect("0.27.0", { requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3602" })
  expect("0.24.0", { engine = { enable_prefix_caching = false }, requests = { { 0, 3602, 1 } }, steps = "0: A+3602" })
  expect("0.24.0", { model = "llama-3.1-8b", deployment = { tp = 1, block_size = 1600 },
    requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3602" })
end)

test("steps of a prompt that goes on end at blocks", function()
  expect("0.24.0", { engine = { max_num_batched_tokens = 2000 }, requests = { { 0, 5000, 1, text { 1, 5000 } } },
    steps = "0: A+1600\n1: A+1600\n2: A+1600\n3: A+200" })
  -- The decode of A leaves 1,599 tokens, which is no block: B waits for A, and C behind it.
  expect("0.24.0", { engine = { max_num_batched_tokens = 1600 },
    requests = { { 0, 100, 4 }, { 0.5, 3200, 1 }, { 0.5, 100, 1 } },
    steps = "0: A+100\n1: A\n3: A\n4: B+1600\n5: B+1600\n6: C+100" })
end)

test("a prompt that is cut waits for room for a block, and those behind it run", function()
  expect("0.24.0", { engine = { max_num_batched_tokens = 1700 },
    requests = { { 0, 3200, 1 }, { 0, 90, 150, { max_output_tokens = 150 } } },
    steps = "0: A+1600 B+90\n1: A+1600 B" })
end)

test("a block that no step has room for is computed in parts", function()
  expect("0.24.0", { engine = { max_num_batched_tokens = 1000 }, requests = { { 0, 3602, 1, text { 1, 3602 } } },
    steps = "0: A+1000\n1: A+600\n2: A+1000\n3: A+600\n4: A+402" })
end)

test("a drafter that loses the last block moves the last cut a block forward", function()
  local mtp = { drafts = 3, head = true }
  expect("0.24.0", { speculation = mtp, requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+1600\n1: A+2002" })
  expect("0.27.0", { speculation = mtp, requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+1600\n1: A+2002" })
  expect("0.24.0", { speculation = { drafts = 3 }, requests = { { 0, 3602, 1, text { 1, 3602 } } },
    steps = "0: A+3200\n1: A+402" })
end)

test.finish()
