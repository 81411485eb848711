-- What limits TensorRT-LLM's prompts beside those that run: seats, blocks that are reserved, hits, steps of waiting.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local Trtllm = require "schedulers.trtllm"

test("requests that run take seats of those that come", function()
  expect { scheduler = Trtllm { max_num_seqs = 2 }, kv_blocks = 100,
    requests = { { 0, 4, 3, limit(4) }, { 0.5, 4, 2, limit(4) }, { 0.5, 4, 1, limit(4) } },
    rows = [[ 0: A+4
              1: A B+4
              2: A B
              3: C+4 ]] }
end)

-- A's 8 + 16 tokens are 6 of 8 blocks. B's 12 + 4 are 4, of which it hits A's first 2.
test("blocks that a prompt hits need not be free", function()
  local function rows(second, expected)
    expect { scheduler = Trtllm {}, kv_blocks = 8, prefix_caching = true,
      requests = { { 0, 8, 4, { max_output_tokens = 16, content = { { 1, 8 } } } },
        { 0.5, 12, 1, { max_output_tokens = 4, content = { { second, 8 }, { 0, 4 } } } } },
      rows = expected }
  end
  rows(1, [[ 0: A+8
             1: A B+4
             2: A
             3: A ]])
  rows(2, [[ 0: A+8
             1: A
             2: A
             3: A
             4: B+12 ]])
end)

test("a request that needs all blocks but those of its seat's state can never run", function()
  expect { scheduler = Trtllm {}, kv_blocks = 8, seat_blocks = 1, rejected = 1,
    requests = { { 0, 4, 1, limit(28) }, { 0, 4, 1, limit(24) } }, rows = "0: B+4" }
end)

-- Nothing waits until B comes at 3.5: it waits for three steps.
test("steps without prompts are no steps of waiting", function()
  expect { scheduler = Trtllm { batch_wait_timeout_iters = 3, batch_wait_max_tokens_ratio = 0.9,
      max_num_batched_tokens = 16 }, kv_blocks = 40,
    requests = { { 0, 4, 9, limit(9) }, { 3.5, 4, 1, limit(6) } },
    rows = [[ 0: A+4
              1: A
              2: A
              3: A
              4: A
              5: A
              6: A
              7: A B+4
              8: A ]] }
end)

test("answers without a limit are reserved by max_output_tokens, where they are reserved", function()
  test.equal(Trtllm {}:reserves_by(), "max_output_tokens")
  test.equal(Trtllm { capacity_scheduler_policy = "static_batch" }:reserves_by(), "max_output_tokens")
  test.equal(Trtllm { capacity_scheduler_policy = "max_utilization" }:reserves_by(), nil)
end)

test.finish()
