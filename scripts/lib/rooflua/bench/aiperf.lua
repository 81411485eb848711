-- `aiperf profile`. Flags: docs/cli-options.md of AIPerf, main of 2026 (003fc0f1). Defaults: config_defaults.py in
-- src/aiperf/common/config. Traces: its docs, "Trace replay".
local core = require "rooflua.base.core"
local flags = require "rooflua.bench.flags"
local loads = require "rooflua.bench.loads"

local least_requests, per_client = 10, 2 -- MIN_REQUEST_COUNT, REQUEST_COUNT_MULTIPLIER
local turns = "conversation-turn-"

--- A file of requests: one of Mooncake's or BurstGPT's form is read.
local traces = { mooncake_trace = "mooncake", burst_gpt_trace = "burstgpt", bailian_trace = "mooncake" }
local block_tokens = { bailian_trace = 16, mooncake_trace = 512 }

local function of_file(values, told)
  local kind = values["custom-dataset-type"] or "mooncake_trace"
  if not traces[kind] then
    core.fail("--bench: --custom-dataset-type %s: the lengths are those of texts, which are not read: give them as a "
      .. "workload of the scenario", kind)
  end
  local others = {}
  for _, name in ipairs { "concurrency", "request-rate", "no-fixed-schedule", "fixed-schedule-start-offset",
    "fixed-schedule-end-offset" } do
    if values[name] then others[#others + 1] = "--" .. name end
  end
  loads.tell(told, "not followed, and changes the load", others)
  return loads.trace(values["input-file"], "--input-file", { format = traces[kind], limit = values["request-count"],
    hash_block_tokens = values["isl-block-size"] or block_tokens[kind] })
end

--- An answer's length in --extra-inputs, "max_tokens:128" or JSON.
local function extra_length(values)
  for _, text in ipairs(values["extra-inputs"] or {}) do
    local found = text:match "^min_tokens:(%d+)$" or text:match "^max_tokens:(%d+)$"
      or text:match "^max_completion_tokens:(%d+)$" or text:match '"m[ianx]+_tokens"%s*:%s*(%d+)'
    if found then return tonumber(found) end
  end
end

--- Sets the lengths of prompts and answers.
local function set_lengths(values, about, told)
  if values["public-dataset"] then
    if values["public-dataset"] ~= "sharegpt" then loads.refuse_dataset(values["public-dataset"]) end
    about.prompt_tokens, about.output_tokens = loads.sharegpt(told)
    return
  end
  about.prompt_tokens = loads.normal(values.isl or 550, values["isl-stddev"])
  about.output_tokens = values.osl and loads.normal(values.osl, values["osl-stddev"]) or extra_length(values)
    or loads.unstated("--osl", told)
end

--- Sets turns of conversations, where there are several.
local function set_turns(values, about)
  local mean = values[turns .. "mean"] or 1
  if mean <= 1 then return end
  about.turns = loads.normal(mean, values[turns .. "stddev"])
  about.conversations = values["conversation-num"] or values["num-dataset-entries"] or 100
  about.pause_s = (values[turns .. "delay-mean"] or 0) / 1000 * (values[turns .. "delay-ratio"] or 1)
  about.private_tokens = values["user-context-prompt-length"]
  about.otherwise = math.max(1, math.floor(about.conversations * mean + 0.5))
end

--- The images of a request; nil: none.
local function images_of(values)
  local width, height = values["image-width-mean"] or 0, values["image-height-mean"] or 0
  local count = values["image-batch-size"] or 1
  return width >= 1 and height >= 1 and count > 0 and { count = count, sizes = { { width, height } } } or nil
end

--- Sets prompts that begin alike, or how many different ones there are.
local function set_prefixes(values, about)
  local shared = values["shared-system-prompt-length"]
  local prefix = shared or values["prefix-prompt-length"] or 0
  if prefix > 0 then
    about.groups = shared and 1 or math.max(1, values["num-prefix-prompts"] or 1)
    about.prefix_tokens, about.prompts_per_group = prefix, math.max(1, math.ceil(about.count / about.groups))
  elseif about.clients then
    about.distinct_prompts = math.min(values["num-dataset-entries"] or values["conversation-num"] or about.count,
      about.count)
  end
end

local function workload(values, told)
  loads.check_answers("--endpoint-type", values["endpoint-type"])
  if values["input-file"] then return of_file(values, told) end
  if values["seq-dist"] then
    core.fail "--bench: --seq-dist: lengths that are drawn in pairs: give workloads.mix, a part for each pair"
  end
  local rate, pattern = values["request-rate"], values["arrival-pattern"]
  local clients = values.concurrency or not rate and 1 or nil
  local about = { rate_per_s = rate, clients = not rate and clients or nil, even = pattern == "constant",
    shape = pattern == "gamma" and (values["arrival-smoothness"] or 1) or nil,
    most_in_flight = rate and clients or nil }
  set_lengths(values, about, told)
  set_turns(values, about)
  about.count = loads.count({ count = values["request-count"], duration_s = values["benchmark-duration"],
    rate_per_s = rate, otherwise = about.otherwise or math.max(least_requests, per_client * (clients or 1)) }, told)
  set_prefixes(values, about)
  return loads.with_images(loads.of(about, told), images_of(values))
end

return {
  title = "aiperf profile",
  starts = { "aiperf profile" },
  aliases = flags.aliases("synthetic-input-tokens-mean=isl prompt-input-tokens-mean=isl "
    .. "synthetic-input-tokens-stddev=isl-stddev prompt-input-tokens-stddev=isl-stddev output-tokens-mean=osl "
    .. "prompt-output-tokens-mean=osl output-tokens-stddev=osl-stddev prompt-output-tokens-stddev=osl-stddev "
    .. "num-requests=request-count num-prompts=num-dataset-entries num-conversations=conversation-num "
    .. "num-sessions=conversation-num session-turns-mean=conversation-turn-mean "
    .. "session-turns-stddev=conversation-turn-stddev session-turn-delay-mean=conversation-turn-delay-mean "
    .. "session-turn-delay-stddev=conversation-turn-delay-stddev session-delay-ratio=conversation-turn-delay-ratio "
    .. "request-rate-mode=arrival-pattern vllm-burstiness=arrival-smoothness sequence-distribution=seq-dist "
    .. "prompt-prefix-pool-size=num-prefix-prompts prefix-prompt-pool-size=num-prefix-prompts "
    .. "prompt-prefix-length=prefix-prompt-length batch-size-image=image-batch-size "
    .. "synthetic-input-tokens-block-size=isl-block-size prompt-input-tokens-block-size=isl-block-size "
    .. "f=config b=batch-size batch-size-text=batch-size prompt-batch-size=batch-size"),
  flags = flags.of { text = "arrival-pattern input-file custom-dataset-type public-dataset seq-dist endpoint-type",
    list = "extra-inputs",
    number = "isl isl-stddev osl osl-stddev request-rate benchmark-duration conversation-turn-mean "
      .. "conversation-turn-stddev conversation-turn-delay-mean conversation-turn-delay-ratio arrival-smoothness "
      .. "image-width-mean image-height-mean fixed-schedule-start-offset fixed-schedule-end-offset",
    whole = "concurrency request-count num-dataset-entries conversation-num num-prefix-prompts prefix-prompt-length "
      .. "shared-system-prompt-length user-context-prompt-length image-batch-size isl-block-size",
    switch = "fixed-schedule no-fixed-schedule" },
  lost = flags.of { value = "config batch-size dataset-sampling-strategy prefill-concurrency concurrency-ramp-duration "
    .. "prefill-concurrency-ramp-duration request-rate-ramp-duration failed-request-threshold "
    .. "conversation-turn-delay-stddev inter-turn-delay-cap-seconds max-idle-gap-cap-seconds replay-speedup "
    .. "request-cancellation-rate request-cancellation-delay image-width-stddev image-height-stddev cache-bust "
    .. "trace-session-sample-ratio max-context-length synthesis-speedup-ratio synthesis-prefix-len-multiplier "
    .. "synthesis-prefix-root-multiplier synthesis-prompt-len-multiplier synthesis-output-len-multiplier "
    .. "synthesis-max-isl synthesis-max-osl trajectory-start-min-ratio trajectory-start-max-ratio "
    .. "trace-idle-gap-cap-seconds system-idle-gap-cap-seconds num-profile-runs profile-run-cooldown-seconds",
    values = "dataset-filter", switch = "ignore-trace-delays use-think-time-only allow-dataset-wrap "
    .. "no-allow-dataset-wrap open-loop-replay no-open-loop-replay open-loop-strict burst-phase-starts "
    .. "uuid-and-strip apply-chat-template" },
  refused = flags.of { value = "user-centric-rate num-users request-rate-series scenario search-recipe search-space "
    .. "variant sweep-variant isl-osl-pairs accuracy-benchmark audio-length-mean video-width video-height "
    .. "rankings-passages-mean hf-weka-dataset" },
  without_effect = flags.of {
    value = "model model-names m model-selection-strategy url u url-strategy endpoint custom-endpoint "
      .. "request-timeout-seconds wait-for-model-timeout wait-for-model-mode wait-for-model-interval "
      .. "reset-kv-cache-timeout-seconds reset-kv-cache-path server-profiler-timeout-seconds "
      .. "server-profiler-start-path server-profiler-stop-path api-key transport transport-type "
      .. "connection-reuse-strategy request-content-type session-header tokenizer tokenizer-revision hf-subset "
      .. "random-seed warmup-request-count num-warmup-requests warmup-duration warmup-concurrency num-warmup-sessions "
      .. "warmup-prefill-concurrency warmup-request-rate warmup-arrival-pattern warmup-grace-period "
      .. "warmup-concurrency-ramp-duration warmup-prefill-concurrency-ramp-duration "
      .. "warmup-request-rate-ramp-duration agentic-cache-warmup-duration agentic-warmup-grace-period ui ui-type "
      .. "artifact-dir output-artifact-dir record-processors record-processor-service-count workers-max max-workers "
      .. "export-level profile-export-level profile-export-file profile-export-prefix slice-duration "
      .. "benchmark-grace-period prompt-corpus image-format image-source image-source-sampling audio-batch-size "
      .. "batch-size-audio audio-length-stddev audio-format audio-num-channels video-batch-size batch-size-video "
      .. "video-duration video-fps video-synth-type video-format video-codec video-audio-sample-rate "
      .. "video-audio-num-channels video-audio-codec video-audio-depth rankings-passages-stddev "
      .. "rankings-passages-prompt-token-mean rankings-passages-prompt-token-stddev rankings-query-prompt-token-mean "
      .. "rankings-query-prompt-token-stddev otel-url gen-ai-provider mlflow-tracking-uri mlflow-experiment "
      .. "mlflow-run-name mlflow-parent-run-id wandb-project wandb-entity wandb-run-name network-latency-mean "
      .. "network-latency-ping-interval confidence-level convergence-metric convergence-stat convergence-threshold "
      .. "convergence-mode parameter-sweep-cooldown-seconds parameter-sweep-mode sweep-type search-metric search-stat "
      .. "search-direction search-max-iterations search-initial-points search-random-seed search-planner "
      .. "optuna-sampler optuna-acquisition optuna-terminator search-percentile-pooling bo-constraint-mode search-sla "
      .. "search-sla-tier ttft-sla-ms itl-sla-ms tpot-sla-ms e2e-sla-ms error-rate-sla slo-attainment-fraction "
      .. "search-style degradation-threshold degradation-metric-tag degradation-stat isl-min isl-max isl-steps "
      .. "concurrency-min concurrency-max concurrency-steps osl-min osl-max osl-steps accuracy-tasks accuracy-n-shots "
      .. "accuracy-grader accuracy-system-prompt log-level api-port api-host stats-interval zmq-host zmq-ipc-path",
    values = "header H goodput server-metrics server-metrics-formats gpu-telemetry stream otel-resource-attributes "
      .. "mlflow-tag mlflow-artifact-glob wandb-tag audio-depths audio-sample-rates",
    switch = "streaming reset-kv-cache server-profiler use-legacy-max-tokens use-server-token-count "
      .. "download-video-content tokenizer-trust-remote-code fixed-schedule-auto-offset omit-kv-hints "
      .. "force-min-tokens no-force-min-tokens unsafe-override auto-plot no-auto-plot plot-required "
      .. "export-outputs-json export-http-trace show-trace-timing no-server-metrics network-latency-automatic "
      .. "no-gpu-telemetry profile-run-disable-warmup-after-first no-profile-run-disable-warmup-after-first "
      .. "set-consistent-seed no-set-consistent-seed vary-seed-per-trial no-vary-seed-per-trial "
      .. "parameter-sweep-same-seed no-parameter-sweep-same-seed no-sweep-table accuracy-enable-cot "
      .. "accuracy-no-enable-cot accuracy-verbose verbose v extra-verbose vv zmq-dual-bind" },
  workload = workload,
}
