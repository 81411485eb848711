-- vLLM V1: which requests a step holds, in which order, and who is preempted.
return {
  name = "vllm", file = "tests/v1/core/test_scheduler.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
  since = "0.11.0",
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 9999, block_size = 16 },
  rows = {
    { test = "test_schedule", says = "Ten short prompts run in one step.",
      requests = { { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 },
        { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 } },
      steps = "0: A+10 B+10 C+10 D+10 E+10 F+10 G+10 H+10 I+10 J+10", waiting = { [0.5] = 0 } },
    { test = "test_schedule_concurrent_partial_requests",
      says = "No prompt takes more than 400 tokens of a step of 1,024; the last one gets the rest.",
      engine = { max_num_batched_tokens = 1024, long_prefill_token_threshold = 400 },
      requests = { { 0, 800, 16 }, { 0, 800, 16 }, { 0, 800, 16 } },
      steps = [[
        0: A+400 B+400 C+224
        1: A+400 B+400 C+224
        2: A B C+352 ]] },
    { test = "test_schedule_concurrent_batches", says = "A second prompt is planned while the first one runs.",
      engine = { max_num_batched_tokens = 1024, max_num_seqs = 2 }, deployment = { pp = 2 },
      requests = { { 0, 512, 4 }, { 0, 512, 4 } },
      steps = [[
        0: A+512 | B+512
        1: A ]] },
    { test = "test_schedule_order", case = "chunked",
      says = "A prompt that does not fit is cut, and shorter ones behind it wait.",
      engine = { max_num_batched_tokens = 1024, max_num_seqs = 3 },
      requests = { { 0, 800, 4 }, { 0, 800, 4 }, { 0, 10, 4 }, { 0, 10, 4 } }, steps = "0: A+800 B+224" },
    { test = "test_schedule_order", case = "whole prompts",
      says = "A prompt that does not fit waits, and shorter ones behind it do not overtake it.",
      engine = { max_num_batched_tokens = 1024, max_num_seqs = 3, enable_chunked_prefill = false },
      deployment = { max_model_len = 1024 },
      requests = { { 0, 800, 4 }, { 0, 800, 4 }, { 0, 10, 4 }, { 0, 10, 4 } }, steps = "0: A+800" },
    { test = "test_preempt_during_execution",
      says = "A prompt is preempted while its step runs, since the first request needs a block; its token still lands.",
      engine = { max_num_batched_tokens = 100 }, deployment = { kv_blocks = 10, pp = 2, prefix_caching = false },
      requests = { { 0, 80, 3 }, { 0, 80, 2 } },
      steps = [[
        0: A+80 | B+80
        1: A B! ]], preemptions = { A = 0, B = 1 } },
    { test = "test_prefix_cache_stats_counted_once_for_retried_then_scheduled_request",
      says = "A prompt of 48 tokens that hits 32 waits for its last block, and hits them when it has it.",
      deployment = { kv_blocks = 4 },
      requests = { { 0, 32, 1, { content = { { 1, 32 } } } }, { 2, 30, 3, { content = { { 2, 30 } } } },
        { 2.5, 48, 1, { content = { { 1, 32 }, { 3, 16 } } } } },
      waiting = { [3.5] = 1 }, steps = "5: C+16", cached = { A = 0, C = 32 } },
    { test = "test_schedule_spec_decoding_stats", case = "three of three",
      says = "A request verifies three drafts in a row of four tokens, and all of them land.",
      speculation = { drafts = 3, lands = { { 4 } } }, requests = { { 0, 1, 9 } },
      steps = [[
        0: A+1
        1: A*4
        2: A*4
        3: - ]], ends = 3 },
    { test = "test_schedule_spec_decoding_stats", case = "one of three",
      says = "Of three drafts one lands, and the row still has four tokens.",
      speculation = { drafts = 3, lands = { { 2 } } }, requests = { { 0, 1, 5 } },
      steps = [[
        1: A*4
        2: A*4
        3: - ]], ends = 3 },
    { test = "test_schedule_spec_decoding_stats", case = "one draft",
      says = "With one draft a row has two tokens, and both land.",
      speculation = { drafts = 1, lands = { { 2 } } }, requests = { { 0, 1, 5 } },
      steps = [[
        1: A*2
        2: A*2
        3: - ]], ends = 3 },
    { test = "test_schedule_spec_decoding_stats", case = "two requests",
      says = "Of three drafts each, two land of one request and one of the other.",
      speculation = { drafts = 3, lands = { { 3 }, { 2 } } }, requests = { { 0, 1, 7 }, { 0, 1, 7 } },
      steps = [[
        0: A+1 B+1
        1: A*4 B*4
        2: A*4 B*4
        3: B*4
        4: - ]], ends_at = { A = 3, B = 4 } },
    { test = "test_no_spec_tokens_scheduled_for_prefill_chunks",
      says = "A cut prompt has no drafts; the first decode behind it has three.",
      engine = { max_num_batched_tokens = 50 }, speculation = { drafts = 3 }, requests = { { 0, 80, 9 } },
      steps = [[
        0: A+50
        1: A+30
        2: A*4 ]] },
    { test = "test_scheduler_stats_waiting_queues", says = "Of three prompts two fill the step, and one waits.",
      engine = { max_num_batched_tokens = 100 }, requests = { { 0, 50, 4 }, { 0, 50, 4 }, { 0, 50, 4 } },
      running = { [0.5] = 2 }, waiting = { [0.5] = 1 } },
    { test = "test_stop_via_update_from_output", case = "most tokens, with drafts",
      says = "Drafts that are accepted behind the last token of the answer do not count.",
      speculation = { drafts = 3, lands = { { 4 } } }, requests = { { 0, 10, 3 } },
      steps = [[
        1: A*4
        2: - ]], tokens = { A = 3 }, ends = 2 },
    { test = "test_stop_via_update_from_output", case = "end token among drafts",
      says = "An answer ends at an end token among its accepted drafts, before its limit.",
      speculation = { drafts = 3, lands = { { 4 } } }, requests = { { 0, 10, 2, { max_output_tokens = 10 } } },
      steps = [[
        1: A*4
        2: - ]], tokens = { A = 2 }, ends = 2 },
    { test = "test_memory_leak", says = "When five requests of ten and ten tokens have ended, all blocks are free.",
      requests = { { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 } },
      steps = "9: A B C D E", ends = 10, free = { [9.5] = 9989, ["end"] = 9999 } },
    { test = "test_spec_decode_padding_first_decode_step", since = "0.25.0",
      says = "A prompt of which all but one token is cached brings drafts to its first step.",
      speculation = { drafts = 3 },
      requests = { { 0, 33, 4, { content = { { 1, 33 } } } }, { 5, 33, 4, { content = { { 1, 33 } } } } },
      steps = "0: A+33", cached = { B = 32 }, ends_at = { B = 6 },
      pending = "the first step of such a prompt has no drafts" },
    { test = "test_spec_decode_padding_skipped_with_prefill_in_batch", since = "0.25.0",
      says = "The same prompt brings none beside a prompt that is cut.",
      speculation = { drafts = 3 }, engine = { max_num_batched_tokens = 64 },
      requests = { { 0, 33, 1, { content = { { 1, 33 } } } }, { 4.5, 100, 1 },
        { 5.5, 33, 1, { content = { { 1, 33 } } } } },
      steps = [[
        0: A+33
        4.5: B+64
        5.5: B+36 C+1 ]] },
  },
}
