--- Can a scheduler written here, in twenty lines, protect the gap between tokens?
---
--- Setup     Llama-3.1-8B, bf16, on one H200. Prompts of 6,000 tokens, answers of 200.
--- Method    Poisson at 3 requests per second, 300 requests. `Polite` gives every decode its token and lets
---           prefills have a slice of the step: a small one while any request decodes, else the whole budget.
--- Measures  TTFT and the gap between two tokens, beside vLLM V1's scheduler.
--- Expect    The longest gap is one step with a slice in it: it falls with the slice, 202 ms with vLLM's budget
---           of 8,192 tokens, 56 with 2,048, 18 with 512. A slice of 512 costs TTFT, because prompts take
---           more steps; one of 2,048 costs almost nothing.
--- Limits    One load. vLLM's own answer is max_num_batched_tokens, which also cuts prefills when no request
---           decodes. Rows of tables carry at least 75 % of the time.
local policy = require "rooflua.policy"

local Polite = policy.define {
  name = "polite",
  doc = "Decodes first; prefills get `slice` tokens of a step, or the whole budget when no request decodes.",
  params = {
    slice = { default = 1024, unit = "tokens", min = 1, integer = true, doc = "Prefill tokens beside decodes." },
    max_num_seqs = { default = 256, unit = "requests", min = 1, integer = true, doc = "Seats." },
    max_num_batched_tokens = { default = 8192, unit = "tokens", min = 1, integer = true, doc = "Tokens of a step." },
  },
}

function Polite:plan(replica, plan)
  local slice = replica.decodes > 0 and self.slice or self.max_num_batched_tokens
  plan:decode_all(self.max_num_batched_tokens)
  local left = math.min(slice, self.max_num_batched_tokens - plan.tokens)
  for _, request in ipairs(replica:prefilling()) do
    local tokens = math.min(left, request.pending_tokens)
    if tokens > 0 and plan:prefill(request, tokens) then left = left - tokens end
  end
  local waiting = replica:waiting()
  while left > 0 and #waiting > 0 and replica.seats < self.max_num_seqs do
    local tokens = math.min(left, waiting[1].pending_tokens)
    if not plan:admit(waiting[1], tokens, waiting[1].sequence_tokens) then return end
    left = left - tokens
  end
end

return {
  rooflua = 1,
  title = "A scheduler of one's own",
  seed = 2,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  workload = require "workloads.poisson" {
    rate_per_s = 3,
    num_requests = 300,
    prompt_tokens = 6000,
    output_tokens = 200,
  },
  vary = {
    scheduler = {
      { label = "vllm_v1", value = require "schedulers.vllm_v1" {} },
      { label = "polite, slice 2048", value = Polite { slice = 2048 } },
      { label = "polite, slice 512", value = Polite { slice = 512 } },
    },
  },
  report = function(results)
    local rows = { { "scheduler", "gap p50 ms", "gap p99 ms", "gap max ms" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.itl_s.p50 * 1000, s.itl_s.p99 * 1000, s.itl_s.max * 1000 }
    end
    return rows
  end,
}
