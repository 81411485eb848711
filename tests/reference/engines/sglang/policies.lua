-- SGLang: the order in which waiting requests are tried.
local function text(...) return { content = { ... } } end

--- Requests of one instant and of one output token, with these limits.
local function limited(...)
  local out = {}
  for i, limit in ipairs { ... } do out[i] = { 0, 4, 1, { max_output_tokens = limit } } end
  return out
end

--- Sessions of requests that run, and of some that come later.
local function sessions(running, waiting)
  local out = {}
  for _, session in ipairs(running) do out[#out + 1] = { 0, 4, 9, { session = session } } end
  for _, session in ipairs(waiting) do out[#out + 1] = { 0.5, 4, 1, { session = session } } end
  return out
end

--- A prompt of 10,000 tokens whose second chunk is planned while others wait.
local function beside(...)
  local out = { { 0, 10000, 1 } }
  for _, tokens in ipairs { ... } do out[#out + 1] = { 0.5, tokens, 1 } end
  return out
end

local pages = { kv_blocks = 200, block_size = 256 }

return {
  { name = "sglang", file = "test/srt/test_schedule_policy.py", commit = "00ae1bd37fde3c6535feaed96261b15e1d7f0125",
    since = "0.5.0", engine = { max_running_requests = 1 }, deployment = { kv_blocks = 20000, block_size = 1 },
    rows = {
      { test = "test_calc_priority_fcfs", says = "First come, first served, whatever the limits are.",
        engine = { schedule_policy = "fcfs" }, requests = limited(10, 1000, 100), order = "A B C" },
      { test = "test_calc_priority_longest_output_first_scheduling", says = "The longest output limit goes first.",
        engine = { schedule_policy = "lof" }, requests = limited(10, 1000, 100), order = "B C A" },
      { test = "test_init_with_disabled_cache", says = "lpm without a prefix cache is the order of arrival.",
        engine = { schedule_policy = "lpm" }, deployment = { prefix_caching = false },
        requests = { { 0, 64, 1, text { 1, 64 } }, { 1.5, 10, 1 }, { 1.5, 65, 1, text({ 1, 64 }, { 0, 1 }) } },
        order = "A B C" },
      { test = "test_calc_priority_identical_on_unchanged_tree", says = "lpm tries the longest cached prefix first.",
        engine = { schedule_policy = "lpm" },
        requests = { { 0, 120, 1, text { 1, 120 } }, { 1.5, 41, 1, text({ 1, 40 }, { 0, 1 }) },
          { 1.5, 121, 1, text({ 1, 120 }, { 0, 1 }) }, { 1.5, 81, 1, text({ 1, 80 }, { 0, 1 }) } },
        order = "A C D B" },
    } },
  { name = "sglang", file = "test/registered/unit/managers/test_schedule_policy.py",
    commit = "fe40c7e3cff4ad0a8ac818e64ac29bc4e7605bed", since = "0.5.10",
    engine = { schedule_policy = "routing-key" }, deployment = { kv_blocks = 20000, block_size = 1 },
    rows = {
      { test = "test_calc_priority_routing_key_scheduling",
        says = "The key of most running requests goes first, then that of fewer, then one that none has.",
        requests = sessions({ 1, 1, 2 }, { 2, 1, 3 }), order = "A B C E D F" },
      { test = "test_calc_priority_routing_key_tie_break_by_lexicographic_order",
        says = "Of keys that equally many have the smaller one goes first.",
        requests = sessions({ 2, 1 }, { 2, 1 }), order = "A B D C" },
      { test = "test_calc_priority_routing_key_no_match_deprioritized",
        says = "Keys that no running request has go behind one that some have, in their order.",
        requests = sessions({ 1, 2, 3 }, { 4, 5, 3 }), order = "A B C F D E" },
      { test = "test_calc_priority_routing_key_empty_running_batch", says = "Where nothing runs keys change nothing.",
        requests = { { 0, 4, 1, { session = 3 } }, { 0, 4, 1, { session = 1 } }, { 0, 4, 1, { session = 2 } } },
        order = "A B C" },
    } },
  { name = "sglang", file = "test/registered/unit/managers/test_schedule_policy.py",
    commit = "1dfefb58a4991257ddf2007768dadca209e49226", since = "0.5.10",
    deployment = { kv_blocks = 20000, block_size = 1 },
    rows = {
      { test = "test_compute_prefix_matches_refreshes_cache_protected_len",
        says = "A prompt is looked up when it is tried, not when it came.", engine = { max_running_requests = 1 },
        requests = { { 0, 100, 1, text { 1, 100 } }, { 0, 100, 1, text { 1, 100 } } },
        steps = [[
          0: A+100
          1: B+1 ]] },
    } },
  { name = "sglang", file = "tests of pull request 32911, TestSchedulePolicyHRRN",
    commit = "merged after 30 July 2026", since = "0.5.16",
    engine = { schedule_policy = "hrrn", max_running_requests = 1 },
    deployment = { kv_blocks = 20000, block_size = 1 },
    rows = {
      { test = "test_calc_priority_hrrn",
        says = "Of requests that waited for as many tokens the one with the fewest of its own goes first.",
        requests = { { 0, 1000, 2 }, { 0, 10, 1 }, { 0, 3, 1 }, { 0, 1, 1 } }, order = "A D C B" },
      { test = "test_calc_priority_hrrn_aging_overtakes_short",
        says = "A long one that waited goes before a short one that has just come.",
        requests = { { 0, 1000, 3 }, { 0, 100, 1 }, { 1.5, 1, 1 } }, order = "A B C" },
      { test = "test_calc_priority_hrrn_cached_length_affects_order",
        says = "Tokens that are cached do not count as its own.",
        requests = { { 0, 100, 1, text { 1, 100 } }, { 2, 1000, 2 }, { 2, 100, 1 },
          { 2, 100, 1, text({ 1, 90 }, { 0, 10 }) } }, order = "A B D C" },
      { test = "test_fresh_cached_request_still_prefills_last_token",
        says = "Of a prompt that is wholly cached one token is computed.",
        requests = { { 0, 100, 1, text { 1, 100 } }, { 2, 100, 1, text { 1, 100 } } }, steps = "2: B+1" },
    } },
  { name = "sglang", file = "tests of pull request 32911, TestShortestPrefillFirst",
    commit = "merged after 30 July 2026", since = "0.5.16",
    engine = { schedule_policy = "shortest-prefill-first", max_running_requests = 1 },
    deployment = { kv_blocks = 20000, block_size = 1 },
    rows = {
      { test = "test_calc_priority_uses_uncached_work",
        says = "The fewest tokens left to compute go first, of however long a prompt.",
        requests = { { 0, 4096, 1, text { 1, 4096 } }, { 1.5, 1024, 1 }, { 1.5, 32, 1 },
          { 1.5, 4112, 1, text({ 1, 4096 }, { 0, 16 }) } }, order = "A D C B" },
      { test = "test_equal_work_uses_arrival_time", says = "Equal work goes in the order of arrival.",
        requests = { { 0, 100, 1 }, { 0.2, 32, 1 }, { 0.4, 32, 1 } }, order = "A B C" },
      { test = "test_duplicate_prefix_is_deprioritized",
        says = "A prompt whose prefix another one is about to compute goes last, though it is shorter.",
        requests = { { 0, 64, 1, text { 1, 64 } }, { 0, 70, 1, text({ 1, 60 }, { 0, 10 }) }, { 0, 1024, 1 } },
        order = "A B C", also = { { engine = { max_running_requests = 2, schedule_policy = "shortest-prefill-first" },
          order = "A C B" } } },
    } },
  { name = "sglang", file = "tests of pull request 32911, TestShortestPrefillFirst",
    commit = "merged after 30 July 2026", since = "0.5.16",
    engine = { schedule_policy = "shortest-prefill-first", chunked_prefill_size = 4096 }, deployment = pages,
    rows = {
      { test = "test_chunk_limit_reserves_complete_short_prefills",
        says = "A cut prompt leaves room for shorter ones that wait.", requests = beside(512, 1024),
        steps = [[
          0: A+4096
          1: A+2560 B+512 C+1024 ]] },
      { test = "test_reservation_rounds_to_pages_and_keeps_continuation_progress", case = "257 tokens",
        says = "What they take are whole pages.", requests = beside(257), steps = "1: A+3584 B+257" },
      { test = "test_reservation_rounds_to_pages_and_keeps_continuation_progress", case = "3,840 tokens",
        says = "At least one page is left to the cut prompt.", requests = beside(3840), steps = "1: A+256 B+3840" },
      { test = "test_no_reservation_when_request_cannot_fit_or_is_not_shorter", case = "as long",
        says = "One that is as long as the rest of the cut prompt shortens nothing.",
        requests = beside(5904), steps = "1: A+4096" },
      { test = "test_no_reservation_when_request_cannot_fit_or_is_not_shorter", case = "too large",
        says = "Nor does one that would leave it no page.", requests = beside(4096), steps = "1: A+4096" },
      { test = "test_no_reservation_when_request_cannot_fit_or_is_not_shorter", case = "one page",
        says = "A chunk of one page is not cut for others.", engine = { chunked_prefill_size = 256 },
        requests = beside(1), steps = "1: A+256" },
      { test = "test_other_policy_keeps_normal_chunk_limit", says = "Under another policy no chunk is cut for others.",
        engine = { schedule_policy = "hrrn" }, requests = beside(512), steps = "1: A+4096" },
    } },
}
