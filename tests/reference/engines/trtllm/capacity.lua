-- TensorRT-LLM: which requests have room, until they end or now. Blocks have ten tokens.
local function limit(tokens) return { max_output_tokens = tokens } end

--- So many requests of one prompt length and one output.
local function requests(count, prompt, output, at)
  local out = {}
  for i = 1, count do out[i] = { at or 0, prompt, output, limit(output) } end
  return out
end

--- Two of them at first, and two that come after ten steps.
local function added(prompt, output)
  local out = requests(2, prompt, output)
  for _, each in ipairs(requests(2, prompt, output, 9.5)) do out[#out + 1] = each end
  return out
end

--- Requests whose prompts have these contents.
local function contents(output, ...)
  local out = {}
  for i, content in ipairs { ... } do
    local tokens = 0
    for _, part in ipairs(content) do tokens = tokens + part[2] end
    out[i] = { 0, tokens, output, { max_output_tokens = output, content = content } }
  end
  return out
end

local now = { "trtllm", capacity_scheduler_policy = "max_utilization" }
local static = { "trtllm", capacity_scheduler_policy = "static_batch" }
local chunks = function(tokens) return { max_num_tokens = tokens, enable_chunked_prefill = true } end

local file = "cpp/tests/unit_tests/batch_manager/capacitySchedulerTest.cpp"
local commit = "08c2acfa25d0fa1c9a06c008cdc6f03cf92a71c4"

return {
  { name = "trtllm", file = file, commit = commit, since = "1.0.0", engine = { max_batch_size = 2 },
    deployment = { kv_blocks = 10, block_size = 10, prefix_caching = false },
    rows = {
      { test = "SimpleShouldFit", says = "Two requests of 90 tokens run together in 200.",
        deployment = { kv_blocks = 20 }, requests = requests(2, 10, 80), steps = "79: A B", ends = 80 },
      { test = "SimpleShouldFitInChunk",
        says = "Prompts of 50 in chunks of 20 have their first token in the third step.",
        deployment = { kv_blocks = 20 }, engine = chunks(40),
        scheduler = { "trtllm", context_chunking_policy = "equal_progress", chunk_unit_size = 20 },
        requests = requests(2, 50, 40),
        steps = [[
          0: A+20 B+20
          1: A+20 B+20
          2: A+10 B+10
          3: A B ]], ends = 42 },
      { test = "SimpleDoesntFitMaxUtilization",
        says = "In 100 tokens the second request is paused after 41 steps, and comes back behind the first one.",
        scheduler = now, requests = requests(2, 10, 80),
        steps = [[
          0: A+10 B+10
          40: A B
          41: A B!
          79: A
          80: B+51 ]], preemptions = { A = 0, B = 1 }, ends = 119 },
      { test = "SimpleDoesntFitMaxUtilizationInChunk",
        says = "With prompts of 30 in chunks of 20 it is paused after 22 steps.",
        scheduler = { "trtllm", capacity_scheduler_policy = "max_utilization", chunk_unit_size = 20,
          context_chunking_policy = "equal_progress" },
        engine = chunks(40), requests = requests(2, 30, 60),
        steps = [[
          0: A+20 B+20
          1: A+10 B+10
          21: A B
          22: A B!
          61: B+40
          62: B+11 ]], ends = 101 },
      { test = "SimpleDoesntFitMaxUtilizationInChunkedCache",
        says = "A prompt of 70 tokens leaves no room for another one of 70.",
        scheduler = now, engine = chunks(40), requests = requests(2, 70, 20),
        steps = [[
          0: A+40
          1: A+30
          2: A
          20: A
          21: B+40 ]], ends = 42 },
      { test = "SimpleDoesntFitGuaranteedCompletion",
        says = "Two requests of 90 tokens run one after the other in 100.",
        requests = requests(2, 10, 80),
        steps = [[
          0: A+10
          79: A
          80: B+10 ]], preemptions = { A = 0, B = 0 }, ends = 160 },
      { test = "SimpleDoesntFitGuaranteedCompletionInChunk", says = "So do two of 90 with prompts in two chunks.",
        engine = chunks(20), requests = requests(2, 30, 60),
        steps = [[
          0: A+20
          1: A+10
          60: A
          61: B+20 ]], ends = 122 },
      { test = "SimpleDoesntFitAddingNewRequestsMaxUtilization",
        says = "Four requests, of which two come after ten steps, are paused from the last one on as they grow.",
        engine = { max_batch_size = 4 }, scheduler = now, requests = added(10, 80),
        steps = [[
          9: A B
          10: A B C+10 D+10
          20: A B C D
          41: A B!
          79: A
          80: B+51 C+21
          90: B C!
          118: B
          119: C+31 D+21
          139: C D!
          177: C
          178: D+41 ]], ends = 227 },
      { test = "SimpleDoesntFitAddingNewRequestsGuaranteedCompletion",
        says = "Four requests of 90 tokens run one by one.",
        engine = { max_batch_size = 4 }, requests = added(10, 80), order = "A B C D", ends = 320 },
      { test = "SimpleDoesntFitAddingNewRequestsGuaranteedCompletionInChunk",
        says = "So do four with prompts of 30 in two chunks.",
        engine = { max_batch_size = 4, max_num_tokens = 20, enable_chunked_prefill = true }, requests = added(30, 60),
        order = "A B C D", ends = 244 },
      { test = "SimpleFitsStaticBatch", says = "A third request waits until both of a batch have ended.",
        deployment = { kv_blocks = 20 }, scheduler = static,
        requests = { { 0, 10, 80, limit(80) }, { 0, 10, 40, limit(40) }, { 0, 10, 80, limit(80) } },
        steps = [[
          39: A B
          40: A
          80: C+10 ]], ends = 160 },
    } },
  { name = "trtllm", file = file, commit = commit, since = "1.0.0", engine = { max_batch_size = 5 },
    deployment = { kv_blocks = 100, block_size = 10 },
    rows = {
      { test = "DelayDuplicateRequest",
        says = "Of three equal prompts two wait a step, and reuse the first one's blocks.",
        requests = contents(2, { { 1, 21 } }, { { 1, 21 } }, { { 1, 21 } }),
        steps = [[
          0: A+21
          1: A B+1 C+1 ]], ends = 3 },
      { test = "DelayDuplicateRequest", case = "static batch", says = "In a static batch none waits, and none reuses.",
        scheduler = static, requests = contents(2, { { 1, 21 } }, { { 1, 21 } }, { { 1, 21 } }),
        steps = "0: A+21 B+21 C+21", ends = 2 },
      { test = "DelayDuplicateRequestChunked", says = "One waits until all chunks of the other are computed.",
        engine = chunks(20), requests = contents(40, { { 1, 50 } }, { { 1, 45 }, { 2, 5 } }),
        steps = [[
          0: A+20
          1: A+20
          2: A+10 ]], starts = { B = 3 }, ends = 43 },
      { test = "DelayFiveRequestsComplicated",
        says = "A third one waits for a second one, which waits for a first one; others run.",
        requests = contents(80, { { 1, 11 } }, { { 2, 21 } }, { { 3, 11 } }, { { 3, 21 } }, { { 3, 31 } }),
        steps = "0: A+11 B+21 C+11", starts = { D = 1, E = 2 }, ends = 82 },
      { test = "ReuseAwareSchedulingAllowsMoreRequestsWithSharedPrefix",
        says = "One of two equal prompts waits a step.",
        requests = contents(5, { { 1, 20 } }, { { 1, 20 } }), steps = "0: A+20", starts = { B = 1 }, ends = 6 },
      { test = "ReuseAwareSchedulingWithPartialPrefixMatch",
        says = "It waits as well if two of three blocks are the same.",
        requests = contents(5, { { 1, 30 } }, { { 1, 20 }, { 2, 10 } }),
        steps = [[
          0: A+30
          1: A B+10 ]], ends = 6 },
      { test = "NoReuseWithDifferentPrompts", says = "Different prompts do not wait.",
        requests = contents(5, { { 1, 20 } }, { { 2, 20 } }), steps = "0: A+20 B+20", ends = 5 },
      { test = "ReuseAwareSchedulingMaxUtilizationPolicy", says = "Equal prompts wait under the other policy, too.",
        scheduler = now, requests = contents(5, { { 1, 20 } }, { { 1, 20 } }), steps = "0: A+20", starts = { B = 1 },
        ends = 6 },
      { test = "MaxUtilizationReuseReducesNeededBlocksOneStep",
        says = "Two equal prompts of three blocks and their answers have room in six.", scheduler = now,
        deployment = { kv_blocks = 6 }, requests = contents(5, { { 1, 30 } }, { { 1, 30 } }),
        steps = [[
          0: A+30
          1: A B+1 ]], preemptions = { A = 0, B = 0 }, ends = 6 },
      { test = "MaxUtilizationUnderMemoryPressureWithReuse",
        says = "Two equal prompts of two blocks and their answers have room in five.", scheduler = now,
        deployment = { kv_blocks = 5 }, requests = contents(5, { { 1, 20 } }, { { 1, 20 } }),
        steps = [[
          0: A+20
          1: A B+1 ]], preemptions = { A = 0, B = 0 }, ends = 6 },
      { test = "MaxUtilizationNoReuseWhenDisabled", says = "Without reuse they do not.", scheduler = now,
        deployment = { prefix_caching = false }, requests = contents(5, { { 1, 20 } }, { { 1, 20 } }),
        steps = "0: A+20 B+20", ends = 5 },
    } },
  { name = "trtllm", file = "tests/unittest/_torch/executor/test_py_scheduler.py",
    commit = "12cb0cddf855d8b8174df92ec35642557984abd3", since = "1.0.0",
    deployment = { kv_blocks = 100, block_size = 10, prefix_caching = false },
    rows = {
      { test = "TestPyCapacitySchedulerGuaranteedNoEvict.test_requests_fit",
        says = "Two requests of five blocks fit into 100.",
        requests = requests(2, 10, 40), steps = "0: A+10 B+10" },
      { test = "TestPyCapacitySchedulerGuaranteedNoEvict.test_not_enough_blocks",
        says = "In seven blocks one of them runs.",
        deployment = { kv_blocks = 7 }, requests = requests(2, 10, 40), steps = "0: A+10", waiting = { [0.5] = 1 } },
      { test = "TestPyCapacitySchedulerGuaranteedNoEvict.test_generation_scheduled_first",
        says = "In twelve blocks one runs beside one that decodes, and a third one waits.",
        deployment = { kv_blocks = 12 },
        requests = { { 0, 10, 40, limit(40) }, { 0.5, 10, 40, limit(40) }, { 0.5, 10, 40, limit(40) } },
        steps = "1: A B+10", waiting = { [1.5] = 1 } },
      { test = "TestPyCapacitySchedulerGuaranteedNoEvict.test_max_num_requests_honored",
        says = "With two seats two of three run, whatever blocks there are.",
        engine = { max_batch_size = 2 }, requests = requests(3, 10, 40), steps = "0: A+10 B+10" },
      { test = "TestPyCapacitySchedulerMaxUtilization.test_fits",
        says = "A prompt runs beside a decode, if both fit now.",
        scheduler = now, requests = { { 0, 10, 40, limit(40) }, { 0.5, 10, 40, limit(40) } }, steps = "1: A B+10" },
      { test = "TestPyCapacitySchedulerMaxUtilization.test_doesnt_fit_pauses",
        says = "A new prompt for which there is no room pauses nobody that came before it.", scheduler = now,
        deployment = { kv_blocks = 7 }, requests = { { 0, 50, 10, limit(10) }, { 0.5, 50, 10, limit(10) } },
        steps = "1: A", preemptions = { A = 0, B = 0 } },
      { test = "TestPyCapacitySchedulerMaxUtilization.test_no_requests_to_pause",
        says = "A prompt of more blocks than there are never runs.", scheduler = now, deployment = { kv_blocks = 3 },
        requests = requests(2, 50, 10), outcome = { A = "exceeds_max_model_len", B = "exceeds_max_model_len" } },
      { test = "TestPyCapacitySchedulerStaticBatch.test_no_new_context_when_generation_active",
        says = "In a static batch no prompt joins a decode.", scheduler = static,
        requests = { { 0, 10, 4, limit(4) }, { 0.5, 10, 4, limit(4) } },
        steps = [[
          1: A
          4: B+10 ]] },
      { test = "TestPyCapacitySchedulerStaticBatch.test_schedules_when_no_active_generation",
        says = "When nothing runs, all that fit begin a batch.", scheduler = static, requests = requests(2, 10, 4),
        steps = "0: A+10 B+10" },
      { test = "TestPyCapacitySchedulerDisagg.test_disagg_gen_init_classified_separately", depth = 1,
        says = "Prompts whose KV has come from another server need blocks until their end.",
        deployment = { kv_blocks = 12 }, replicas = { { role = "prefill" }, { role = "decode" } },
        network = { bytes_per_s = 1e15, alpha_s = 0 },
        requests = { { 0, 10, 40, limit(40) }, { 0, 10, 40, limit(40) }, { 0, 10, 40, limit(40) } },
        steps = [[
          0@0: A+10 B+10
          1@1: A+1 B+1 ]], preemptions = { A = 0, B = 0, C = 0 } },
    } },
}
