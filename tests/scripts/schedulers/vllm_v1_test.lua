-- Schedules of vLLM V1, worked out by hand from its rules. Each rule has a schedule that changes without it;
-- mutations_test.lua takes the rules out one by one.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local VllmV1 = require "schedulers.vllm_v1"

local function vllm(parameters)
  local all = { max_num_seqs = 100, max_num_batched_tokens = 100 }
  for key, value in pairs(parameters) do all[key] = value end
  return VllmV1(all)
end

test("running requests come first and share the budget with the head of the queue", function()
  -- t=1: A decodes, B has 10-4=6 left, and of the 8 one is left for C.
  expect { scheduler = vllm { max_num_batched_tokens = 8 }, kv_blocks = 100,
    requests = { { 0, 4, 3 }, { 0, 10, 2 }, { 1, 8, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B+6 C+1
              2: A B C+6
              3: C+1 ]] }
end)

test("a full budget admits no request", function()
  expect { scheduler = vllm { max_num_batched_tokens = 2 }, kv_blocks = 100,
    requests = { { 0, 1, 2 }, { 0, 1, 3 }, { 0, 1, 2 } },
    rows = [[ 0: A+1 B+1
              1: A B
              2: B C+1
              3: C ]] }
end)

test("a threshold cuts long prompts, so that several are unfinished at once", function()
  expect { scheduler = vllm { max_num_batched_tokens = 12, long_prefill_token_threshold = 4 }, kv_blocks = 100,
    requests = { { 0, 10, 1 }, { 0, 6, 1 }, { 0, 2, 1 } },
    rows = [[ 0: A+4 B+4 C+2
              1: A+4 B+2
              2: A+2 ]] }
end)

test("a decode between two unfinished prompts decodes", function()
  -- B is done with its prompt at t=0; A and C are not.
  expect { scheduler = vllm { max_num_batched_tokens = 12, long_prefill_token_threshold = 4 }, kv_blocks = 100,
    requests = { { 0, 9, 1 }, { 0, 2, 3 }, { 0, 7, 1 } },
    rows = [[ 0: A+4 B+2 C+4
              1: A+4 B C+3
              2: A+1 B ]] }
end)

test("without chunked prefill a prompt waits for a step that holds all of it, and blocks the queue", function()
  expect { scheduler = vllm { max_num_batched_tokens = 8, enable_chunked_prefill = false }, kv_blocks = 100,
    requests = { { 0, 6, 2 }, { 0, 6, 2 }, { 0, 2, 1 } },
    rows = [[ 0: A+6
              1: A B+6
              2: B C+2 ]] }
end)

test("without chunked prefill the threshold still cuts", function()
  expect { scheduler = vllm { max_num_batched_tokens = 8, enable_chunked_prefill = false,
      long_prefill_token_threshold = 4 }, kv_blocks = 100,
    requests = { { 0, 10, 1 } },
    rows = [[ 0: A+4
              1: A+4
              2: A+2 ]] }
end)

test("no more than max_num_seqs have seats", function()
  expect { scheduler = vllm { max_num_seqs = 2 }, kv_blocks = 100,
    requests = { { 0, 4, 2 }, { 0, 4, 2 }, { 0, 4, 2 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: C+4
              3: C ]] }
end)

-- As below, but C, which came last, goes first: there is a block for it when B has lost its two, yet no request is
-- admitted in that step.
test("a preemption stops admission, whatever request is first in the queue", function()
  local LastFirst = require("rooflua.policy").define { name = "last_first", doc = "The last is the first.",
    extends = VllmV1 }
  function LastFirst:key(request) return -request.arrival_s end -- luacheck: ignore self
  expect { scheduler = LastFirst { max_num_seqs = 100, max_num_batched_tokens = 10 }, kv_blocks = 4,
    requests = { { 0, 4, 6 }, { 0, 4, 6 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: A B
              3: A B
              4: A B
              5: A B!
              6: B+6 C+4
              7: B+3 ]] }
end)

-- 4 blocks of 4. t=5: A and B have 8 tokens each, all blocks are taken. A needs a third, so B, the last, is preempted.
-- A is done at 6 with its 6 tokens. B comes before C although C has waited since 0.5. It computes its 4 prompt and 5
-- generated tokens again, and that yields its sixth: nothing is generated twice.
test("the tail is preempted, returns to the front and computes its prompt and its output again", function()
  expect { scheduler = vllm { max_num_batched_tokens = 10 }, kv_blocks = 4,
    requests = { { 0, 4, 6 }, { 0, 4, 6 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: A B
              3: A B
              4: A B
              5: A B!
              6: B+9 C+1
              7: C+3 ]] }
end)

-- As above. B's two full blocks stay cached in the free queue, deepest first; A takes that one, so B
-- hits the other: 9 - 4 tokens.
test("with prefix caching a resumed request hits what is left of its blocks", function()
  expect { scheduler = vllm { max_num_batched_tokens = 10 }, kv_blocks = 4, prefix_caching = true,
    requests = { { 0, 4, 6 }, { 0, 4, 6 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B
              2: A B
              3: A B
              4: A B
              5: A B!
              6: B+5 C+4 ]] }
end)

-- 3 blocks of 4. t=1: A takes the last block, B's second chunk finds none. B is the last, so it is preempted. Although
-- one block is free now, no request is admitted.
test("a step with a preemption admits no request", function()
  expect { scheduler = vllm { long_prefill_token_threshold = 4, scheduler_reserve_full_isl = false }, kv_blocks = 3,
    requests = { { 0, 4, 3 }, { 0, 8, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B!
              2: A B+4
              3: B+4 ]] }
end)

