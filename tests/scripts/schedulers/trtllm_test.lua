-- Schedules of TensorRT-LLM: which requests may run, and how many tokens each gets.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local Trtllm = require "schedulers.trtllm"

-- 4 + 12 tokens are 4 of 9 blocks: A and B. C would need 4 more; D's one block would fit, but C is before it.
test("guaranteed_no_evict admits what fits to completion and stops at the first that does not", function()
  expect { scheduler = Trtllm {}, kv_blocks = 9,
    requests = { { 0, 4, 2, limit(12) }, { 0, 4, 3, limit(12) }, { 0, 4, 1, limit(12) }, { 0, 2, 1, limit(2) } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: B C+4 D+2 ]] }
end)

-- 8 blocks: A's 4 and B's 4, however many of them A holds already. t=1 is a step in which A takes a block.
test("what a running request took is not reserved twice", function()
  for arrival = 0.5, 5.5 do
    local rows = schedule.run { scheduler = Trtllm {}, kv_blocks = 8,
      requests = { { 0, 4, 7, limit(12) }, { arrival, 4, 1, limit(12) } } }
    test.equal(rows[arrival + 1.5], ("%d: A B+4"):format(arrival + 0.5))
  end
end)

test("a request without a limit is given max_output_tokens", function()
  expect { scheduler = Trtllm { max_output_tokens = 12 }, kv_blocks = 8,
    requests = { { 0, 4, 2 }, { 0, 4, 3 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: B C+4 ]] }
end)

-- 3 blocks of 4. t=1: A takes the last, B finds none and is paused. It needs 5 tokens, 2 blocks, until A is done.
test("max_utilization admits what fits now, and pauses the last started", function()
  expect { scheduler = Trtllm { capacity_scheduler_policy = "max_utilization" }, kv_blocks = 3,
    requests = { { 0, 4, 6, limit(12) }, { 0, 4, 4, limit(12) } },
    rows = [[ 0: A+4 B+4
              1: A B!
              2: A
              3: A
              4: A
              5: A
              6: B+5
              7: B
              8: B ]] }
end)

-- B's 3 blocks are held at t=0, so A finds none at t=1.
test("blocks for the whole prompt are held from the first chunk on", function()
  expect { scheduler = Trtllm { capacity_scheduler_policy = "max_utilization", max_num_batched_tokens = 8,
      enable_chunked_context = true }, kv_blocks = 4,
    requests = { { 0, 4, 3 }, { 0, 12, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B!
              2: A
              3: B+8
              4: B+4 ]] }
end)

test("static_batch starts a new batch when the old one is done", function()
  expect { scheduler = Trtllm { capacity_scheduler_policy = "static_batch", max_num_seqs = 2 }, kv_blocks = 10000,
    requests = { { 0, 4, 1 }, { 0, 4, 3 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: B
              2: B
              3: C+4 ]] }
end)

test("static_batch, too, admits what fits to completion", function()
  expect { scheduler = Trtllm { capacity_scheduler_policy = "static_batch" }, kv_blocks = 8,
    requests = { { 0, 4, 2, limit(12) }, { 0, 4, 1, limit(12) }, { 0, 4, 1, limit(12) } },
    rows = [[ 0: A+4 B+4
              1: A
              2: C+4 ]] }
end)

-- t=0: B's 6 exceed what A leaves of 10, and C waits behind. t=1: 1 + 6, and C's 2.
test("without chunks a step holds whole prompts within the token budget, decodes counted", function()
  expect { scheduler = Trtllm { max_num_batched_tokens = 10 }, kv_blocks = 10000,
    requests = { { 0, 6, 2 }, { 0, 6, 2 }, { 0, 2, 1 }, { 0, 2, 1 } },
    rows = [[ 0: A+6
              1: A B+6 C+2
              2: B D+2 ]] }
end)

test("what can never run is rejected", function()
  expect { scheduler = Trtllm { max_num_batched_tokens = 10 }, kv_blocks = 8, rejected = 2,
    requests = { { 0, 11, 1, limit(1) }, { 0, 4, 1, limit(29) }, { 0, 4, 1, limit(28) } },
    rows = [[ 0: C+4 ]] }
end)

test("no more than max_num_seqs run", function()
  expect { scheduler = Trtllm { max_num_seqs = 2 }, kv_blocks = 10000,
    requests = { { 0, 4, 2 }, { 0, 4, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A C+4 ]] }
end)

-- Budget 10, units of 4. A's 16 are cut to 8, and of the 2 that are left B's 6 get no whole unit.
test("first_come_first_served gives the first in line all it can use, in whole units", function()
  expect { scheduler = Trtllm { max_num_batched_tokens = 10, enable_chunked_context = true }, kv_blocks = 10000,
    requests = { { 0, 16, 2 }, { 0, 6, 1 } },
    rows = [[ 0: A+8
              1: A+8
              2: A B+6 ]] }
end)

