--- The series of TensorRT-LLM in Prometheus (/prometheus/metrics of trtllm-serve) that `rooflua emulate` shows, by
--- release; the form is that of vllm/metrics.lua.
-- tensorrt_llm/metrics/collector.py. Pull request 5785 (August 2025) has times of requests; 12545 (March 2026) tokens,
-- what runs and waits, and blocks. Which release candidate had each of them first was not read: 1.2.0rc0 and 1.3.0rc10
-- are the next ones.
local ttft = { 0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
  640, 2560 }
local token = { 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80 }
local latency = { 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680 }
local prefill = { 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 640, 2560 }
local source = "tensorrt_llm/metrics/collector.py"

return {
  -- its own label `engine` is none: it tells apart the replicas that one page shows
  labels = { model_name = "%model", engine_type = "trtllm", engine = "%replica" },
  { since = "1.2.0rc0", name = "trtllm_request_success_total", type = "counter", quantity = "finished",
    help = "Count of processed requests, by why they ended.", source = source },
  { since = "1.2.0rc0", name = "trtllm_e2e_request_latency_seconds", type = "histogram", quantity = "e2e_s",
    buckets = latency, help = "End-to-end latency of requests.", source = source },
  { since = "1.2.0rc0", name = "trtllm_time_to_first_token_seconds", type = "histogram", quantity = "ttft_s",
    buckets = ttft, help = "Time to first token.", source = source },
  { since = "1.2.0rc0", name = "trtllm_time_per_output_token_seconds", type = "histogram", quantity = "tpot_s",
    buckets = token, help = "Time per output token of a request.", source = source },
  { since = "1.2.0rc0", name = "trtllm_request_queue_time_seconds", type = "histogram", quantity = "queue_s",
    buckets = latency, help = "Time in the phase WAITING.", source = source },
  { since = "1.2.0rc0", name = "trtllm_kv_cache_utilization", type = "gauge", quantity = "kv_used_frac",
    help = "KV cache utilization.", source = source },
  { since = "1.3.0rc10", name = "trtllm_request_prefill_time_seconds", type = "histogram", quantity = "prefill_s",
    buckets = prefill, help = "Time in the phase PREFILL.", source = source },
  { since = "1.3.0rc10", name = "trtllm_request_decode_time_seconds", type = "histogram", quantity = "decode_s",
    buckets = latency, help = "Time in the phase DECODE.", source = source },
  { since = "1.3.0rc10", name = "trtllm_request_inference_time_seconds", type = "histogram", quantity = "inference_s",
    buckets = latency, help = "Time in the phase RUNNING.", source = source },
  { since = "1.3.0rc10", name = "trtllm_prompt_tokens_total", type = "counter", quantity = "prompt_tokens",
    help = "Number of prefill tokens processed.", source = source },
  { since = "1.3.0rc10", name = "trtllm_generation_tokens_total", type = "counter", quantity = "output_tokens",
    help = "Number of generation tokens processed.", source = source },
  { since = "1.3.0rc10", name = "trtllm_prompt_cached_tokens_total", type = "counter", quantity = "prefix_hits",
    help = "Prompt tokens that the KV cache had.", source = source .. "; pull request 12636" },
  { since = "1.3.0rc10", name = "trtllm_num_requests_running", type = "gauge", quantity = "running",
    help = "Number of running requests.", source = source },
  { since = "1.3.0rc10", name = "trtllm_num_requests_waiting", type = "gauge", quantity = "waiting",
    help = "Number of waiting requests.", source = source },
  { since = "1.3.0rc10", name = "trtllm_kv_cache_max_blocks", type = "gauge", quantity = "total_blocks",
    help = "Blocks of the KV cache.", source = source },
  { since = "1.3.0rc10", name = "trtllm_kv_cache_tokens_per_block", type = "gauge", quantity = "block_tokens",
    help = "Tokens of a block.", source = source },
}
