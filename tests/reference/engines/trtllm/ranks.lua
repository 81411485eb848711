-- TensorRT-LLM: which rank of the attention gets a request (attention DP).
local function limit(tokens) return { max_output_tokens = tokens } end

--- One running request of so many tokens on each rank, and new ones of one instant.
local function beside(running, ...)
  local out = {}
  for i, tokens in ipairs(running) do out[i] = { i - 1, tokens, 60, limit(60) } end
  for _, tokens in ipairs { ... } do out[#out + 1] = { 10.5, tokens, 2, limit(2) } end
  return out
end

--- So many new ones of one length.
local function alike(count, tokens)
  local out = {}
  for i = 1, count do out[i] = { 0, tokens, 2, limit(2) } end
  return out
end

return {
  { name = "trtllm", file = "tests/unittest/_torch/executor/test_adp_router.py",
    commit = "04fe30a9f89f8aabd72d632580f15c752972d954", since = "1.2.0rc0", model = "qwen3-30b-a3b",
    deployment = { dp = 4, kv_blocks = 1000 }, engine = { max_batch_size = 4 },
    rows = {
      { test = "test_balanced_distribution", says = "Four equal prompts are two for each of two ranks.",
        deployment = { dp = 2 }, requests = alike(4, 10), rank = { A = 0, B = 1, C = 0, D = 1 } },
      { test = "test_four_ranks", says = "Eight equal prompts are two for each of four ranks.",
        requests = alike(8, 10), rank = { A = 0, B = 1, C = 2, D = 3, E = 0, F = 1, G = 2, H = 3 } },
      { test = "test_favors_less_loaded_rank",
        says = "The rank with fewer tokens gets the first ones, up to its share.",
        deployment = { dp = 2 }, requests = beside({ 300, 100 }, 50, 50, 50, 50),
        rank = { A = 0, B = 1, C = 1, D = 1, E = 0, F = 0 } },
      { test = "test_attention_dp_scheduling_cases", case = "seven on four ranks",
        says = "Ranks are filled to their share from the one with the fewest tokens on.",
        requests = beside({ 10, 15, 20, 25 }, 3, 3, 3, 3, 3, 3, 3),
        rank = { E = 0, F = 0, G = 1, H = 1, I = 2, J = 2, K = 3 } },
      { test = "test_attention_dp_scheduling_cases", case = "thirteen on twelve seats",
        says = "Twelve are divided by tokens, and one waits for the first seat.",
        requests = beside({ 10, 15, 20, 25 }, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3),
        rank = { E = 0, F = 0, G = 1, H = 0, I = 1, J = 2, K = 1, L = 2, M = 3, N = 2, O = 3, P = 3 } },
      { test = "test_attention_dp_scheduling_cases", case = "three full ranks", engine = { max_batch_size = 2 },
        says = "A rank with free seats gets what comes, and full ones nothing.", deployment = { dp = 2 },
        requests = { { 0, 10, 60, limit(60) }, { 0, 10, 6, limit(6) }, { 1, 10, 60, limit(60) }, { 1, 10, 6, limit(6) },
          { 10.5, 10, 2, limit(2) }, { 10.5, 10, 2, limit(2) } }, rank = { A = 0, B = 1, C = 0, D = 1, E = 1, F = 1 } },
      { test = "test_achieve_max_num_active_requests", says = "A request goes to the rank whose seat is free first.",
        deployment = { dp = 2 }, engine = { max_batch_size = 1 },
        requests = { { 0, 10, 60, limit(60) }, { 0, 10, 4, limit(4) }, { 1.5, 10, 2, limit(2) } },
        rank = { A = 0, B = 1, C = 1 }, starts = { C = 4 } },
      { test = "test_balance_requests_across_ranks_single_request",
        says = "One goes to the rank with the fewest tokens.",
        requests = beside({ 10, 20, 5, 15 }, 5), rank = { E = 2 } },
      { test = "test_balance_requests_across_ranks_multiple_requests",
        says = "The longest goes first, to the fewest tokens, and the next ones to ranks with less than their share.",
        requests = beside({ 5, 15, 25, 10 }, 3, 6, 2), rank = { F = 0, E = 3, G = 1 } },
      { test = "test_balance_requests_across_ranks_capacity_limits",
        says = "Four go to four ranks with a request each.",
        requests = beside({ 10, 10, 10, 10 }, 1, 2, 3, 4), rank = { H = 0, G = 1, F = 2, E = 3 } },
      { test = "test_balance_requests_across_ranks_heap_ordering",
        says = "Three equal ones go to the three ranks with the fewest tokens.",
        requests = beside({ 30, 10, 5, 20 }, 3, 3, 3), rank = { E = 2, F = 1, G = 3 } },
      { test = "test_balance_requests_across_ranks_token_count_sorting",
        says = "Of one, five and three tokens the longest goes to the first rank.",
        requests = { { 0, 1, 2, limit(2) }, { 0, 5, 2, limit(2) }, { 0, 3, 2, limit(2) } },
        rank = { B = 0, C = 1, A = 2 } },
      { test = "test_create_rank_state_default",
        says = "Tokens of a rank are those of the prompts that it has, and its requests are at most its share.",
        deployment = { dp = 2 }, requests = beside({ 50, 20, 20 }, 30), rank = { A = 0, B = 1, C = 1, D = 0 } },
    } },
}
