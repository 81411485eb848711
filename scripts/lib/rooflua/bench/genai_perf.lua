-- `genai-perf profile`: AIPerf's flags of before it was renamed, and a duration of the measurement. Flags:
-- triton-inference-server/perf_analyzer, genai-perf/genai_perf/parser.py (00afbedf and, of 2026, 263c5f6e).
local core = require "rooflua.base.core"
local aiperf = require "rooflua.bench.aiperf"
local flags = require "rooflua.bench.flags"

return core.copy(aiperf, {
  title = "genai-perf profile",
  starts = { "genai-perf profile", "genai-perf" },
  aliases = core.copy(aiperf.aliases, flags.aliases("num-system-prompts=num-prefix-prompts p=measurement-interval "
    .. "system-prompt-length=prefix-prompt-length s=stability-percentage g=goodput session-concurrency=concurrency "
    .. "d=input-directory")),
  refused = core.copy(aiperf.refused, flags.of { value = "batch-size-image" }),
  without_effect = core.copy(aiperf.without_effect, flags.of { value = "measurement-interval service-kind "
    .. "stability-percentage backend server-metrics-url grpc-method checkpoint-dir input-directory",
    values = "model m server-metrics-urls",
    switch = "generate-plots output-tokens-mean-deterministic enable-checkpointing" }),
  has_prefixes = true,
  workload = function(values, told)
    if not values["request-count"] then
      told[#told + 1] = "--bench: --request-count is not stated: genai-perf measures until its figures are stable"
    end
    return aiperf.workload(values, told)
  end,
})
