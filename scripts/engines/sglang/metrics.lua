--- The series of SGLang in Prometheus that `rooflua emulate` shows, by release; the form is that of vllm/metrics.lua.
-- python/sglang/srt/metrics/collector.py, SchedulerMetricsCollector and TokenizerMetricsCollector; read of main in
-- 2025-12. Its names are taken for all releases: when each of them came was not read.
local ttft = { 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400 }
local latency = { 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400 }
local gap = { 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6,
  0.8, 1, 2, 4, 6, 8 }
local source = "python/sglang/srt/metrics/collector.py"

return {
  labels = { model_name = "%model", engine_type = "unified", tp_rank = "0", pp_rank = "0", dp_rank = "%replica" },
  { name = "sglang:num_running_reqs", type = "gauge", quantity = "running",
    help = "The number of running requests.", source = source },
  { name = "sglang:num_queue_reqs", type = "gauge", quantity = "waiting",
    help = "The number of requests in the waiting queue.", source = source },
  { name = "sglang:token_usage", type = "gauge", quantity = "kv_used_frac",
    help = "The token usage.", source = source },
  { name = "sglang:num_used_tokens", type = "gauge", quantity = "used_tokens",
    help = "The number of used tokens.", source = source },
  { name = "sglang:max_total_num_tokens", type = "gauge", quantity = "total_tokens",
    help = "Tokens that the KV cache holds.", source = source },
  { before = "0.5.11", name = "sglang:cache_config_info", type = "gauge", quantity = "one",
    labels = { page_size = "%block_tokens", num_pages = "%blocks" }, help = "Pages of the KV cache.",
    source = "python/sglang/srt/observability/metrics_collector.py; llm-d-router's factories.go says until when" },
  { since = "0.5.11", name = "sglang:page_size", type = "gauge", quantity = "block_tokens",
    help = "KV cache page size in tokens.", source = "the same" },
  { since = "0.5.11", name = "sglang:num_pages", type = "gauge", quantity = "total_blocks",
    help = "Number of KV cache pages.", source = "the same" },
  { name = "sglang:prompt_tokens_total", type = "counter", quantity = "prompt_tokens",
    help = "Number of prefill tokens processed.", source = source },
  { name = "sglang:generation_tokens_total", type = "counter", quantity = "output_tokens",
    help = "Number of generation tokens processed.", source = source },
  { name = "sglang:cached_tokens_total", type = "counter", quantity = "prefix_hits",
    help = "Number of cached prompt tokens.", source = source },
  { name = "sglang:num_requests_total", type = "counter", quantity = "requests",
    help = "Number of requests processed.", source = source },
  { name = "sglang:num_aborted_requests_total", type = "counter", quantity = "aborted",
    help = "Number of requests aborted.", source = source },
  { name = "sglang:time_to_first_token_seconds", type = "histogram", quantity = "ttft_s", buckets = ttft,
    help = "Time to first token.", source = source },
  { name = "sglang:inter_token_latency_seconds", type = "histogram", quantity = "itl_s", buckets = gap,
    help = "Inter-token latency.", source = source },
  { name = "sglang:e2e_request_latency_seconds", type = "histogram", quantity = "e2e_s", buckets = latency,
    help = "End-to-end latency of requests.", source = source },
}
