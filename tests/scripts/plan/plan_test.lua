-- Plans: the answer is that of brute force, does not depend on the number of workers, and obeys the laws of money.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local random = require "rooflua.random"

--- Lines and longest line of a text without its notes.
local function size_of(text)
  local lines, columns = 0, 0
  for line in text:gsub("\nnote .*", "\n"):gmatch "[^\n]+" do lines = lines + 1 end
  for line in text:gmatch "[^\n]+" do columns = math.max(columns, #line) end
  return lines, columns
end

local most_lines, of_further_ranks = 40, 8

--- Holds a text to 100 columns, and to 40 lines of three ranks besides its notes.
local function check_size(done)
  local lines, columns = size_of(done.text)
  test.check(columns <= 100, "%d columns: %s", columns, done.text)
  local most = most_lines + of_further_ranks * math.max(0, #done.plan.ranks - 3)
  test.check(lines <= most, "%d lines, %d ranks: %s", lines, #done.plan.ranks, done.text)
end

test("a plan names the cheapest deployment that meets the SLO, and its text fits 40 lines of 100 columns", function()
  local done = setup.report()
  test.at_least(#done.plan.ranks, 1)
  local first = done.plan.ranks[1]
  test.check(first.result.meets, "the winner does not meet the SLO")
  for _, each in ipairs(setup.ranking(done)) do
    test.check(each.score >= first.result.score, "%s costs less than the winner", each.text)
  end
  check_size(done)
end)

test("every text fits 40 lines of 100 columns", function()
  local ladder = require "candidates.ladder"
  for _, question in ipairs {
    { { ranks = 10, candidates = ladder { engines = { "vllm", "sglang", "trtllm" }, tp = { 1, 2, 4 },
      max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 }, split = true } } },
    { { objective = "rate", load = { rate_per_s = 5 }, replicates = 6, ranks = 5 } },
    { { slo = { ttft_s_p99 = 1e-4, tpot_s_p99 = 1e-4, e2e_s_p99 = 1e-3, queue_s_p99 = 1e-4 } } },
    { { load = { rate_per_s = 1e5 }, survive = 3, ranks = 10 } },
    { { confidence = 1, replicates = 6, load = { rate_per_s = 200 } } } } do
    check_size(setup.report(question[1], question[2]))
  end
end)

test("the same bytes with one, two and three workers", function()
  local json = require "rooflua.json"
  local more = { strategy = require "strategies.halving" { min_requests = 100 }, replicates = 4,
    candidates = require "candidates.ladder" { engines = { "vllm", "sglang" }, tp = { 1, 2 }, max_num_seqs = { 8, 32 },
      max_num_batched_tokens = { 256, 1024 } } }
  local one = setup.report(more, {}, 1)
  for jobs = 2, 3 do
    local other = setup.report(more, {}, jobs)
    test.equal(other.text, one.text, jobs .. " workers")
    test.equal(json.encode(other.document), json.encode(one.document), jobs .. " workers")
  end
end)

test("a plan goes on from a file of results, and another price runs nothing again", function()
  local json, opening, run = require "rooflua.json", require "rooflua.runs.opening", require "rooflua.plan.run"
  local path = test.file("runs.sqlite", "")
  local function answer(price, slo, results)
    local opened = opening.table(setup.scenario { replicates = 4, slo = slo, requests = 100,
      gpus = { { "h100-sxm", most = 8, price_per_hour = price } } }, {})
    local done = run.report(run.all(opened.reader, opened.given, { jobs = 1, results = results }))
    return done.text .. json.encode(done.document), done.question.book
  end
  local slo, tighter = { ttft_s_p99 = 0.4 }, { ttft_s_p99 = 0.3 }
  local fresh = answer(3, slo)
  local first, book = answer(3, slo, path)
  test.equal(first, fresh)
  test.equal(book.reused, 0)
  local asked = book.asked
  local again, second = answer(3, slo, path)
  test.equal(again, fresh)
  test.equal(second.reused, asked)
  local cheap, third = answer(2, slo, path)
  test.equal(cheap, (answer(2, slo)))
  test.equal(third.reused, asked)
  local _, other = answer(3, tighter, path)
  test.equal(other.reused, 0)
end)

--- A random question over few candidates.
local function random_question(stream)
  local function pick(list) return list[stream:integer(1, #list)] end
  return { load = { rate_per_s = pick { 10, 30, 60, 120, 200 } },
    slo = { ttft_s_p99 = pick { 0.1, 0.3, 1 }, tpot_s_p99 = pick { 0.008, 0.012, 0.03 } },
    gpus = { { "h100-sxm", most = pick { 4, 16 }, price_per_hour = 1 + stream:uniform() * 3 },
      { "l40s", most = pick { 4, 16 }, price_per_hour = 0.5 + stream:uniform() } }, requests = 100,
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { pick { 4, 8 }, 32 },
      max_num_batched_tokens = { pick { 128, 256 } } } }
end

local function first_ranks(done, count)
  local list, out = setup.ranking(done), {}
  for i = 1, math.min(count, #list) do out[i] = list[i].score end
  return table.concat(out, " ")
end

test("bounded gives the ranks of brute force, in many random questions", function()
  local stream = random.streams(5):stream "questions"
  local saved, served = 0, 0
  for i = 1, 30 do
    local asked = random_question(stream)
    asked.strategy = require "strategies.exhaustive" {}
    local all = setup.searched(asked)
    asked.strategy = require "strategies.bounded" { batch = 4 }
    local bounded = setup.searched(asked)
    test.equal(first_ranks(bounded, 3), first_ranks(all, 3), "question " .. i)
    if first_ranks(all, 1) ~= "" then served = served + 1 end
    saved = saved + #all.found.results - #bounded.found.results
  end
  test.at_least(served, 15)
  test.at_least(saved, 20)
end)

test("halving finds the winner of brute force in 9 of 10 questions", function()
  local stream, same = random.streams(9):stream "questions", 0
  for _ = 1, 10 do
    local asked = random_question(stream)
    asked.requests = 300
    asked.strategy = require "strategies.exhaustive" {}
    local all = first_ranks(setup.searched(asked), 1)
    asked.strategy = require "strategies.halving" { min_requests = 100 }
    same = same + (first_ranks(setup.searched(asked), 1) == all and 1 or 0)
  end
  test.at_least(same, 9)
end)

test("TensorRT-LLM with a budget below the longest prompt does not fit, because it rejects such prompts", function()
  local done = setup.searched { gpus = { { "h100-sxm", most = 4, price_per_hour = 3 } },
    candidates = require "candidates.ladder" { engines = { "vllm", "trtllm" }, tp = { 1 }, max_num_seqs = { 32 },
      max_num_batched_tokens = { 256, 4096 } } }
  test.equal(done.found.unfit[1].reason, "the longest prompt is longer than trtllm's budget")
  test.equal(done.found.unfit[1].count, 1)
  local left = {}
  for _, each in ipairs(done.found.fit) do left[#left + 1] = each.engine .. each.max_num_batched_tokens end
  test.equal(table.concat(left, " "), "vllm256 vllm4096 trtllm4096")
  local evaluate = require "rooflua.plan.evaluate"
  for _, each in ipairs(done.found.candidates) do
    if each.ended == "does not fit" then
      local run = evaluate.run(done.question, each, 4, { requests = 400, seed = 1 })
      test.check(run.problem:find("not completed", 1, true), "%s", tostring(run.problem))
    end
  end
end)

test("candidates that are one deployment run once, and others with one name are kept apart", function()
  local function listed(list)
    for _, each in ipairs(list) do each.max_num_seqs, each.max_num_batched_tokens = 32, 1024 end
    return setup.searched { gpus = { { "h100-sxm", most = 8, price_per_hour = 3 }, { "h100-sxm", most = 8,
      price_per_hour = 2 } }, candidates = require "candidates.listed" { list = list } }
  end
  local done = listed { { gpu = 1 }, { gpu = 1 }, { gpu = 1, kv = "bf16" }, { gpu = 1, weights = "bf16" },
    { gpu = 1, prefix_caching = false }, { gpu = 1, memory_utilization = 0.92 }, { gpu = 2 }, { gpu = 1, kv = "fp8" },
    { gpu = 1, memory_utilization = 0.5 } }
  local ended = {}
  for i, each in ipairs(done.found.candidates) do
    ended[i] = each.ended == "the same" and each.problem:match "%d+$" or each.ended
  end
  test.equal(table.concat(ended, ", "), "in full, 1, 1, 1, 1, in full, in full, in full")
  test.equal(#done.found.results, 4)
  local text = require("rooflua.plan.text").searched(done.found)
  test.check(text:find("8 candidates; 0 excluded by bound, 0 do not fit, 4 the same as another", 1, true), "%s", text)
  done = listed { { gpu = 1, set = { async_depth = 1 } }, { gpu = 1, set = { async_depth = 2 } } }
  test.equal(#done.found.results, 2)
  test.equal(done.found.candidates[2].name, "H100, tp 1, vllm, 32 seats, budget 1024 (2)")
end)

test("of a workload that no multiple changes a plan names no largest load", function()
  local done = setup.report({ load = "recorded", ranks = 2 }, { workload = require "workloads.agent" { plays = 2,
    lanes = 2, turns = 5, sub_agent_probability = 0, pause_probability = 0, max_context_tokens = 30000 } })
  test.at_least(#done.plan.ranks, 1)
  for i in ipairs(done.plan.ranks) do test.equal(done.document.ranks[i].load.holds_to, nil) end
  test.check(done.text:find("a multiple of this load is the same load", 1, true), "%s", done.text)
end)

test("a deployment that holds more than was looked for is told so, and its capacity decides nothing", function()
  local done = setup.report { load = { rate_per_s = 2 }, ranks = 2 }
  local capped = 0
  for i, item in ipairs(done.plan.ranks) do
    local own = done.document.ranks[i].load
    test.equal(own.holds_more, item.holds_more)
    if item.holds_more then
      capped = capped + 1
      local words = ("more than %.3g/s"):format(own.holds_to)
      test.check(done.text:find("holds " .. words, 1, true), "%s", done.text)
      test.check(setup.page_text(done):find(words, 1, true), "not on the page")
    end
  end
  test.at_least(capped, 2)
  local terms, first, second = done.plan.ranks[2].lost_by, done.plan.ranks[1].result, done.plan.ranks[2].result
  test.equal(terms.capacity, nil)
  test.near(terms.price * terms.all_gpus, second.cost_per_hour / first.cost_per_hour, 1e-12)
  local near = setup.report { load = { rate_per_s = 200 }, gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }
  test.equal(near.plan.ranks[1].holds_more, nil)
  test.check(near.text:find("holds up to ", 1, true), "%s", near.text)
end)

test("a load that nothing serves is answered with the reason", function()
  local none = setup.report { gpus = { { "l40s", most = 1, price_per_hour = 1 } }, load = { rate_per_s = 5000 } }
  test.equal(#none.plan.ranks, 0)
  test.check(none.text:find("too few GPUs", 1, true), "%s", none.text)
  local slow = setup.report { slo = { tpot_s_p99 = 1e-5 } }
  test.check(slow.text:find("TPOT p99 <= 10 us is below what any step allows", 1, true), "%s", slow.text)
end)

test.finish()
