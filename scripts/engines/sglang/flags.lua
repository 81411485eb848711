--- Flags and variables of SGLang that no rule reads (engines/rules/flags.lua has the form):
--- python/sglang/srt/server_args.py of every tag from 0.4.0 to 0.5.18; arg_groups/fields and field_order.py of main in
--- 2026-09 and 2026-10. What later releases add has no release here, since none could be placed.
local flags = require "engines.rules.flags"

return flags.list {
  idle = { dtype = { "auto", "bfloat16", "float16", "half" }, cpu_offload_gb = { "0" }, lora_backend = { "csgmv" },
    model_impl = { "auto", "sglang" },
    device = { "cuda" }, fp4_gemm_runner_backend = { "auto" },
    attn_cp_size = { "1" }, dcp_size = { "1" }, moe_dp_size = { "1" }, stream_interval = { "1" },
    num_continuous_decode_steps = { "1" }, ep_num_redundant_experts = { "0" }, mamba_ssm_dtype = { "float32" },
    sampling_defaults = { "model" }, load_balance_method = { "auto", "round_robin" },
    init_expert_location = { "trivial" }, radix_eviction_policy = { "lru" }, deepep_mode = { "auto" } },
  without_effect = [[
    host:t port:i grpc-port:i nccl-port:i grpc-mode smg-grpc-mode smg-http-sidecar-port:i/--grpc-http-sidecar-port
    fastapi-root-path:t enable-http2 api-key:t admin-api-key:t served-model-name:t weight-version:t ssl-keyfile:t
    ssl-certfile:t ssl-ca-certs:t ssl-keyfile-password:t enable-ssl-refresh uvicorn-access-log-exclude-prefixes:l
    tool-server:t file-storage-path:t warmups:t skip-server-warmup use-ray custom-sigquit-handler:t gated-launch-port:i
    enable-response-store grpc-response-timeout-secs:i http2-max-concurrent-streams:i
    http2-initial-connection-window-size:i trust-request-chat-template return-input-ids return-output-ids
    mlx-enable-sampling grpc-worker-threads:i stat-loggers:l>=0.5.17

    chat-template:t completion-template:t hf-chat-template-name:t default-chat-template-kwargs:j reasoning-parser:t
    tool-call-parser:t grammar-backend:t constrained-json-whitespace-pattern:t enable-strict-thinking
    constrained-json-disable-any-whitespace constrained-json-max-whitespace-cnt:i sampling-mask-max-tokens:i
    disable-outlines-disk-cache enable-custom-logit-processor
    enable-return-hidden-states return-hidden-states-mode:t enable-return-routed-experts enable-return-indexer-topk
    preferred-sampling-params:t stream-output incremental-streaming-output stream-response-default-include-usage
    enable-cache-report allow-auto-truncate strip-thinking-cache

    log-level:t log-level-http:t log-requests log-requests-level:i log-requests-format:t log-requests-target:l
    crash-dump-folder:t show-time-cost enable-metrics enable-metrics-for-all-schedulers enable-mfu-metrics
    tokenizer-metrics-custom-labels-header:t tokenizer-metrics-allowed-custom-labels:l extra-metric-labels:j
    bucket-time-to-first-token:l bucket-inter-token-latency:l bucket-e2e-request-latency:l bucket-decode-throughput:l
    load-publish-endpoint:t expert-balancedness-report-mode:t prompt-tokens-buckets:l
    generation-tokens-buckets:l collect-tokens-histogram decode-log-interval:i enable-request-time-stats-logging
    kv-events-config:t enable-trace otlp-traces-endpoint:t trace-modules:t export-metrics-to-file
    export-metrics-to-file-dir:t gc-warning-threshold-secs:n gc-threshold:l watchdog-timeout:n
    soft-watchdog-timeout:n enable-forward-pass-metrics forward-pass-metrics-ipc-name:t
    forward-pass-metrics-worker-id:t enable-expert-distribution-metrics expert-distribution-recorder-mode:t
    expert-distribution-recorder-buffer-size:i load-watch-interval:n<0.5.7 load-snapshot-publish-interval:i
    debug-tensor-dump-input-file:t debug-tensor-dump-layers:l
    debug-tensor-dump-inject:t<0.5.14 enable-profile-cuda-graph enable-layerwise-nvtx-marker enable-cudagraph-gc
    sleep-on-idle batch-notify-size:i enable-nan-detection<0.5.13 msprobe-dump-config:t sidecar:t sidecar-args:l
    kv-canary:t
    kv-canary-real-data:t kv-canary-sweep-interval:i otlp-service-name:t oltp-traces-endpoint:t>=0.5.3<0.5.5
    crash-on-nan:t>=0.5.3<0.5.4

    tokenizer-path:t tokenizer-mode:t tokenizer-backend:t detokenizer-worker-num:i
    skip-tokenizer-init enable-tokenizer-batch-encode disable-tokenizer-batch-decode enable-dynamic-batch-tokenizer
    dynamic-batch-tokenizer-batch-size:i dynamic-batch-tokenizer-batch-timeout:n trust-remote-code revision:t
    load-format:t model-loader-extra-config:t model-config-parser:t download-dir:t model-checksum:t
    weight-loader-disable-mmap weight-loader-prefetch-checkpoints weight-loader-prefetch-num-threads:i
    weight-loader-drop-cache-after-load custom-weight-loader:l checkpoint-engine-wait-weights-before-ready
    startup-weight-load-mode:t enable-memory-saver enable-weights-cpu-backup enable-draft-weights-cpu-backup
    weight-cache-mode:t weight-cache-socket:t weight-cache-timeout:i delete-ckpt-after-loading random-seed:i
    remote-instance-weight-loader-backend:t remote-instance-weight-loader-seed-instance-ip:t
    remote-instance-weight-loader-seed-instance-service-port:i
    remote-instance-weight-loader-send-weights-group-ports:t
    remote-instance-weight-loader-start-seed-via-transfer-engine rl-quant-profile:t decrypted-config-file:t
    decrypted-draft-config-file:t modelexpress-config:t

    dist-init-addr:t/--nccl-init-addr dist-timeout:i nnodes:i node-rank:i base-gpu-id:i gpu-id-step:i numa-node:l
    pre-warm-nccl engine-info-bootstrap-port:i mooncake-ib-device:t enable-p2p-check
    disaggregation-transfer-backend:t disaggregation-bootstrap-port:i disaggregation-ib-device:t
    disaggregation-decode-tp:i<0.5.10 disaggregation-decode-dp:i<0.5.10 disaggregation-prefill-pp:i<0.5.10
    disaggregation-decode-polling-interval:i disaggregation-decode-extra-slots:i num-reserved-decode-tokens:i
    disaggregation-enable-kv-checksum enable-pd-role-switch

    quantization-param-path:t abort-on-priority-when-disabled default-priority-value:i max-queued-requests:i
    disable-flashinfer-autotune enable-flashinfer-autotune<0.5.7 disable-chunked-prefix-cache
    disable-regex-jump-forward<0.4.4 disable-jump-forward<0.4.4 disable-disk-cache<0.4.3 disable-nan-detection<0.4.3
    disable-penalizer<0.4.2 pdlb-url:t<0.5.2 debug-tensor-dump-prefill-only<0.5.4 disable-overlap-cg-plan<0.5.2
    disable-hicache-numa-detect>=0.5.8<0.5.10 disaggregation-decode-enable-fake-auto>=0.5.7<0.5.9
    disable-fast-image-processor image-processor-backend:t allowed-media-domains:l
    media-url-max-file-size-mb:i mm-preprocess-cache-size-mb:i trust-mm-content-hashes mm-global-cache-backend:t
    mm-attention-backend:t mm-process-config:j
    mm-max-concurrent-calls:i<0.5.10 mm-per-request-timeout:n<0.5.10 mm-io-worker-num:i mm-processor-worker-num:i
    enable-broadcast-mm-inputs-process limit-mm-data-per-request:j
    enable-precise-embedding-interpolation
  ]],
  not_modelled = {
    { "LoRA adapters are not modelled", [[ enable-lora lora-paths:l max-lora-rank:i lora-target-modules:l
      moe-lora-base-gemm:t max-loras-per-batch:i max-loaded-loras:i lora-eviction-policy:t lora-backend:t
      max-lora-chunk-size:i !record-nolora-graph>=0.5.11<0.5.13
      enable-lora-overlap-loading lora-use-virtual-experts lora-strict-loading lora-drain-wait-threshold:n
      experts-shared-outer-loras ]] },
    { "context parallel of sparse attention, and other ways to divide a prompt, are not modelled", [[
      dcp-replicate-q-proj enable-prefill-cp cp-strategy:t enable-nsa-prefill-context-parallel
      enable-dsa-prefill-context-parallel nsa-prefill-cp-mode:t dsa-prefill-cp-mode:t prefill-cp-mode:t
      enable-cp-decode-attn-tp ]] },
    { "other widths of dense layers and experts than tp_size and ep_size are not modelled", [[ moe-dense-tp-size:i
      moe-dp-size:i/--moe-data-parallel-size enable-dp-lm-head enable-attn-tp-input-scattered disable-attn-tp-gather
      !enable-tp-lm-head-all-to-all enable-shared-experts-attn-tp shared-experts-tp-size:i enable-dense-mlp-attn-tp
      enable-layernorm-sp
      dwdp-size:i ]] },
    { "weights outside of the GPU are not modelled", [[ cpu-offload-gb:i offload-group-size:i offload-num-in-group:i
      offload-prefetch-step:i offload-mode:t kt-weight-path:t kt-method:t kt-cpuinfer:i kt-threadpool-count:i
      kt-amx-weight-path:t>=0.5.4<0.5.6 kt-amx-method:t>=0.5.4<0.5.6
      kt-num-gpu-experts:i kt-max-deferred-experts-per-token:i !ple-offload-embedding ple-offload-backend:t
      ple-offload-dir:t ]] },
    { "this KV cache outside of the GPU is not modelled", [[ enable-lmcache lmcache-config-file:t
      disaggregation-decode-enable-offload-kvcache enable-flexkv flexkv-config-file:t radix-cache-backend:t
      hicache-host-memory-mode:t hicache-storage-prefetch-retry-poll-interval:i
      hicache-storage-prefetch-retry-max-attempts:i enable-unified-cache-external-linker
      unified-cache-external-linker-backend:t mooncake-page-wise-load-threshold:i mooncake-enable-page-wise-load
      hicache-host-memory-fraction:n enable-linker-mla-dedup mooncake-store-contributor
      disaggregation-decode-retraction-backup:t disaggregation-decode-host-receive-threshold:n ]] },
    { "experts move and have copies as `experts` says, not as this", [[ enable-eplb eplb-algorithm:t
      eplb-rebalance-num-iterations:i eplb-rebalance-layers-per-chunk:i eplb-min-rebalancing-utilization-threshold:n
      ep-num-redundant-experts:i ep-dispatch-algorithm:t init-expert-location:t elastic-ep-backend:t
      elastic-ep-initial-size:i elastic-ep-rejoin elastic-ep-scale-timeout:n enable-elastic-expert-backup
      max-ep-size:i ep-join-mode:t/--elastic-ep-join-mode ep-join-rank-offset:i/--elastic-ep-join-rank-offset
      enable-waterfill>=0.5.16 enable-deepep-waterfill>=0.5.12<0.5.16 ]] },
    { "batches that overlap are not modelled", [[ enable-two-batch-overlap enable-single-batch-overlap
      tbo-token-distribution-threshold:n enable-pdmux pdmux-config-path:t sm-group-num:i ]] },
    { "kernels are those of the tables, whichever back end is chosen", [[
      sampling-backend:t nsa-prefill-backend:t nsa-prefill:t>=0.5.3<0.5.4
      nsa-decode-backend:t nsa-decode:t>=0.5.3<0.5.4 dsa-prefill-backend:t dsa-decode-backend:t dsa-topk-backend:t
      dsa-paged-mqa-logits-backend:t dsv4-prefill-backend:t dsv4-attn-backend:t dsa-triton-union:i
      !enable-dsa-fused-indexer !enable-lean-attention prefill-kv-cache-dequant-dtype:t
      fp4-gemm-runner-backend:t/--fp4-gemm-backend bf16-gemm-backend:t mamba-backend:t linear-attn-backend:t
      linear-attn-decode-backend:t linear-attn-prefill-backend:t linear-attn-verify-backend:t
      flashinfer-mxfp4-moe-precision:t flashinfer-mla-disable-ragged triton-attention-reduce-in-fp32
      triton-attention-num-kv-splits:i triton-attention-split-tile-size:i enable-fused-moe-sum-all-reduce
      enable-fused-qk-norm-rope enable-fp32-lm-head
      rl-on-policy-target:t enable-linear-replayssm enable-linear-replayssm-spec enable-gdn-replayssm-spec
      linear-replayssm-cache-len:i flashinfer-autotune-skip-ops:l disable-shared-experts-fusion enable-scattered-sconv
      enforce-shared-experts-fusion enable-deepseek-v4-fp4-indexer ]] },
    { "kernels are those of the tables, whichever back end is chosen", [[
      enable-flashinfer-trtllm-moe<0.5.3 enable-flashinfer-moe<0.5.0rc0 enable-flashinfer-cutlass-moe<0.5.3
      enable-flashinfer-cutedsl-moe<0.5.3 enable-triton-kernel-moe<0.5.3 enable-flashinfer-mxfp4-moe>=0.5.1<0.5.3 ]] },
    { "the exchange of tokens among experts is that of the engine's default", [[ deepep-mode:t
      deepep-config:t deepep-dispatcher-output-dtype:t fuseep-mode:i deepep-v2-mode:t flashinfer-a2a-dispatch-type:t
      enable-w4a4-mxfp4-megamoe
      disable-flashinfer-cutlass-moe-fp4-allgather ]] },
    { "kernels are those of the tables, whichever back end is chosen", [[ disable-mla<0.4.7 enable-flashinfer-mla<0.4.7
      n-share-experts-fusion:i<0.4.7 disable-flashinfer<0.4.3 disable-flashinfer-sampling<0.4.3 ]] },
    { "the model's own implementation in SGLang is taken", "impl:t<0.5.2" },
    { "collectives are those of the tables", [[ disable-custom-all-reduce enable-mscclpp enable-torch-symm-mem
      enable-symm-mem enable-nccl-nvls enable-aiter-allreduce-fusion
      enforce-disable-flashinfer-allreduce-fusion flashinfer-allreduce-fusion-backend:t
      enable-flashinfer-pure-allreduce disable-aiter-allreduce-fusion-in-prefill
      disable-aiter-allreduce-fusion-in-decode boundary-reduction:t
      enable-quant-communications ]] },
    { "the config of the model is used as it is published", [[ json-model-override-args:t dtype:t model-impl:t
      device:t ]] },
    { "the scheduler is the engine's default", [[ enable-priority-scheduling priority-scheduling-preemption-threshold:i
      schedule-low-priority-values-first disable-priority-preemption enable-dynamic-chunking enable-prefill-delayer
      prefill-delayer-max-delay-passes:i prefill-delayer-max-delay-ms:n prefill-delayer-queue-min-ratio:n
      prefill-delayer-token-usage-low-watermark:n prefill-delayer-forward-passes-buckets:l
      prefill-delayer-wait-seconds-buckets:l prefill-max-requests:i min-free-slots-delay:i
      num-continuous-decode-steps:i pp-max-micro-batch-size:i max-micro-batch-size:i>=0.4.6<0.5.4
      pp-async-batch-depth:i retraction-policy:t
      enable-session-radix-cache enable-streaming-session radix-eviction-policy:t radix-eviction-policy-config:j
      max-inflight-prefill-tokens:i prefill-only-disable-kv-cache ]] },
    { "requests go to the rank that the engine's own balancer takes", [[ load-balance-method:t
      prefill-round-robin-balance enable-dp-attention-local-control-broadcast ]] },
    { "every layer's window and cache are those of its kind", [[ disable-hybrid-swa-memory swa-full-tokens-ratio:n
      hybrid-kvcache-ratio:v<0.5.14 enable-hisparse hisparse-config:t/--hierarchical-sparse-attention-extra-config
      enable-page-major-kv-layout enable-unified-memory enable-dsa-cache-layer-split c128-page-size:i
      enable-encoder-swa-bounded-replay enable-decoder-swa-bounded-replay swa-prefix-tails:i ]] },
    { "states of recurrent layers are those of the model's file", [[ mamba-ssm-dtype:t mamba-full-memory-ratio:n
      max-mamba-cache-size:i mamba-track-interval:i
      uses-mamba-radix-cache enable-int8-mamba-checkpoint int8-mamba-ckpt-size:i mamba-max-states-per-path:i
      enable-mamba-cache-stochastic-rounding mamba-cache-philox-rounds:i enable-mamba2-spec-replay ]] },
    { "images and their encoder are not modelled", [[ enable-multimodal
      language-model-only enable-llama4-multimodal>=0.4.5<0.4.6 encoder-bootstrap-port:i encoder-register-urls:l
      enable-adaptive-dispatch-to-encoder enable-mm-global-cache enable-prefix-mm-cache
      asr-max-buffer-seconds:i asr-max-concurrent-sessions:i ]] },
    { "the front end is a queue only with frontend.endpoint", [[ tokenizer-worker-num:i stream-interval:i
      padded-output-tokens:i ]] },
    { "what is captured and compiled is the engine's default", [[ disable-cuda-graph-padding enable-torch-compile
      enable-torch-compile-debug-mode torch-compile-max-bs:i enable-piecewise-cuda-graph<0.5.14
      enforce-piecewise-cuda-graph piecewise-cuda-graph-tokens:t
      piecewise-cuda-graph-compiler:t enable-breakable-cuda-graph cuda-graph-config:t cuda-graph-backend-decode:t
      cuda-graph-tc-compiler:t debug-cuda-graph cuda-graph-max-seq-len-prefill:i
      cuda-graph-prefill-max-context:v/--context-bucket ]] },
    { "weights are in the format of the checkpoint", [[ torchao-config:t<0.5.18 modelopt-quant:t quantize-and-serve
      modelopt-checkpoint-restore-path:t modelopt-checkpoint-save-path:t modelopt-export-path:t ]] },
    { "a model that generates text token by token is taken", [[ is-embedding dllm-algorithm:t dllm-algorithm-config:t
      dllm-fdfo dllm-block-size:i>=0.5.6<0.5.7 enable-mis multi-item-scoring-delimiter:i<0.5.11 forward-hooks:t ]] },
    { "sampling is that of the model's generation_config.json", "sampling-defaults:t" },
    { "sparse attention of dense models is not modelled", [[
      enable-double-sparsity<0.5.11 ds-channel-config-path:t<0.5.11
      ds-heavy-channel-num:i<0.5.11 ds-heavy-token-num:i<0.5.11 ds-heavy-channel-type:t<0.5.11
      ds-sparse-decode-threshold:i<0.5.11 ]] },
    { "the engine is taken to do both parts of a request; say role in an entry of `replicas`", [[
      disaggregation-decode-enable-radix-cache optimistic-prefill-attempts:i>=0.5.16
      optimistic-prefill-retries:i>=0.5.13<0.5.16 ]] },
    { "drafts are made and accepted as `speculation` says", [[ speculative-accept-threshold-single:n
      speculative-accept-threshold-acc:n speculative-token-map:t speculative-attention-mode:t
      speculative-moe-runner-backend:t speculative-moe-a2a-backend:t
      speculative-draft-model-quantization:t speculative-draft-model-revision:t speculative-draft-load-format:t
      speculative-ngram-min-match-window-size:i<0.5.10 speculative-ngram-max-match-window-size:i<0.5.10
      speculative-ngram-min-bfs-breadth:i speculative-ngram-max-bfs-breadth:i speculative-ngram-match-type:t
      speculative-ngram-branch-length:i<0.5.10 speculative-ngram-capacity:i speculative-ngram-max-trie-depth:i
      speculative-ngram-external-corpus-path:t speculative-ngram-external-corpus-max-tokens:i
      speculative-ngram-external-sam-budget:i speculative-adaptive speculative-adaptive-config:t
      speculative-draft-window-size:i speculative-use-rejection-sampling speculative-skip-dp-mlp-sync
      speculative-dflash-block-size:i speculative-dflash-draft-window-size:i speculative-dspark-block-size:i
      speculative-dspark-align-verify-tokens-to-graph-tier speculative-dspark-confidence-sts-path:t
      speculative-dspark-sps-table-path:t enable-multi-layer-eagle decoupled-spec-role:t decoupled-spec-rank:i
      decoupled-spec-bind-endpoint:t decoupled-spec-connect-endpoints:l spec-trace-dir:t
      enable-beta-spec>=0.5.3<0.5.5 uno-lora-path:t
      speculative-domino-candidate-pool-size:i speculative-use-block-verification speculative-dsa-topk-backend:t
      speculative-draft-kv-cache-dtype:t speculative-draft-sink-size:i !speculative-enable-w4a4-mxfp4-megamoe ]] },
  },
  variables = {
    without_effect = [[ SGLANG_JIT_DEEPGEMM_FAST_WARMUP SGLANG_MOONCAKE_CUSTOM_MEM_POOL
      SGLANG_USE_MESSAGE_QUEUE_BROADCASTER SGLANG_HACK_SEQ_BOOTSTRAP_ROOM
      SGLANG_HEALTH_CHECK_TIMEOUT SGLANG_USE_MODELSCOPE
      SGLANG_TORCH_PROFILER_DIR SGLANG_LOGGING_CONFIG_PATH SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN
      SGLANG_DISABLE_CUDNN_CHECK SGLANG_BLOCK_NONZERO_RANK_CHILDREN SGLANG_HOST_IP SGLANG_PORT SGLANG_CACHE_DIR
      SGLANG_DG_CACHE_DIR SGLANG_JIT_DEEPGEMM_PRECOMPILE SGL_JIT_DEEPGEMM_PRECOMPILE SGLANG_WAIT_ZMQ_TIMEOUT
      SGLANG_IS_IN_CI SGLANG_SET_CPU_AFFINITY SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK
      SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT SGLANG_DISAGGREGATION_WAITING_TIMEOUT
      SGLANG_IN_DEEPGEMM_PRECOMPILE_STAGE SGLANG_IS_FLASHINFER_AVAILABLE SGLANG_FLASHINFER_AUTOTUNE_CACHE
      SGLANG_USE_CUSTOM_TRITON_KERNEL_CACHE ]],
    not_modelled = {
      { "kernels are those of the tables, whichever back end is chosen", [[
        SGLANG_ENABLE_FLASHINFER_GEMM SGLANG_USE_CUTLASS_BACKEND_FOR_FP4_GEMM
        SGLANG_CUTLASS_MOE SGLANG_USE_AITER SGLANG_NSA_FUSE_TOPK SGLANG_ROCM_FUSED_DECODE_MLA SGLANG_MOE_PADDING
        SGLANG_MOE_NVFP4_DISPATCH SGLANG_CUTEDSL_MOE_NVFP4_DISPATCH SGLANG_FLASHINFER_FP4_GEMM_BACKEND
        SGLANG_NVFP4_CKPT_FP8_GEMM_IN_ATTN SGLANG_PER_TOKEN_GROUP_QUANT_8BIT_V2 SGLANG_SUPPORT_CUTLASS_BLOCK_FP8
        SGLANG_BLACKWELL_OVERLAP_SHARED_EXPERTS_OUTSIDE_SBO SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD
        SGLANG_DSA_TOPK_FLASHINFER_DETERMINISTIC SGLANG_DSA_TOPK_FLASHINFER_TIE_BREAK SGLANG_DSV4_FP4_EXPERTS
        SGLANG_FLASHINFER_DECODE_SPLIT_TILE_SIZE SGLANG_FLASHINFER_NVFP4_PER_TOKEN_ACTIVATION
        SGLANG_FLASHINFER_PREFILL_SPLIT_TILE_SIZE SGLANG_FLASHINFER_USE_PAGED
        SGLANG_NSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE
        SGLANG_OPT_BF16_FP32_GEMM_ALGO SGLANG_OPT_DEEPGEMM_HC_PRENORM SGLANG_OPT_DEEPGEMM_MEGA_MOE_USE_FP4_ACTS
        SGLANG_OPT_DEEPGEMM_MEGA_MOE_USE_MXF4_KIND SGLANG_OPT_FIX_MEGA_MOE_MEMORY SGLANG_OPT_FP8_WO_A_GEMM
        SGLANG_OPT_FUSE_WQA_WKV SGLANG_OPT_SWIGLU_CLAMP_FUSION SGLANG_OPT_USE_AITER_INDEXER
        SGLANG_OPT_USE_AITER_MHC_POST SGLANG_OPT_USE_AITER_MHC_PRE SGLANG_OPT_USE_AITER_SILU_MUL
        SGLANG_OPT_USE_COMPRESSOR_V2 SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE SGLANG_OPT_USE_FUSED_CLAMP_ACT_MUL
        SGLANG_OPT_USE_FUSED_COMPRESS SGLANG_OPT_USE_FUSED_COMPRESS_TRITON SGLANG_OPT_USE_FUSED_HASH_TOPK
        SGLANG_OPT_USE_FUSED_QK_NORM_ROPE SGLANG_OPT_USE_FUSED_STORE_CACHE SGLANG_OPT_USE_JIT_EP_ACTIVATION
        SGLANG_OPT_USE_JIT_INDEXER_METADATA SGLANG_OPT_USE_JIT_KERNEL_FUSED_TOPK SGLANG_OPT_USE_JIT_NORM
        SGLANG_OPT_USE_MULTI_STREAM_OVERLAP SGLANG_OPT_USE_OLD_COMPRESSOR SGLANG_OPT_USE_ONLINE_COMPRESS
        SGLANG_OPT_USE_TILELANG_INDEXER SGLANG_OPT_USE_TILELANG_MHC_POST SGLANG_OPT_USE_TILELANG_MHC_PRE
        SGLANG_OPT_USE_TOPK_V2 SGLANG_OPT_USE_TRITON_FUSED_MHC SGLANG_OPT_USE_TRITON_SWA_PREPARE
        SGLANG_SHARED_EXPERT_TP1 SGLANG_TRITON_DECODE_ATTN_STATIC_KV_SPLITS SGLANG_TRITON_DECODE_SPLIT_TILE_SIZE
        SGLANG_TRITON_PREFILL_TRUNCATION_ALIGN_SIZE SGLANG_TRTLLM_GEN_MOE_CUBIN_POOL SGLANG_USE_AITER_FP8_PER_TOKEN
        SGLANG_USE_AITER_UNIFIED_ATTN SGLANG_USE_DEEPGEMM_BMM SGLANG_USE_DYNAMIC_MXFP4_LINEAR
        SGLANG_USE_SGL_FA3_KERNEL ]] },
      { "collectives are those of the tables", "SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2 SGLANG_USE_1STAGE_ALLREDUCE" },
      { "tokens are routed as evenly as experts are taken to be", "SGLANG_SIMULATE_UNIFORM_EXPERTS" },
      { "the exchange of tokens among experts is that of the engine's default", [[
        SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK SGLANG_DEEPEP_BF16_DISPATCH
        SGLANG_DEEPEP_LL_COMBINE_SEND_NUM_SMS SGLANG_DSV4_FIX_TP_ATTN_A2A_SCATTER
        SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK SGLANG_OPT_DEEPGEMM_MEGA_MOE_NUM_MAX_TOKENS_PER_RANK ]] },
      { "the prefix cache is the engine's default", [[
        SGLANG_OPT_DPSK_V4_RADIX SGLANG_OPT_SWA_RADIX_CACHE_COMPACT SGLANG_OPT_SWA_RELEASE_LEAF_LOCK_AFTER_WINDOW
        SGLANG_OPT_SWA_SPLIT_LEAF_ON_INSERT ]] },
      { "the KV cache is sized before graphs are captured", "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING" },
      { "the scheduler is the engine's default", [[ SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE
        SGLANG_EXPERIMENTAL_UNIFIED_RADIX_TREE
        SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION SGLANG_INIT_NEW_TOKEN_RATIO SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR
        SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS SGLANG_RETRACT_DECODE_STEPS ]] },
    },
  },
}
