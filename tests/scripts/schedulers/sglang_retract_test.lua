-- Schedules of SGLang in which memory runs out: which request is retracted, and how it is admitted again. The free
-- tokens that a request needs are computed as in sglang_test.lua.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local steady = dofile("tests/scripts/schedulers/steady.lua").steady

-- 14 tokens, nothing reserved for running requests. t=4: 3 decodes, 2 tokens are free. All have generated 2, so the
-- longest prompt is retracted. It comes back when B and C are done: A needs 6 + 2 + 1.
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

-- t=6: no token is free. A has generated 5, B 4: B is retracted, although A's prompt is longer.
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

-- 20 tokens. t=4: 3 decodes, 1 token is free; all have generated 2; C has the longest prompt and is retracted.
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

-- t=4: C is retracted. (2 + 2 + 20 * 2) / (6 + 4 + 1) is 4, limited to 1. t=6: C: 10 + 1 + 1 + A's 2 of 15.
test("nor is it more than 1 after a retraction", function()
  expect { scheduler = steady(0), kv_blocks = 20, block_size = 1,
    requests = { { 0, 2, 6, limit(6) }, { 0.5, 6, 4, limit(4) }, { 1.5, 8, 3, limit(3) } },
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

-- 21 tokens. C is retracted at t=4; the ratio is 4 / (13 + 4 + 1). t=6: 16 are free; C: 10 + 2 + 1 + A's 9 * 0.22. It
-- reserves all 4 of its limit once more: with A's 2 that is all of the 6 that are left, and the batch is full. At
-- t=7 D would need 1 + 1 + 1 + 2.2 of 6.
test("a request that comes back reserves its whole limit again, and a batch with nothing left is full", function()
  expect { scheduler = steady(0, { retract_decode_steps = 0 }), kv_blocks = 21, block_size = 1,
    requests = { { 0, 2, 6, limit(13) }, { 0.5, 6, 4, limit(4) }, { 1.5, 8, 4, limit(4) }, { 6.5, 1, 1, limit(1) } },
    rows = [[ 0: A+2
              1: B+6
              2: C+8
              3: A B C
              4: A B C!
              5: A B
              6: C+10
              7: A C
              8: D+1
              9: A ]] }
end)

-- The reserve is clipped, so A outgrows the memory; no other request could make room.
test("the last one is not retracted", function()
  expect { scheduler = steady(0.5, { clip_max_new_tokens = 1 }), kv_blocks = 6, block_size = 1,
    requests = { { 0, 4, 4, limit(4) } }, unfinished = 1,
    rows = [[ 0: A+4
              1: A
              2: A ]] }
end)

-- 24 tokens, two decodes beside each chunk. t=4: A and B have 6, C 12: there is no page for C's last 2. So C waits,
-- and the last of the decoding requests is retracted, not C, which generated less.
test("a cut prompt whose pages are gone waits, and is not what is retracted", function()
  expect { scheduler = steady(0, { enable_mixed_chunk = true, chunked_prefill_size = 6 }), kv_blocks = 24,
    block_size = 1,
    requests = { { 0, 3, 6, limit(8) }, { 0, 3, 6, limit(8) }, { 0.5, 14, 1, limit(1) } },
    rows = [[ 0: A+3 B+3
              1: A B C+4
              2: A B C+4
              3: A B C+4
              4: A B!
              5: A C+2
              6: B+6
              7: B+1
              8: B ]] }
end)

test.finish()
