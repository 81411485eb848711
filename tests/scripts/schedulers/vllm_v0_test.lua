-- Schedules of vLLM V0: a step is all prompts or all decodes.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local VllmV0 = require "schedulers.vllm_v0"

test("prompts go first, in steps of their own", function()
  expect { scheduler = VllmV0 { watermark = 0 }, kv_blocks = 100,
    requests = { { 0, 4, 3 }, { 0.5, 4, 2 } },
    rows = [[ 0: A+4
              1: B+4
              2: A B
              3: A ]] }
end)

test("a step holds whole prompts of at most max_num_batched_tokens", function()
  expect { scheduler = VllmV0 { watermark = 0, max_num_batched_tokens = 10 }, kv_blocks = 100,
    requests = { { 0, 6, 2 }, { 0, 6, 2 }, { 0, 3, 1 } },
    rows = [[ 0: A+6
              1: B+6 C+3
              2: A B ]] }
end)

test("a prompt longer than a step is rejected", function()
  expect { scheduler = VllmV0 { watermark = 0, max_num_batched_tokens = 10 }, kv_blocks = 100,
    requests = { { 0, 11, 2 }, { 0, 6, 1 } }, rejected = 1,
    rows = [[ 0: B+6 ]] }
end)

test("no more than max_num_seqs have seats", function()
  expect { scheduler = VllmV0 { watermark = 0, max_num_seqs = 1 }, kv_blocks = 100,
    requests = { { 0, 4, 2 }, { 0, 4, 1 } },
    rows = [[ 0: A+4
              1: A
              2: B+4 ]] }
end)

-- A quarter of 8 blocks stays free: B needs 3 of the 4 that A leaves.
test("the watermark keeps blocks free", function()
  expect { scheduler = VllmV0 { watermark = 0.25 }, kv_blocks = 8,
    requests = { { 0, 16, 2 }, { 0, 12, 1 } },
    rows = [[ 0: A+16
              1: A
              2: B+12 ]] }
end)

test("a prompt that the watermark can never leave room for is rejected", function()
  expect { scheduler = VllmV0 { watermark = 0.25 }, kv_blocks = 8,
    requests = { { 0, 28, 1 }, { 0, 4, 1 } }, rejected = 1,
    rows = [[ 0: B+4 ]] }
end)

-- 4 blocks of 4; two prompts of 5 take them all. A needs no block for its sixth token, but V0 requires a free one, so B
-- is preempted. At t=2 B, 5 + 1 tokens, is a prompt again and runs first. And so on.
test("a decode waits for a free block even if it does not need it; the latest goes", function()
  expect { scheduler = VllmV0 { watermark = 0 }, kv_blocks = 4,
    requests = { { 0, 5, 3 }, { 0, 5, 3 } },
    rows = [[ 0: A+5 B+5
              1: A B!
              2: B+6
              3: A B!
              4: B+7 ]] }
end)

-- 3 of 4 blocks are taken at t=0. A needs it for its fifth token, and B finds none, though it needs none.
test("the block must be free when the turn of the request comes", function()
  expect { scheduler = VllmV0 { watermark = 0 }, kv_blocks = 4,
    requests = { { 0, 4, 2 }, { 0, 5, 2 } },
    rows = [[ 0: A+4 B+5
              1: A B!
              2: B+6 ]] }
end)

test("a budget that is stated holds the longest request, or vLLM does not start", function()
  local stated = VllmV0 { max_num_batched_tokens = 100 }
  test.equal(stated:start_problem(100), nil)
  test.check(stated:start_problem(101):find "max_num_batched_tokens = 100 is less than max_model_len = 101")
  test.equal(VllmV0 {}:start_problem(1000000), nil)
end)

test.finish()
