--- Up to which load do drafts pay, and which rule for their number finds that out?
---
--- Setup     Llama-3.3-70B, FP8, on four H100, with an EAGLE-3 drafter. 61, 42, 28, 18, 12 % of rounds accept 1 to 5
---           drafts. Prompts of 1,000 tokens, answers of 300.
--- Method    2 to 256 clients, each with one request at a time; 10 requests per client, at least 100. Fixed numbers of
---           drafts beside three rules: a table by batch size, SGLang's running mean, and the most tokens per second.
--- Measures  Output tokens per second by clients and rule; tokens per round, and how much of what was verified is lost.
--- Expect    With few clients a step reads weights, and drafts are nearly free: five of them are the fastest. From some
---           tens of clients on tokens are what a step costs, and a rejected draft is one in vain: then three are the
---           best number, and one. With 256 clients one draft brings 1 % at most, and more cost. The rule that knows
---           prices is never far from the best number; SGLang's running mean goes by the batch size, and gives some of
---           it away.
--- Limits    Acceptance is the same for all requests and at all loads. The times of passes beside their kernels are
---           assumed.
local function speculation(speculator)
  return {
    speculator = speculator,
    acceptance = require "acceptance.per_position" { rates = { 0.61, 0.42, 0.28, 0.18, 0.12 } },
    drafter = require "drafters.eagle" {},
  }
end

local function fixed(k) return require "speculators.fixed" { draft_tokens = k } end

local rules = {
  { "none" },
  { "1 draft", fixed(1) }, { "3 drafts", fixed(3) }, { "5 drafts", fixed(5) },
  { "by batch", require "speculators.by_batch" { ranges = { { 1, 8, 5 }, { 9, 32, 3 }, { 33, 128, 1 } } } },
  { "ema", require "speculators.ema" {} },
  { "goodput", require "speculators.goodput" {} },
}
local clients = { 2, 8, 32, 128, 256 }

local function cases()
  local out = {}
  for _, n in ipairs(clients) do
    for _, rule in ipairs(rules) do
      out[#out + 1] = { label = ("%d clients, %s"):format(n, rule[1]), set = {
        ["workload.clients"] = n, ["workload.num_requests"] = math.max(100, 10 * n),
        speculation = rule[2] and speculation(rule[2]) or nil } }
    end
  end
  return out
end

--- A table of rules by clients; `value` of a result's summary.
local function by_load(results, title, format, value)
  local rows = { { title } }
  for j, rule in ipairs(rules) do rows[1][j + 1] = rule[1] end
  for i, n in ipairs(clients) do
    local row = { ("%d"):format(n) }
    for j = 1, #rules do row[j + 1] = format:format(value(results[(i - 1) * #rules + j].summary)) end
    rows[i + 1] = row
  end
  return rows
end

return {
  rooflua = 1,
  title = "Drafts against load",
  seed = 7,
  model = "llama-3.3-70b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 4, weights = "fp8", prefix_caching = false },
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256 },
  workload = require "workloads.closed_loop" {
    clients = 2,
    num_requests = 100,
    prompt_tokens = 1000,
    output_tokens = 300,
    max_output_tokens = "exact",
  },
  vary = { case = cases() },
  report = function(results)
    return {
      by_load(results, "tokens per second", "%.0f", function(s) return s.output_tokens_per_s end),
      by_load(results, "tokens per round", "%.2f", function(s)
        return s.speculation and s.speculation.tokens_per_round or 1
      end),
      by_load(results, "lost share of verified tokens", "%.2f", function(s)
        return s.speculation and s.speculation.wasted_share or 0
      end),
    }
  end,
}
