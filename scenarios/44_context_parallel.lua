--- One request on several ranks: what does a prompt of a million tokens gain, and what do long contexts in decode?
---
--- Setup     Prompts: Qwen3-30B-A3B with a limit of 1,048,576 tokens, bf16, SGLang on GB200 (an NVLink domain of 72
---           GPUs); 4 to 32 GPUs, by tensor parallelism (tp) or by prefill context parallel (cp). Decodes: DeepSeek-V3
---           and Qwen3-235B-A22B, FP8, vLLM on eight H200 with tp 8; ranks of dcp divide the KV of a request.
--- Method    One prompt of 1,000,000 tokens, alone. Closed loops of 128 clients, prompts of 30,000 tokens, answers of
---           2,000.
--- Measures  TTFT, TPOT, output tokens per second, and the tokens that the KV cache holds.
--- Expect    With cp the TTFT falls almost as the GPUs grow: the pieces of a prompt are balanced, and its KV is
---           gathered once per layer. With tp it falls less, because every rank reduces whole chunks. cp leaves the
---           attention of decodes as it is and adds no room for KV. Without dcp eight ranks hold the same latent KV,
---           and most clients wait for room; with dcp 8 none waits. More decodes run at once: TPOT is longer, the
---           throughput higher. Four KV heads on eight ranks have two copies: dcp 2 doubles the cache of
---           Qwen3-235B-A22B, and no more is possible.
--- Limits    No run of these was measured (docs/CONTEXT_PARALLEL.md). Attention of such lengths is extrapolated.
---           Nothing hides the exchanges. A limit of 1,048,576 tokens is not what the model was published with.
local engines = require "rooflua.engines"

local long = { from = "qwen3-30b-a3b", max_model_len = 1048576 }

local function prompt(tp, cp)
  local label = ("1M prompt, %d GPUs: tp %d%s"):format(tp * cp, tp, cp > 1 and ", cp " .. cp or "")
  return { label = label, set = { deployment = { tp = tp, cp = cp } } }
end

local function decode(model, dcp)
  return { label = ("decodes, %s: dcp %d"):format(model, dcp), set = { model = model, hardware = "h200-sxm",
    engine = "vllm 0.24", deployment = { tp = 8, dcp = dcp, weights = "fp8" },
    workload = require "workloads.closed_loop" { clients = 128, num_requests = 256, prompt_tokens = 30000,
      output_tokens = 2000 } } }
end

local cases = {
  prompt(4, 1), prompt(4, 2), prompt(4, 4), prompt(4, 8), prompt(8, 1), prompt(16, 1), prompt(32, 1),
  decode("deepseek-v3", 1), decode("deepseek-v3", 2), decode("deepseek-v3", 8),
  decode("qwen3-235b-a22b", 1), decode("qwen3-235b-a22b", 2),
}

return {
  rooflua = 1,
  title = "One request on several ranks",
  seed = 11,
  model = long,
  hardware = "gb200",
  engine = "sglang 0.5.14",
  deployment = {},
  workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 1000000,
    output_tokens = 100 },
  vary = { ranks = cases },
  report = function(results)
    local rows = { { "ranks", "TTFT s", "TPOT ms", "tok/s", "KV tokens" } }
    for i, result in ipairs(results) do
      local own, s = cases[i].set, result.summary
      local found = engines.capacity { model = own.model or long, hardware = own.hardware or "gb200",
        engine = own.engine or "sglang 0.5.14", deployment = own.deployment }
      rows[#rows + 1] = { cases[i].label, s.ttft_s.p50, s.tpot_s.p50 * 1000, s.output_tokens_per_s, found.kv_tokens }
    end
    return rows
  end,
}
