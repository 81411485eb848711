-- Schedules of SGLang. One token is one page unless said otherwise, so a request needs
--     prompt + generated  +  output limit left  +  1  +  tokens that running requests may still generate * ratio
-- free tokens.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local steady = dofile("tests/scripts/schedulers/steady.lua").steady
local Sglang = require "schedulers.sglang"

test("prompts go first, in steps of their own", function()
  expect { scheduler = steady(0.5), kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 3, limit(3) }, { 0.5, 4, 2, limit(2) } },
    rows = [[ 0: A+4
              1: B+4
              2: A B
              3: A ]] }
end)

test("after a step of prompts so many steps decode, whatever waits, and none where nothing decodes", function()
  local requests = { { 0, 4, 4, limit(4) }, { 0.5, 4, 2, limit(2) } }
  expect { scheduler = steady(0.5, { prefill_decode_interval = 2 }), kv_blocks = 100, block_size = 1,
    requests = requests,
    rows = [[ 0: A+4
              1: A
              2: A
              3: B+4
              4: A B ]] }
  expect { scheduler = steady(0.5, { prefill_decode_interval = 2, chunked_prefill_size = 2 }), kv_blocks = 100,
    block_size = 1, requests = { { 0, 4, 2, limit(2) } },
    rows = [[ 0: A+2
              1: A+2
              2: A ]] }
end)

-- 20 tokens. A: 6 + 8 + 1 <= 20. B: 4 + 2 + 1 and A's whole limit of 8 are 15, 14 are free: the batch is full.
-- At t=1 half of A's 7 would leave room, but it is full until A is done.
test("those admitted in a step reserve their whole limit, and a full batch stays full until it shrinks", function()
  expect { scheduler = steady(0.5), kv_blocks = 20, block_size = 1,
    requests = { { 0, 6, 3, limit(8) }, { 0, 4, 2, limit(2) } },
    rows = [[ 0: A+6
              1: A
              2: A
              3: B+4
              4: B ]] }
end)

-- As before, and B's 4 tokens also exceed the rest of max_prefill_tokens that A leaves: blocks are checked first.
test("what does not fit makes the batch full, whatever else is against it", function()
  expect { scheduler = steady(0.5, { max_prefill_tokens = 10 }), kv_blocks = 20, block_size = 1,
    requests = { { 0, 6, 3, limit(8) }, { 0, 4, 2, limit(2) } },
    rows = [[ 0: A+6
              1: A
              2: A
              3: B+4
              4: B ]] }
end)

-- t=1: A may still generate 7, 14 are free. B: 4 + 6 + 1 + 3.5 = 14.5 at ratio 0.5, 13.8 at 0.4.
test("running requests reserve new_token_ratio of what they may still generate", function()
  local requests = { { 0, 6, 6, limit(8) }, { 0.5, 4, 1, limit(6) } }
  expect { scheduler = steady(0.5), kv_blocks = 20, block_size = 1, requests = requests,
    rows = [[ 0: A+6
              1: A
              2: A
              3: A
              4: A
              5: A
              6: B+4 ]] }
  expect { scheduler = steady(0.4), kv_blocks = 20, block_size = 1, requests = requests,
    rows = [[ 0: A+6
              1: B+4
              2: A
              3: A
              4: A
              5: A
              6: A ]] }
end)

test("schedule_conservativeness scales the ratio", function()
  expect { scheduler = steady(0.4, { schedule_conservativeness = 1.25 }), kv_blocks = 20, block_size = 1,
    requests = { { 0, 6, 3, limit(8) }, { 0.5, 4, 1, limit(6) } },
    rows = [[ 0: A+6
              1: A
              2: A
              3: B+4 ]] }
end)

-- From 0.5 by 0.1 per decode step. t=3, after two of them: 32 are free, A may still generate 27.
-- B: 4 + 16 + 1 + 27 * 0.3 = 29.1; at 0.5 it would be 34.5.
test("the ratio falls with every decode step", function()
  expect { scheduler = Sglang { init_new_token_ratio = 0.5, min_new_token_ratio_factor = 0,
      new_token_ratio_decay_steps = 5 }, kv_blocks = 40, block_size = 1,
    requests = { { 0, 6, 6, limit(30) }, { 2.5, 4, 1, limit(16) } },
    rows = [[ 0: A+6
              1: A
              2: A
              3: B+4
              4: A
              5: A
              6: A ]] }
end)

