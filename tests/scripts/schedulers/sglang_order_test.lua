-- The orders in which SGLang tries the queue. A request with one output token ends with the step of its prefill; one
-- seat, or a budget for one prompt, makes the order visible.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect, limit = schedule.test, schedule.expect, schedule.limit
local steady = dofile("tests/scripts/schedulers/steady.lua").steady

test("lof admits the longest output limit first", function()
  expect { scheduler = steady(0.5, { schedule_policy = "lof", max_num_seqs = 1 }), kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 1, limit(2) }, { 0, 4, 1, limit(8) }, { 0, 4, 1, limit(8) } },
    rows = [[ 0: B+4
              1: C+4
              2: A+4 ]] }
end)

local function prompt(prefix, own, limit_tokens)
  return { max_output_tokens = limit_tokens, content = { { prefix, 64 }, { 0, own } } }
end

-- Pages of 4. A leaves 64 tokens of prefix 1 behind; C hits them. 9 tokens per step keep B and C apart.
test("lpm admits the longest cached prefix first", function()
  local requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0.5, 10, 1, limit(4) }, { 0.5, 72, 1, prompt(1, 8, 4) } }
  expect { scheduler = steady(0.5, { schedule_policy = "lpm", max_prefill_tokens = 9 }),
    kv_blocks = 100, prefix_caching = true, requests = requests,
    rows = [[ 0: A+72
              1: C+8
              2: B+10 ]] }
  expect { scheduler = steady(0.5, { max_prefill_tokens = 9 }),
    kv_blocks = 100, prefix_caching = true, requests = requests,
    rows = [[ 0: A+72
              1: B+10
              2: C+8 ]] }
end)

-- A and B share a prefix that is not computed yet. A computes it, and B comes after C. With 81 tokens per step A leaves
-- 9: C's 12 do not fit and end the step. B's 8 (it could hit by then) would have fitted.
test("lpm puts a request after all others while another one computes its prefix", function()
  expect { scheduler = steady(0.5, { schedule_policy = "lpm", max_prefill_tokens = 81 }),
    kv_blocks = 100, prefix_caching = true,
    requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0, 72, 1, prompt(1, 8, 4) }, { 0, 10, 1, limit(4) } },
    rows = [[ 0: A+72
              1: B+8 C+10 ]] }
end)

--- A prompt of 72 tokens that begins with the given number of tokens of prefix 1.
local function beginning(tokens, ...)
  return { max_output_tokens = 4, content = { { 1, tokens }, ... } }
end

-- A and B begin with the same tokens, which are not computed yet. Two seats: the second in the order runs beside A.
-- What A computes in that step is no hit of B.
test("prompts that share less than 32 tokens do not wait for each other", function()
  local function rows(shared, expected)
    local alike = beginning(shared, { 0, 72 - shared })
    expect { scheduler = steady(0.5, { schedule_policy = "lpm", max_num_seqs = 2 }), kv_blocks = 200, block_size = 1,
      prefix_caching = true,
      requests = { { 0, 72, 1, alike }, { 0, 72, 1, alike }, { 0, 10, 1, limit(4) } },
      rows = expected }
  end
  rows(31, [[ 0: A+72 B+72
              1: C+10 ]])
  rows(32, [[ 0: A+72 C+10
              1: B+40 ]])
end)

-- A and B have the same label, but B differs after 20 tokens, so 20 are the same. The lengths of segments count, too:
-- C differs after 31 of A's 40.
test("what two prompts share ends where they go on differently", function()
  expect { scheduler = steady(0.5, { schedule_policy = "lpm", max_num_seqs = 3 }), kv_blocks = 300, block_size = 1,
    prefix_caching = true,
    requests = { { 0, 72, 1, beginning(40, { 2, 32 }) }, { 0, 72, 1, beginning(20, { 3, 52 }) },
      { 0, 72, 1, beginning(31, { 2, 41 }) }, { 0, 10, 1, limit(4) } },
    rows = [[ 0: A+72 B+72 C+72
              1: D+10 ]] }
end)

-- A leaves the first tokens of the prefix that B and C share. A hit of 32 is short: C comes after D. One of 33 is not.
test("a request that hits more than 32 tokens does not wait for the rest of its prefix", function()
  local function rows(hit, expected)
    local shared = beginning(hit, { 2, 72 - hit }, { 0, 8 })
    expect { scheduler = steady(0.5, { schedule_policy = "lpm", max_num_seqs = 2 }), kv_blocks = 200, block_size = 1,
      prefix_caching = true,
      requests = { { 0, hit, 1, beginning(hit) }, { 0.5, 80, 1, shared }, { 0.5, 80, 1, shared },
        { 0.5, 10, 1, limit(4) } },
      rows = expected }
  end
  rows(32, [[ 0: A+32
              1: B+48 D+10
              2: C+8 ]])
  rows(33, [[ 0: A+33
              1: B+47 C+47
              2: D+10 ]])
end)

