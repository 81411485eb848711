-- What prompts hit in TensorRT-LLM: whole contexts of steps that are over, and prompts that wait for them.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Trtllm = require "schedulers.trtllm"

--- A prompt of runs of contents: of(1, 8, 0, 2) is 8 tokens of content 1, then 2 of its own.
local function of(...)
  local list, content = { ... }, {}
  for i = 1, #list, 2 do content[#content + 1] = { list[i], list[i + 1] } end
  return { max_output_tokens = 2, content = content }
end

local policies = { "guaranteed_no_evict", "max_utilization" }

test("equal prompts wait for the first of them, and then hit it", function()
  for _, name in ipairs(policies) do
    expect { scheduler = Trtllm { capacity_scheduler_policy = name }, kv_blocks = 100, prefix_caching = true,
      requests = { { 0, 21, 2, of(1, 21) }, { 0, 21, 2, of(1, 21) }, { 0, 21, 2, of(1, 21) } },
      rows = [[ 0: A+21
                1: A B+1 C+1
                2: B C ]] }
  end
end)

test("others after a prompt that waits go on, and it keeps its place", function()
  for _, name in ipairs(policies) do
    expect { scheduler = Trtllm { capacity_scheduler_policy = name, max_num_batched_tokens = 32 }, kv_blocks = 100,
      prefix_caching = true,
      requests = { { 0, 21, 1, of(1, 21) }, { 0, 21, 1, of(1, 21) }, { 0, 10, 1, of(2, 10) }, { 0, 31, 1, of(3, 31) } },
      rows = [[ 0: A+21 C+10
                1: B+1 D+31 ]] }
  end
end)

-- A computes 8 + 8 + 5. Its blocks are hit when all of it is over.
test("a prompt waits for all chunks of the one that it hits", function()
  for _, name in ipairs(policies) do
    expect { scheduler = Trtllm { capacity_scheduler_policy = name, max_num_batched_tokens = 8,
        enable_chunked_context = true }, kv_blocks = 100, prefix_caching = true,
      requests = { { 0, 21, 2, of(1, 21) }, { 0.5, 21, 2, of(1, 21) }, { 1.5, 3, 1, of(2, 3) } },
      rows = [[ 0: A+8
                1: A+8
                2: A+5 C+3
                3: A B+1
                4: B ]] }
  end
end)

-- Two steps are under way: the plan at 1 does not know that A's context is over.
test("with two steps in flight a context is stored a step later", function()
  expect { scheduler = Trtllm {}, kv_blocks = 100, prefix_caching = true, async_depth = 2,
    requests = { { 0, 21, 3, of(1, 21) }, { 0, 21, 2, of(1, 21) } },
    rows = [[ 0: A+21
              0: A B+21
              1: A B ]] }
end)

test("nothing waits in a static batch, or without reuse", function()
  local requests = { { 0, 21, 1, of(1, 21) }, { 0, 21, 1, of(1, 21) } }
  expect { scheduler = Trtllm { capacity_scheduler_policy = "static_batch" }, kv_blocks = 100, prefix_caching = true,
    requests = requests, rows = "0: A+21 B+21" }
  expect { scheduler = Trtllm {}, kv_blocks = 100, requests = requests, rows = "0: A+21 B+21" }
end)

-- Blocks of 4. B has 8 tokens of A's, C 3. D begins as A does, but that is cached when E and D come.
test("prompts wait for a new block that another one computes, and for no less", function()
  expect { scheduler = Trtllm {}, kv_blocks = 100, prefix_caching = true,
    requests = { { 0, 12, 1, of(1, 8, 0, 4) }, { 0, 12, 1, of(1, 8, 0, 4) }, { 0, 7, 1, of(1, 3, 0, 4) },
      { 1.5, 16, 1, of(1, 8, 2, 8) }, { 1.5, 16, 1, of(1, 8, 3, 8) }, { 1.5, 16, 1, of(1, 8, 3, 4, 4, 4) } },
    rows = [[ 0: A+12 C+7
              1: B+4
              2: D+8 E+8
              3: F+4 ]] }
end)

-- Parts of blocks ------------------------------------------------------------------------------------------------

--- How many tokens a second prompt computes, 80 tokens of which the first ones are those of a prompt that is over.
local function computed(block_size, parts, first, second, output)
  local rows = schedule.run { scheduler = Trtllm {}, kv_blocks = 100, block_size = block_size, prefix_caching = true,
    partial_reuse = parts, requests = { { 0, 80, output or 1, first }, { 50, 80, 1, second } } }
  return tonumber(rows[#rows]:match "^50: B%+(%d+)$")
end

test("a hit ends inside of a block", function()
  local shares = of(1, 60, 0, 20)
  for block_size, whole in pairs { [16] = 32, [32] = 48, [64] = 80, [128] = 80, [1] = 20 } do
    test.equal(computed(block_size, true, shares, shares), 20, block_size)
    test.equal(computed(block_size, false, shares, shares), whole, block_size)
  end
end)

test("the last token of a prompt is always computed, and what a request left of its last block is hit", function()
  for _, block_size in ipairs { 16, 32, 64, 128 } do
    test.equal(computed(block_size, true, of(1, 80), of(1, 80)), 1, block_size)
  end
  test.equal(computed(32, false, of(1, 80), of(1, 80)), 16) -- 64 in two blocks
end)

test("a prompt hits a part of the longest match, wherever the others end", function()
  local rows = schedule.run { scheduler = Trtllm {}, kv_blocks = 100, block_size = 32, prefix_caching = true,
    partial_reuse = true, requests = { { 0, 64, 1, of(1, 40, 2, 24) }, { 10, 64, 1, of(1, 50, 3, 14) },
      { 20, 64, 1, of(1, 45, 4, 19) }, { 30, 64, 1, of(1, 60, 0, 4) }, { 40, 20, 1, of(1, 9, 0, 11) } } }
  test.equal(table.concat(rows, "; "), "0: A+64; 10: B+24; 20: C+19; 30: D+14; 40: E+11")
end)

test("a part needs all blocks in front of it", function()
  local other = of(2, 32, 1, 48)
  test.equal(computed(32, true, of(1, 80), other), 80)
end)

-- The answer's 9 tokens with KV lie after the prompt: 80 + 9 are 2 blocks of 32 and 25 tokens.
test("a turn hits a part of the answer before it", function()
  local first = { max_output_tokens = 10, content = { { 1, 80 } }, output_content = 7 }
  local rows = schedule.run { scheduler = Trtllm {}, kv_blocks = 100, block_size = 32, prefix_caching = true,
    partial_reuse = true, requests = { { 0, 80, 10, first }, { 50, 120, 1, of(1, 80, 7, 10, 0, 30) } } }
  test.equal(rows[#rows], "50: B+31")
end)

test.finish()
