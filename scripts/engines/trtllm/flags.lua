--- Flags, keys of the YAML file and variables of TensorRT-LLM that no rule reads (engines/rules/flags.lua has the
--- form): tensorrt_llm/commands/serve.py and tensorrt_llm/llmapi/llm_args.py of 1.0 to 1.3 and of main in 2026-09
--- (tensorrt_llm/usage/llm_args_golden_manifest.json); LLM API reference of 1.4.0rc4. Its flags have "_".
local flags = require "engines.rules.flags"

--- Of the command line, which the YAML file takes as well where the engine has a key of that name.
local of_command = flags.list {
  idle = { max_beam_width = { "1" }, context_parallel_size = { "1" }, moe_cluster_parallel_size = { "1" } },
  without_effect = [[
    host:t port:i log_level:t tokenizer:t custom_tokenizer:t custom_module_dirs:t gpus_per_node:i
    num_postprocess_workers:i trust_remote_code revision:t reasoning_parser:t tool_parser:t
    metadata_server_config_file:t otlp_traces_endpoint:t media_io_kwargs:t
    chat_template:t telemetry enable_energy_metrics middleware:t
  ]],
  not_modelled = {
    { "several beams are not modelled", "max_beam_width:i" },
    { "Helix, which divides the KV of decodes, is not modelled", "context_parallel_size:i/--cp_size" },
    { "clusters of experts are not modelled", "moe_cluster_parallel_size:i/--cluster_size" },
    { "the engine is taken to do both parts of a request; say role in an entry of `replicas`", [[ server_role:t
      disagg_cluster_uri:t ]] },
    { "a model that generates text is taken", "video_pruning_rate:n" },
  },
  variables = {
    without_effect = [[ TRTLLM_LOG_LEVEL TLLM_LOG_LEVEL TLLM_LOG_FIRST_RANK_ONLY TRTLLM_SERVER_DISABLE_GC
      TRTLLM_WORKER_DISABLE_GC TLLM_WORKER_USE_SINGLE_PROCESS TLLM_PROFILE_START_STOP TLLM_TORCH_PROFILE_TRACE
      TLLM_PROFILE_RECORD_GC TLLM_LLMAPI_ENABLE_NVTX TLLM_NUMA_AWARE_WORKER_AFFINITY TRTLLM_USE_UCX_KVCACHE
      TRTLLM_ENABLE_TRTLLM_GEN_PREPROCESS TLLM_OVERRIDE_LAYER_NUM ]],
    not_modelled = {
      { "kernels and collectives are those of the tables", [[ TRTLLM_USE_MPI_KVCACHE
        TRTLLM_DISABLE_SELECTIVE_QUANT TRTLLM_MOE_A2A_WORKSPACE_MB TRTLLM_FORCE_ALLTOALL_METHOD
        TRTLLM_DEEP_EP_TOKEN_LIMIT TRTLLM_CAN_USE_DEEP_EP TRTLLM_GEN_EPLB
        TRTLLM_MOE_ALLTOALL_BACKEND TRTLLM_ALLREDUCE_FUSION_WORKSPACE_SIZE ]] },
    },
  },
}