-- As before, but C and D begin with 3 tokens of prefix 1, less than a page: they hit nothing, so they do not make E's
-- prefix the one that most requests wait for.
test("for dfs-weight a request without a hit does not count for a prefix", function()
  local function few() return { max_output_tokens = 4, content = { { 1, 3 }, { 0, 7 } } } end
  expect { scheduler = steady(0.5, { schedule_policy = "dfs-weight", max_prefill_tokens = 9 }), kv_blocks = 100,
    prefix_caching = true,
    requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0, 72, 1, prompt(2, 8, 4) }, { 1.5, 10, 1, few() },
      { 1.5, 10, 1, few() }, { 1.5, 72, 1, prompt(1, 8, 4) }, { 1.5, 72, 1, prompt(2, 8, 4) },
      { 1.5, 72, 1, prompt(2, 8, 4) } },
    rows = [[ 0: A+72
              1: B+72
              2: F+8
              3: E+8
              4: G+8
              5: C+10
              6: D+10 ]] }
end)

test("lpm is first come first served while more than 128 wait", function()
  local function second_row(waiting)
    local requests = { { 0, 72, 1, prompt(1, 8, 4) } }
    for i = 2, waiting do requests[i] = { 0.5, 10, 1, limit(4) } end
    requests[waiting + 1] = { 0.5, 72, 1, prompt(1, 8, 4) }
    return schedule.run { scheduler = steady(0.5, { schedule_policy = "lpm", max_prefill_tokens = 9 }),
      kv_blocks = 10000, prefix_caching = true, requests = requests }[2]
  end
  test.equal(second_row(128), "1: r128+8")
  test.equal(second_row(129), "1: B+10")
end)

-- A and B leave prefixes 1 and 2 of 64 tokens behind. Two requests wait for prefix 2, one for prefix 1, and C hits
-- nothing: it came first and is last. E goes first; then one request waits for each prefix, and D comes before F. A
-- budget of 9 tokens per step separates them.
test("dfs-weight takes the prefix that most requests wait for first, and requests without a hit last", function()
  local requests = {
    { 0, 72, 1, prompt(1, 8, 4) }, { 0, 72, 1, prompt(2, 8, 4) }, { 1.5, 10, 1, limit(4) },
    { 1.5, 72, 1, prompt(1, 8, 4) }, { 1.5, 72, 1, prompt(2, 8, 4) }, { 1.5, 72, 1, prompt(2, 8, 4) } }
  local given = { scheduler = steady(0.5, { schedule_policy = "dfs-weight", max_prefill_tokens = 9 }),
    kv_blocks = 100, prefix_caching = true, requests = requests,
    rows = [[ 0: A+72
              1: B+72
              2: E+8
              3: D+8
              4: F+8
              5: C+10 ]] }
  expect(given)
end)

-- A leaves 64 tokens of prefix 1 behind: C's prompt hits all of them, B's, which shares 32 of them, half.
test("dfs-weight visits the longer hit of a branch first, as a child of the shorter", function()
  local shorter = { max_output_tokens = 4, content = { { 1, 32 }, { 0, 8 } } }
  expect { scheduler = steady(0.5, { schedule_policy = "dfs-weight", max_prefill_tokens = 9 }),
    kv_blocks = 100, prefix_caching = true,
    requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0.5, 40, 1, shorter }, { 0.5, 72, 1, prompt(1, 8, 4) } },
    rows = [[ 0: A+72
              1: C+8
              2: B+8 ]] }
end)

