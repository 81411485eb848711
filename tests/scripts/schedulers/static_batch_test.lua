-- Schedules of static batching.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local StaticBatch = require "schedulers.static_batch"

local limit12 = { max_output_tokens = 12 }

test("a batch lasts until its longest member is done; then the next one starts", function()
  expect { scheduler = StaticBatch { max_num_seqs = 2, max_output_tokens = 4 }, kv_blocks = 100,
    requests = { { 0, 4, 1 }, { 0, 4, 3 }, { 0, 4, 2 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: B
              2: B
              3: C+4 D+4
              4: C ]] }
end)

test("a batch holds what fits with its output limits", function()
  -- 4 + 12 tokens are 4 of 8 blocks
  expect { scheduler = StaticBatch {}, kv_blocks = 8,
    requests = { { 0, 4, 2, limit12 }, { 0, 4, 1, limit12 }, { 0, 4, 1, limit12 } },
    rows = [[ 0: A+4 B+4
              1: A
              2: C+4 ]] }
end)

test("a request without a limit is given max_output_tokens", function()
  expect { scheduler = StaticBatch { max_output_tokens = 12 }, kv_blocks = 8,
    requests = { { 0, 4, 2 }, { 0, 4, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A
              2: C+4 ]] }
end)

test("what can never fit is rejected", function()
  expect { scheduler = StaticBatch {}, kv_blocks = 8, rejected = 1,
    requests = { { 0, 4, 2, { max_output_tokens = 29 } }, { 0, 4, 1, limit12 } },
    rows = [[ 0: B+4 ]] }
end)

test.finish()
