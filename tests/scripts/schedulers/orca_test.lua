-- Schedules of Orca: every step is all decodes and all whole prompts that fit.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Orca = require "schedulers.orca"

local limit12 = { max_output_tokens = 12 }

test("a step mixes all decodes with whole prompts", function()
  expect { scheduler = Orca { max_output_tokens = 8 }, kv_blocks = 100,
    requests = { { 0, 4, 3 }, { 0.5, 90, 1 } },
    rows = [[ 0: A+4
              1: A B+90
              2: A ]] }
end)

-- 4 + 12 tokens are 4 of the 8 blocks: two at a time.
test("blocks for prompt and output limit are taken at admission", function()
  expect { scheduler = Orca {}, kv_blocks = 8,
    requests = { { 0, 4, 2, limit12 }, { 0, 4, 3, limit12 }, { 0, 4, 1, limit12 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: B C+4 ]] }
end)

test("a request without a limit is given max_output_tokens", function()
  expect { scheduler = Orca { max_output_tokens = 12 }, kv_blocks = 8,
    requests = { { 0, 4, 2 }, { 0, 4, 3 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: B C+4 ]] }
end)

test("the first that does not fit blocks those after it", function()
  -- 4 blocks, 5 blocks, 1 block, of 8
  expect { scheduler = Orca {}, kv_blocks = 8,
    requests = { { 0, 4, 2, limit12 }, { 0, 8, 1, limit12 }, { 0, 2, 1, { max_output_tokens = 2 } } },
    rows = [[ 0: A+4
              1: A
              2: B+8 C+2 ]] }
end)

test("no more than max_num_seqs run", function()
  expect { scheduler = Orca { max_num_seqs = 2, max_output_tokens = 4 }, kv_blocks = 100,
    requests = { { 0, 4, 2 }, { 0, 4, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A C+4 ]] }
end)

test("what can never fit is rejected", function()
  expect { scheduler = Orca {}, kv_blocks = 8, rejected = 1,
    requests = { { 0, 4, 2, { max_output_tokens = 29 } }, { 0, 4, 1, limit12 } },
    rows = [[ 0: B+4 ]] }
end)

-- Each reserves 2 of 5 blocks, for 4 + 4 tokens, and generates more. t=5: A takes the last block, B finds none.
-- B's 9 tokens are 3 blocks: they are free when A is done.
test("a request that outgrows its output limit takes a seat away, and none is admitted in that step", function()
  expect { scheduler = Orca { max_output_tokens = 4 }, kv_blocks = 5,
    requests = { { 0, 4, 6 }, { 0, 4, 7 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: A B
              3: A B
              4: A B
              5: A B!
              6: B+9
              7: B ]] }
end)

-- The same with C, which goes first but finds no 2 blocks before t=5.
test("a preemption stops admission, whatever request is first in the queue", function()
  local LastFirst = require("rooflua.policy").define { name = "last_first", doc = "The last is the first.",
    extends = Orca }
  function LastFirst:key(request) return -request.arrival_s end -- luacheck: ignore self
  expect { scheduler = LastFirst { max_output_tokens = 4 }, kv_blocks = 5,
    requests = { { 0, 4, 6 }, { 0, 4, 7 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: A B
              3: A B
              4: A B
              5: A B!
              6: B+9 C+4
              7: B ]] }
end)

test.finish()