-- B needs all 4 blocks. C would fit, but B is the head.
test("a request is admitted only if its whole sequence fits, and blocks those after it", function()
  expect { scheduler = vllm { max_num_batched_tokens = 8 }, kv_blocks = 4,
    requests = { { 0, 4, 5 }, { 0, 16, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4
              1: A
              2: A
              3: A
              4: A
              5: B+8
              6: B+8
              7: C+4 ]] }
end)

-- The same without that rule: B's first chunk fits, its second does not, and so on until A is done.
test("without full-sequence admission the first chunk is enough", function()
  expect { scheduler = vllm { max_num_batched_tokens = 8, scheduler_reserve_full_isl = false }, kv_blocks = 4,
    requests = { { 0, 4, 5 }, { 0, 16, 1 } },
    rows = [[ 0: A+4 B+4
              1: A B!
              2: A B+7
              3: A B!
              4: A B+7
              5: B+8
              6: B+1 ]] }
end)

-- A quarter of 8 blocks must stay free: B needs 3 of the 4, and 1 would be left.
test("the watermark keeps blocks free while others run", function()
  expect { scheduler = vllm { watermark = 0.25 }, kv_blocks = 8,
    requests = { { 0, 16, 2 }, { 0, 12, 1 } },
    rows = [[ 0: A+16
              1: A
              2: B+12 ]] }
end)

-- A takes 7 of 8 blocks. At t=1 B runs alone, C's 6 of 7 would leave 1.
test("the watermark is not for a request that runs alone", function()
  expect { scheduler = vllm { watermark = 0.25 }, kv_blocks = 8,
    requests = { { 0, 28, 1 }, { 0, 4, 1 }, { 0, 24, 1 } },
    rows = [[ 0: A+28
              1: B+4
              2: C+24 ]] }
end)

-- Two plans at t=0, then one at every start of a step. B arrives during step 0 and runs in step 2.
test("with two steps in flight an arrival is seen one step later", function()
  expect { scheduler = vllm {}, kv_blocks = 100, async_depth = 2,
    requests = { { 0, 4, 3 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4
              0: A
              1: A B+4 ]] }
end)

-- A's third and last token is planned at t=1 and lands at 3: until then it keeps the only seat, without
-- being scheduled again.
test("with two steps in flight a finished request keeps its seat until its last token lands", function()
  expect { scheduler = vllm { max_num_seqs = 1 }, kv_blocks = 100, async_depth = 2,
    requests = { { 0, 4, 3 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4
              0: A
              1: A
              3: B+4 ]] }
end)

-- A declares 8 tokens and ends with its third, planned at t=1, which lands at 3. The plan at 2 cannot know:
-- A has one row more, which is discarded. Its seat is C's from 3 on.
test("with two steps in flight a request has one row more after its end token", function()
  expect { scheduler = vllm { max_num_seqs = 2 }, kv_blocks = 100, async_depth = 2,
    requests = { { 0, 4, 3, { max_output_tokens = 8 } }, { 0, 4, 5 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              0: A B
              1: A B
              2: A B
              3: B C+4 ]] }
end)

-- The same, but three tokens are all that A may have: its length is known, and the plan at 2 leaves it out.
test("with two steps in flight a request has no row after the last token that it may have", function()
  expect { scheduler = vllm { max_num_seqs = 2 }, kv_blocks = 100, async_depth = 2,
    requests = { { 0, 4, 3, { max_output_tokens = 3 } }, { 0, 4, 5 }, { 0.5, 4, 1 } },
    rows = [[ 0: A+4 B+4
              0: A B
              1: A B
              2: B
              3: B C+4 ]] }
end)

-- 4 blocks of 4. A's fifth token is its end token, in flight at t=4: A and B have 8 and 7 tokens in 4 blocks.
-- A's row takes a fifth, so B, the last, is preempted. It computes its 3 + 5 tokens again from 5 on, when A is done.
test("the row after an end token takes a block, and a seat to get it", function()
  expect { scheduler = vllm {}, kv_blocks = 4, async_depth = 2,
    requests = { { 0, 4, 5, { max_output_tokens = 8 } }, { 0, 3, 6 } },
    rows = [[ 0: A+4 B+3
              0: A B
              1: A B
              2: A B
              3: A B
              4: A B!
              5: B+8 ]] }
end)

-- As above, but B's fifth token is its end token: it has lost its seat at 4, ends at 5, and is not computed again.
test("a request that loses its seat while its end token is in flight ends in the queue", function()
  expect { scheduler = vllm {}, kv_blocks = 4, async_depth = 2,
    requests = { { 0, 4, 6 }, { 0, 3, 5, { max_output_tokens = 9 } }, { 4.5, 4, 1 } },
    rows = [[ 0: A+4 B+3
              0: A B
              1: A B
              2: A B
              3: A B
              4: A B!
              5: C+4 ]] }
end)

test("without chunks the budget holds the longest request, or vLLM does not start", function()
  local function problem(options, tokens) return require "schedulers.vllm_v1"(options):start_problem(tokens) end
  local whole = { enable_chunked_prefill = false, max_num_batched_tokens = 100 }
  test.equal(problem(whole, 100), nil)
  test.check(problem(whole, 101):find "max_num_batched_tokens = 100 is less than .*max_model_len = 101")
  test.equal(problem({ enable_chunked_prefill = true, max_num_batched_tokens = 100 }, 101), nil)
end)

test.finish()