-- Budget 10, units of 4. Round 1: 4 and 4. Round 2: A's next 4 exceed the 2 left, B's last 2 do not.
-- t=1: B decodes, 9 are left for A: two units.
test("equal_progress gives every prompt a unit in turn", function()
  expect { scheduler = Trtllm { max_num_batched_tokens = 10, enable_chunked_context = true,
      context_chunking_policy = "equal_progress" }, kv_blocks = 10000,
    requests = { { 0, 16, 1 }, { 0, 6, 2 } },
    rows = [[ 0: A+4 B+6
              1: A+8 B
              2: A+4 ]] }
end)

-- 8 blocks, 5 for each: B does not fit beside A and gets no share of the tokens. Or A has 6, of which its prompt holds
-- 4, and B, which comes later, needs 4.
test("tokens are shared among the requests that may run", function()
  for _, case in ipairs { { { 0, 16, 1, limit(4) }, { 0, 16, 1, limit(4) }, "3: B+8" },
    { { 0, 16, 1, limit(8) }, { 0.5, 12, 1, limit(4) }, "3: B+4" } } do
    expect { scheduler = Trtllm { max_num_batched_tokens = 8, enable_chunked_context = true,
        context_chunking_policy = "equal_progress" }, kv_blocks = 8, requests = { case[1], case[2] },
      rows = "0: A+8 \n 1: A+8 \n 2: B+8 \n" .. case[3] }
  end
end)

test("chunk_unit_size is the unit", function()
  expect { scheduler = Trtllm { max_num_batched_tokens = 12, enable_chunked_context = true, chunk_unit_size = 5 },
    kv_blocks = 10000,
    requests = { { 0, 16, 1 } },
    rows = [[ 0: A+10
              1: A+6 ]] }
end)

-- The unit is 4: prompts below it take no more of the budget than their tokens.
test("no more than seats, blocks and tokens limit the prompts of a step", function()
  for _, chunked in ipairs { false, true } do
    expect { kv_blocks = 100,
      scheduler = Trtllm { max_num_batched_tokens = 9, max_output_tokens = 1, enable_chunked_context = chunked },
      requests = { { 0, 2, 1 }, { 0, 1, 1 }, { 0, 1, 1 }, { 0, 3, 1 }, { 0, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 } },
      rows = [[ 0: A+2 B+1 C+1 D+3 E+1 F+1
                1: G+1 ]] }
  end
  expect { kv_blocks = 100,
    scheduler = Trtllm { max_num_batched_tokens = 28, max_output_tokens = 1, enable_chunked_context = true,
      chunk_unit_size = 16 },
    requests = { { 0, 8, 1 }, { 0, 8, 1 }, { 0, 3, 1 } },
    rows = [[ 0: A+8 B+8 C+3 ]] }
end)

-- A's 12 + 8 tokens are 5 of 6 blocks from its first chunk on, though its prompt holds 3. B needs 2.
test("a prompt that is still computed is guaranteed its answer's blocks too", function()
  expect { scheduler = Trtllm { enable_chunked_context = true, max_num_batched_tokens = 8 }, kv_blocks = 6,
    requests = { { 0, 12, 3, limit(8) }, { 0.5, 4, 1, limit(4) } },
    rows = [[ 0: A+8
              1: A+4
              2: A
              3: A
              4: B+4 ]] }
end)

-- B comes at 0.5 and waits for three steps, in which A decodes. After A's end nothing decodes: C does not wait.
test("prompts wait for others while requests decode, at most so many steps", function()
  expect { scheduler = Trtllm { batch_wait_timeout_iters = 3, batch_wait_max_tokens_ratio = 0.9,
      max_num_batched_tokens = 16 }, kv_blocks = 40,
    requests = { { 0, 4, 6, limit(6) }, { 0.5, 4, 1, limit(6) }, { 7.5, 4, 1, limit(6) } },
    rows = [[ 0: A+4
              1: A
              2: A
              3: A
              4: A B+4
              5: A
              7.5: C+4 ]] }
end)

-- B and C together fill 0.9 of the 10 tokens beside A.
test("prompts that fill the step do not wait", function()
  expect { scheduler = Trtllm { batch_wait_timeout_iters = 9, batch_wait_max_tokens_ratio = 0.9,
      max_num_batched_tokens = 10 }, kv_blocks = 40,
    requests = { { 0, 4, 6, limit(6) }, { 0.5, 4, 1, limit(6) }, { 2.5, 4, 1, limit(6) } },
    rows = [[ 0: A+4
              1: A
              2: A
              3: A B+4 C+4
              4: A
              5: A ]] }
end)

test.finish()
