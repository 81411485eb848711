--- What TensorRT-LLM logs when it starts, by release: logs/log.lua says what the parts are.
-- Read at NVIDIA/TensorRT-LLM: _util.py and py_executor_creator.py of tensorrt_llm/_torch/pyexecutor of 0.20, 1.2 and
-- 1.3, and kvCacheManager.cpp of cpp/tensorrt_llm/batch_manager; lines of a whole start from public logs of 0.12.0,
-- 1.1.0rc3, 1.2.0rc2 and 1.3.0rc0. LLM Args have more fields: those that no option here changes are left out.
local ceil, floor, min = math.ceil, math.floor, math.min

local util = "tensorrt_llm/_torch/pyexecutor/_util.py"
local creator = "tensorrt_llm/_torch/pyexecutor/py_executor_creator.py"
local manager = "cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp"
local log_of_1_1 = "a log of 1.1.0rc3 of 2025-12-20"
local profiling = " in memory usage profiling: "

--- Requests of the captured graphs, the largest first.
local function captured(most)
  local out = {}
  for each = floor(most / 8) * 8, 8, -8 do
    if each <= 128 then out[#out + 1] = each end
  end
  local large = 256
  while large <= most do
    table.insert(out, 1, large)
    large = large * 2
  end
  for _, each in ipairs { 4, 2, 1 } do out[#out + 1] = each <= most and each or nil end
  return out
end

--- More figures.
local function figures(all, facts, stated)
  local values, size = facts.values, all.block_size
  all.built, all.all_tp = values.built, all.tp * all.dp * all.cp
  all.torch = not all.built
  all.used = all.weights + all.activations + all.graph_bytes + all.runtime + all.state_bytes
  all.outside = all.graph_bytes + all.runtime + all.state_bytes
  all.available = all.kv / all.share
  all.first_tokens = min(all.tokens, (ceil(all.step_tokens / size) + 1) * size) -- of the dry run
  all.first_bytes, all.kv_bytes = all.first_tokens * all.cell, all.tokens * all.cell
  all.first_blocks, all.peak = all.first_tokens / size, all.used + all.first_bytes
  all.outside_peak = all.outside + all.first_bytes
  all.is_cut = all.tokens < all.max_model_len and all.starts or nil
  all.longest_run = min(all.tokens, all.max_model_len)
  all.sequence_blocks = ceil(all.longest_run / size)
  all.first_longest = min(all.first_tokens, all.max_model_len)
  all.first_sequence_blocks = ceil(all.first_longest / size)
  -- Arguments have the largest graph that was asked for, or the default; graphs of more requests than seats are none.
  local largest = all.graphs and (all.largest_graph or 128) or 0
  local sizes, lines = captured(min(largest, all.seats)), {}
  for i, each in ipairs(sizes) do
    lines[i] = ("Run generation only CUDA graph warmup for batch size=%d, draft_len=0"):format(each)
  end
  all.warmups, all.graph_count, all.graph_most = table.concat(lines, "\n"), #sizes, largest
  all.graphs = #sizes > 0
  all.is_inferred = not facts.is_stated "max_seq_len"
  all.stated_length = not all.is_inferred and all.max_model_len or nil
  all.no_overlap, all.dp_attention = stated.disable_overlap_scheduler == true, all.dp > 1
  all.kv_dtype, all.chunked = stated["kv_cache_config.dtype"] or "auto", values.enable_chunked_prefill == true
  all.error_refused = all.error_length -- its words were not read
  all.error_unspoken = all.error_unspoken or all.error_refused
  all.no_kernels = all.error_unspoken and not all.error_refused
  all.free_before = all.total - all.runtime
  all.free_after = all.free_before - all.weights
end

local function ranks(all)
  local out = { { by = "api", rank_word = "" } }
  local count = all.all_tp * all.pp
  for rank = 0, count - 1 do
    local own = { by = "worker", rank = rank, rank_word = count > 1 and ("[%s %d] "):format(all.rank_name, rank) or "" }
    out[#out + 1] = own
    if rank == 0 then out[#out + 1] = { by = "lead", rank = 0, rank_word = own.rank_word } end
  end
  return out
end

return {
  host = "localhost",
  stamp = "%m/%d/%Y-%H:%M:%S",
  forms = { log = "[{time}] [TRT-LLM] {rank_word}[{level}] {message}", native = "[TensorRT-LLM][INFO] {message}",
    raw = "{message}" },
  ranks = ranks,
  figures = figures,

  values = {
    { rank_name = "MPI_Rank", source = "tensorrt_llm/logger.py at 027cd518; when it changed was not read" },
    { since = "1.0.0rc0", rank_name = "RANK", source = "a log of 2025-12-20" },
    { since = "1.4.0rc1", assumed = "the lines of the second version of the KV cache were not read; they are "
        .. "written as those of the first", source = "release notes of 1.4.0rc1" },
  },

  config = { between = " ", adds = true, rows = {
    { "model", "{model|repr}" }, { "tokenizer", "None" }, { "trust_remote_code", "False" },
    { "tensor_parallel_size", "{all_tp}" }, { "dtype", "'auto'" }, { "pipeline_parallel_size", "{pp}" },
    { "context_parallel_size", "1" }, { "moe_expert_parallel_size", "{ep}" },
    { "enable_attention_dp", "{dp_attention|repr}" }, { "kv_cache_config.enable_block_reuse", "{prefix_caching|repr}" },
    { "kv_cache_config.free_gpu_memory_fraction", "{share|float}" }, { "kv_cache_config.dtype", "{kv_dtype|repr}" },
    { "kv_cache_config.tokens_per_block", "{block_size}" }, { "enable_chunked_prefill", "{chunked|repr}" },
    { "max_batch_size", "{seats}" }, { "max_seq_len", "{stated_length|repr}" }, { "max_num_tokens", "{step_tokens}" },
    { "backend", "'pytorch'" }, { "disable_overlap_scheduler", "{no_overlap|repr}" },
    { "cuda_graph_config.max_batch_size", "{graph_most}", when = "graphs" },
    -- what the rows above say, by the names of the options
    { "host", "", when = "never" }, { "port", "", when = "never" }, { "tp_size", "", when = "never" }, { "pp_size", "",
      when = "never" }, { "ep_size", "", when = "never" },
  } },

  rows = {
    { before = "1.2.0rc0", by = "api", form = "raw", text = "[TensorRT-LLM] TensorRT-LLM version: {release}",
      source = "tensorrt_llm/__init__.py; a log of 1.1.0rc3" },
    { since = "1.2.0rc0", by = "api", form = "raw", text = "[TensorRT-LLM] TensorRT LLM version: {release}",
      source = "logs of 1.2.0rc2 and 1.3.0rc0" },
    { by = "api", level = "I", after = "begin_s", when = "torch", text = "Using LLM with PyTorch backend",
      source = log_of_1_1 },
    { by = "api", level = "I", when = "torch", text = "neither checkpoint_format nor checkpoint_loader were "
        .. "provided, checkpoint_format will be set to HF.", source = log_of_1_1 },
    { by = "worker", form = "raw", when = "torch", text = "rank {rank} using MpiPoolSession to spawn MPI processes",
      source = log_of_1_1 },
    { by = "worker", form = "native", when = "torch", text = "Refreshed the MPI local session", source = log_of_1_1 },
    { before = "1.2.0rc0", by = "worker", level = "I", when = "torch",
      text = "PyTorchConfig(use_cuda_graph={graphs|repr}, cuda_graph_max_batch_size={graph_most}, "
          .. "disable_overlap_scheduler={no_overlap|repr}, attn_backend='TRTLLM', kv_cache_dtype={kv_dtype|repr})",
        source = log_of_1_1 .. ", which has more fields" },
    { by = "worker", level = "I", when = "torch", text = "ATTENTION RUNTIME "
        .. "FEATURES:  AttentionRuntimeFeatures(chunked_prefill={chunked|repr}, cache_reuse={prefix_caching|repr}, "
        .. "has_speculative_draft_tokens=False, chunk_size={step_tokens})", source = creator },
    { when = "no_kernels", ends = true },
    { by = "worker", fails = true, level = "E", when = "torch oom", text = "Failed to initialize executor on rank "
        .. "{rank}: Executor creation failed due to insufficient GPU memory.\n\nThe following component could not "
        .. "be created: Model\nTotal GPU memory (GiB): {total|gib2}\nFree GPU memory before component creation "
        .. "attempt (GiB): {free_before|gib2}\n\nPreviously created components and free GPU memory before/after "
        .. "creation (GiB):\n\nPlease refer to the TensorRT LLM documentation for information on how to control the "
        .. "memory usage through TensorRT LLM configuration options. Possible options include:\n  Model: reduce "
        .. "max_num_tokens and/or shard the model weights across GPUs by enabling pipeline and/or tensor parallelism",
      source = creator },
    { by = "worker", fails = true, form = "raw", when = "built oom", text = "[TensorRT-LLM][ERROR] CUDA runtime "
        .. "error in ::cudaMallocAsync(ptr, n, mMemPool->getPool(), mCudaStream->get()): out of memory",
      source = "cpp/tensorrt_llm/runtime/tllmBuffers.h" },
    { by = "worker", level = "I", when = "torch", text = "Use {weights|gib2} GB for model weights.",
      source = log_of_1_1 },
    { by = "worker", form = "raw", after = "load_s", when = "torch", text = "Model init total -- {load_s|f2}s",
      source = log_of_1_1 },
    { by = "worker", level = "I", when = "torch is_inferred",
      text = "max_seq_len is not specified, using inferred value {max_model_len}", source = log_of_1_1 },
    { since = "1.1.0rc0", by = "worker", level = "I", when = "torch", text = "Using Sampler: TorchSampler",
      source = log_of_1_1 },
    { by = "worker", fails = true, level = "E", when = "torch error_memory", text = "Failed to initialize executor "
        .. "on rank {rank}: Executor creation failed due to insufficient GPU memory.\n\nThe following component "
        .. "could not be created: KV cache\nTotal GPU memory (GiB): {total|gib2}\nFree GPU memory before component "
        .. "creation attempt (GiB): {free_after|gib2}\n\nPreviously created components and free GPU memory "
        .. "before/after creation (GiB):\nModel: {free_before|gib2} / {free_after|gib2}\n\nPlease refer to the "
        .. "TensorRT LLM documentation for information on how to control the memory usage through TensorRT LLM "
        .. "configuration options. Possible options include:\n  Model: reduce max_num_tokens and/or shard the model "
        .. "weights across GPUs by enabling pipeline and/or tensor parallelism\n  KV cache: reduce "
        .. "free_gpu_memory_fraction", source = creator },

    -- the dry run, with a KV cache of its own
    { since = "1.2.0rc0", by = "worker", form = "native", when = "torch", text = "Max KV cache blocks per sequence: "
        .. "{first_sequence_blocks} [window size={first_longest}], tokens per block={block_size}, primary "
        .. "blocks={first_blocks}, secondary blocks=0, max sequence length={max_model_len}",
      source = "a log of 1.2.0rc2" },
    { by = "worker", form = "native", when = "torch", text = "Number of tokens per block: {block_size}.",
      source = manager },
    { by = "worker", form = "native", when = "torch", text = "[MemUsageChange] Allocated {first_bytes|gib2} GiB for "
        .. "max tokens in paged KV cache ({first_tokens}).", source = manager },
    { by = "lead", level = "I", after = "profile_s", when = "torch", text = "max_seq_len={first_longest}, "
        .. "max_num_requests={seats}, max_num_tokens={step_tokens}, max_batch_size={seats}", source = util },
    { since = "1.1.0rc0", by = "worker", level = "I", when = "torch graphs",
      text = "Creating CUDA graph instances for {graph_count} batch sizes.", source = log_of_1_1 },
    { since = "1.1.0rc0", by = "worker", level = "I", repeats = true, when = "torch graphs", text = "{warmups}",
      source = log_of_1_1 },
    { by = "worker", level = "I", when = "torch", text = "Memory used after loading model weights (inside torch)"
        .. profiling .. "{weights|gib2} GiB", source = util },
    { by = "worker", level = "I", when = "torch", text = "Memory used after loading model weights (outside torch)"
        .. profiling .. "{outside|gib2} GiB", source = util },
    { by = "worker", level = "I", when = "torch", text = "Memory dynamically allocated during inference (inside torch)"
        .. profiling .. "{activations|gib2} GiB", source = util },
    { by = "worker", level = "I", when = "torch", text = "Memory used outside torch (e.g., NCCL and CUDA graphs)"
        .. profiling .. "{outside_peak|gib2} GiB", source = util },
    { before = "1.2.0rc0", by = "worker", level = "I", when = "torch", text = "Peak memory during memory usage "
        .. "profiling (torch + non-torch): {peak|gib2} GiB, available KV cache memory when calculating max tokens: "
        .. "{kv|gib2} GiB, fraction is set {share|single}, kv size is {cell|whole}. device total memory "
        .. "{total|gib2} GiB, , tmp kv_mem {first_bytes|gib2} GiB", source = log_of_1_1 },
    { since = "1.2.0rc0", before = "1.3.0rc20", by = "worker", level = "I", when = "torch",
      text = "Peak memory during memory usage profiling (torch + non-torch): {peak|gib2} GiB, available KV cache "
          .. "memory when calculating max tokens: {kv|gib2} GiB, fraction is set {share|float}, kv size is "
          .. "{cell|whole}. device total memory {total|gib2} GiB, , tmp kv_mem {first_bytes|gib2} GiB",
        source = util .. " of 1.2" },
    { since = "1.3.0rc20", by = "worker", level = "I", when = "torch", text = "Peak memory during memory usage "
        .. "profiling (torch + non-torch): {peak|gib2} GiB, available KV cache memory when calculating max tokens: "
        .. "{kv|gib2} GiB, fraction is set {share|float}, kv size per token is {cell|whole}. device total memory "
        .. "{total|gib2} GiB, temporary kv cache memory during profiling {first_bytes|gib2} GiB",
      source = util .. " of 1.3; from which candidate on was not read" },
    { before = "1.1.0rc0", by = "worker", level = "I", when = "torch", text = "Estimated max tokens in KV cache : "
        .. "{tokens}", source = util .. " of 0.20" },
    { since = "1.1.0rc0", by = "worker", level = "I", when = "torch",
      text = "Estimated max memory in KV cache : {kv|gib2} GiB", source = util .. " of 1.3; " .. log_of_1_1 },
    { when = "error_refused", ends = true },

    -- the TensorRT engine
    { by = "worker", form = "native", when = "built", text = "MPI size: {world}, MPI local size: {world}, rank: "
        .. "{rank}", source = "cpp/tensorrt_llm/runtime" },
    { by = "worker", form = "native", when = "built", text = "TRTGptModel maxNumSequences: {seats}",
      source = "log of 0.12" },
    { by = "worker", form = "native", when = "built", text = "TRTGptModel maxBatchSize: {seats}",
      source = "log of 0.12" },
    { by = "worker", form = "native", when = "built", text = "TRTGptModel maxSequenceLen: {max_model_len}",
      source = "log of 0.12" },
    { by = "worker", form = "native", after = "load_s", when = "built", text = "Loaded engine size: "
        .. "{weights|mib0} MiB", source = "log of 0.12" },
    { by = "worker", form = "native", when = "built", text = "[MemUsageChange] Allocated {activations|mib2} MiB for "
        .. "execution context memory.", source = "log of 0.12" },
    { by = "worker", form = "native", when = "built", text = "Memory usage when calculating max tokens in paged kv "
        .. "cache: total: {total|gib2} GiB, available: {available|gib2} GiB", source = manager .. " of 0.12" },
    { by = "worker", fails = true, form = "raw", when = "built error_memory", text = "[TensorRT-LLM][ERROR] CUDA "
        .. "runtime error in ::cudaMallocAsync(ptr, n, mMemPool->getPool(), mCudaStream->get()): out of memory",
      source = "cpp/tensorrt_llm/runtime/tllmBuffers.h" },
    { by = "worker", form = "native", when = "built", text = "Number of blocks in KV cache primary pool: {blocks}",
      source = manager .. " of 0.12" },
    { by = "worker", form = "native", when = "built", text = "Number of blocks in KV cache secondary pool: 0, "
        .. "onboard blocks to primary memory before reuse: true", source = manager .. " of 0.12" },

    { by = "worker", level = "W", when = "is_cut torch", text = "Attention window size {max_model_len} exceeds "
        .. "upper bound {tokens} for available blocks. Reducing to {tokens}.", source = log_of_1_1 },
    { by = "worker", level = "W", when = "is_cut torch", text = "Adjusted max_seq_len to {tokens}",
      source = log_of_1_1 },
    { before = "1.0.0rc0", by = "worker", form = "native", text = "Max KV cache pages per sequence: "
        .. "{sequence_blocks}", source = manager .. " of 0.12" },
    { since = "1.2.0rc0", by = "worker", form = "native", text = "Max KV cache blocks per sequence: "
        .. "{sequence_blocks} [window size={longest_run}], tokens per block={block_size}, primary blocks={blocks}, "
        .. "secondary blocks=0, max sequence length={longest_run}", source = "a log of 1.2.0rc2" },
    { by = "worker", form = "native", text = "Number of tokens per block: {block_size}.", source = manager },
    { by = "worker", form = "native", text = "[MemUsageChange] Allocated {kv_bytes|gib2} GiB for max tokens in "
        .. "paged KV cache ({tokens}).", source = manager },
    { by = "lead", level = "I", when = "torch", text = "max_seq_len={longest_run}, max_num_requests={seats}, "
        .. "max_num_tokens={step_tokens}, max_batch_size={seats}", source = util },
    { by = "lead", level = "I", when = "torch", text = "cache_transceiver is disabled", source = log_of_1_1 },
    { since = "1.1.0rc0", by = "worker", level = "I", after = "capture_s", when = "torch graphs",
      text = "Creating CUDA graph instances for {graph_count} batch sizes.", source = log_of_1_1 },
    { since = "1.2.0rc0", by = "lead", level = "I", when = "torch", text = "LLM Args:\n{config}", source = creator },
    { by = "worker", form = "native", when = "built", text = "Executor instance created by worker",
      source = "log of 0.12" },
    { by = "api", form = "raw", after = "serve_s", text = "INFO:     Started server process [1]\nINFO:     Waiting "
        .. "for application startup.\nINFO:     Application startup complete.\nINFO:     Uvicorn running on "
        .. "http://{host}:{port} (Press CTRL+C to quit)", source = "uvicorn" },
  },
}
