--- Rules of vLLM's second generation about steps: seats, budgets, prefix cache, steps in flight. Lists say which code
--- decides their rows, and the newest release at which it was read.
local states = require "engines.vllm.states"

--- GPUs for which vLLM has larger defaults; releases before 0.9 did not leave A100 out.
local large, also_a100 = { memory_gib_from = 70, not_named = "a100" }, { memory_gib_from = 70 }

local function has_states(facts) return states.are_in(facts.model) end

local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end

--- Latent attention over all tokens, in every layer.
local function is_dense_latent(facts)
  if not is_latent(facts) or has_states(facts) then return false end
  for _, kind in ipairs(facts.model.attention) do
    if kind.index then return false end
  end
  return true
end

--- FlashAttention's kernel of latent attention takes blocks of 16 and has no keys in FP8, of which FlashMLA has.
local function of_hopper(_, own) return own.kv_cache_dtype == "auto" and 16 or 64 end

local function where_prefixes_are_cached(_, own) return own.enable_prefix_caching end

return {
  { since = "0.8", scheduler = "vllm_v1", kv_cache_dtype = "auto", block_size = 16, enable_prefix_caching = true,
    seen = "0.33", code = "vllm/config/cache.py: CacheConfig",
    source = "vllm/engine/arg_utils.py, _set_default_args_v1; vllm/config/cache.py" },
  { since = "0.8", enable_chunked_prefill = true, long_prefill_token_threshold = 0, prefill_schedule_interval = 1,
    seen = "0.29", code = "vllm/config/scheduler.py: SchedulerConfig",
    source = "vllm/engine/arg_utils.py, _set_default_args_v1; vllm/config/scheduler.py" },
  { seen = "0.28", code = "vllm/config/vllm.py: VllmConfig._set_cudagraph_sizes",
    { since = "0.8", max_cudagraph_capture_size = 512, source = "vllm/config: cudagraph_capture_sizes" },
    { since = "0.28", architecture = "blackwell", gpu = { memory_gib_from = 160 }, max_cudagraph_capture_size = 1024,
      source = "pull request 49390: compute capabilities 10.x" },
  },
  { seen = "0.28", code = "vllm/engine/arg_utils.py: EngineArgs.get_batch_defaults",
    { since = "0.8", max_num_seqs = 256, max_num_batched_tokens = 2048,
      source = "vllm/engine/arg_utils.py: API server on GPUs below 70 GiB, and A100" },
    { since = "0.8", before = "0.8.4", max_num_seqs = 1024,
      source = "vllm/engine/arg_utils.py, _set_default_args_v1; pull request 16158 ends it" },
    { since = "0.8", before = "0.8.5", gpu = { named = "h100" }, max_num_seqs = 1024, max_num_batched_tokens = 8192,
      source = "vllm/engine/arg_utils.py, _set_default_args_v1: known by name" },
    { since = "0.8", before = "0.8.5", gpu = { named = "h200" }, max_num_seqs = 1024, max_num_batched_tokens = 8192,
      source = "the same" },
    { since = "0.8.5", before = "0.9", gpu = also_a100, max_num_seqs = 1024, max_num_batched_tokens = 8192,
      source = "vllm/engine/arg_utils.py: GPUs of 70 GiB and more" },
    { since = "0.9", gpu = large, max_num_seqs = 1024, max_num_batched_tokens = 8192,
      source = "vllm/engine/arg_utils.py, get_batch_defaults: API server on GPUs of 70 GiB and more, since pull "
        .. "request 17885 without A100" },
    { since = "0.28", gpu = { memory_gib_from = 160 }, max_num_batched_tokens = 16384,
      source = "pull request 51726 of 2026-08-11: GPUs of 160 GiB and more" },
    { since = "0.8", gpu = large, other_budgets = { 2048 },
      source = "vllm/engine/arg_utils.py: an engine without a usage context" },
  },
  { since = "0.8", when = is_latent, block_size = 64, seen = "0.28",
    code = "vllm/v1/attention/backend.py: AttentionBackend.get_preferred_block_size",
    source = "vllm/platforms/cuda.py; pull request 35122: the least size that FlashMLA takes" },
  { since = "0.18", architecture = "hopper", when = is_dense_latent, block_size = of_hopper, seen = "0.28",
    code = "vllm/platforms/cuda.py: _get_backend_priorities",
    source = "pull request 35122 of 2026-03-09: what the first back end takes, FLASH_ATTN_MLA or FLASHMLA" },
  { since = "0.18", architecture = "blackwell", gpu = { memory_gib_from = 160 }, when = is_dense_latent,
    block_size = 32, seen = "0.28", code = "vllm/platforms/cuda.py: _get_backend_priorities",
    source = "the same: FLASHINFER_MLA takes 32 and 64" },
  { family = "deepseek_v4", block_size = 256, seen = "0.28",
    code = "vllm/models/deepseek_v4/nvidia/flashinfer_sparse.py: get_supported_kernel_block_sizes",
    source = "vllm/models/deepseek_v4: entries of 128 tokens" },
  -- Prefixes of models with recurrent states.
  { since = "0.8", before = "0.26.1rc0", when = has_states, enable_prefix_caching = false,
    source = "vllm/engine/arg_utils.py: pull request 50991 turns it on" },
  { since = "0.27", before = "0.28", when = has_states, enable_prefix_caching = false,
    source = "pull request 50991 of 2026-08-04 is not in 0.27, which still has the flag that pull request 49389 of "
      .. "2026-08-03 takes away; vllm-metal pull request 651: on from 0.28.0 on" },
  { seen = "0.28", code = "vllm/v1/core/single_type_kv_cache_manager.py: MambaManager",
    { since = "0.8", align_states = false, keep_junctions = false, states_take_blocks = false,
      source = "pull request 30877 adds it" },
    { since = "0.14", when = has_states, states_take_blocks = true,
      source = "vllm/v1/core/single_type_kv_cache_manager.py, MambaManager: states are blocks of the same pool" },
  },
  { since = "0.24", when = has_states, keep_junctions = where_prefixes_are_cached, seen = "0.28",
    code = "vllm/v1/core/kv_cache_manager.py: KVCacheManager.get_computed_blocks, shared_prefix_boundary",
    source = "pull request 37898; issue 45238 of 11 June 2026 measures a build without it; pull request 52216: from "
      .. "0.28 on no other states are kept but the last one of a prompt" },
  { seen = "0.28", code = "vllm/v1/core/sched/scheduler.py: Scheduler._mamba_block_aligned_split",
    { since = "0.14", when = has_states, align_states = where_prefixes_are_cached,
      source = "vllm/v1/core/sched/scheduler.py, _mamba_block_aligned_split, with mamba_cache_mode align; that a step "
        .. "of a prompt which goes on ends at a block behind the last cut, too: pull request 51113, before which "
        .. "states that were kept there were wrong (issue 43559)" },
    { since = "0.29", family = "kimi_k3", align_states = function(facts, own)
      return own.enable_prefix_caching and (facts.drafts or 0) > 0
    end, source = "pull requests 52789 and 53614, not in main of 2026-08-20: kernels of this family keep the state of "
      .. "the last block; not with drafters. Of others pull request 57329, open in 2026-09" },
  },
  { since = "0.8", before = "0.21", gpu_memory_utilization = 0.90, source = "vllm/config/cache.py" },
  { since = "0.21", gpu_memory_utilization = 0.92, seen = "0.33", code = "vllm/config/cache.py: CacheConfig",
    source = "vllm/config/cache.py" },
  -- Steps in flight.
  { seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.__post_init__, async_scheduling",
    { since = "0.8", before = "0.14", async_scheduling = false,
      source = "vllm/config/scheduler.py: off unless asked for" },
    { since = "0.14", async_scheduling = true, source = "vllm/config/vllm.py; pull request 27614" },
    { since = "0.14", before = "0.15", async_scheduling = function(facts) return facts.pp == 1 end,
      source = "vllm/config/vllm.py; pull request 32359 allows it with stages" },
  },
  { since = "0.8", pipeline_steps = function(facts) return facts.pp end, seen = "0.28",
    code = "vllm/config/vllm.py: VllmConfig.max_concurrent_batches",
    source = "vllm/v1/executor: max_concurrent_batches; vllm/v1/engine/core.py: step_with_batch_queue" },
  { since = "0.8", before = "0.19", scheduler_reserve_full_isl = false,
    source = "vllm/config/scheduler.py: does not exist" },
  { since = "0.19", scheduler_reserve_full_isl = true, seen = "0.28",
    code = "vllm/config/scheduler.py: SchedulerConfig", source = "vllm/config/scheduler.py; pull request 37307" },
  { dp_padding = "vllm", seen = "0.28", code = "vllm/v1/worker/dp_utils.py: _synchronize_dp_ranks",
    source = "vllm/v1/worker/dp_utils.py" },
  { seen = "0.28", code = "vllm/v1/engine/core_client.py: DPLBAsyncMPClient.get_core_engine_for_request",
    { router = "vllm_dp", source = "vllm/v1/engine/core_client.py" },
    { since = "0.27", router = "vllm_dp_load", source = "pull request 49204 of 2026-07-27" },
  },
}