-- From 0.5 by 0.05 per decode step, not below 0.4. t=5, after four: 30 are free, A may still generate 25.
-- B: 21 + 25 * 0.4 = 31; at 0.3 it would be 28.5.
test("the ratio does not fall below its minimum", function()
  expect { scheduler = Sglang { init_new_token_ratio = 0.5, min_new_token_ratio_factor = 0.8,
      new_token_ratio_decay_steps = 2 }, kv_blocks = 40, block_size = 1,
    requests = { { 0, 6, 7, limit(30) }, { 4.5, 4, 1, limit(16) } },
    rows = [[ 0: A+6
              1: A
              2: A
              3: A
              4: A
              5: A
              6: A
              7: B+4 ]] }
end)

-- A's five decode steps bring the ratio to 0. At t=11 it is 0.5 again: 34 are free,
-- C: 21 + B's 29 * 0.5 = 35.5.
test("the ratio starts anew when nothing is left to do", function()
  expect { scheduler = Sglang { init_new_token_ratio = 0.5, min_new_token_ratio_factor = 0,
      new_token_ratio_decay_steps = 5 }, kv_blocks = 40, block_size = 1,
    requests = { { 0, 2, 6, limit(6) }, { 10, 6, 3, limit(30) }, { 10.5, 4, 1, limit(16) } },
    rows = [[ 0: A+2
              1: A
              2: A
              3: A
              4: A
              5: A
              10: B+6
              11: B
              12: B
              13: C+4 ]] }
end)

test("a prompt longer than a chunk goes on first in the next step, and there is one such prompt", function()
  -- t=2: A's last 4 leave 4 of the chunk to B's 6.
  expect { scheduler = steady(0.5, { chunked_prefill_size = 8 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 20, 1, limit(4) }, { 0, 6, 1, limit(4) } },
    rows = [[ 0: A+8
              1: A+8
              2: A+4 B+4
              3: B+2 ]] }
end)

test("chunks are whole pages, and so are lengths", function()
  -- pages of 4: 14 is 16, and of a chunk of 10 two pages are used
  expect { scheduler = steady(0.5, { chunked_prefill_size = 10 }), kv_blocks = 100,
    requests = { { 0, 14, 1, limit(4) } },
    rows = [[ 0: A+8
              1: A+6 ]] }
  -- 5 is 8, more than a chunk of 6
  expect { scheduler = steady(0.5, { chunked_prefill_size = 6 }), kv_blocks = 100,
    requests = { { 0, 5, 1, limit(4) } },
    rows = [[ 0: A+4
              1: A+1 ]] }
end)

test("a step takes max_prefill_tokens, or one longer prompt; that does not make the batch full", function()
  expect { scheduler = steady(0.5, { max_prefill_tokens = 10 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 6, 2, limit(4) }, { 0, 6, 2, limit(4) }, { 0, 12, 1, limit(4) } },
    rows = [[ 0: A+6
              1: B+6
              2: C+12
              3: A B ]] }
end)

test("no more than max_num_seqs run", function()
  expect { scheduler = steady(0.5, { max_num_seqs = 2 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 2, limit(4) }, { 0, 4, 2, limit(4) }, { 0, 4, 1, limit(4) }, { 0.5, 4, 1, limit(4) } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: C+4 D+4 ]] }
end)

test("enable_mixed_chunk decodes in prefill steps, and decodes count in the chunk", function()
  expect { scheduler = steady(0.5, { enable_mixed_chunk = true, chunked_prefill_size = 6 }),
    kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 3, limit(3) }, { 0.5, 6, 1, limit(2) } },
    rows = [[ 0: A+4
              1: A B+5
              2: A B+1 ]] }
end)

