-- Schedules of SGLang. One token is one page unless said otherwise, so a request needs
--     prompt + generated  +  output limit left  +  1  +  what running ones may still generate * ratio
-- free tokens.
local schedule = dofile "tests/scripts/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Sglang = require "schedulers.sglang"

local function limit(tokens) return { max_output_tokens = tokens } end

--- The ratio stays where it is: minimum factor 1.
local function steady(ratio, parameters)
  local all = { init_new_token_ratio = ratio, min_new_token_ratio_factor = 1 }
  for key, value in pairs(parameters or {}) do all[key] = value end
  return Sglang(all)
end

test("prompts go first, in steps of their own", function()
  expect { scheduler = steady(0.5), kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 3, limit(3) }, { 0.5, 4, 2, limit(2) } },
    rows = [[ 0: A+4
              1: B+4
              2: A B
              3: A ]] }
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

-- As before, and B's 4 tokens are also more than what A leaves of max_prefill_tokens: fitting is looked at first.
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

-- 14 tokens, nothing reserved for running ones. t=4: 3 decodes, 2 tokens are free. All have generated 2, so
-- the longest prompt goes. It comes back when B and C are done: A needs 6 + 2 + 1.
test("a shortage retracts the longest prompt among those with the fewest generated tokens", function()
  expect { scheduler = steady(0), kv_blocks = 14, block_size = 1,
    requests = { { 0, 4, 4, limit(4) }, { 0.5, 3, 4, limit(4) }, { 1.5, 2, 4, limit(4) } },
    rows = [[ 0: A+4
              1: B+3
              2: C+2
              3: A B C
              4: A! B C
              5: B C
              6: A+6
              7: A ]] }
end)

-- t=6: no token is free. A has generated 5, B 4: B goes, although A's prompt is longer.
test("a shortage retracts the fewest generated tokens first", function()
  expect { scheduler = steady(0), kv_blocks = 14, block_size = 1,
    requests = { { 0, 4, 8, limit(8) }, { 1.5, 3, 5, limit(5) } },
    rows = [[ 0: A+4
              1: A
              2: B+3
              3: A B
              4: A B
              5: A B
              6: A B!
              7: A
              8: A
              9: B+7 ]] }
end)

-- 20 tokens. t=4: 3 decodes, 1 token is free; all have generated 2; C has the longest prompt and goes.
-- The ratio becomes (2 + 2 + steps * 2) / (12 + 4 + 1). At t=6 B is done, 15 are free, A may still generate 8.
-- C: 10 + 1 + 1 + 8 * ratio, with 20 steps 20 (ratio 1), with 0 steps 13.9.
test("after a retraction the ratio provides for what was generated and 20 steps more", function()
  local requests = { { 0, 2, 6, limit(12) }, { 0.5, 6, 4, limit(4) }, { 1.5, 8, 3, limit(3) } }
  expect { scheduler = steady(0), kv_blocks = 20, block_size = 1, requests = requests,
    rows = [[ 0: A+2
              1: B+6
              2: C+8
              3: A B C
              4: A B C!
              5: A B
              6: A
              7: A
              8: C+10 ]] }
  expect { scheduler = steady(0, { retract_decode_steps = 0 }), kv_blocks = 20, block_size = 1, requests = requests,
    rows = [[ 0: A+2
              1: B+6
              2: C+8
              3: A B C
              4: A B C!
              5: A B
              6: C+10
              7: A
              8: A ]] }
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

test.finish()
