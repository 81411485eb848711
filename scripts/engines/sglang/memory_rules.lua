--- Rows of SGLang's rules about memory. Read by engines/sglang/memory.lua.
local gib = 2 ^ 30

local fitted = "fitted on start-up logs of 2025 and 2026 (half of those that are known; models and GPUs of the other "
  .. "half left out)"

local function has_links(facts)
  return facts.tp * facts.pp * facts.dp * facts.cp > 1
    and facts.hardware ~= nil and facts.hardware.link_bytes_per_s > 100e9
end

--- Whether some layers have the gated delta rule.
local function has_delta(facts)
  for _, kind in ipairs(facts.model and facts.model.attention or {}) do
    if kind.kind == "delta" then return true end
  end
  return false
end

--- Slots for states that a running request may hold: three, and those of the buffer that lets steps overlap.
--- @param by_default boolean? whether there is one where nothing is stated
local function slots_of(own, by_default)
  local stated = own.mamba_radix_cache_strategy or own.mamba_scheduler_strategy
  if stated == nil or stated == "auto" then stated = by_default and "extra_buffer" or "no_buffer" end
  if stated == "no_buffer" then return 3 end
  return (stated == "extra_buffer_lazy" or own.disable_overlap_schedule) and 4 or 5
end

return {
  { fitted = true,
    { runtime_bytes = 0.6 * gib, source = fitted .. ": the context, before weights are loaded" },
    { when = has_links, runtime_bytes = 1.3 * gib,
      source = "assumed: the same with NCCL's buffers, without multicast" },
    { architecture = "blackwell", when = has_links, runtime_bytes = 1.8 * gib, source = fitted .. ": with NCCL" } },
  { state_element_bytes = 4, seen = "0.5.18", code = "python/sglang/srt/configs/mamba_utils.py: mamba2_state_dtype",
    source = "python/sglang/srt/configs/mamba_utils.py: states in FP32" },
  { mamba_full_memory_ratio = 0.9, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/fields/schedule.py: mamba_full_memory_ratio",
    source = "python/sglang/srt/server_args.py" },
  { state_slots = 3, seen = "0.5.18",
    code = "python/sglang/srt/mem_cache/kv_cache_configurator.py: _calculate_mamba_ratio",
    source = "python/sglang/srt/model_executor, later mem_cache: MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO" },
  { since = "0.5.4", state_slots = function(_, own) return slots_of(own) end, seen = "0.5.18",
    code = "python/sglang/srt/mem_cache/kv_cache_configurator.py: _calculate_mamba_ratio",
    source = "pull request 14792: two more for steps that overlap, where they are asked for" },
  { since = "0.5.14", when = has_delta, state_slots = function(_, own) return slots_of(own, true) end,
    seen = "0.5.21", code = "python/sglang/srt/arg_groups/mamba_hook.py: the strategy of the radix cache",
    source = "pull request 29158: they overlap by default; 14792 is for the gated delta rule, other states keep 3" },
  { before = "0.5.17", spare_state_slots = 0, source = "python/sglang/srt/mem_cache: one slot more than was counted" },
  { since = "0.5.17", spare_state_slots = 1, seen = "0.5.18",
    code = "python/sglang/srt/mem_cache/kv_cache_configurator.py: _handle_max_mamba_cache",
    source = "pull request 32184 of 2026-07-23: the slot for padded graphs is counted" },
  { swa_full_tokens_ratio = 0.8, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/fields/schedule.py: swa_full_tokens_ratio",
    source = "python/sglang/srt/server_args.py" },
  { family = { "deepseek_v4" }, swa_full_tokens_ratio = 0.1, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v4.py: _deepseek_v4_overrides",
    source = "python/sglang/srt/server_args.py" },
  { since = "0.5.16", family = "inkling", swa_full_tokens_ratio = 0.1, mamba_full_memory_ratio = 0.1,
    state_slots = function(_, own) return slots_of(own, true) end, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/inkling.py: _inkling_overrides",
    source = "arg_groups/overrides.py, _inkling_overrides, 0.5.16 to 0.5.18" },
  { family = { "gemma3", "gemma3_text", "gemma2" }, swa_full_tokens_ratio = 1, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/gemma2_gemma3.py: _gemma2_gemma3_overrides",
    source = "python/sglang/srt/configs/model_config.py: only named architectures keep windows apart" },
  { family = { "mimo_v2_flash" }, before = "0.5.7", swa_full_tokens_ratio = 1,
    source = "pull request 15464: not followed for this model before" },
  { before = "0.5.12", nvfp4_scale_copies = 1, source = "python/sglang/srt/layers/quantization/modelopt_quant.py: "
    .. "swizzled scales besides those of the checkpoint; that later releases free them is inferred from logs of 0.5.9 "
    .. "and of a build after 0.5.12" },
  { holds_longest = false, longest_leaves_blocks = 2, seen = "0.5.18",
    code = "python/sglang/srt/managers/tp_worker.py: get_worker_info", source = "tp_worker.py: max_req_len "
      .. "is the pool less a token; schedule_policy.py, PrefillAdder: prompt, answer and a page are below the pool" },
  { mxfp4_padding = { 256, 128 }, seen = "0.5.18",
    code = "python/sglang/srt/layers/quantization/mxfp4.py: create_weights",
    source = "python/sglang/srt/layers/quantization/mxfp4.py" },
  { longer_context = [[--json-model-override-args '{"rope_scaling": {...}}' --context-length N]], seen = "0.5.18",
    code = "python/sglang/srt/configs/model_config.py: _derive_context_length",
    source = "python/sglang/srt/server_args.py; pull request 8016: without --context-length the model's own holds" },
}