test("random shuffles the queue in every step, by its seed", function()
  local function order(seed)
    local requests, names = {}, {}
    for i = 1, 24 do requests[i] = { 0, 4, 1, limit(1) } end
    local rows = schedule.run { scheduler = steady(0.5, { schedule_policy = "random", max_num_seqs = 1,
      random_seed = seed }), kv_blocks = 1000, block_size = 1, requests = requests }
    for i, row in ipairs(rows) do names[i] = row:match ": (%w+)%+4" end
    return names
  end
  local first = order(1)
  local text = table.concat(first, " ")
  test.equal(#first, 24)
  test.equal(table.concat(order(1), " "), text)
  test.check(table.concat(order(2), " ") ~= text, "two seeds, one order")
  -- Every request can be the first: 200 seeds, 24 requests, 8.3 each on average.
  local firsts, different = {}, 0
  for seed = 1, 200 do
    local who = order(seed)[1]
    if not firsts[who] then different = different + 1 end
    firsts[who] = (firsts[who] or 0) + 1
  end
  test.equal(different, 24)
  for who, times in pairs(firsts) do test.check(times <= 24, "%s came first %d times of 200", who, times) end
end)

-- One seat. t=1: B waited while 10 tokens were computed, 10/10; C and D have just come. t=2: another 10 tokens,
-- C 10/30, D 10/5. t=3: another 5, C 15/30; E has just come.
test("hrrn admits the request that waited longest relative to the tokens it has to compute", function()
  local requests = { { 0, 10, 1, limit(1) }, { 0, 10, 1, limit(1) }, { 0.5, 30, 1, limit(1) },
    { 0.6, 5, 1, limit(1) }, { 2.5, 3, 1, limit(1) } }
  local scheduler = steady(0.5, { schedule_policy = "hrrn", max_num_seqs = 1 })
  expect { scheduler = scheduler, kv_blocks = 100, block_size = 1, prefix_caching = true, requests = requests,
    rows = [[ 0: A+10
              1: B+10
              2: D+5
              3: C+30
              4: E+3 ]] }
  expect { scheduler = scheduler, kv_blocks = 100, block_size = 1, prefix_caching = false, requests = requests,
    rows = [[ 0: A+10
              1: B+10
              2: C+30
              3: D+5
              4: E+3 ]] }
end)

-- 14 tokens, nothing reserved for running ones. D comes when 7 tokens were computed and does not fit beside the
-- others. t=4: A has the longest prompt and loses its seat. t=6: 9 tokens were computed since A came first, but A
-- came back when they were; D waited for 2 of them. Both do not fit. D's blocks take what A left in the cache.
test("for hrrn a retracted request has just come", function()
  expect { scheduler = steady(0, { schedule_policy = "hrrn" }), kv_blocks = 14, block_size = 1, prefix_caching = true,
    requests = { { 0, 4, 4, limit(4) }, { 0.5, 3, 4, limit(4) }, { 1.5, 2, 4, limit(4) }, { 1.6, 6, 1, limit(1) } },
    rows = [[ 0: A+4
              1: B+3
              2: C+2
              3: A B C
              4: A! B C
              5: B C
              6: D+6
              7: A+6
              8: A ]] }
end)

-- A+10 in the first step. The last request has the fewest tokens to compute; the others came before it.
test("hrrn is first come first served while more than 128 wait", function()
  local function second_row(waiting)
    local requests = {}
    for i = 1, waiting do requests[i] = { 0, 10, 1, limit(1) } end
    requests[waiting + 1] = { 0, 5, 1, limit(1) }
    return schedule.run { scheduler = steady(0.5, { schedule_policy = "hrrn", max_prefill_tokens = 9 }),
      kv_blocks = 10000, block_size = 1, prefix_caching = true, requests = requests }[2]
  end
  test.equal(second_row(128), "1: r128+5")
  test.equal(second_row(129), "1: B+10")
end)

test("shortest-prefill-first admits the request with the least to compute, the first of equals", function()
  expect { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first", max_num_seqs = 1 }),
    kv_blocks = 100, block_size = 1, prefix_caching = true,
    requests = { { 0, 10, 1, limit(1) }, { 0, 30, 1, limit(1) }, { 0, 5, 1, limit(1) }, { 0, 5, 1, limit(1) },
      { 2.5, 3, 1, limit(1) } },
    rows = [[ 0: C+5
              1: D+5
              2: A+10
              3: E+3
              4: B+30 ]] }
end)

-- A leaves 64 tokens behind: of C's 72 are 8 to compute, of B's 10 all. 9 tokens per step keep them apart.
test("for shortest-prefill-first what is cached is no work", function()
  expect { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first", max_prefill_tokens = 9 }),
    kv_blocks = 100, prefix_caching = true,
    requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0.5, 10, 1, limit(4) }, { 0.5, 72, 1, prompt(1, 8, 4) } },
    rows = [[ 0: A+72
              1: C+8
              2: B+10 ]] }
end)

-- Two seats. A computes the prefix that B shares, so C goes before B.
test("hrrn and shortest-prefill-first put a request after all others while another one computes its prefix", function()
  for _, name in ipairs { "hrrn", "shortest-prefill-first" } do
    expect { scheduler = steady(0.5, { schedule_policy = name, max_num_seqs = 2 }), kv_blocks = 100,
      prefix_caching = true,
      requests = { { 0, 72, 1, prompt(1, 8, 4) }, { 0, 72, 1, prompt(1, 8, 4) }, { 0, 100, 1, limit(4) } },
      rows = [[ 0: A+72 C+100
                1: B+8 ]] }
  end
end)

