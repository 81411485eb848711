-- Schedules of vLLM V1 with policy = priority: lower runs first.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Priority = require "schedulers.priority"

local function priority(number) return { priority = number } end

test("the lowest priority value is admitted first, ties by arrival", function()
  expect { scheduler = Priority { max_num_batched_tokens = 4 }, kv_blocks = 100,
    requests = { { 0, 4, 1, priority(1) }, { 0, 4, 1, priority(1) }, { 0, 4, 1, priority(0) } },
    rows = [[ 0: C+4
              1: A+4
              2: B+4 ]] }
end)

-- 3 blocks of 4. t=2: A is scheduled, then B needs a block. A has the largest value, so it returns its token and its
-- two blocks, and B takes one. A, 4 + 2 tokens, needs two blocks and gets them when B is done.
test("the highest priority value is preempted, although it was scheduled in this step already", function()
  expect { scheduler = Priority {}, kv_blocks = 3,
    requests = { { 0, 4, 4, priority(5) }, { 0.5, 4, 3, priority(0) } },
    rows = [[ 0: A+4
              1: A B+4
              2: A! B
              3: B
              4: A+6
              5: A ]] }
end)

test("the victim need not be the first", function()
  expect { scheduler = Priority {}, kv_blocks = 3,
    requests = { { 0, 4, 3, priority(0) }, { 0.5, 4, 2, priority(5) } },
    rows = [[ 0: A+4
              1: A B+4
              2: A B!
              3: B+5 ]] }
end)

test("among equals the latest arrival is preempted", function()
  expect { scheduler = Priority {}, kv_blocks = 3,
    requests = { { 0, 4, 4, priority(1) }, { 0.5, 4, 3, priority(1) } },
    rows = [[ 0: A+4
              1: A B+4
              2: A B!
              3: A
              4: B+5
              5: B ]] }
end)

-- The victim stands before an unfinished prompt, so decodes and chunks are planned one by one. 4 blocks of 4,
-- chunks of 4. t=2: A decodes, B's second chunk takes the last block. t=3: A (6 tokens) decodes; B's third
-- chunk finds no block, so A is preempted and B gets its chunk. A, 4 + 3 tokens, has to wait for two blocks.
test("an unfinished prompt may take blocks from a decode of higher value", function()
  expect { scheduler = Priority { long_prefill_token_threshold = 4, scheduler_reserve_full_isl = false }, kv_blocks = 4,
    requests = { { 0, 4, 4, priority(5) }, { 0.5, 12, 2, priority(0) } },
    rows = [[ 0: A+4
              1: A B+4
              2: A B+4
              3: A! B+4
              4: B
              5: A+4
              6: A+3 ]] }
end)

test.finish()