--- Keys of the YAML file only.
local of_file = flags.list {
  idle = { sampler_type = { "auto" }, attn_backend = { "TRTLLM" }, allreduce_strategy = { "AUTO" },
    dtype = { "auto", "bfloat16" }, stream_interval = { "1" }, load_format = { "AUTO", "auto" },
    enable_autotuner = { "true" },
    ["kv_cache_config.copy_on_partial_reuse"] = { "true" } },
  spelled = function(option) option.flag = nil end,
  without_effect = [[
    tokenizer_mode:t tokenizer_revision:t skip_tokenizer_init load_format:t checkpoint_format:t checkpoint_loader:j
    print_iter_log enable_iter_perf_stats enable_iter_req_stats return_perf_metrics perf_metrics_max_requests:i
    iter_stats_max_iterations:i request_stats_max_iterations:i guided_decoding_backend:t
    batched_logits_processor:j postprocess_tokenizer_dir:t enable_layerwise_nvtx_marker enable_sleep
    garbage_collection_gen0_threshold:i orchestrator_type:t ray_worker_extension_cls:t enable_autotuner
    cuda_graph_config.enable_padding kv_cache_config.event_buffer_max_size:i
    kv_cache_config.attention_dp_events_gather_period_ms:i kv_cache_config.onboard_blocks mm_encoder_only
    env_overrides:j gather_generation_logits sampler_force_async_worker decoding_config:j
    checkpoint_io_policy:t gms_config:j mx_config:j layer_wise_benchmarks_config:j max_stats_len:i
    post_processor_hook:t prometheus_metrics_config:j ray_placement_config:j telemetry_config:j enable_resource_governor
    enable_speculative_beam_history_d2h kv_cache_config.iteration_stats_interval:i kv_cache_config.kv_events_config:j
    kv_cache_config.kv_cache_event_hash_algo:t cuda_graph_config.mode:t
  ]],
  not_modelled = {
    { "LoRA adapters are not modelled", "enable_lora lora_config:j peft_cache_config:j" },
    { "context parallelism is not modelled", "cp_config:j" },
    { "other widths of experts than ep_size are not modelled", "moe_tensor_parallel_size:i enable_lm_head_tp_in_adp "
      .. "pp_partition:j" },
    { "the scheduler is the engine's default", [[ scheduler_config:j batch_wait_timeout_ms:n max_input_len:i
      scheduler_config.enable_prefix_aware_scheduling
      scheduler_config.use_python_scheduler scheduler_config.waiting_queue_policy:t reorder_policy_config:j
      max_num_active_requests:i ]] },
    { "images and their encoder are not modelled", [[ disable_mm_encoder encode_only encoder_cuda_graph_config:j
      encoder_max_batch_size:i encoder_max_num_tokens:i multimodal_config:j enable_encoder_decoder_mixed_cuda_graph
      cuda_graph_config.num_tokens:l cuda_graph_config.max_num_token:i cuda_graph_config.seq_lens:l
      cuda_graph_config.max_seq_len:i ]] },
    { "experts' weights that move to tokens are not modelled", "dwdp_config:j" },
    { "the front end is a queue only with frontend.endpoint", [[ num_serve_frontends:i
      enable_early_first_token_response enable_client_io_during_gpu_wait ]] },
    { "sampling is that of requests", "generation_config:t enable_in_graph_sampling" },
    { "the KV cache is not compressed", "kv_cache_compression_config:j" },
    { "KV on a disk is not modelled", [[ kv_cache_config.disk_cache_size:i kv_cache_config.disk_cache_path:t
      kv_cache_config.disk_prefetch_num_reqs:i kv_cache_config.disk_io_threads:i kv_cache_config.disk_write_through
      kv_cache_config.disk_keep_copy_after_restore kv_cache_config.disk_protected_copy_fraction:n ]] },
    { "kernels are those of the tables, whichever back end is chosen", [[ attn_backend:t moe_config:j
      nvfp4_gemm_config:j
      sparse_attention_config:j sampler_type:t enable_min_latency force_dynamic_quantization
      enable_low_latency_host_dispatch enable_mla_skip_correction mla_skip_correction_threshold:n
      use_cute_dsl_bf16_bmm use_cute_dsl_bf16_gemm use_cute_dsl_blockscaling_bmm use_cute_dsl_blockscaling_mm
      use_fine_grained_sync kv_cache_config.fp8_context_mla_kv_len_cap:i ]] },
    { "collectives are those of the tables", "allreduce_strategy:t" },
    { "the engine is taken to do both parts of a request; say role in an entry of `replicas`", [[
      cache_transceiver_config:j kv_connector_config:j ]] },
    { "what is compiled is the engine's default", "torch_compile_config:j" },
    { "tokens leave the engine one by one", "stream_interval:i" },
    { "the config of the model is used as it is published", "dtype:t model_kwargs:j quant_config:j" },
    { "a block that is hit in part is copied", "kv_cache_config.copy_on_partial_reuse" },
    { "KV is copied to the host whatever its priority", [[ kv_cache_config.secondary_offload_min_priority:i
      kv_cache_config.cold_tier_offload_min_priority:i kv_cache_config.host_cache_bind_to_gpu_numa_node ]] },
    { "memory of the host that the GPU reads itself is not modelled", "kv_cache_config.use_uvm" },
    { "the cache is divided as the engine does by default", [[ kv_cache_config.max_attention_window:j
      kv_cache_config.sink_token_length:i kv_cache_config.cross_kv_cache_fraction:n
      kv_cache_config.mamba_ssm_cache_dtype:t kv_cache_config.mamba_ssm_philox_rounds:i
      kv_cache_config.mamba_ssm_stochastic_rounding kv_cache_config.mamba_state_cache_interval:i
      kv_cache_config.mamba_state_config:j kv_cache_config.mixed_precision_first_n:i kv_cache_config.avg_seq_len:i
      kv_cache_config.pool_ratio:l kv_cache_config.block_reuse_config:j kv_cache_config.enable_swa_scratch_reuse
      kv_cache_config.enable_kv_pool_rebalance kv_cache_config.kv_pool_rebalance_check_interval:i
      kv_cache_config.kv_pool_rebalance_cooldown_secs:n kv_cache_config.kv_pool_rebalance_min_sampled_kv_caches:i
      kv_cache_config.kv_pool_rebalance_moving_average_decay:n kv_cache_config.kv_pool_rebalance_ratio_threshold:n
      kv_cache_config.kv_pool_rebalance_target_ratio_update_interval:i kv_cache_config.max_util_for_resume:n ]] },
    { "attention of data-parallel ranks is divided as in the engine's default",
      [[ attention_dp_config.kv_cache_routing:t attention_dp_config.enable_kv_cache_aware_routing
      attention_dp_config.kv_cache_routing_account_for_in_transfer
      attention_dp_config.kv_cache_routing_cold_start_warmup
      attention_dp_config.kv_cache_routing_conversation_affinity attention_dp_config.kv_cache_routing_max_sessions:i
      attention_dp_config.kv_cache_routing_fair_share_multiplier:n
      attention_dp_config.kv_cache_routing_load_balance_weight:n
      attention_dp_config.kv_cache_routing_match_rate_threshold:n
      attention_dp_config.kv_cache_routing_new_conv_placement:t ]] },
  },
}

return flags.joined(of_command, of_file)
