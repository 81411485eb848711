--- Options that SGLang sets by itself where others are stated (python/sglang/srt/server_args.py, __post_init__ and its
--- _handle_*), and options of older releases. The form of rows: docs/ENGINES.md.
local has_states = require "engines.rules.states"

local implications = {}

local args = "python/sglang/srt/server_args.py"
local kernels = "kernels are those of the tables, whichever back end is chosen"

local data_centre = { memory_gib_from = 160 } -- GPUs of Blackwell with SM 10.x, not 12.x

local function has_drafts(facts) return facts.drafts ~= nil end
local function has_stages(facts) return facts.pp > 1 end
local function has_experts(facts) return facts.model ~= nil and facts.model.moe ~= nil end
local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end
local function is_grown(facts) return not is_latent(facts) end
local function keeps_states(facts) return has_states(facts.model) end

--- GPUs of an engine: what SGLang calls tp_size.
local function all_ranks(facts) return facts.tp * facts.dp * facts.cp end

--- A page size, where the one that holds is none of those that kernels take.
local function one_of(sizes, otherwise)
  return function(_, own)
    for _, each in ipairs(sizes) do
      if own.page_size == each then return nil end
    end
    return otherwise
  end
end

--- A page size, unless several drafts stand at one place.
local function unless_tree(tokens)
  return function(_, own) return (own.speculative_eagle_topk or 0) <= 1 and tokens or nil end
end

local function largest(_, _, options) return math.max(unpack(options.cuda_graph_bs)) end

local exchanges = { "deepep", "deepep_v2", "mooncake", "nixl", "ascend_fuseep", "flashinfer", "mori", "pplx",
  "megamoe" }

