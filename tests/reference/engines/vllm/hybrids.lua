-- vLLM V1: prompts of models with recurrent states (mamba_cache_mode = align) are cut where a state is kept.

return {
  name = "vllm", file = "tests/v1/core/test_mamba_align_chunk_split.py",
  commit = "09f730d092351836a10af69fd8fbfeae7fb99215", since = "0.24.0", before = "0.27.0",
  model = "qwen3.5-27b", engine = { max_num_seqs = 16, max_num_batched_tokens = 65536 },
  deployment = { kv_blocks = 9999, block_size = 1600, prefix_caching = true },
  rows = {
    { test = "test_disabling_eagle_block_drop_keeps_the_trailing_cache_boundary", case = "without a drafter",
      says = "A step ends at the last multiple of the block in the prompt.",
      requests = { { 0, 3602, 1 } },
      steps = [[
        0: A+3200
        1: A+402 ]] },
    { test = "test_disabling_eagle_block_drop_keeps_the_trailing_cache_boundary", case = "with one",
      says = "A drafter that loses the last block moves this end a block forward.",
      speculation = { drafts = 3, head = true }, requests = { { 0, 3602, 1 } },
      steps = [[
        0: A+1600
        1: A+2002 ]] },
    { test = "test_intermediate_chunk_ends_stay_block_aligned", case = "2,000 tokens",
      says = "A step that cannot hold the rest of a prompt ends at a multiple of the block.",
      engine = { max_num_batched_tokens = 2000 }, speculation = { drafts = 3, head = true },
      requests = { { 0, 2002, 1 } },
      steps = [[
        0: A+1600
        1: A+402 ]] },
    { test = "test_intermediate_chunk_ends_stay_block_aligned", case = "800 tokens",
      says = "A prompt waits for a step that has room for a block of it, or for all of it.",
      engine = { max_num_batched_tokens = 2100 }, speculation = { drafts = 3, head = true },
      requests = { { 0, 1300, 1 }, { 0, 2002, 1 } },
      steps = [[
        0: A+1300
        1: B+2002 ]] },
    { test = "test_fragmented_tail_chunk_does_not_poison_mamba_prefix_cache",
      says = "Behind the last end that is kept, steps still end at multiples of the block.",
      engine = { max_num_batched_tokens = 2000 }, speculation = { drafts = 3, head = true },
      requests = { { 0, 3602, 1 } },
      steps = [[
        0: A+1600
        1: A+1600
        2: A+402 ]] },
    { test = "test_poisoning_is_block_size_independent", case = "1,536 of 30,000",
      says = "It is the same of a block of 1,536 tokens.", deployment = { block_size = 1536 },
      speculation = { drafts = 3, head = true }, requests = { { 0, 30000, 1 } },
      steps = [[
        0: A+27648
        1: A+2352 ]] },
    { test = "test_poisoning_is_block_size_independent", case = "12,288 of 41,000",
      says = "It is the same of a block of 12,288 tokens.", deployment = { block_size = 12288 },
      speculation = { drafts = 3, head = true }, requests = { { 0, 41000, 1 } },
      steps = [[
        0: A+24576
        1: A+16424 ]] },
    { test = "test_hybrid_cache_mamba_align_shared_prefix_detection", case = "all blocks",
      file = "tests/v1/core/test_prefix_caching.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
      says = "A prompt hits where a state of an earlier one was kept.", deployment = { block_size = 16 },
      requests = { { 0, 55, 1, { content = { { 1, 55 } } } }, { 5, 55, 1, { content = { { 1, 48 }, { 2, 7 } } } } },
      cached = { B = 48 } },
    { test = "test_hybrid_cache_mamba_align_shared_prefix_detection", case = "two of three blocks",
      file = "tests/v1/core/test_prefix_caching.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
      says = "Where only the blocks of attention are shared, a prompt is cut, and the next one hits there.",
      deployment = { block_size = 16 },
      requests = { { 0, 55, 1, { content = { { 1, 55 } } } }, { 5, 55, 1, { content = { { 1, 32 }, { 2, 23 } } } },
        { 10, 55, 1, { content = { { 1, 32 }, { 3, 23 } } } } },
      steps = [[
        5: B+32
        6: B+16
        7: B+7 ]], cached = { B = 0, C = 32 } },
  },
}
