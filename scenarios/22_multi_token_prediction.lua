--- What does the multi-token prediction of DeepSeek-V3 bring, at which batch?
---
--- Setup     DeepSeek-V3, FP8, on 8 H200, tensor parallel. Its own extra layer makes 1 to 3 drafts; 85 % of rounds
---           accept the first (technical report), 60 and 40 % the second and third (assumed).
--- Method    Closed loops of 4, 32 and 128 clients; prompts of 1,000 tokens, answers of 400.
--- Measures  Output tokens per second, TPOT, and the part of a step that drafting takes.
--- Expect    A step reads the weights of the experts that its tokens touch. With 4 clients these are few, and every
---           draft touches more, so the gain is less than the tokens per round. With 128 clients nearly every expert is
---           touched anyway, but rows of experts and the latent attention, whose arithmetic grows with every query,
---           count: one draft brings less, a third little.
--- Limits    The layer is priced as a usual one, with experts of its own; its published weights are 14 GB. Experts of
---           drafts are as independent as those of other tokens: real drafts of a request share some.
local function speculation(k)
  return {
    speculator = require "speculators.fixed" { draft_tokens = k },
    acceptance = require "acceptance.per_position" { rates = { 0.85, 0.60, 0.40 } },
    drafter = require "drafters.mtp" {},
  }
end

local function cases()
  local out = {}
  for _, n in ipairs { 4, 32, 128 } do
    for k = 0, 3 do
      out[#out + 1] = { label = ("%d clients, %d draft%s"):format(n, k, k == 1 and "" or "s"), set = {
        ["workload.clients"] = n, ["workload.num_requests"] = math.max(60, 6 * n),
        speculation = k > 0 and speculation(k) or nil } }
    end
  end
  return out
end

return {
  rooflua = 1,
  title = "Multi-token prediction of DeepSeek-V3 on eight H200",
  seed = 3,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 8, prefix_caching = false },
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256 },
  workload = require "workloads.closed_loop" {
    clients = 4,
    num_requests = 60,
    prompt_tokens = 1000,
    output_tokens = 400,
    max_output_tokens = "exact",
  },
  vary = { case = cases() },
  report = function(results)
    local rows = { { "case", "tok/s", "TPOT p50 ms", "tokens per round", "drafting %", "times none" } }
    local plain
    for _, result in ipairs(results) do
      local s = result.summary
      if not s.speculation then plain = s.output_tokens_per_s end
      rows[#rows + 1] = { result.name:match "=(.*)", s.output_tokens_per_s, s.tpot_s.p50 * 1000,
        s.speculation and s.speculation.tokens_per_round or 1,
        s.speculation and 100 * s.speculation.draft_time_share or 0, s.output_tokens_per_s / plain }
    end
    return rows
  end,
}
