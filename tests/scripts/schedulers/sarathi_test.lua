-- Schedules of Sarathi-Serve: decodes, then unfinished prompts, then new ones.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Sarathi = require "schedulers.sarathi"

local function sarathi(parameters)
  local all = { watermark = 0 }
  for key, value in pairs(parameters) do all[key] = value end
  return Sarathi(all)
end

-- t=1: 8 = A's decode and 7 of B's remaining 8. t=2: A, B's last token, and 6 are left for C's 4.
test("decodes, then the unfinished prompt, then new ones share chunk_size", function()
  expect { scheduler = sarathi { chunk_size = 8 }, kv_blocks = 100,
    requests = { { 0, 4, 4 }, { 0, 12, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B+7
              2: A B+1 C+4
              3: A ]] }
end)

-- B needs 4 blocks for its prompt, 3 are free; its first chunk would fit.
test("a request is admitted only if its whole prompt fits", function()
  expect { scheduler = sarathi { chunk_size = 8 }, kv_blocks = 4,
    requests = { { 0, 4, 2 }, { 0, 16, 1 } },
    rows = [[ 0: A+4
              1: A
              2: B+8
              3: B+8 ]] }
end)

-- B holds its 3 blocks from t=0 on, so A finds none at t=1 and the tail, B, is preempted. With the blocks of
-- a chunk only, there would be one.
test("blocks for the whole prompt are held from admission on; decodes take from the tail", function()
  expect { scheduler = sarathi { chunk_size = 8 }, kv_blocks = 4,
    requests = { { 0, 4, 3 }, { 0, 12, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B!
              2: A
              3: B+8
              4: B+4 ]] }
end)

test("the watermark keeps blocks free", function()
  expect { scheduler = sarathi { watermark = 0.25 }, kv_blocks = 8,
    requests = { { 0, 16, 2 }, { 0, 12, 1 } },
    rows = [[ 0: A+16
              1: A
              2: B+12 ]] }
end)

test("no more than max_num_seqs have seats", function()
  expect { scheduler = sarathi { max_num_seqs = 2 }, kv_blocks = 100,
    requests = { { 0, 4, 2 }, { 0, 4, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A C+4 ]] }
end)

-- 4 stages of 100 tokens: 128, 96, 64, 32. The prompt is at 0, 128, 224, 288, 352, 384.
test("the dynamic schedule lowers the chunk with the progress of the prompt", function()
  expect { scheduler = sarathi { enable_dynamic_chunking_schedule = true, low_chunk_size = 32,
      high_chunk_size = 128, chunk_schedule_max_tokens = 400, chunk_schedule_stages = 4 }, kv_blocks = 200,
    requests = { { 0, 400, 1 } },
    rows = [[ 0: A+128
              1: A+96
              2: A+64
              3: A+64
              4: A+32
              5: A+16 ]] }
end)

-- 3 stages of 100 tokens: 130, 85, 40 are 128, 96, 32 in units of 32.
test("chunks of the dynamic schedule are multiples of 32", function()
  expect { scheduler = sarathi { enable_dynamic_chunking_schedule = true, low_chunk_size = 40,
      high_chunk_size = 130, chunk_schedule_max_tokens = 300, chunk_schedule_stages = 3 }, kv_blocks = 200,
    requests = { { 0, 280, 1 } },
    rows = [[ 0: A+128
              1: A+96
              2: A+32
              3: A+24 ]] }
end)

test("beyond chunk_schedule_max_tokens the chunk stays at the last stage's", function()
  expect { scheduler = sarathi { enable_dynamic_chunking_schedule = true, low_chunk_size = 32,
      high_chunk_size = 128, chunk_schedule_max_tokens = 400, chunk_schedule_stages = 4 }, kv_blocks = 200,
    requests = { { 0, 460, 1 } },
    rows = [[ 0: A+128
              1: A+96
              2: A+64
              3: A+64
              4: A+32
              5: A+32
              6: A+32
              7: A+12 ]] }
end)

test.finish()