-- From 0.5 by 0.1. The decode at t=1 is mixed, so at t=3 the ratio is 0.4: 32 are free, A may still generate 27,
-- C: 21 + 10.8 + 1 for the decode beside it = 32.8; at 0.3 it would be 30.1.
test("a mixed step does not lower the ratio", function()
  expect { scheduler = Sglang { init_new_token_ratio = 0.5, min_new_token_ratio_factor = 0,
      new_token_ratio_decay_steps = 5, enable_mixed_chunk = true }, kv_blocks = 40, block_size = 1,
    requests = { { 0, 6, 6, limit(30) }, { 0.5, 1, 1, limit(1) }, { 2.5, 4, 1, limit(16) } },
    rows = [[ 0: A+6
              1: A B+1
              2: A
              3: A
              4: A
              5: A
              6: C+4 ]] }
end)

test("no request reserves more than clip_max_new_tokens", function()
  expect { scheduler = steady(0.5, { clip_max_new_tokens = 8 }), kv_blocks = 20, block_size = 1,
    requests = { { 0, 4, 1, limit(1000) } },
    rows = [[ 0: A+4 ]] }
end)

-- 4 + 16 + 1 > 20
test("a request without a limit has default_max_new_tokens", function()
  expect { scheduler = steady(0.5, { default_max_new_tokens = 15 }), kv_blocks = 20, block_size = 1,
    requests = { { 0, 4, 1 } },
    rows = [[ 0: A+4 ]] }
  expect { scheduler = steady(0.5, { default_max_new_tokens = 16 }), kv_blocks = 20, block_size = 1,
    requests = { { 0, 4, 1 } }, unfinished = 1,
    rows = [[ ]] }
end)

-- Overlap: A's third token, planned at 2, is its end token, and lands at 4. The batch at 3 still has a row of it,
-- but none of B, whose second token is the last that it may have.
test("with overlap an end is seen one step late: one wasted row", function()
  expect { scheduler = steady(0.5), kv_blocks = 100, block_size = 1, async_depth = 2,
    requests = { { 0, 4, 3, limit(6) }, { 0.5, 4, 2, limit(2) } },
    rows = [[ 0: A+4
              0: A
              1: B+4
              2: A B
              3: A ]] }
end)

test("a step that takes just max_prefill_tokens takes no other request", function()
  expect { scheduler = steady(0.5, { max_prefill_tokens = 10 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 6, 2, limit(4) }, { 0, 4, 2, limit(4) } },
    rows = [[ 0: A+6
              1: B+4
              2: A B ]] }
  -- pages of 4: A's 5 count as 8, which leaves 4 of 12
  expect { scheduler = steady(0.5, { max_prefill_tokens = 12 }), kv_blocks = 100,
    requests = { { 0, 5, 2, limit(4) }, { 0, 4, 2, limit(4) } },
    rows = [[ 0: A+5
              1: B+4
              2: A B ]] }
end)

