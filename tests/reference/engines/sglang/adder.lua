-- SGLang: how many tokens a step takes, and whom it admits beside running requests.
local function limit(tokens) return { max_output_tokens = tokens } end

--- So many short requests that decode up to 50 tokens, and prompts that come behind their first step.
local function mixed(decodes, ...)
  local out = {}
  for i = 1, decodes do out[i] = { 0, 2, 40, limit(50) } end
  for _, tokens in ipairs { ... } do out[#out + 1] = { 0.5, tokens, 1, limit(16) } end
  return out
end

--- A request that may generate 1,000 tokens, and one that comes at that time and needs so many for itself.
local function beside(at, tokens)
  return { { 0, 100, 990, limit(1000) }, { at, tokens - 20, 1, limit(20) } }
end

local Ranks = require "routers.sglang_dp"

local ratio = "test/registered/unit/managers/scheduler_components/test_new_token_ratio_tracker.py"
local adder = "test/registered/unit/managers/test_prefill_adder.py"

return {
  { name = "sglang", file = adder, commit = "00e2c3a82df2fcc86b1ed8bb2e44e289b79d7257", since = "0.5.0",
    engine = { chunked_prefill_size = 64, max_prefill_tokens = 200, enable_mixed_chunk = true },
    deployment = { kv_blocks = 2000, block_size = 1 },
    rows = {
      { test = "test_mixed_chunk_prefill_budgets", case = "eight decodes",
        says = "Beside eight decodes 56 tokens of a chunk of 64 are left, and one prompt takes them all.",
        requests = mixed(8, 56, 3), steps = "1: A B C D E F G H I+56" },
      { test = "test_mixed_chunk_prefill_budgets", case = "five decodes",
        says = "Beside five a prompt of 56 tokens leaves three, which a second prompt takes.",
        requests = mixed(5, 56, 3, 1), steps = "1: A B C D E F+56 G+3" },
      { test = "test_mixed_chunk_prefill_budgets", case = "all tokens of a step",
        says = "Decodes count in the limit of all prompt tokens of a step, too.",
        engine = { chunked_prefill_size = 4096 }, requests = mixed(8, 100, 91),
        steps = "1: A B C D E F G H I+100 J+91",
        also = { { requests = mixed(8, 100, 92), steps = "1: A B C D E F G H I+100" } } },
    } },
  { name = "sglang", file = adder, commit = "00e2c3a82df2fcc86b1ed8bb2e44e289b79d7257", since = "0.5.0",
    engine = { chunked_prefill_size = 500 }, deployment = { kv_blocks = 20000, block_size = 16 },
    rows = {
      { test = "test_add_resumed_extend_req_non_hybrid_no_swa_reservation",
        says = "A cut prompt whose rest fits into a chunk runs whole.", requests = { { 0, 696, 1, limit(1) } },
        steps = [[
          0: A+496
          1: A+200 ]] },
      { test = "test_retracted_decode_req_pending_bound_uses_full_fill_sequence",
        says = "A retracted request computes its prompt and its answer again, in chunks of both.",
        engine = { chunked_prefill_size = 64 },
        deployment = { kv_blocks = 160, block_size = 1, prefix_caching = false },
        scheduler = { "sglang", init_new_token_ratio = 0.1, min_new_token_ratio_factor = 1 },
        requests = { { 0, 40, 60, limit(60) }, { 0.5, 40, 60, limit(60) } }, preemptions = { A = 0, B = 1 },
        steps = [[
          0: A+40
          1: B+40
          42: A B!
          61: B+64
          62: B+17 ]] },
    } },
  { name = "sglang", file = adder, commit = "00e2c3a82df2fcc86b1ed8bb2e44e289b79d7257", since = "0.5.0",
    scheduler = { "sglang", init_new_token_ratio = 1, min_new_token_ratio_factor = 1 },
    deployment = { kv_blocks = 300, block_size = 1 },
    rows = {
      { test = "test_preempt_success_high_priority_values_first", case = "what running requests reserve",
        says = "Running requests reserve 50, 75 and 100 tokens, without those that they have generated.",
        requests = { { 0, 1, 40, limit(51) }, { 0, 1, 40, limit(76) }, { 0, 1, 40, limit(101) },
          { 0.5, 50, 1, limit(21) } }, steps = "1: D+50",
        also = { { requests = { { 0, 1, 40, limit(51) }, { 0, 1, 40, limit(76) }, { 0, 1, 40, limit(101) },
          { 0.5, 51, 1, limit(21) } }, steps = "1: A B C" } } },
    } },
  { name = "sglang", file = ratio, commit = "a296144819bea7c8c2696839dd06c9471c2dbd3c", since = "0.5.0",
    deployment = { kv_blocks = 1200, block_size = 1 },
    rows = {
      { test = "test_nominal_values", says = "At first 0.7 of what running requests may still generate is reserved.",
        requests = beside(0.5, 399), steps = "1: B+379", also = { { requests = beside(0.5, 400), steps = "1: A" } } },
      { test = "test_conservativeness_scales_init", says = "A conservativeness of a half reserves 0.35 of it.",
        engine = { schedule_conservativeness = 0.5 }, requests = beside(0.5, 749), steps = "1: B+729",
        also = { { requests = beside(0.5, 750), steps = "1: A" } } },
      { test = "test_init_clamped_to_one", says = "One of two reserves all of it, and not more.",
        engine = { schedule_conservativeness = 2 }, requests = beside(0.5, 100), steps = "1: B+80",
        also = { { requests = beside(0.5, 101), steps = "1: A" } } },
      { test = "test_decay_step_decreases_then_floors_at_min", case = "falls",
        says = "Each decode step lowers the ratio by a 600th of the way to 0.098.",
        requests = beside(100.5, 459), steps = "101: B+439",
        also = { { requests = beside(100.5, 460), steps = "101: A" } } },
      { test = "test_decay_step_decreases_then_floors_at_min", case = "its floor",
        says = "Behind 600 steps it stays at 0.098.",
        requests = beside(700.5, 369), steps = "701: B+349",
        also = { { requests = beside(700.5, 370), steps = "701: A" } } },
      { test = "test_reset_restores_init", says = "It is 0.7 again when nothing runs and nothing waits.",
        requests = { { 0, 10, 400, limit(400) }, { 1000, 100, 20, limit(1000) }, { 1000.5, 379, 1, limit(20) } },
        steps = "1001: C+379",
        also = { { steps = "1001: B", requests = { { 0, 10, 400, limit(400) }, { 1000, 100, 20, limit(1000) },
          { 1000.5, 380, 1, limit(20) } } } } },
    } },
  { name = "sglang", file = "test/registered/unit/managers/test_dp_budget.py",
    commit = "0087cf3b500ef39d4cb2dc0df23dd9f477b0c8de", since = "0.5.10",
    model = "qwen3-30b-a3b", deployment = { dp = 2 },
    rows = {
      { test = "test_dispatch_rotates_ties_and_accounts_dispatched_load",
        says = "Requests of one instant go to ranks in turn, by the number of requests.", deployment = { dp = 3 },
        router = Ranks { method = "total_requests" },
        requests = { { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 10, 2 } },
        rank = { A = 0, B = 1, C = 2, D = 0 } },
      { test = "test_total_tokens_dispatch_accounts_estimated_tokens",
        says = "By tokens the next ones go to the rank with fewer, those that are just sent included.",
        router = Ranks { method = "total_tokens" },
        requests = { { 0, 32, 2 }, { 0, 10, 2 }, { 0, 10, 2 }, { 0, 13, 2 }, { 0, 1, 2 } },
        rank = { A = 0, B = 1, C = 1, D = 1, E = 0 } },
      { test = "test_maps_running_plus_waiting_to_total_requests",
        says = "Requests that wait count like those that run.", router = Ranks { method = "total_requests" },
        engine = { max_running_requests = 2 },
        requests = { { 0, 10, 20 }, { 0, 10, 20 }, { 0, 10, 20 }, { 0, 10, 20 }, { 0, 10, 2 }, { 5, 10, 2 },
          { 5, 10, 2 } },
        rank = { C = 0, D = 1, E = 0, F = 1, G = 0 } },
      { test = "test_maps_num_total_tokens_not_num_used_tokens",
        says = "Tokens are those of prompts that wait, and not only those in use.",
        router = Ranks { method = "total_tokens" }, engine = { max_running_requests = 2 },
        requests = { { 0, 10, 20 }, { 0, 30, 20 }, { 1, 50, 20 }, { 5, 10, 2 } },
        rank = { A = 0, B = 1, C = 0, D = 1 } },
    } },
}
