-- The report of trtllm-bench throughput or latency (--report_json).
-- Source: github.com/NVIDIA/TensorRT-LLM, tensorrt_llm/bench/dataclasses/reporting.py
--
-- The report does not say how the requests were sent: its number of concurrent requests is a mean that was measured.
-- A case of validation states the load itself.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local trtllm_bench = {}

local milliseconds = { ttft_s_mean = "streaming_metrics.avg_ttft_ms", tpot_s_mean = "streaming_metrics.avg_tpot_ms",
  ttft_s_p50 = "streaming_metrics.ttft_percentiles.p50", tpot_s_p50 = "streaming_metrics.tpot_percentiles.p50",
  e2e_s_mean = "performance.avg_request_latency_ms" }

function trtllm_bench.read(where, document)
  local run = { metrics = {}, notes = {}, failed = 0 }
  for metric, key in core.sorted_pairs(milliseconds) do
    local value = fields.positive(where, document, key, 1e12)
    run.metrics[metric] = value and value / 1e3
  end
  run.count = fields.needed(where, document, "request_info.num_requests", fields.most_requests)
  run.prompt_tokens = fields.needed(where, document, "request_info.avg_input_length", fields.most_tokens)
  run.output_tokens = fields.needed(where, document, "request_info.avg_output_length", fields.most_tokens)
  run.output_tokens_per_s = fields.positive(where, document, "performance.system_output_throughput_tok_s",
    fields.most_rate)
  run.refused = where .. ": is a report of trtllm-bench, which does not say how the requests were sent; measure the "
    .. "server with vllm bench serve or AIPerf (trtllm-serve), or state the load in a case of `rooflua validate`"
  return { run }
end

return trtllm_bench