-- A takes the whole budget of the step. B would not fit after it (4 + 2 + 1 and A's 8 are 15, 14 are free), but is not
-- checked, so the batch is not full. t=1: 4 + 2 + 1 + 3.5.
test("where a step has no budget left, no other request is checked, and the batch is not full", function()
  for _, budget in ipairs { { max_prefill_tokens = 6 }, { chunked_prefill_size = 6 } } do
    expect { scheduler = steady(0.5, budget), kv_blocks = 20, block_size = 1,
      requests = { { 0, 6, 3, limit(8) }, { 0, 4, 2, limit(2) } },
      rows = [[ 0: A+6
                1: B+4
                2: A B
                3: A ]] }
  end
end)

test("the prompt that was cut has its seat already", function()
  expect { scheduler = steady(0.5, { chunked_prefill_size = 8, max_num_seqs = 2 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 12, 2, limit(4) }, { 0, 4, 2, limit(4) } },
    rows = [[ 0: A+8
              1: A+4 B+4
              2: A B ]] }
end)

-- t=1: B needs 4 + 2 + 1 beside A's 8. 16 tokens are free after A's last chunk, or 14.
test("a prompt that was cut reserves its whole limit with its last chunk, and once", function()
  local requests = { { 0, 12, 2, limit(8) }, { 0, 4, 2, limit(2) } }
  expect { scheduler = steady(0.5, { chunked_prefill_size = 8 }), kv_blocks = 28, block_size = 1, requests = requests,
    rows = [[ 0: A+8
              1: A+4 B+4
              2: A B ]] }
  expect { scheduler = steady(0.5, { chunked_prefill_size = 8 }), kv_blocks = 26, block_size = 1, requests = requests,
    rows = [[ 0: A+8
              1: A+4
              2: A
              3: B+4
              4: B ]] }
end)

-- A leaves 10 tokens in the cache, which C hits and which count as free until C takes them. t=2: C's 4 new tokens,
-- 2 + 1 and B's 28 * 0.5 are 21 of 30 free ones; with the hits 31. So the batch is full until B is done, although
-- at t=3 it would be 14 + 3 + 27 * 0.4 of 29. D and E would have fitted all the time.
test("hits without a user are free only until they are taken; a request that fails on them fills the batch", function()
  local shared = { 7, 10 }
  local function with(tokens, ...)
    return { max_output_tokens = tokens, content = { shared, ... } }
  end
  for _, policy in ipairs { "fcfs", "lof" } do
    expect { scheduler = Sglang { init_new_token_ratio = 0.5, min_new_token_ratio_factor = 0,
        new_token_ratio_decay_steps = 5, schedule_policy = policy },
      kv_blocks = 34, block_size = 1, prefix_caching = true,
      requests = { { 0, 10, 1, with(1) }, { 0.5, 4, 5, limit(29) }, { 1.5, 14, 1, with(2, { 8, 4 }) },
        { 1.5, 1, 1, limit(1) }, { 2.5, 1, 1, limit(1) } },
      rows = [[ 0: A+10
                1: B+4
                2: B
                3: B
                4: B
                5: B
                6: C+4 D+1 E+1 ]] }
  end
end)

test("a request admitted whole reserves no more than clip_max_new_tokens", function()
  expect { scheduler = steady(0.5, { clip_max_new_tokens = 8 }), kv_blocks = 30, block_size = 1,
    requests = { { 0, 4, 2, limit(1000) }, { 0, 4, 2, limit(1000) } },
    rows = [[ 0: A+4 B+4
              1: A B ]] }
end)

-- t=1: 4 + 6 + 1 + 7 * 1 of 18; at 1.4 it would be 20.8
test("the ratio is at most 1, however conservative", function()
  expect { scheduler = steady(0.7, { schedule_conservativeness = 2 }), kv_blocks = 24, block_size = 1,
    requests = { { 0, 6, 2, limit(8) }, { 0.5, 4, 1, limit(6) } },
    rows = [[ 0: A+6
              1: B+4
              2: A ]] }
end)

-- t=1: one decode leaves 5 of 6: B's 3, and then 2, which C's 2 are not below.
test("decodes of a mixed step count in max_prefill_tokens", function()
  expect { scheduler = steady(0.5, { enable_mixed_chunk = true, max_prefill_tokens = 6 }), kv_blocks = 100,
    block_size = 1,
    requests = { { 0, 4, 4, limit(4) }, { 0.5, 3, 1, limit(2) }, { 0.5, 2, 1, limit(2) } },
    rows = [[ 0: A+4
              1: A B+3
              2: A C+2
              3: A ]] }
end)

-- 17 tokens, one decode beside each chunk. t=4: A has 7, B 9: B's last token takes the last page.
test("decodes of a mixed step run where there is room for all of them", function()
  expect { scheduler = steady(0, { enable_mixed_chunk = true, chunked_prefill_size = 4 }), kv_blocks = 17,
    block_size = 1,
    requests = { { 0, 4, 6, limit(6) }, { 0.5, 10, 1, limit(1) } },
    rows = [[ 0: A+4
              1: A B+3
              2: A B+3
              3: A B+3
              4: B+1
              5: A
              6: A ]] }
end)

-- The scheduler looks at 1, after a prompt, then at 4 and 7: B, of 1.5, is seen at 4, and C at 5, after B's prompt.
test("new requests are seen once in some decode steps, and after every prompt", function()
  expect { scheduler = Sglang { scheduler_recv_interval = 3 }, kv_blocks = 400,
    requests = { { 0, 4, 8 }, { 1.5, 4, 2 }, { 4.5, 4, 1 } },
    rows = [[ 0: A+4
              1: A
              2: A
              3: A
              4: B+4
              5: C+4
              6: A B
              7: A
              8: A
              9: A ]] }
end)

test.finish()
