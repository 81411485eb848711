-- The recorded traces beside the checkout, replayed from start to end: requests sent and served are those of the
-- files. The figures were counted by another program (Python's csv, json and datetime).
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local Quick = policy.define { name = "quick", doc = "Every step takes a tenth of a millisecond.", params = {} }
function Quick:time() return 1e-4 end

--- The summary of a file's run with so many seats and blocks, and its requests by column.
local function replayed(path, seats, kv_blocks)
  local Trace = require "workloads.trace"
  local replica = { kv_blocks = kv_blocks, max_num_seqs = seats }
  local run = native.serve_open({ replicas = { replica }, keep_requests = true },
    { require "schedulers.vllm_v1" { max_num_seqs = seats, max_num_batched_tokens = 1048576 } },
    { { steps = Quick {} } }, nil, Trace { path = path }:requests(random.streams(1)))
  native.serve_advance(run)
  local summary, requests = native.serve_summary(run), native.serve_requests(run)
  native.serve_close(run)
  return summary, requests
end

local function sum(values)
  local total = 0
  for _, value in ipairs(values) do total = total + value end
  return total
end

--- requests, prompt tokens, output tokens, first and last arrival
local counted = {
  ["azure2023_code.csv"] = { 8819, 18059974, 245896, 0, 3435.948056 },
  ["azure2023_conv.csv"] = { 19366, 22361870, 4088665, 0, 3501.721937 },
  ["blis_chatbot_poisson30_100k.csv"] = { 100000, 25633340, 25630488, 0.016869, 3320.840428 },
  ["blis_chatbot_poisson30_10k.csv"] = { 10000, 2573227, 2568238, 0.016869, 330.119111 },
  ["blis_chatbot_r30_10k.csv"] = { 10000, 2559958, 2577333, 0.033333, 333.33 },
  ["mooncake_conversation.jsonl"] = { 12031, 144793823, 4122048, 0, 3536.999 },
  ["mooncake_synthetic.jsonl"] = { 3993, 61194628, 595432, 0, 1022.025 },
}

for name, figures in pairs(counted) do
  test("every request of " .. name .. " is served, with its lengths and at its time", function()
    local summary, requests = replayed(test.shared("traces/" .. name), 1024, 500000)
    test.equal(summary.requests, figures[1], "requests")
    test.equal(summary.completed, figures[1], "completed")
    test.equal(sum(requests.input_lens), figures[2], "prompt tokens")
    test.equal(sum(requests.output_lens), figures[3], "output tokens")
    test.near(requests.start_times[1], figures[4], 1e-12, "first arrival")
    test.near(requests.start_times[figures[1]], figures[5], 1e-12, "last arrival")
  end)
end

-- Requests run one after the other, and the cache evicts nothing. The hit of a prompt is then the longest beginning
-- that it shares with an earlier prompt, in whole blocks of 16, and at least one token shorter than the prompt.
local hits = { ["mooncake_conversation.jsonl"] = 54097440, ["mooncake_synthetic.jsonl"] = 39850800 }

for name, tokens in pairs(hits) do
  test("of the prompts of " .. name .. " as many tokens are found in the cache as their ids share", function()
    local summary = replayed(test.shared("traces/" .. name), 1, 8000000)
    test.equal(summary.cached_tokens, tokens)
  end)
end

test.finish()
