--- The series of vLLM in Prometheus that `rooflua emulate` shows, and by whose names ranges are read, by release. Rows
--- {since, before, name, type, quantity, help, buckets, labels, source}; quantities: engine/emulate/metrics.h, words of
--- labels: served_metrics.lua.
-- PrometheusStatLogger of 0.8 to 0.11 and of main in 2026-08. Its comments at 0.11 say of the names that changed:
--   gpu_cache_usage_perc is deprecated in 0.9.2 and renamed kv_cache_usage_perc; 0.11 shows it only if hidden metrics
--   are asked for; time_per_output_token_seconds is deprecated in 0.11 and renamed inter_token_latency_seconds; 0.12
--   shows it only if hidden metrics are asked for.
local ttft = { 0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
  640, 2560 }
local token = { 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80 }
local latency = { 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680 }
-- 1, 2, 5, 10, ... up to the longest sequence: build_1_2_5_buckets(max_model_len)
local lengths = "1-2-5"
local source = "vllm/v1/metrics/loggers.py"
--- Fields of vllm/config/cache.py; what a scenario has nothing of is left out.
local cache = { block_size = "%block_tokens", num_gpu_blocks = "%blocks", cache_dtype = "%stated.kv_cache_dtype|auto",
  gpu_memory_utilization = "%fact.share", enable_prefix_caching = "%fact.prefix_caching",
  num_gpu_blocks_override = "%stated.num_gpu_blocks_override|None" }
local cache_with_tokens = { kv_cache_size_tokens = "%kv_tokens" }
for name, text in pairs(cache) do cache_with_tokens[name] = text end

return {
  labels = { model_name = "%model", engine = "%replica" },
  { before = "0.23.0", name = "vllm:cache_config_info", type = "gauge", quantity = "one", labels = cache,
    help = "Information of the LLMEngine CacheConfig.", source = source .. ", log_metrics_info" },
  { since = "0.23.0", name = "vllm:cache_config_info", type = "gauge", quantity = "one", labels = cache_with_tokens,
    help = "Information of the LLMEngine CacheConfig.", source = source .. "; pull request 42206 of May 2026" },
  { name = "vllm:num_requests_running", type = "gauge", quantity = "running",
    help = "Number of requests in model execution batches.", source = source },
  { name = "vllm:num_requests_waiting", type = "gauge", quantity = "waiting",
    help = "Number of requests waiting to be processed.", source = source },
  { before = "0.11.0", name = "vllm:gpu_cache_usage_perc", type = "gauge", quantity = "kv_used_frac",
    help = "GPU KV-cache usage. 1 means 100 percent usage.", source = source },
  { since = "0.9.2", name = "vllm:kv_cache_usage_perc", type = "gauge", quantity = "kv_used_frac",
    help = "KV-cache usage. 1 means 100 percent usage.", source = source },
  { name = "vllm:prefix_cache_queries_total", type = "counter", quantity = "prefix_queries",
    help = "Prefix cache queries, in tokens.", source = source },
  { name = "vllm:prefix_cache_hits_total", type = "counter", quantity = "prefix_hits",
    help = "Prefix cache hits, in tokens.", source = source },
  { name = "vllm:num_preemptions_total", type = "counter", quantity = "preemptions",
    help = "Cumulative number of preemptions.", source = source },
  { name = "vllm:prompt_tokens_total", type = "counter", quantity = "prompt_tokens",
    help = "Number of prefill tokens processed.", source = source },
  { name = "vllm:generation_tokens_total", type = "counter", quantity = "output_tokens",
    help = "Number of generation tokens processed.", source = source },
  { name = "vllm:request_success_total", type = "counter", quantity = "finished",
    help = "Count of processed requests, by why they ended.", source = source },
  { name = "vllm:time_to_first_token_seconds", type = "histogram", quantity = "ttft_s", buckets = ttft,
    help = "Time to first token.", source = source },
  { before = "0.12.0", name = "vllm:time_per_output_token_seconds", type = "histogram", quantity = "itl_s",
    buckets = token, help = "Time per output token.", source = source },
  { since = "0.11.0", name = "vllm:inter_token_latency_seconds", type = "histogram", quantity = "itl_s",
    buckets = token,
    help = "Inter-token latency.", source = source },
  { since = "0.11.0", name = "vllm:request_time_per_output_token_seconds", type = "histogram", quantity = "tpot_s",
    buckets = token, help = "Time per output token of a request.", source = source },
  { name = "vllm:e2e_request_latency_seconds", type = "histogram", quantity = "e2e_s", buckets = latency,
    help = "End-to-end latency of requests.", source = source },
  { name = "vllm:request_queue_time_seconds", type = "histogram", quantity = "queue_s", buckets = latency,
    help = "Time in the phase WAITING.", source = source },
  { name = "vllm:request_inference_time_seconds", type = "histogram", quantity = "inference_s", buckets = latency,
    help = "Time in the phase RUNNING.", source = source },
  { name = "vllm:request_prefill_time_seconds", type = "histogram", quantity = "prefill_s", buckets = latency,
    help = "Time in the phase PREFILL.", source = source },
  { name = "vllm:request_decode_time_seconds", type = "histogram", quantity = "decode_s", buckets = latency,
    help = "Time in the phase DECODE.", source = source },
  { name = "vllm:request_prompt_tokens", type = "histogram", quantity = "prompt_length", buckets = lengths,
    help = "Prefill tokens of requests.", source = source },
  { name = "vllm:request_generation_tokens", type = "histogram", quantity = "output_length", buckets = lengths,
    help = "Generation tokens of requests.", source = source },
  { name = "vllm:request_params_max_tokens", type = "histogram", quantity = "max_tokens", buckets = lengths,
    help = "The parameter max_tokens.", source = source },
}
