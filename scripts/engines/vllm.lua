-- Flags of `vllm serve` by release. `since` (included) and `before` (excluded) are releases; a row without them holds
-- for all that this table knows. Behind `flag` stands the value of the deployment, or what `values` has for it;
-- `switch` makes a word of its own from the value.
local function switch(on, off) return function(value) return value and on or off end end

return {
  name = "vllm",
  command = "vllm serve",
  oldest = "0.12.0",
  newest = "0.24.0",
  image = "vllm/vllm-openai:v%s",
  port = 8000,
  model = "",
  host = { "--host", "--port" },
  source = "vLLM documentation, CLI reference of vllm serve; vllm/engine/arg_utils.py",
  kv_names = { fp8 = "fp8", fp8_e4m3 = "fp8_e4m3", fp8_e5m2 = "fp8_e5m2", bf16 = "auto", fp16 = "auto" },
  weight_flags = { fp8 = { "--quantization", "fp8" } },
  --- Words by drafter, of a number of drafts; `free` is the look-up in the prompt. `not_async`: why steps are not
  --- prepared ahead with these drafts.
  speculation = {
    mtp = { source = "vLLM docs/features/speculative_decoding/mtp.md; vllm/config/speculative.py, 0.24 and main",
      words = function(drafts)
        return { "--speculative-config", ([['{"method":"mtp","num_speculative_tokens":%d}']]):format(drafts) }
      end },
    free = { source = "vLLM docs/features/speculative_decoding/n_gram.md; error message of 0.17.1 and 0.30.0: async "
        .. "scheduling is only supported with EAGLE, MTP, draft models and others, not with ngram",
      not_async = "vLLM refuses --async-scheduling with look-ups in the prompt",
      words = function(drafts)
        return { "--speculative-config", ([['{"method":"ngram","num_speculative_tokens":%d}']]):format(drafts) }
      end },
  },
  flags = {
    { parameter = "tp", flag = "--tensor-parallel-size" },
    { parameter = "pp", flag = "--pipeline-parallel-size" },
    { parameter = "dp", flag = "--data-parallel-size" },
    { parameter = "expert_parallel", switch = switch("--enable-expert-parallel", "--no-enable-expert-parallel") },
    { parameter = "max_num_seqs", flag = "--max-num-seqs" },
    { parameter = "max_num_batched_tokens", flag = "--max-num-batched-tokens" },
    { parameter = "memory_utilization", flag = "--gpu-memory-utilization" },
    { parameter = "max_model_len", flag = "--max-model-len" },
    { parameter = "block_size", flag = "--block-size" },
    { parameter = "prefix_caching", switch = switch("--enable-prefix-caching", "--no-enable-prefix-caching") },
    { parameter = "async", switch = switch("--async-scheduling", "--no-async-scheduling") },
    { parameter = "kv", flag = "--kv-cache-dtype" },
    { parameter = "role", flag = "--kv-transfer-config", values = {
      prefill = [['{"kv_connector":"NixlConnector","kv_role":"kv_producer"}']],
      decode = [['{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}']] } },
  },
}
