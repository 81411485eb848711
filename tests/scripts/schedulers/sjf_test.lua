-- Schedules of shortest job first: vLLM V1's step over another queue.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local Sjf = require "schedulers.sjf"

local function predicted(tokens) return { predicted_output_tokens = tokens } end

test("the smallest prompt plus predicted output goes first", function()
  -- 8 + 8, 4 + 2, 2 + 1
  expect { scheduler = Sjf { max_num_batched_tokens = 4, unknown_output_tokens = 1 }, kv_blocks = 100,
    requests = { { 0, 8, 1, predicted(8) }, { 0, 4, 1, predicted(2) }, { 0, 2, 1 } },
    rows = [[ 0: B+2 C+2
              1: A+2 B+2
              2: A+4
              3: A+2 ]] }
end)

test("a predicted output token counts as much as a prompt token", function()
  -- 2 + 10 against 4 + 1
  expect { scheduler = Sjf { max_num_seqs = 1 }, kv_blocks = 100,
    requests = { { 0, 2, 1, predicted(10) }, { 0, 4, 1, predicted(1) } },
    rows = [[ 0: B+4
              1: A+2 ]] }
end)

test("output_weight 0 looks at prompts only", function()
  expect { scheduler = Sjf { max_num_seqs = 1, output_weight = 0 }, kv_blocks = 100,
    requests = { { 0, 2, 1, predicted(10) }, { 0, 4, 1, predicted(1) } },
    rows = [[ 0: A+2
              1: B+4 ]] }
end)

test("what has no prediction counts as unknown_output_tokens", function()
  -- 2 + 10 against 4 + 1
  expect { scheduler = Sjf { max_num_seqs = 1, unknown_output_tokens = 10 }, kv_blocks = 100,
    requests = { { 0, 2, 1 }, { 0, 4, 1, predicted(1) } },
    rows = [[ 0: B+4
              1: A+2 ]] }
end)

test.finish()
