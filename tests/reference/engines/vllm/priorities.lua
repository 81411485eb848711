-- vLLM V1: requests with priorities (the lowest number is served first), and prompts that ranks defer.
--- Requests of one instant with these priorities.
local function ranked(priorities, prompt, output)
  local out = {}
  for i, priority in ipairs(priorities) do out[i] = { 0, prompt, output, { priority = priority } } end
  return out
end

local ranks = { model = "qwen3-30b-a3b", deployment = { dp = 2 } }

return {
  name = "vllm", file = "tests/v1/core/test_scheduler.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
  since = "0.11.0",
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 9999, block_size = 16, prefix_caching = false },
  rows = {
    { test = "test_priority_scheduling_basic_ordering", scheduler = { "priority" },
      says = "In one step requests are taken in the order of their priorities.",
      requests = ranked({ 2, 0, 1 }, 10, 2), order = "B C A" },
    { test = "test_priority_scheduling_arrival_time_tiebreaker", scheduler = { "priority" },
      says = "Of equal priorities the one that came first is served first.",
      engine = { max_num_seqs = 1 },
      requests = { { 0, 10, 2, { priority = 1 } }, { 0.1, 10, 2, { priority = 1 } }, { 0.2, 10, 2, { priority = 1 } } },
      order = "A B C" },
    { test = "test_priority_scheduling_mixed_priority_and_arrival", scheduler = { "priority" },
      says = "The priority counts first, and the arrival within a priority.", engine = { max_num_seqs = 1 },
      requests = { { 0, 10, 9, { priority = 0 } }, { 1, 10, 2, { priority = 2 } }, { 2, 10, 2, { priority = 1 } },
        { 3, 10, 2, { priority = 1 } }, { 4, 10, 2, { priority = 0 } } }, order = "A E C D B" },
    { test = "test_priority_scheduling_preemption", scheduler = { "priority" },
      says = "Where blocks run out, the request of the highest number is preempted, though it came first.",
      deployment = { kv_blocks = 5 },
      requests = { { 0, 32, 9, { priority = 5 } }, { 0.5, 32, 9, { priority = 0 } } },
      steps = [[
        0: A+32
        1: A B+32
        2: B A! ]], preemptions = { B = 0 } },
    { test = "test_priority_scheduling_no_preemption_when_space_available", scheduler = { "priority" },
      says = "While there are blocks, one of a lower number preempts nobody.",
      requests = { { 0, 10, 9, { priority = 1 } }, { 0, 10, 9, { priority = 1 } }, { 0.5, 10, 9, { priority = 0 } } },
      steps = "1: A B C+10", preemptions = { A = 0, B = 0 } },
    { test = "test_priority_scheduling_preemption_victim_selection", scheduler = { "priority" },
      says = "With one seat three requests run in the order of their priorities.", engine = { max_num_seqs = 1 },
      requests = ranked({ 3, 2, 0 }, 10, 2), order = "C B A" },
    { test = "test_priority_scheduling_equal_priority_preemption", scheduler = { "priority" },
      says = "Of equal priorities the one that came last is preempted.", deployment = { kv_blocks = 5 },
      requests = { { 0, 32, 9, { priority = 2 } }, { 0.5, 32, 9, { priority = 2 } } },
      steps = [[
        1: A B+32
        2: A B! ]], preemptions = { A = 0 } },
    { test = "test_priority_scheduling_waiting_queue_order", scheduler = { "priority" },
      says = "Four requests wait for one seat in the order of their priorities.", engine = { max_num_seqs = 1 },
      requests = ranked({ 3, 1, 2, 0 }, 10, 2), order = "D B C A", waiting = { [0.5] = 3 } },
    { test = "test_priority_scheduling_with_limited_slots", scheduler = { "priority" },
      says = "With two seats the two lowest numbers run, then the others.", engine = { max_num_seqs = 2 },
      requests = ranked({ 3, 1, 2, 0 }, 10, 2),
      steps = [[
        0: B+10 D+10
        1: B D
        2: A+10 C+10 ]] },
    { test = "test_priority_scheduling_heap_property", scheduler = { "priority" },
      says = "Eight requests leave the queue sorted.", engine = { max_num_seqs = 1 },
      requests = ranked({ 5, 1, 8, 3, 2, 7, 4, 6 }, 10, 1), order = "B E D G A H F C" },
    { test = "test_priority_scheduling_preemption_and_resumption_when_out_of_kv", scheduler = { "priority" },
      says = "The preempted one computes its prompt and its two tokens again when the other has ended.",
      deployment = { kv_blocks = 4 },
      requests = { { 0, 30, 9, { priority = 1 } }, { 0.5, 32, 2, { priority = 0 } } },
      free = { [1.5] = 0 },
      steps = [[
        0: A+30
        1: A B+32
        2: B A!
        3: A+32 ]], preemptions = { A = 1, B = 0 } },
    { test = "test_schedule_prefills_gating", case = "beside a decode", since = "0.24.0",
      says = "A prompt waits for the next step in which prompts may run, while its rank decodes.",
      model = ranks.model, deployment = ranks.deployment, engine = { prefill_schedule_interval = 3 },
      requests = { { 0, 10, 9 }, { 0, 10, 9 }, { 0.5, 10, 2 } },
      steps = [[
        0@0: A+10
        1@0: A
        2@0: A
        3@0: A C+10 ]] },
    { test = "test_schedule_prefills_gating", case = "without a decode", since = "0.24.0",
      says = "A rank that decodes nothing runs a prompt at once.",
      model = ranks.model, deployment = ranks.deployment, engine = { prefill_schedule_interval = 3 },
      requests = { { 0, 10, 9 }, { 0, 10, 1 }, { 1.5, 10, 2 } },
      steps = [[
        2@0: A
        2@1: C+10 ]] },
    { test = "test_throttle_defers_inflight_prefill_chunk", since = "0.24.0",
      says = "The rest of a cut prompt waits, too.",
      model = ranks.model, deployment = ranks.deployment,
      engine = { prefill_schedule_interval = 3, max_num_batched_tokens = 50 },
      requests = { { 0, 4, 9 }, { 0, 4, 9 }, { 0, 80, 2 } },
      steps = [[
        0@0: A+4 C+46
        1@0: A
        2@0: A
        3@0: A C+34 ]] },
    { test = "test_throttle_capacity_bound_guard_admits", since = "0.24.0",
      says = "Where the step before left a prompt waiting for want of budget, it runs in the next one.",
      model = ranks.model, deployment = ranks.deployment,
      engine = { prefill_schedule_interval = 3, max_num_batched_tokens = 200 },
      requests = { { 0, 200, 9 }, { 0, 200, 9 }, { 0, 199, 2 } },
      steps = [[
        0@0: A+200
        1@0: A C+199 ]] },
  },
}
