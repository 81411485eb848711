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
  local sglang = "sglang 0.5.9"
  test.equal(block_size("qwen3-next-80b-a3b", sglang, { tp = 4 }), block_size("llama-3.1-8b", sglang, {}))
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
  for _, release in ipairs { "0.14.0", "0.24.0", "0.26.0", "0.27.0", "0.33.0" } do
    expect(release, { requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3200\n1: A+402\n2: -" })
    expect(release, { requests = { { 0, 3200, 1, text { 1, 3200 } } }, steps = "0: A+3200\n1: -" })
    expect(release, { requests = { { 0, 1599, 1, text { 1, 1599 } } }, steps = "0: A+1599\n1: -" })
  end
end)

test("no prompt is cut before states are kept, without the cache, or where kernels keep the last one", function()
  expect("0.13.0", { requests = { { 0, 3602, 1, text { 1, 3602 } } }, steps = "0: A+3602" })
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
  for _, release in ipairs { "0.24.0", "0.27.0" } do
    expect(release, { speculation = mtp, requests = { { 0, 3602, 1, text { 1, 3602 } } },
      steps = "0: A+1600\n1: A+2002" })
  end
  expect("0.24.0", { speculation = { drafts = 3 }, requests = { { 0, 3602, 1, text { 1, 3602 } } },
    steps = "0: A+3200\n1: A+402" })
end)

-- Junctions and the blocks of states ------------------------------------------------------------------------------

--- Prompts of 4,800 tokens that begin with the same `shared` ones, one after the other.
local function begins_alike(shared, count)
  local out = {}
  for i = 1, count do out[i] = { 10 * (i - 1), 4800, 1, text({ 1, shared }, { 0, 4800 - shared }) } end
  return out
end

test("the state where prompts stop being alike is kept by the second one, and the next ones hit it", function()
  expect("0.24.0", { requests = begins_alike(3200, 4), cached = { A = 0, B = 0, C = 3200, D = 3200 },
    steps = "0: A+4800\n10: B+3200\n11: B+1600\n20: C+1600\n30: D+1600" })
  expect("0.24.0", { requests = begins_alike(3300, 3), cached = { B = 0, C = 3200 }, steps = "10: B+3200\n11: B+1600" })
  expect("0.24.0", { requests = begins_alike(1600, 3), cached = { B = 0, C = 1600 },
    steps = "10: B+1600\n11: B+3200\n20: C+3200" })
  expect("0.24.0", { requests = begins_alike(1500, 3), cached = { B = 0, C = 0 }, steps = "10: B+4800" })
end)

test("before 0.24 it is not kept, and nothing is hit", function()
  expect("0.23.0", { requests = begins_alike(3200, 4), cached = { B = 0, C = 0, D = 0 }, steps = "10: B+4800" })
end)

test("a prompt that hits a part is cut where more of it is shared", function()
  -- B has 3,200 tokens of A's and keeps a state there; C has all of A's, of which 4,800 are cached with a state.
  expect("0.24.0", { requests = { { 0, 6400, 1, text { 1, 6400 } }, { 10, 4800, 1, text({ 1, 3200 }, { 0, 1600 }) },
      { 20, 6400, 1, text({ 1, 4800 }, { 0, 1600 }) }, { 30, 6400, 1, text({ 1, 4800 }, { 0, 1600 }) } },
    cached = { B = 0, C = 3200, D = 4800 }, steps = "10: B+3200\n11: B+1600\n20: C+1600\n21: C+1600\n30: D+1600" })
end)

test("states that are kept take blocks, so that fewer prompts stay in the cache", function()
  -- A prompt takes 3 blocks, those of its own state, and as many where that is kept. With 6 blocks B's state takes the
  -- place of A's, so that C hits nothing.
  local function hits(blocks)
    local found = {}
    for _, cached in ipairs { 0, 3200 } do
      local differs = run.differences(set, { deployment = { kv_blocks = blocks },
        requests = { { 0, 4000, 1, text { 1, 4000 } }, { 10, 4000, 1, text { 2, 4000 } },
          { 20, 4000, 1, text { 1, 4000 } } }, cached = { C = cached } }, "0.24.0")
      if #differs == 0 then found[#found + 1] = cached end
    end
    return found[1]
  end
  test.equal(hits(10), 3200)
  test.equal(hits(6), 0)
end)

test.finish()