implications.rows = {
  -- Older spellings.
  { before = "0.5.3", where = { enable_deepep_moe = true }, moe_a2a_backend = "deepep",
    source = args .. " of 0.4.5 to 0.5.2" },
  { before = "0.4.7", where = { enable_flashmla = true }, attention_backend = "flashmla",
    source = args .. " of 0.4.4 to 0.4.6" },
  { before = "0.5.3", where = { enable_flashinfer_cutlass_moe = true }, fills = true,
    moe_runner_backend = "flashinfer_cutlass", source = args .. ": refused from 0.5.3 on" },
  { before = "0.5.3", where = { enable_flashinfer_cutedsl_moe = true }, fills = true,
    moe_runner_backend = "flashinfer_cutedsl", source = "the same" },
  { before = "0.5.3", where = { enable_flashinfer_trtllm_moe = true }, fills = true,
    moe_runner_backend = "flashinfer_trtllm", source = "the same" },
  { before = "0.5.3", where = { enable_triton_kernel_moe = true }, fills = true, moe_runner_backend = "triton_kernel",
    source = "the same" },
  { before = "0.5.18", where = { SGLANG_CUTLASS_MOE = { "1", "true" } }, moe_runner_backend = "cutlass",
    source = args .. ", 0.5.5 to 0.5.17" },
  { where = { rl_on_policy_target = { "fsdp" } }, enable_deterministic_inference = true, seen = "0.5.18",
    code = "python/sglang/srt/server_args.py: _handle_deterministic_inference",
    source = args .. ", _handle_deterministic_inference" },
  -- Kernels of the attention.
  { where = { "prefill_attention_backend" }, attention_backend = function(_, _, options)
      local backend = options.prefill_attention_backend
      return backend == options.decode_attention_backend and backend or nil
    end, seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _attention_backend_default",
    source = args .. ", _handle_attention_backend_compatibility: both alike are the back end" },
  { where = { enable_deterministic_inference = true }, fills = true, architecture = "blackwell", when = is_grown,
    attention_backend = "flashinfer", seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _deterministic_attention_backend",
    source = args .. ", _handle_deterministic_inference" },
  { where = { enable_deterministic_inference = true, attention_backend = "flashinfer" }, disable_radix_cache = true,
    seen = "0.5.18", code = "python/sglang/srt/server_args.py: RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND",
    source = "the same: fa3, fa4 and triton, which others get, have the prefix cache" },
  { seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _mla_backend_page_constraints",
    { where = { attention_backend = "flashmla" }, page_size = 64, source = args .. ", attention back ends" },
    { where = { decode_attention_backend = "flashmla" }, page_size = 64, source = "the same" },
    { where = { attention_backend = "cutlass_mla" }, page_size = 128, source = "the same" },
    { where = { decode_attention_backend = "cutlass_mla" }, page_size = 128, source = "the same" },
    { where = { attention_backend = { "trtllm_mla", "tokenspeed_mla", "cutedsl_mla" } },
      page_size = one_of({ 32, 64 }, 64), source = "the same" },
    { where = { decode_attention_backend = { "trtllm_mla", "tokenspeed_mla", "cutedsl_mla" } },
      page_size = one_of({ 32, 64 }, 64), source = "the same" },
    { before = "0.5.17", where = { attention_backend = "trtllm_mha" }, page_size = one_of({ 16, 32, 64 }, 64),
      source = "the same" },
    { before = "0.5.17", where = { decode_attention_backend = "trtllm_mha" }, page_size = one_of({ 16, 32, 64 }, 64),
      source = "the same" },
    { before = "0.5.17", where = { prefill_attention_backend = "trtllm_mha" }, page_size = one_of({ 16, 32, 64 }, 64),
      source = "the same" },
    { since = "0.5.17", where = { attention_backend = "trtllm_mha" }, page_size = one_of({ 16, 32, 64, 128 }, 64),
      source = args .. ", 0.5.17: pages of 128 besides" },
    { since = "0.5.17", where = { decode_attention_backend = "trtllm_mha" },
      page_size = one_of({ 16, 32, 64, 128 }, 64), source = "the same" },
    { since = "0.5.17", where = { prefill_attention_backend = "trtllm_mha" },
      page_size = one_of({ 16, 32, 64, 128 }, 64), source = "the same" },
    { since = "0.5.17", where = { speculative_draft_attention_backend = "trtllm_mha" },
      page_size = one_of({ 16, 32, 64, 128 }, 64), source = "the tags of 0.5.16 and 0.5.17" },
    { since = "0.5.13", where = { prefill_attention_backend = "cutedsl_mla" }, page_size = one_of({ 32, 64 }, 64),
      source = "the tags of 0.5.12 and 0.5.13" },
    { since = "0.5.17", where = { attention_backend = "hpc_ops" }, page_size = 64, source = "the same" },
    { since = "0.5.17", where = { decode_attention_backend = "hpc_ops" }, page_size = 64, source = "the same" },
    { since = "0.5.17", where = { prefill_attention_backend = "hpc_ops" }, page_size = 64, source = "the same" } },
  { seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _fa4_page_constraint",
    { before = "0.5.6", where = { prefill_attention_backend = "fa4" }, page_size = 128,
      source = args .. ", attention back ends, 0.5.4 and 0.5.5" },
    { since = "0.5.6", before = "0.5.10", where = { prefill_attention_backend = "fa4" }, when = is_grown,
      page_size = 128, source = "the same of 0.5.6 to 0.5.9: not of latent attention" },
    { since = "0.5.10", before = "0.5.15", where = { prefill_attention_backend = "fa4" }, when = is_grown,
      architecture = "blackwell", gpu = data_centre, page_size = 128,
      source = "the same of 0.5.10 to 0.5.14: on SM100 alone" },
    { since = "0.5.15", where = { attention_backend = "fa4" }, when = is_grown, architecture = "blackwell",
      gpu = data_centre, page_size = unless_tree(128),
      source = "_fa4_page_constraint of 0.5.15 and 0.5.18: of decodes as well, unless drafts are a tree" },
    { since = "0.5.15", where = { decode_attention_backend = "fa4" }, when = is_grown, architecture = "blackwell",
      gpu = data_centre, page_size = unless_tree(128), source = "the same" },
    { since = "0.5.15", where = { prefill_attention_backend = "fa4" }, when = is_grown, architecture = "blackwell",
      gpu = data_centre, page_size = unless_tree(128), source = "the same" } },
  { where = { attention_backend = { "torch_native", "flex_attention" } }, disable_cuda_graph = true,
    seen = "0.5.21", code = "python/sglang/srt/arg_groups/attention_hook.py: handle_attention_backend_compatibility",
    source = "the same: no CUDA graphs" },
  { where = { attention_backend = "dual_chunk_flash_attn" }, enable_mixed_chunk = false, disable_radix_cache = true,
    seen = "0.5.21", code = "python/sglang/srt/arg_groups/attention_hook.py: handle_attention_backend_compatibility",
    source = "the same" },
  -- Experts.
  { since = "0.5.12", before = "0.5.16", where = { enable_deepep_waterfill = true }, moe_a2a_backend = "deepep",
    source = args .. ", _handle_a2a_moe, 0.5.12 to 0.5.15: --enable-deepep-waterfill" },
  { where = { enable_waterfill = true }, moe_a2a_backend = function(_, own)
      return own.moe_a2a_backend ~= "megamoe" and "deepep" or nil
    end, seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _a2a_backend_overrides",
    source = "python/sglang/srt/arg_groups/overrides.py, _a2a_backend_overrides" },
  { where = { moe_a2a_backend = exchanges }, when = has_experts, ep_size = all_ranks, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _A2A_EP_SPANNING_BACKENDS",
    source = args .. ", _handle_a2a_moe; python/sglang/srt/arg_groups/overrides.py, _A2A_EP_SPANNING_BACKENDS" },
  { before = "0.5.3", where = { enable_ep_moe = true }, when = has_experts, ep_size = all_ranks,
    source = args .. ", enable_ep_moe" },
  { since = "0.4.7", where = { moe_a2a_backend = "deepep", deepep_mode = "normal" }, disable_cuda_graph = true,
    seen = "0.5.21", code = "python/sglang/srt/arg_groups/moe_hook.py: handle_a2a_moe",
    source = args .. ", _handle_a2a_moe; 0.4.6 does not" },
  -- Graphs and steps.
  { where = { "cuda_graph_bs" }, cuda_graph_max_bs = largest, seen = "0.5.20",
    code = "python/sglang/srt/arg_groups/memory_hook.py: handle_gpu_memory_settings",
    source = args .. ", _handle_gpu_memory_settings" },
  { where = { "debug_tensor_dump_output_folder" }, disable_cuda_graph = true, seen = "0.5.18",
    code = "python/sglang/srt/server_args.py: _handle_other_validations",
    source = args .. ", _handle_other_validations" },
  { where = {}, when = has_stages, disable_overlap_schedule = true, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _pipeline_parallel_overlap_disable",
    source = args .. ", _handle_pipeline_parallelism" },
  { where = { enable_mixed_chunk = true }, when = has_drafts, enable_mixed_chunk = false, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/speculative_hook.py: handle_speculative_decoding",
    source = args .. ", _handle_speculative_decoding" },
  { since = "0.5.4", where = { mamba_scheduler_strategy = "extra_buffer" }, fills = true, when = keeps_states,
    disable_overlap_schedule = false, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _mamba_radix_cache_resolution",
    source = "pull request 14792: the second buffer lets steps overlap" },
  { where = { mamba_radix_cache_strategy = { "extra_buffer", "extra_buffer_lazy" } }, fills = true,
    when = keeps_states, disable_overlap_schedule = false, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _mamba_radix_cache_resolution", source = "the same" },
}

implications.options = {
  { "enable_deepep_moe", flag = "--enable-deepep-moe", type = "switch", before = "0.5.3",
    read_by = "moe_a2a_backend", doc = "DeepEP exchanges tokens among experts" },
  { "enable_flashmla", flag = "--enable-flashmla", type = "switch", before = "0.4.7", read_by = "attention_backend",
    doc = "the attention runs in FlashMLA" },
  { "prefill_attention_backend", flag = "--prefill-attention-backend", type = "text", read_by = "page_size",
    note = kernels, doc = "kernels of the attention of prompts" },
  { "decode_attention_backend", flag = "--decode-attention-backend", type = "text", read_by = "page_size",
    note = kernels, doc = "kernels of the attention of decodes" },
  { "speculative_draft_attention_backend", flag = "--speculative-draft-attention-backend", type = "text",
    read_by = "page_size", note = "drafts are made and accepted as `speculation` says",
    doc = "kernels of the attention of drafts" },
  { "enable_deterministic_inference", flag = "--enable-deterministic-inference", type = "switch", since = "0.5.3",
    read_by = "attention_backend", note = kernels, doc = "the same answers for every batch" },
  { "debug_tensor_dump_output_folder", flag = "--debug-tensor-dump-output-folder", type = "text",
    read_by = "disable_cuda_graph", doc = "tensors are written, without CUDA graphs" },
  { "mamba_scheduler_strategy", flag = "--mamba-scheduler-strategy", type = "text",
    read_by = "disable_overlap_schedule", note = "states of recurrent layers are those of the model's file",
    doc = "how states share the prefix cache" },
  { "mamba_radix_cache_strategy", flag = "--mamba-radix-cache-strategy", type = "text",
    read_by = "disable_overlap_schedule", note = "states of recurrent layers are those of the model's file",
    doc = "the same in later releases" },
}

return implications
