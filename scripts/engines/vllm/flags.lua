--- Flags and variables of vLLM that no rule reads (engines/rules/flags.lua has the form): vllm/engine/arg_utils.py,
--- vllm/entrypoints/openai/cli_args.py and vllm/envs.py of releases from 0.8 to 0.28, and arg_utils.py of a build after
--- 0.29.
local flags = require "engines.rules.flags"

return flags.list {
  idle = { task = { "auto", "generate" }, runner = { "auto", "generate" }, convert = { "auto", "none" },
    model_impl = { "auto", "vllm" }, device = { "auto", "cuda" }, all2all_backend = { "allgather_reducescatter" },
    moe_backend = { "auto" }, linear_backend = { "auto" }, mamba_cache_dtype = { "auto" },
    mamba_ssm_cache_dtype = { "auto" }, cpu_offload_gb = { "0" }, stream_interval = { "1" },
    offload_backend = { "auto" },
    max_num_partial_prefills = { "1" }, max_long_partial_prefills = { "1" }, num_scheduler_steps = { "1" },
    scheduler_delay_factor = { "0" }, num_lookahead_slots = { "0" } },
  without_effect = [[
    host:t port:i uds:t root-path:t api-key:l headless grpc uvicorn-log-level:t
    !disable-uvicorn-access-log disable-access-log-for-endpoints:t !allow-credentials allowed-origins:l
    allowed-methods:l allowed-headers:l middleware:l log-config-file:t h11-max-header-count:i
    h11-max-incomplete-event-size:i ssl-keyfile:t ssl-certfile:t ssl-ca-certs:t ssl-cert-reqs:i ssl-ciphers:t
    !enable-ssl-refresh !disable-fastapi-docs !enable-offline-docs !enable-request-id-headers
    !disable-frontend-multiprocessing shutdown-timeout:i hf-token:t !fail-on-environ-validation

    !enable-log-requests !disable-log-requests !disable-log-stats max-log-len:i !enable-log-outputs
    !enable-log-deltas !log-error-stack !enable-server-load-tracking !enable-prompt-tokens-details
    !enable-force-include-usage show-hidden-metrics-for-version:t otlp-traces-endpoint:t collect-detailed-traces:l
    !aggregate-engine-logging !cudagraph-metrics !kv-cache-metrics kv-cache-metrics-sample:n !enable-mfu-metrics
    !enable-per-request-metrics per-request-spec-decode-metrics:t>=0.29 !enable-logging-iteration-details
    !enable-layerwise-nvtx-tracing profiler-config:j
    !ray-workers-use-nsight !enable-tokenizer-info-endpoint jit-monitor-mode:t !jit-monitor-verbose

    chat-template:t chat-template-content-format:t default-chat-template-kwargs:j !trust-request-chat-template
    response-role:t served-model-name:l !enable-auto-tool-choice tool-call-parser:t tool-parser-plugin:t tool-server:t
    !exclude-tools-when-tool-choice-none reasoning-parser:t reasoning-parser-plugin:t !enable-reasoning
    reasoning-config:j !return-tokens-as-token-ids !tokens-only logits-processors:l logits-processor-pattern:t
    max-logprobs:i logprobs-mode:t guided-decoding-backend:t<0.13 !guided-decoding-disable-fallback<0.13
    !guided-decoding-disable-any-whitespace<0.13 !guided-decoding-disable-additional-properties<0.13
    structured-outputs-config:j io-processor-plugin:t renderer-num-workers:i !enable-prompt-embeds
    !enable-trace-replay>=0.29 !enable-mm-processor-stats
    fingerprint-mode:t fingerprint-value:t !enable-return-routed-experts !return-sampling-mask

    tokenizer:t tokenizer-mode:t tokenizer-revision:t !skip-tokenizer-init tokenizer-pool-size:i
    tokenizer-pool-type:t tokenizer-pool-extra-config:j !trust-remote-code revision:t code-revision:t
    config-format:t hf-config-path:t download-dir:t load-format:t model-loader-extra-config:j ignore-patterns:l
    !use-tqdm-on-load pt-load-map-location:t safetensors-load-strategy:t safetensors-prefetch-num-threads:i
    safetensors-prefetch-block-size:i max-parallel-loading-workers:i allowed-local-media-path:t
    allowed-media-domains:l seed:i !enable-sleep-mode !enable-cumem-allocator !enable-nccl-comm-suspend>=0.29
    weight-transfer-config:j
    model-class-overrides:j !allow-deprecated-quantization !enable-ep-weight-filter

    distributed-executor-backend:t worker-cls:t worker-extension-cls:t nnodes:i/-n node-rank:i/-r master-addr:t
    master-port:i data-parallel-address:t/-dpa data-parallel-backend:t/-dpb data-parallel-rpc-port:i/-dpp
    data-parallel-size-local:i/-dpl data-parallel-rank:i/-dpn data-parallel-start-rank:i/-dpr
    data-parallel-supervisor-port:i !disable-nccl-for-dp-synchronization distributed-timeout-seconds:i
    cpu-distributed-timeout-seconds:i device-ids:l !numa-bind numa-bind-nodes:l numa-bind-cpus:l
    dp-supervisor-probe-interval-s:n dp-supervisor-probe-timeout-s:n dp-supervisor-probe-failure-threshold:i

    !worker-use-ray<0.7 !engine-use-ray<0.6.3
    swap-space:n !calculate-kv-scales<0.28 prefix-caching-hash-algo:t !disable-cascade-attn !disable-async-output-proc
    !use-v2-block-manager !enable-flashinfer-autotune !multi-step-stream-outputs
    mm-processor-kwargs:j mm-processor-cache-gb:n mm-processor-cache-type:t mm-shm-cache-max-object-size-mb:i
    mm-encoder-attn-backend:t mm-encoder-attn-dtype:t mm-hasher-algorithm:t mm-tensor-ipc:t
    mm-ipc-gpu-memory-gb:n mm-processor-device:t media-io-kwargs:j !interleave-mm-strings video-pruning-rate:n
    !disable-mm-preprocessor-cache !enable-mm-embeds
    mm-encoder-fp8-scale-path:t mm-encoder-fp8-scale-save-path:t mm-encoder-fp8-scale-save-margin:n
    video-pruning-method:t cohere-format:t !cohere-is-reasoning-model
    !enable-fault-tolerance fault-tolerance-config:j
  ]],
  not_modelled = {
    { "drafts are made and accepted as `speculation` says", [[ disable-logprobs-during-spec-decoding
      ngram-prompt-lookup-max:i ngram-prompt-lookup-min:i spec-decoding-acceptance-method:t
      speculative-disable-by-batch-size:i speculative-disable-mqa-scorer speculative-max-model-len:i
      speculative-draft-tensor-parallel-size:i/-spec-draft-tp speculative-model-quantization:t
      typical-acceptance-sampler-posterior-alpha:n typical-acceptance-sampler-posterior-threshold:n ]] },
    { "LoRA adapters are those of `adapters`", [[ lora-dtype:t
      !fully-sharded-loras lora-extra-vocab-size:i default-mm-loras:j !enable-lora-bias
      long-lora-scaling-factors:t lora-target-modules:l !enable-tower-connector-lora !specialize-active-lora
      !enable-mixed-moe-lora-format !enable-moe-shared-loras qlora-adapter-name-or-path:t !enable-prompt-adapter
      max-prompt-adapters:i max-prompt-adapter-token:i prompt-adapters:l ]] },
    { "each rank of dcp is taken to hold the same number of tokens", [[ dcp-kv-cache-interleave-size:i
      cp-kv-cache-interleave-size:i !dcp-q-replicate>=0.29 ]] },
    { "weights outside of the GPU are not modelled", [[ cpu-offload-gb:n cpu-offload-params:l offload-backend:t
      offload-group-size:i offload-num-in-group:i offload-prefetch-step:i offload-params:l ]] },
    { "experts move and have copies as `experts` says, not as this", [[ !enable-eplb eplb-config:j
      num-redundant-experts:i eplb-window-size:i eplb-step-interval:i !eplb-log-balancedness
      expert-placement-strategy:t !enable-elastic-ep ]] },
    { "two batches that overlap are not modelled", [[ !enable-dbo dbo-decode-token-threshold:i
      dbo-prefill-token-threshold:i ubatch-size:i ]] },
    { "kernels are those of the tables, whichever back end is chosen", [[ attention-config:j/-ac
      moe-backend:t linear-backend:t kernel-config:j mamba-backend:t gdn-prefill-backend:t kda-prefill-backend:t
      ir-op-priority:j mamba-ssu-algorithm:t !use-replayssm replayssm-buffer-len:i !enable-bf16x3-router-gemm
      !use-fp64-gumbel ]] },
    { "the config of the model is used as it is published", "hf-overrides:j rope-scaling:j rope-theta:n" },
    { "several prompts in part are not modelled", [[ max-num-partial-prefills:i<0.27
      max-long-partial-prefills:i<0.27 ]] },
    { "no request is refused for the length of the queue", [[ max-num-queued-reqs:i>=0.29
      max-num-queued-tokens:i>=0.29 ]] },
    { "states and windows are kept as by the release's default", "prefix-cache-retention-interval:i>=0.28" },
    { "data-parallel ranks agree on the end of work as by default", "dp-sync-interval:i>=0.29" },
    { "layers are grouped as by the release's default", "attn-group-size:i>=0.29" },
    { "the scheduler is the engine's default", [[ scheduler-cls:t scheduler-delay-factor:n preemption-mode:t
      num-scheduler-steps:i num-lookahead-slots:i max-num-scheduled-tokens:i watermark:n
      prefix-match-unit:i ]] },
    { "every layer's window and cache are those of its kind", [[ !disable-sliding-window
      !kv-sharing-fast-prefill kv-cache-dtype-skip-layers:l ]] },
    { "states of recurrent layers are those of the model's file", [[ mamba-cache-dtype:t mamba-ssm-cache-dtype:t
      mamba-block-size:i mamba-cache-mode:t !enable-mamba-cache-stochastic-rounding mamba-cache-philox-rounds:i
      !enable-mamba-fine-grained-prefix-cache>=0.29 mamba-config:j ]] },
    { "images and their encoder are not modelled", [[ !skip-mm-profiling
      !mm-encoder-only ec-manager-config:j !enable-flash-late-interaction ]] },
    { "the front end is a queue only with frontend.endpoint", "api-server-count:i/-asc stream-interval:i" },
    { "requests go to the rank that the engine's own balancer takes", [[ !data-parallel-hybrid-lb/-dph
      !data-parallel-external-lb/-dpe !data-parallel-multi-port-external-lb/-dpm ]] },
    { "collectives are those of the tables", "!disable-custom-all-reduce" },
    { "what is compiled and captured is the engine's default", [[ max-seq-len-to-capture:i<0.12
      max-context-len-to-capture:i<0.6 ]] },
    { "weights are in the format of the checkpoint", "quantization-config:j" },
    { "a model that generates text is taken", "task:t runner:t convert:t pooler-config:j override-pooler-config:j" },
    { "sampling is that of the model's generation_config.json", "override-generation-config:j" },
    { "the model's own implementation in vLLM is taken", "model-impl:t additional-config:j device:t "
      .. "override-attention-dtype:t<0.28 diffusion-config:j/-dc" },
  },
  variables = {
    without_effect = [[ VLLM_LOGGING_LEVEL VLLM_LOGGING_CONFIG_PATH VLLM_CONFIGURE_LOGGING
    VLLM_WORKER_MULTIPROC_METHOD
      VLLM_CACHE_ROOT VLLM_CONFIG_ROOT VLLM_API_KEY VLLM_HOST_IP VLLM_PORT VLLM_USE_MODELSCOPE VLLM_DO_NOT_TRACK
      VLLM_NO_USAGE_STATS VLLM_SERVER_DEV_MODE VLLM_ALLOW_LONG_MAX_MODEL_LEN VLLM_ENGINE_READY_TIMEOUT_S
      VLLM_RPC_TIMEOUT VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS VLLM_ENGINE_ITERATION_TIMEOUT_S VLLM_TORCH_PROFILER_DIR
      VLLM_SKIP_P2P_CHECK VLLM_NIXL_SIDE_CHANNEL_PORT VLLM_NIXL_SIDE_CHANNEL_HOST VLLM_ALLOW_RUNTIME_LORA_UPDATING
      VLLM_IMAGE_FETCH_TIMEOUT VLLM_RANDOMIZE_DP_DUMMY_INPUTS VLLM_LOG_STATS_INTERVAL VLLM_HTTP_TIMEOUT_KEEP_ALIVE
      VLLM_DISABLE_COMPILE_CACHE VLLM_ENABLE_RESPONSES_API_STORE VLLM_DP_MASTER_IP VLLM_DP_MASTER_PORT ]],
    not_modelled = {
      { "kernels are those of the tables, whichever back end is chosen", [[
        VLLM_FLASH_ATTN_VERSION VLLM_USE_FLASHINFER_MOE_FP16 VLLM_USE_FLASHINFER_MOE_FP4
        VLLM_USE_FLASHINFER_MOE_MXFP4_BF16
        VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS VLLM_FLASHINFER_MOE_BACKEND
        VLLM_USE_TRTLLM_ATTENTION VLLM_USE_TRTLLM_RAGGED_DEEPSEEK_PREFILL VLLM_NVFP4_GEMM_BACKEND
        VLLM_USE_NVFP4_CT_EMULATIONS VLLM_TRITON_FLASH_ATTN VLLM_USE_TRITON_FLASH_ATTN
        VLLM_DEEP_GEMM_WARMUP VLLM_MLA_DISABLE VLLM_USE_CUDNN_PREFILL VLLM_TEST_FORCE_FP8_MARLIN
        VLLM_FUSED_MOE_CHUNK_SIZE VLLM_DISABLE_SHARED_EXPERTS_STREAM
        VLLM_BLOCKSCALE_FP8_GEMM_FLASHINFER VLLM_DISABLED_KERNELS VLLM_ENABLE_FLA_PACKED_RECURRENT_DECODE
        VLLM_ENABLE_FUSED_MOE_ACTIVATION_CHUNKING VLLM_ENABLE_INDUCTOR_COORDINATE_DESCENT_TUNING
        VLLM_ENABLE_INDUCTOR_MAX_AUTOTUNE VLLM_ENABLE_MOE_ALIGN_BLOCK_SIZE_TRITON VLLM_FLASHINFER_AUTOTUNE_SKIP_OPS
        VLLM_FLASHINFER_FORCE_TENSOR_CORES VLLM_GDN_DECODE_KERNEL VLLM_HUMMING_INPUT_QUANT_CONFIG
        VLLM_HUMMING_MOE_GEMM_TYPE VLLM_HUMMING_USE_F16_ACCUM VLLM_MARLIN_INPUT_DTYPE VLLM_MARLIN_USE_ATOMIC_ADD
        VLLM_MAX_TOKENS_PER_EXPERT_FP4_MOE VLLM_MLA_DISABLE_REQUANTIZATION VLLM_MLA_PERFORM_MATRIX_ABSORPTION
        VLLM_MOE_SKIP_PADDING VLLM_MULTI_STREAM_GEMM_TOKEN_THRESHOLD VLLM_MXFP8_EMULATION_DEQUANT_AT_LOAD
        VLLM_ROCM_AITER_MLA_ASM_PADDING VLLM_ROCM_AITER_MOE_DISPATCH_POLICY VLLM_ROCM_CUSTOM_PAGED_ATTN
        VLLM_ROCM_FP8_MFMA_PAGE_ATTN VLLM_ROCM_FP8_PADDING VLLM_ROCM_MOE_PADDING VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT
        VLLM_ROCM_USE_AITER_FP4BMM VLLM_ROCM_USE_AITER_FP4_ASM_GEMM VLLM_ROCM_USE_AITER_FP8BMM
        VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS VLLM_ROCM_USE_AITER_LINEAR VLLM_ROCM_USE_AITER_LINEAR_HIPBMM
        VLLM_ROCM_USE_AITER_MHA VLLM_ROCM_USE_AITER_MLA VLLM_ROCM_USE_AITER_MOE VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4
        VLLM_ROCM_USE_AITER_PAGED_ATTN VLLM_ROCM_USE_AITER_RMSNORM VLLM_ROCM_USE_AITER_TRITON_GEMM
        VLLM_ROCM_USE_AITER_TRITON_ROPE VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION VLLM_ROCM_USE_SKINNY_GEMM
        VLLM_TRITON_ATTN_USE_TD VLLM_TRITON_FORCE_FIRST_CONFIG VLLM_TRITON_USE_TD VLLM_TUNED_CONFIG_FOLDER
        VLLM_USE_DEEP_GEMM_E8M0 VLLM_USE_DEEP_GEMM_TMA_ALIGNED_SCALES VLLM_USE_FBGEMM VLLM_USE_FLASHINFER_MOE_INT4
        VLLM_USE_FUSED_MOE_GROUPED_TOPK VLLM_USE_HW_AGNOSTIC VLLM_USE_OINK_OPS VLLM_USE_TRITON_AWQ
        VLLM_USE_TRTLLM_DECODE_ATTENTION VLLM_V1_USE_PREFILL_DECODE_ATTENTION VLLM_BATCH_INVARIANT
        VLLM_KIMI_K3_AUX_ATTN_RES_STREAM VLLM_KIMI_K3_GEMM_RS VLLM_LORA_DISABLE_PDL VLLM_LORA_ENABLE_DUAL_STREAM ]] },
      { "collectives are those of the tables", [[ VLLM_ALLREDUCE_USE_SYMM_MEM VLLM_USE_NCCL_SYMM_MEM
        VLLM_ALLREDUCE_USE_FLASHINFER VLLM_FLASHINFER_ALLREDUCE_BACKEND
        VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB
        VLLM_DISABLE_PYNCCL VLLM_ROCM_QUICK_REDUCE_CAST_BF16_TO_FP16 VLLM_ROCM_QUICK_REDUCE_MAX_SIZE_BYTES_MB
        VLLM_ROCM_QUICK_REDUCE_MIN_SIZE_BYTES_MB VLLM_ROCM_QUICK_REDUCE_QUANTIZATION
        VLLM_ROCM_QUICK_REDUCE_QUANTIZATION_MIN_SIZE_KB VLLM_ROCM_USE_AITER_CUSTOM_AR ]] },
      { "the exchange of tokens among experts is that of the engine's default", [[
        VLLM_DBO_COMM_SMS VLLM_DEEPEPLL_NVFP4_DISPATCH VLLM_DEEPEP_BUFFER_SIZE_MB VLLM_DEEPEP_LOW_LATENCY_USE_MNNVL
        VLLM_DEEPEP_V2_ALLOW_HYBRID_MODE VLLM_DEEPEP_V2_ALLOW_MULTIPLE_REDUCTION VLLM_DEEPEP_V2_PREFER_OVERLAP
        VLLM_ENABLE_MOE_DP_CHUNK VLLM_MOE_DP_CHUNK_SIZE VLLM_NIXL_EP_MAX_NUM_RANKS ]] },
      { "tokens are routed as evenly as experts are taken to be", "VLLM_MOE_ROUTING_SIMULATION_STRATEGY" },
      { "weights are in the format of the checkpoint", "VLLM_HUMMING_ONLINE_QUANT_CONFIG" },
      { "the memory is divided as by the release's default", [[ VLLM_KV_CACHE_LAYOUT
        VLLM_PREFIX_CACHE_RETENTION_INTERVAL VLLM_ENABLE_STARTUP_PLAN
        VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE ]] },
      { "shared experts are whole on each rank, as by default", "VLLM_KIMI_K3_SHARD_SP_SHARED_EXPERT" },
      { "ranks of dcp exchange as by default", [[ VLLM_DCP_Q_REPLICATE VLLM_USE_DIRECT_DCP_A2A
        VLLM_USE_DIRECT_DCP_Q_GATHER VLLM_USE_DIRECT_DCP_KV_GATHER ]] },
      { "states of the host are those of the release's default", "VLLM_ENABLE_V1_MULTIPROCESSING" },
    },
  },
}
