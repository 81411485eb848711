-- vLLM V1: a step is planned while one runs.
local function alike(count, prompt, output, fields)
  local out = {}
  for i = 1, count do out[i] = { 0, prompt, output, fields } end
  return out
end

return {
  name = "vllm", file = "tests/v1/core/test_async_scheduler.py", commit = "014b23503270d029739d400ec4c14ba0714bdcd8",
  since = "0.11.0", depth = 2,
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 9999, block_size = 16 },
  rows = {
    { test = "test_stop_by_max_tokens", case = "one token", says = "An answer of one token has no decode.",
      requests = alike(2, 10, 1), work = 20, ends = 1 },
    { test = "test_stop_by_max_tokens", case = "five tokens",
      says = "A limit is known when a step is planned ahead, so no row is planned behind it.",
      requests = alike(2, 10, 5), work = 28, ends = 5, tokens = { A = 5, B = 5 } },
    { test = "test_abort", says = "An aborted request keeps the tokens that landed; nothing of it is planned again.",
      requests = alike(10, 10, 20),
      abort = { A = 0.5, I = 1.5, D = 2.5, B = 3.5, G = 4.5, E = 5.5, C = 6.5, F = 7.5, H = 8.5, J = 9.5 },
      tokens = { A = 0, I = 1, D = 2, B = 3, G = 4, E = 5, C = 6, F = 7, H = 8, J = 9 },
      free = { ["end"] = 9999 } },
    { test = "test_prefix_caching_for_prefill_dedup",
      says = "Equal prompts of one step hit the first of them.",
      engine = { max_num_batched_tokens = 1000 },
      requests = alike(5, 100, 3, { content = { { 1, 100 } } }),
      steps = [[
        0: A+100 B+4 C+4 D+4 E+4 | A B C D E
        1: A B C D E ]], cached = { A = 0, B = 96, E = 96 } },
    { test = "test_prefix_caching_for_multi_turn",
      says = "A second turn computes what is behind the last full block of the first one's answer.",
      requests = { { 0, 100, 200, { content = { { 1, 100 } }, output_content = 2 } },
        { 300, 300, 3, { content = { { 1, 100 }, { 2, 200 } } } } },
      steps = "300: B+12 | B", cached = { B = 288 } },
  },
}
