-- Limits of answers are cut to what the longest request leaves: what SGLang and TensorRT-LLM reserve then.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local steady = dofile("tests/scripts/schedulers/steady.lua").steady
local Trtllm = require "schedulers.trtllm"

-- TensorRT-LLM: 8 blocks of 4 tokens. 4 + 28 tokens are all of them, cut to 16 they are 4.
test("TensorRT-LLM guarantees no more blocks than the longest request has", function()
  local requests = { { 0, 4, 2, limit(28) }, { 0, 4, 2, limit(28) }, { 0, 4, 1, limit(4) } }
  expect { scheduler = Trtllm {}, requests = requests,
    rows = [[ 0: A+4
              1: A
              2: B+4
              3: B
              4: C+4 ]] }
  expect { scheduler = Trtllm {}, requests = requests, max_model_len = 16,
    rows = [[ 0: A+4 B+4
              1: A B
              2: C+4 ]] }
  expect { scheduler = Trtllm {}, requests = requests, max_model_len = 12,
    rows = [[ 0: A+4 B+4 C+4
              1: A B ]] }
end)

test("TensorRT-LLM guarantees a request below the longest what it asks for", function()
  expect { scheduler = Trtllm {}, max_model_len = 16,
    requests = { { 0, 4, 2, limit(4) }, { 0, 4, 2, limit(4) }, { 0, 4, 2, limit(4) }, { 0, 4, 2, limit(4) } },
    rows = [[ 0: A+4 B+4 C+4 D+4
              1: A B C D ]] }
end)

-- SGLang: the ratio is 1, so that all of a limit is reserved.
-- 12 blocks of 4. A reserves 28 beside its 4, and B's 4 + 28 + 4 do not fit. Cut to 16 tokens each reserves 12: beside
-- A's 4 there must be room for 4 + 12 + 12, and for a block of 4 more, which are 9 blocks.
test("SGLang reserves no more of a limit than the longest request leaves", function()
  local requests = { { 0, 4, 2, limit(28) }, { 0, 4, 2, limit(28) } }
  expect { scheduler = steady(1), kv_blocks = 12, requests = requests,
    rows = [[ 0: A+4
              1: A
              2: B+4
              3: B ]] }
  for blocks = 8, 12 do
    expect { scheduler = steady(1), kv_blocks = blocks, requests = requests, max_model_len = 16,
      rows = blocks >= 9 and "0: A+4 B+4 \n 1: A B" or "0: A+4 \n 1: A \n 2: B+4 \n 3: B" }
  end
end)

test.finish()