-- Chunks of 10. t=1: of 10 tokens C and B get their 3 and 4 before A's 30. t=4: D's 9 are no less than A's 7.
test("shortest-prefill-first cuts a prompt so that shorter ones go beside it", function()
  expect { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first", chunked_prefill_size = 10 }),
    kv_blocks = 100, block_size = 1, prefix_caching = true,
    requests = { { 0, 40, 1, limit(1) }, { 0.5, 4, 1, limit(1) }, { 0.5, 3, 1, limit(1) }, { 3.5, 9, 1, limit(1) } },
    rows = [[ 0: A+10
              1: A+3 B+4 C+3
              2: A+10
              3: A+10
              4: A+7 D+3
              5: D+6 ]] }
end)

test("shortest-prefill-first leaves a page of each chunk to the cut prompt", function()
  expect { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first", chunked_prefill_size = 10 }),
    kv_blocks = 100, block_size = 1, prefix_caching = true,
    requests = { { 0, 40, 1, limit(1) }, { 0.5, 10, 1, limit(1) } },
    rows = [[ 0: A+10
              1: A+10
              2: A+10
              3: A+10
              4: B+10 ]] }
end)

-- Chunks of 100. A leaves 40 tokens of prefix 1. t=2: C and D have 32 to compute each, so B gets 36. When C is
-- scheduled D has 8 left; the 24 that are over do not start E's 50, because B is still cut. t=3: E gets its 50.
test("shortest-prefill-first never has two unfinished prompts", function()
  local function shares(tokens, own) return { max_output_tokens = 1, content = { { 1, tokens }, { 0, own } } } end
  expect { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first", chunked_prefill_size = 100 }),
    kv_blocks = 2000, block_size = 1, prefix_caching = true,
    requests = { { 0, 40, 1, { max_output_tokens = 1, content = { { 1, 40 } } } }, { 0.5, 400, 1, limit(1) },
      { 1.5, 72, 1, shares(64, 8) }, { 1.5, 72, 1, shares(64, 8) }, { 1.6, 50, 1, limit(1) } },
    rows = [[ 0: A+40
              1: B+100
              2: B+36 C+32 D+32
              3: B+50 E+50
              4: B+100
              5: B+100
              6: B+14 ]] }
end)

test("shortest-prefill-first is refused without prefix caching", function()
  test.raises("needs prefix caching", function()
    schedule.run { scheduler = steady(0.5, { schedule_policy = "shortest-prefill-first" }), block_size = 1,
      requests = { { 0, 4, 1, limit(1) } } }
  end)
end)

-- Four tokens per step: one prompt. t=0: no request runs, so the order is that of arrival. t=1: A runs, and C has its
-- key. t=3: two with key 2 run and one with key 1; a request without a key comes before a key that none of them has.
test("routing-key admits those first whose key most running requests have", function()
  local keys = { 2, 1, 2, 3, false, 1, 2 }
  for _, name in ipairs { "session", "class" } do
    local requests = {}
    for i, key in ipairs(keys) do
      requests[i] = { i <= 3 and 0 or 2.5, 4, 2, { max_output_tokens = 2, [name] = key or nil } }
    end
    expect { scheduler = steady(0, { schedule_policy = "routing-key", routing_key = name, max_prefill_tokens = 4 }),
      kv_blocks = 100, block_size = 1, requests = requests,
      rows = [[ 0: A+4
                1: C+4
                2: B+4
                3: G+4
                4: F+4
                5: E+4
                6: D+4
                7: A B C D E F G ]] }
  end
end)

-- Chunks of 4. t=2: B's last 2 tokens leave 2. A's key 9 runs; B's key 5 does not count, because B is cut.
test("for routing-key the cut prompt does not run", function()
  local function keyed(session) return { max_output_tokens = 2, session = session } end
  expect { scheduler = steady(0, { schedule_policy = "routing-key", chunked_prefill_size = 4 }),
    kv_blocks = 100, block_size = 1,
    requests = { { 0, 4, 2, keyed(9) }, { 0.5, 6, 2, keyed(5) }, { 1.5, 2, 2, keyed(5) }, { 1.5, 2, 2, keyed(9) } },
    rows = [[ 0: A+4
              1: B+4
              2: B+2 D+2
              3: C+2
              4: A B C D ]] }
end)

-- B and C are private prompts: they have no key, so D does not have the key of most running requests.
test("routing-key takes the prefix for the key where it is told so", function()
  local begins = { max_output_tokens = 2, content = { { 1, 4 }, { 0, 4 } } }
  expect { scheduler = steady(0, { schedule_policy = "routing-key", routing_key = "prefix", max_prefill_tokens = 8 }),
    kv_blocks = 100, prefix_caching = false,
    requests = { { 0, 8, 2, begins }, { 0, 8, 2, limit(2) }, { 0, 8, 2, limit(2) }, { 2.5, 8, 2, limit(2) },
      { 2.5, 8, 2, begins } },
    rows = [[ 0: A+8
              1: B+8
              2: C+8
              3: E+8
              4: D+8
              5: A B C D E ]] }
end)

test.finish()
