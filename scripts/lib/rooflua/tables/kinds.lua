--- The kinds of kernel tables that aiconfigurator publishes: which file and columns become which op and columns of
--- ours. docs/DATA.md states what is wrong with them, and rules.lua which files and rows are left out for it.
---
--- A file is named <gpu>_<file>_<engine><version>.csv[.gz], or <gpu>_<file><version> where a library was timed. Where
--- a column has one value in a whole file, that value stands in constants.csv beside it (file, column, value).
---
---     file           the kind in the name of the file
---     op             an op that the engine declares
---     columns        columns.lua
---     formats        {published word, our format, "quantizes" if rows hold the quantisation of the input, the word
---                    in the name of our table where it is not the format's own}
---     library        what ran the kernels: it stands in the name of our table in place of the engine of the file
---     engine_first   an engine that the file names goes before the library
---     plus_file      another file of the same engine and version: latencies of its rows of the same shapes are added
---     kernels        kernels that a row of ours consists of, by the column kernel_source: the latency is the sum of
---                    the medians of each
---     includes       what a row holds besides its op
---     includes_of    the same by engine, in place of it
---     timer          "graph" where nothing is said
---     shape          dimensions without a column
---     note           for the reader of tables.toml
---     floors         rows that take less than this many times the floor of eager launches are left out
---     every_version  older files have shapes that newer ones lack
local columns = require "rooflua.tables.columns"

local number, word, code, fixed = columns.number, columns.word, columns.code, columns.fixed
local format, select, optional = columns.format, columns.select, columns.optional
local latency, latency_us, kv_cache = columns.latency, columns.latency_us, columns.kv_cache

-- Formats -------------------------------------------------------------------------------------------------------------
local bf16, half = { { "bfloat16", "bf16" } }, { { "half", "bf16" } }
local fp8, fp8_block = { { "fp8", "fp8" } }, { { "fp8_block", "fp8_block", "quantizes" } }
local bf16_fp8 = { { "bfloat16", "bf16" }, { "fp8", "fp8" } }
local gemm_formats = { { "bfloat16", "bf16" }, { "fp8", "fp8", "quantizes" }, { "fp8_block", "fp8_block", "quantizes" },
  { "nvfp4", "nvfp4", "quantizes" }, { "int4_wo", "int4", nil, "int4_wo" }, { "sq", "int8" } }
local moe_formats = { { "bfloat16", "bf16" }, { "fp8", "fp8" }, { "fp8_block", "fp8_block" }, { "nvfp4", "nvfp4" },
  { "int4_wo", "int4", nil, "int4_wo" }, { "w4a16_mxfp4", "mxfp4" }, { "w4a8_mxfp4_mxfp8", "w4a8_mxfp4_mxfp8" } }
local module_formats = { { "bfloat16", "bf16" }, { "fp8_block", "fp8_block", "quantizes" },
  { "nvfp4", "nvfp4", "quantizes" } }
local exchange_formats = { { "bfloat16", "bf16" }, { "fp8", "fp8" }, { "nvfp4", "nvfp4" } }
local expert_formats = { { "fp8_block", "fp8_block" }, { "nvfp4", "nvfp4" } }

-- Columns of several kinds --------------------------------------------------------------------------------------------
local heads, kv_heads = number("num_heads", "heads"), number("num_key_value_heads", "kv_heads")
local head_dim, window = number("head_dim", "head_dim"), number("window_size", "window")
local batch, before = number("batch_size", "batch"), number("step", "context_tokens")
local prompt, newest = number("isl", "new_tokens"), number("isl", "context_tokens")
local tokens, hidden = number("num_tokens", "tokens"), number("hidden_size", "hidden_size")

local sparse_width = code("model", "hidden_size", { { "*DeepSeek-V3.2*", 7168 }, { "*GLM-5*", 6144 } })
local v4_width = code("model", "hidden_size", { { "*DeepSeek-V4-Pro*", 7168 }, { "*DeepSeek-V4-Flash*", 4096 } })
local function v4_prefill(ratio) return { v4_width, fixed("ratio", ratio), heads, batch, before, prompt, latency } end
local function v4_decode(ratio) return { v4_width, fixed("ratio", ratio), heads, batch, before, newest, latency } end
local module_prefill = { format "gemm_type", heads, kv_cache, batch, before, prompt, latency }
local module_decode = { format "gemm_type", heads, kv_cache, batch, before, newest, latency }

local key_heads, value_heads = number("num_k_heads", "key_heads"), number("num_v_heads", "value_heads")
local key_width, value_width, conv = fixed("key_head_dim", 128), fixed("value_head_dim", 128), fixed("conv", 4)
local recurrent_tokens = number("seq_len", "new_tokens")
local recurrent_decode = { select("phase", "generation"), key_heads, key_width, value_heads, value_width, conv, batch,
  latency }

local expert_width, experts = number("inter_size", "intermediate_size"), number("num_experts", "experts")
local experts_per_token, expert_ranks = number("topk", "experts_per_token"), number("moe_ep_size", "ep")
local spread = word("distribution", "distribution", { { "balanced", "balanced" },
  { "power_law_1.01", "power_law_1.01" }, { "power_law_1.2", "power_law_1.2" },
  { "power_law_1.01_eplb", "power_law_1.01_eplb" }, { "power_law_1.2_eplb", "power_law_1.2_eplb" } })

local ranks, message = number("num_gpus", "ranks"), number("message_size", "bytes", 2) -- elements of 16 bits
local collective = { format "nccl_dtype",
  word("op_name", "collective", { { "all_reduce", "all_reduce" }, { "all_gather", "all_gather" },
    { "reduce_scatter", "reduce_scatter" }, { "alltoall", "all_to_all" } }), ranks, message, latency }
local exchange_topk = optional(number("num_topk", "experts_per_token"), 8)
local rank_tokens = number("num_token", "tokens")

--- An exchange of DeepEP: the columns in front of the latency.
local function exchange(mode, phase, sms)
  return { fixed("mode", mode), fixed("phase", phase), columns.nodes, hidden, experts, exchange_topk, sms, rank_tokens }
end
local function with(list, ...)
  for _, each in ipairs { ... } do list[#list + 1] = each end
  return list
end

-- What rows hold, and notes -------------------------------------------------------------------------------------------
local moe_parts = { "routing", "permutation", "quantize", "activation", "reduction" }
local expert_parts = { "permutation", "quantize", "activation", "reduction" }
local whole_write = { trtllm = { "kv_write", "rope" } }  -- its attention takes queries, keys and values as projected
local latent_parts = { "projections", "absorbed projections", "norm", "rope", "kv_write" }
local sparse_parts = { "projections", "index", "top-k", "norm", "rope", "kv_write" }
local v4_parts = { "projections", "compressor", "index", "top-k", "norm", "rope", "kv_write" }
local gdn_parts = { "conv", "delta_rule" }
local gdn_kernels = { "causal_conv1d*", "chunk_* fused_*" }

local v3 = "hidden_size 7168, q_lora_rank 1536, kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim 64, "
  .. "v_head_dim 128"
local m3 = "MiniMax-M3: hidden_size 6144, 64 heads, 4 KV heads, head_dim 128, index 4 x 128, 16 blocks of 128"
local kimi_k3 = "Kimi-K3: 96 heads, head dims 128"
local one_rank = "tokens of all ranks; the time is that of one rank"
local v4_note = "DeepSeek-V4-Flash: hidden_size 4096; V4-Pro: 7168. ratio 4: with an index; 128: without; heads of one "
  .. "rank"
local module_note = "dtype is that of the projections; add no GEMM of the attention block to it"
local sum_note = "latency is the sum of the convolution and the delta rule; no projection, norm or gate"
local deepep_note = "tokens of one rank; sms 0: low latency mode, which has no such setting"
local deepgemm_note = "DeepGEMM; contiguous: as after DeepEP's normal mode, masked: low latency; slots = experts"
local back_to_back = "back to back, without launch"

--- Experts that DeepGEMM runs after DeepEP.
local function behind_deepep(file, layout)
  return { file = file, op = "moe_experts", formats = expert_formats, includes = expert_parts,
    columns = { format "moe_dtype", fixed("layout", layout), hidden, expert_width, experts, experts_per_token,
      number("num_experts", "slots"), expert_ranks, spread, tokens, latency },
    library = "deepep", every_version = true, timer = "not published", shape = one_rank, note = deepgemm_note }
end

-- The kinds -----------------------------------------------------------------------------------------------------------
return {
  { file = "gemm", op = "gemm", formats = gemm_formats,
    columns = { format "gemm_dtype", number("m", "m"), number("k", "k"), number("n", "n"), latency } },
  { file = "context_attention", op = "attention_prefill", formats = bf16_fp8, includes = { "kv_write" },
    includes_of = whole_write,
    columns = { columns.none "window_size", format "kv_cache_dtype", heads, kv_heads, head_dim, batch, before, prompt,
      latency } },
  { file = "context_attention", op = "attention_window_prefill", formats = bf16_fp8, includes = { "kv_write" },
    includes_of = whole_write,
    columns = { columns.some "window_size", format "kv_cache_dtype", heads, kv_heads, head_dim, window, batch, before,
      prompt, latency } },
  { file = "generation_attention", op = "attention_decode", formats = bf16, note = "fp8 KV: the query comes as FP8",
    includes_of = whole_write,
    columns = { columns.none "window_size", heads, kv_heads, head_dim, kv_cache, batch, before, newest, latency } },
  { file = "generation_attention", op = "attention_window_decode", formats = bf16, includes_of = whole_write,
    columns = { columns.some "window_size", heads, kv_heads, head_dim, window, kv_cache, batch, before, newest,
      latency } },
  { file = "moe", op = "moe_layer", formats = moe_formats, includes = moe_parts,
    columns = { format "moe_dtype", hidden, expert_width, experts, experts_per_token, number("moe_tp_size", "tp"),
      expert_ranks, spread, tokens, latency },
    shape = "intermediate_size of the whole model; tokens of all ranks",
    note = "the time is that of the most loaded rank; no router GEMM, shared expert or communication" },
  { file = "custom_allreduce", op = "all_reduce", formats = bf16, timer = "graph, or eager where mode says so",
    columns = { optional(word("kernel_source", "mode", { { "*eager", "eager" }, { "*", "graph" } })), ranks, message,
      latency } },
  { file = "nccl", op = "collective", formats = half, columns = collective, library = "nccl",
    engine_first = true, timer = back_to_back,
    note = "nccl-tests, out of place, 16-bit elements; bytes = elements x 2 as nccl-tests counts them" },
  { file = "oneccl", op = "collective", formats = half, columns = collective, library = "oneccl",
    timer = back_to_back },
  { file = "context_mla", op = "mla_prefill", formats = bf16_fp8, shape = v3, note = "attention alone, expanded form",
    includes_of = whole_write,
    columns = { format "kv_cache_dtype", heads, fixed("qk_nope_head_dim", 128), fixed("qk_rope_head_dim", 64), batch,
      before, prompt, latency } },
  { file = "generation_mla", op = "mla_decode", formats = bf16, shape = v3, note = "attention alone, absorbed form",
    includes_of = whole_write,
    columns = { heads, fixed("kv_lora_rank", 512), fixed("qk_rope_head_dim", 64), kv_cache, batch, before, newest,
      latency } },
  { file = "mla_bmm", op = "mla_bmm", formats = bf16_fp8,
    columns = { format "bmm_dtype", word("op_name", "stage", { { "mla_gen_pre", "pre" }, { "mla_gen_post", "post" } }),
      heads, fixed("kv_lora_rank", 512), fixed("head_dim", 128), tokens, latency },
    note = "pre: the query times W_UK; post: the output times W_UV; decode of the absorbed form" },
  { file = "mla_context_module", op = "mla_module_prefill", formats = module_formats, columns = module_prefill,
    includes = latent_parts, shape = v3, note = module_note },
  { file = "mla_generation_module", op = "mla_module_decode", formats = module_formats, columns = module_decode,
    includes = latent_parts, shape = v3, note = module_note },
  { file = "dsa_context_module", op = "dsa_module_prefill", formats = module_formats, includes = sparse_parts,
    columns = { format "gemm_type", sparse_width, heads, kv_cache, batch, before, prompt, latency },
    timer = "eager", floors = 1.5,
    note = "V3.2: hidden_size 7168; GLM-5: 6144. Timed eagerly: rows below 1.5 times the launch floor are left out, "
      .. "do not clamp to the smallest row" },
  { file = "dsa_generation_module", op = "dsa_module_decode", formats = module_formats, includes = sparse_parts,
    columns = { format "gemm_type", sparse_width, heads, kv_cache, batch, before, newest, latency },
    note = "V3.2: hidden_size 7168; GLM-5: 6144" },
  { file = "msa_context_module", op = "msa_module_prefill", formats = module_formats, columns = module_prefill,
    includes = sparse_parts, shape = m3 },
  { file = "msa_generation_module", op = "msa_module_decode", formats = module_formats, columns = module_decode,
    includes = sparse_parts, shape = m3 },
  { file = "dsv4_csa_context_module", op = "v4_module_prefill", formats = fp8_block, columns = v4_prefill(4),
    includes = v4_parts, note = v4_note },
  { file = "dsv4_hca_context_module", op = "v4_module_prefill", formats = fp8_block, columns = v4_prefill(128),
    includes = v4_parts, note = v4_note },
  { file = "dsv4_csa_generation_module", op = "v4_module_decode", formats = fp8_block, columns = v4_decode(4),
    includes = v4_parts, note = v4_note },
  { file = "dsv4_hca_generation_module", op = "v4_module_decode", formats = fp8_block, columns = v4_decode(128),
    includes = v4_parts, note = v4_note },
  { file = "mhc_module", op = "mhc", formats = bf16,
    columns = { word("op_name", "stage", { { "pre", "pre" }, { "post", "post" } }), hidden, tokens, latency },
    shape = "hc_mult 4, two sites per layer, 20 Sinkhorn iterations" },
  { file = "gdn", op = "gdn_prefill", formats = bf16, kernels = gdn_kernels, includes = gdn_parts, note = sum_note,
    columns = { select("phase", "context"), key_heads, key_width, value_heads, value_width, conv, batch,
      recurrent_tokens, latency } },
  { file = "gdn", op = "gdn_decode", formats = bf16, kernels = gdn_kernels, includes = gdn_parts, note = sum_note,
    columns = recurrent_decode },
  { file = "kda", op = "kda_prefill", formats = bf16, includes = { "delta_rule" }, shape = kimi_k3,
    columns = { select("phase", "context"), key_heads, key_width, value_heads, value_width, batch, recurrent_tokens,
      latency },
    note = "without the convolution, whose rows were timed eagerly" },
  { file = "kda", op = "kda_decode", formats = bf16, columns = recurrent_decode, includes = gdn_parts, shape = kimi_k3,
    kernels = { "causal_conv1d_update", "fused_recurrent_kda_packed_decode" },
    note = "latency is the sum of the two kernels" },
  { file = "scale_matrix", op = "elementwise", formats = bf16, plus_file = "computescale",
    columns = { fixed("op", "quantize"), number("m", "tokens"), number("k", "width"), fixed("dtype", "bf16"), latency },
    note = "the cast with a static scale plus the difference to the dynamic one" },
  { file = "wideep_moe", op = "moe_experts", formats = expert_formats, includes = expert_parts, shape = one_rank,
    columns = { format "moe_dtype", fixed("layout", "grouped"), hidden, expert_width, experts, experts_per_token,
      number("num_slots", "slots"), expert_ranks, spread, tokens, latency },
    note = "slots: experts with their copies; eplb: after balancing" },
  behind_deepep("wideep_context_moe", "contiguous"),
  behind_deepep("wideep_generation_moe", "masked"),
  { file = "wideep_deepep_normal", op = "expert_exchange", formats = fp8, library = "deepep", every_version = true,
    columns = with(exchange("normal", "dispatch", number("dispatch_sms", "sms")),
      latency_us "dispatch_transmit_us", latency_us("dispatch_notify_us", true)),
    timer = "not published", note = deepep_note },
  { file = "wideep_deepep_normal", op = "expert_exchange", formats = fp8, library = "deepep", every_version = true,
    columns = with(exchange("normal", "combine", number("combine_sms", "sms")),
      latency_us "combine_transmit_us", latency_us("combine_notify_us", true)),
    timer = "not published", note = deepep_note },
  { file = "wideep_deepep_ll", op = "expert_exchange", formats = fp8, library = "deepep", every_version = true,
    columns = with(exchange("low_latency", "dispatch", fixed("sms", 0)), latency_us "dispatch_avg_t_us"),
    timer = "not published", note = deepep_note },
  { file = "wideep_deepep_ll", op = "expert_exchange", formats = fp8, library = "deepep", every_version = true,
    columns = with(exchange("low_latency", "combine", fixed("sms", 0)), latency_us "combine_avg_t_us"),
    timer = "not published", note = deepep_note },
  { file = "trtllm_alltoall", op = "expert_exchange", formats = exchange_formats,
    columns = { format "moe_dtype",
      word("kernel_source", "mode", { { "NVLinkOneSided", "nvlink_one_sided" },
        { "NVLinkTwoSided", "nvlink_two_sided" } }),
      word("op_name", "phase", { { "alltoall_prepare", "prepare" }, { "alltoall_dispatch", "dispatch" },
        { "alltoall_combine", "combine" }, { "alltoall_combine_low_precision", "combine_low_precision" } }),
      number("moe_ep_size", "ranks"), hidden, experts, experts_per_token, fixed("sms", 0), tokens, latency },
    note = "one NVLink domain of up to 64 GPUs; the rows were timed with 1.2.0rc6" },
}
