-- TensorRT-LLM: how many tokens each request of a step gets.
local function limit(tokens) return { max_output_tokens = tokens } end

--- Prompts of one instant that end with their first token.
local function prompts(...)
  local out = {}
  for i, tokens in ipairs { ... } do out[i] = { 0, tokens, 1, limit(1) } end
  return out
end

local function text(...) return { max_output_tokens = 1, content = { ... } } end

--- Requests that decode, and prompts that come behind their first step.
local function behind(decodes, ...)
  local out = {}
  for i = 1, decodes do out[i] = { 0, 2, 40, limit(40) } end
  for _, tokens in ipairs { ... } do out[#out + 1] = { 0.5, tokens, 1, limit(1) } end
  return out
end

--- Prompts of which so many first tokens are in the cache, at 10 s.
local function reusable(cached, ...)
  local out = {}
  for i, tokens in ipairs { ... } do
    out[#out + 1] = { (i - 1) * 2, cached + 1, 1, { max_output_tokens = 1, content = { { i, cached }, { 0, 1 } } } }
    out[#out + 1] = { 10, tokens, 1,
      { max_output_tokens = 1, content = { { i, cached }, { 0, tokens - cached } } } }
  end
  table.sort(out, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[4].content[1][1] < b[4].content[1][1] end)
  return out
end

--- Chunks of so many tokens: in equal parts, or first come, first served.
local function equal(unit) return { "trtllm", context_chunking_policy = "equal_progress", chunk_unit_size = unit } end
local function first(unit) return { "trtllm", chunk_unit_size = unit } end

--- The engine with so many tokens a step, in chunks or not.
local function tokens(most, whole) return { max_num_tokens = most, enable_chunked_prefill = not whole } end

local py = "tests/unittest/_torch/executor/test_py_scheduler.py"
local py_at = "12cb0cddf855d8b8174df92ec35642557984abd3"

return {
  { name = "trtllm", file = "cpp/tests/unit_tests/batch_manager/microBatchSchedulerTest.cpp",
    commit = "05ce661f223fbe650e9510c57a19ae85d04ad839", since = "1.0.0",
    deployment = { kv_blocks = 1000, block_size = 10, prefix_caching = false },
    rows = {
      { test = "SimpleNoOverlap", says = "With two seats four requests run two by two.",
        engine = { max_batch_size = 2 },
        requests = { { 0, 10, 80, limit(80) }, { 0, 10, 80, limit(80) }, { 0, 10, 80, limit(80) },
          { 0, 10, 80, limit(80) } },
        steps = [[
          0: A+10 B+10
          79: A B
          80: C+10 D+10 ]], ends = 160 },
      { test = "SimpleNoOverlapMaxNumTokens", says = "Prompts of 12 tokens in steps of seven run in chunks of five.",
        engine = tokens(7), scheduler = equal(5), requests = { { 0, 12, 5, limit(5) }, { 0, 12, 5, limit(5) } },
        steps = [[
          0: A+5
          1: A+7
          2: A B+5
          3: A B+5
          4: A B+2
          5: A B
          8: B ]], ends = 9 },
      { test = "SimpleMaxNumTokensBW1",
        says = "With twelve tokens a step a fourth prompt of ten waits until the first request has ended.",
        engine = tokens(12, true),
        requests = { { 0, 10, 10, limit(10) }, { 0, 10, 10, limit(10) }, { 0, 10, 10, limit(10) },
          { 0, 10, 10, limit(10) } },
        steps = [[
          0: A+10
          1: A B+10
          2: A B C+10
          3: A B C
          9: A B C
          10: B C D+10 ]] },
      { test = "GenDraftTokensMaxNumTokens",
        says = "A decode that does not fit with all of its drafts is left out with those behind it.",
        engine = tokens(128, true), speculation = { drafts = 63, lands = { { 1 } } },
        requests = { { 0, 2, 4, limit(4) }, { 0, 2, 4, limit(4) }, { 0, 2, 4, limit(4) }, { 0, 2, 4, limit(4) } },
        steps = [[
          0: A+2 B+2 C+2 D+2
          1: A*64 B*64 ]] },
      { test = "ContextChunkingTest.NoLimit", says = "Prompts that fit run whole, whatever the unit is.",
        engine = tokens(8192), scheduler = equal(20), requests = prompts(25, 25), steps = "0: A+25 B+25" },
      { test = "ContextChunkingTest.TokenCapacitySmallerThanContext", case = "equal progress",
        says = "A step of one unit runs a unit, or the rest of a prompt.",
        engine = tokens(20), scheduler = equal(20), requests = prompts(25, 25),
        steps = [[
          0: A+20
          1: A+5
          2: B+20
          3: B+5 ]] },
      { test = "ContextChunkingTest.TokenCapacitySmallerThanContext", case = "first come",
        says = "First come, first served does the same.",
        engine = tokens(20), scheduler = first(20), requests = prompts(25, 25),
        steps = [[
          0: A+20
          1: A+5
          2: B+20
          3: B+5 ]] },
      { test = "ContextChunkingTest.SchedulingOrder", case = "equal progress", says = "Two prompts share 30 tokens.",
        engine = tokens(30), scheduler = equal(5), requests = prompts(25, 25),
        steps = [[
          0: A+15 B+15
          1: A+10 B+10 ]] },
      { test = "ContextChunkingTest.SchedulingOrder", case = "first come", says = "The first one takes what it needs.",
        engine = tokens(30), scheduler = first(5), requests = prompts(25, 25),
        steps = [[
          0: A+25 B+5
          1: B+20 ]] },
      { test = "ContextChunkingTest.CompletionOrder", case = "equal progress",
        says = "A shorter one ends with its share, and the longer one later.",
        engine = tokens(30), scheduler = equal(5), requests = prompts(25, 15),
        steps = [[
          0: A+15 B+15
          1: A+10 ]] },
      { test = "ContextChunkingTest.CompletionOrder", case = "first come",
        says = "The longer one ends first, if it came first.",
        engine = tokens(30), scheduler = first(5), requests = prompts(25, 15),
        steps = [[
          0: A+25 B+5
          1: B+10 ]] },
      { test = "ContextChunkingTest.FrontPriority", case = "equal progress",
        says = "Three units are two of the first one and one of the second.",
        engine = tokens(15), scheduler = equal(5), requests = prompts(25, 25),
        steps = [[
          0: A+10 B+5
          1: A+10 B+5
          2: A+5 B+10
          3: B+5 ]] },
      { test = "ContextChunkingTest.FrontPriority", case = "first come",
        says = "The second one gets what the first one leaves.",
        engine = tokens(15), scheduler = first(5), requests = prompts(25, 25),
        steps = [[
          0: A+15
          1: A+10 B+5
          2: B+15
          3: B+5 ]] },
    } },
  { name = "trtllm", file = py, commit = py_at, since = "1.0.0",
    deployment = { kv_blocks = 1000, block_size = 2, prefix_caching = false },
    rows = {
      { test = "test_simple_context_only", says = "Of three prompts two run, with two seats.",
        engine = { max_batch_size = 2 }, requests = prompts(10, 10, 10),
        steps = [[
          0: A+10 B+10
          1: C+10 ]] },
      { test = "test_context_generation_overlap", says = "Two decodes and two prompts run in one step.",
        engine = { max_batch_size = 4 }, requests = behind(2, 10, 10), steps = "1: A B C+10 D+10" },
      { test = "test_max_batch_size_limits_total",
        says = "Decodes and prompts together are as many as there are seats.",
        engine = { max_batch_size = 3 }, requests = behind(2, 5, 5),
        steps = [[
          1: A B C+5
          2: A B D+5 ]] },
      { test = "test_max_num_tokens_limits_context", says = "Of two whole prompts of ten one fits into 15 tokens.",
        engine = tokens(15, true), requests = prompts(10, 10),
        steps = [[
          0: A+10
          1: B+10 ]] },
      { test = "test_max_num_tokens_allows_gen_after_context",
        says = "Two decodes and a prompt of ten fit into twelve.",
        engine = tokens(12, true), requests = behind(2, 10), steps = "1: A B C+10" },
      { test = "test_beam_width_1", says = "Three decodes and a prompt of ten do not.",
        engine = tokens(12, true), requests = behind(3, 10), steps = "1: A B C" },
      { test = "test_capacity_then_microbatch", says = "Of two prompts beside a decode one fits into 15 tokens.",
        engine = tokens(15, true), requests = behind(1, 10, 10),
        steps = [[
          1: A B+10
          2: A C+10 ]] },
      { test = "test_no_chunking_context_exceeds_budget", says = "Of 8 and 8 tokens the first prompt fits into ten.",
        engine = tokens(10, true), requests = prompts(8, 8),
        steps = [[
          0: A+8
          1: B+8 ]] },
      { test = "test_gen_draft_tokens", says = "Two of three decodes with three drafts each fit into ten tokens.",
        engine = tokens(10, true), speculation = { drafts = 3, lands = { { 1 } } },
        requests = { { 0, 2, 4, limit(4) }, { 0, 2, 4, limit(4) }, { 0, 2, 4, limit(4) } }, steps = "1: A*4 B*4" },
      { test = "test_equal_progress_basic", says = "Two prompts of 20 get five tokens each of ten.",
        engine = tokens(10), scheduler = equal(5), requests = prompts(20, 20), steps = "0: A+5 B+5" },
      { test = "test_equal_progress_uneven_remaining",
        says = "A prompt of three tokens ends; one of 20 gets two units.",
        engine = tokens(15), scheduler = equal(5), requests = prompts(3, 20), steps = "0: A+3 B+10" },
      { test = "test_fcfs_basic", says = "Of 20 and 20 in twelve tokens the first one gets two units of five.",
        engine = tokens(12), scheduler = first(5), requests = prompts(20, 20),
        steps = [[
          0: A+10
          1: A+10 ]] },
      { test = "test_fcfs_fills_first_request", says = "A short prompt runs whole, the next one takes the rest.",
        engine = tokens(25), scheduler = first(5), requests = prompts(10, 20),
        steps = [[
          0: A+10 B+15
          1: B+5 ]] },
      { test = "test_chunk_with_generation",
        says = "A decode leaves 14 of 15 tokens, which are a unit for each of two.",
        engine = tokens(15), scheduler = equal(5), requests = behind(1, 20, 20), steps = "1: A B+5 C+5" },
      { test = "test_chunk_size_zero_not_scheduled", says = "A prompt for which no unit is left is not in the step.",
        engine = tokens(5), scheduler = equal(5), requests = prompts(20, 20), steps = "0: A+5" },
      { test = "test_chunking_with_max_context_length", says = "Of one prompt of 20 in twelve tokens two units run.",
        engine = tokens(12), scheduler = equal(5), requests = prompts(20), steps = "0: A+10" },
      { test = "test_continued_chunking", says = "It goes on where it was cut.",
        engine = tokens(10), scheduler = equal(5), requests = prompts(30),
        steps = [[
          0: A+10
          1: A+10
          2: A+10 ]] },
      { test = "test_no_draft_tokens_bypasses_fit_draft",
        says = "Behind a whole prompt of 24 tokens eight are no unit of 16.",
        engine = tokens(32), scheduler = first(16), requests = prompts(24, 24, 24, 24),
        steps = [[
          0: A+24
          1: B+24 ]] },
      { test = "test_mixed_batch_zero_draft_does_not_consume_speculative_budget",
        says = "Prompts shorter than a unit run together as far as tokens last.",
        engine = tokens(28), scheduler = first(16), requests = prompts(8, 8, 3), steps = "0: A+8 B+8 C+3" },
      { test = "test_short_draft_request_charges_only_kept_drafts", says = "So do three of three tokens.",
        engine = tokens(30), scheduler = first(16), requests = prompts(3, 3, 3), steps = "0: A+3 B+3 C+3" },
    } },
  { name = "trtllm", file = py, commit = py_at, since = "1.0.0",
    deployment = { kv_blocks = 1000, block_size = 5 },
    rows = {
      { test = "test_reusable_tokens_reduce_compute_budget", says = "What is reused takes no tokens of the step.",
        engine = tokens(20, true), requests = reusable(15, 20, 20), steps = "10: C+5 D+5" },
      { test = "test_reusable_tokens_zero_has_no_effect",
        says = "Without reuse one of two prompts of ten fits into twelve.",
        engine = tokens(12, true), deployment = { prefix_caching = false }, requests = reusable(5, 10, 10),
        steps = [[
          10: C+10
          11: D+10 ]] },
      { test = "test_reusable_tokens_chunked_context_fcfs_full_context_fits",
        says = "A prompt of which half is reused fits whole.",
        engine = tokens(15), scheduler = first(5), requests = reusable(10, 20), steps = "10: B+10" },
      { test = "test_reusable_tokens_only_on_first_chunk",
        says = "A prompt of 30 of which 20 are reused and another of 20 fill 30 tokens.",
        engine = tokens(30, true), requests = { { 0, 21, 1, text { 1, 21 } }, { 10, 30, 1, text({ 1, 20 }, { 0, 10 }) },
          { 10, 20, 1, limit(1) } }, steps = "10: B+10 C+20" },
      { test = "test_reusable_tokens_no_chunking_min_cost_is_one",
        says = "A prompt that is all reused takes a token, so that ten more do not fit into ten.",
        engine = tokens(10, true), deployment = { block_size = 1 },
        requests = { { 0, 10, 1, text { 1, 10 } }, { 10, 10, 1, text { 1, 10 } }, { 10, 10, 1, limit(1) } },
        steps = [[
          10: B+1
          11: C+10 ]] },
      { test = "test_reusable_tokens_fcfs_over_budget_multi_request",
        says = "Seven, seven and six tokens fill a step of 20.",
        engine = tokens(20), scheduler = first(1), deployment = { block_size = 4 }, requests = reusable(8, 15, 15, 15),
        steps = "10: D+7 E+7 F+6" },
      { test = "test_reusable_tokens_equal_progress",
        says = "Five tokens of a prompt that is mostly reused leave ten to another, which has none.",
        engine = tokens(15), scheduler = equal(1),
        requests = { { 0, 11, 1, text { 1, 11 } }, { 10, 15, 1, text({ 1, 10 }, { 0, 5 }) }, { 10, 15, 1, limit(1) } },
        steps = "10: B+5 C+10" },
    } },
  { name = "trtllm", file = "cpp/tests/unit_tests/batch_manager/microBatchSchedulerTest.cpp",
    commit = "05ce661f223fbe650e9510c57a19ae85d04ad839", since = "1.0.0",
    deployment = { kv_blocks = 1000, block_size = 5 },
    rows = {
      { test = "ReusableTokensWithChunkedContextFCFS_OverBudgetMultiRequest",
        says = "Of three prompts with five tokens left one runs, and two tokens of another.",
        engine = tokens(7), scheduler = first(1), requests = reusable(15, 20, 20, 20), steps = "10: D+5 E+2" },
      { test = "ReusableTokensWithChunkedContextEqualProgress",
        says = "Three tokens are two of one prompt and one of another.",
        engine = tokens(3), scheduler = equal(1), requests = reusable(10, 15, 15), steps = "10: C+2 D+1" },
      { test = "CombinedSchedulerTest.CapacitySchedulerSetsReusableTokensForMicroBatch",
        says = "A prompt of 30 tokens fits beside a decode, since the cache has 20 of them.",
        engine = tokens(30, true), scheduler = { "trtllm", capacity_scheduler_policy = "max_utilization" },
        deployment = { block_size = 10, partial_reuse = false },
        requests = { { 0, 30, 5, { max_output_tokens = 5, content = { { 1, 30 } } } },
          { 0, 30, 5, { max_output_tokens = 5, content = { { 1, 30 } } } } },
        steps = [[
          0: A+30
          1: A B+10 ]] },
    } },
}
