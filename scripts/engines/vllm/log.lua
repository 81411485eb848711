--- What vLLM logs when it starts, by release: logs/log.lua says what the parts are.
-- Read at vllm-project/vllm: tags v0.7.3, v0.8.5, v0.10.0; main at 2e4fe48c (0.11), 3461e7ef (0.12), 8471b27d (0.14),
-- 384e4d5f (0.19), f80aa53c (0.21), 0a3e2dbc (0.24), 017e9f44 (2026-08-17, 0.28). Releases between are those of the day
-- of a pull request. Lines that later releases wrote in another way were not seen. `at` is the line of one of these.
local config = require "engines.vllm.log_config"

local runner, worker, cache = "vllm/v1/worker/gpu_model_runner.py", "vllm/v1/worker/gpu_worker.py",
  "vllm/v1/core/kv_cache_utils.py"
local nvidia = { "hopper", "ampere", "ada", "blackwell" }

--- Processes: the API server, the engine core of each data-parallel rank, and its workers where there are several.
local function ranks(all)
  local out = { { by = "api", pid = 1, process = all.api_prefix or "" } }
  local function add(by, own, prefix)
    own.by, own.process = by, prefix and prefix:gsub("{(%w+)}", own) or ""
    out[#out + 1] = own
  end
  for dp = 0, all.dp - 1 do
    local core = { pid = 100 + dp, dp = dp }
    local prefix = not all.v0 and (all.dp > 1 and all.core_dp_prefix or all.core_prefix) or nil
    add("core", core, prefix)
    for rank = 0, all.world - 1 do
      local tp, pp = rank % all.tp, math.floor(rank / all.tp)
      local own = { pid = all.several and 200 + dp * all.world + rank or core.pid, rank = rank, dp_rank = dp,
        tp_rank = tp, pp_rank = pp, global = dp * all.world + rank }
      own.name = "Worker" .. (all.dp > 1 and "_DP" .. dp or "") .. (all.pp > 1 and "_PP" .. pp or "")
        .. (all.tp > 1 and "_TP" .. tp or "") .. (all.dcp > 1 and "_DCP" .. tp % all.dcp or "")
        .. (all.ep > 1 and "_EP" .. (dp * all.tp + tp) or "")
      own.ep_word = all.ep_word:gsub("{ep_rank}", all.ep > 1 and tostring(dp * all.tp + tp) or all.no_ep_rank)
      local own_prefix = all.several and all.worker_prefix or prefix
      own.dp = dp
      if all.v0 then own_prefix = rank > 0 and "(VllmWorkerProcess pid={pid}) " or nil end
      add("worker", own, own_prefix)
      if rank == 0 then
        local lead = {}
        for name, value in pairs(own) do lead[name] = value end
        add("lead", lead, own_prefix)
      end
    end
  end
  return out
end

return {
  host = "0.0.0.0",
  stamp = "%m-%d %H:%M:%S",
  repeats = true, -- NewLineFormatter puts the same words in front of each line of a message
  forms = { log = "{process}{level} {time} [{at}] {message}", raw = "{process}{message}" },
  ranks = ranks,
  figures = config.figures,
  named = config.named,
  config = config.config,

  values = {
    config.values,
    { before = "0.10.2", worker_prefix = "(VllmWorker rank={rank} pid={pid}) ",
      source = "vllm/v1/executor/multiproc_executor.py of 0.8.5 and 0.10.0" },
    { before = "0.10.2", core_dp_prefix = "(EngineCore_{dp} pid={pid}) ", source = "vllm/v1/engine/core.py of 0.8.5" },
    { since = "0.10.1", core_prefix = "(EngineCore_0 pid={pid}) ", source = "pull request 21889 of 2025-08-01" },
    { since = "0.10.1", api_prefix = "(APIServer pid=1) ", source = "the same; issues 28058 (0.11.0) and others" },
    { since = "0.10.2", worker_prefix = "({name} pid={pid}) ", core_dp_prefix = "(EngineCore_DP{dp} pid={pid}) ",
      core_prefix = "(EngineCore_DP0 pid={pid}) ", source = "pull request 22205 of 2025-09-08" },
    { since = "0.17", core_prefix = "(EngineCore pid={pid}) ", source = "pull request 31162 of 2026-02-05; "
        .. "vllm/v1/engine/utils.py at 384e4d5f" },
    { no_ep_rank = "0", source = "vllm/distributed/parallel_state.py of 0.8.5" },
    { since = "0.14", no_ep_rank = "N/A", source = "vllm/distributed/parallel_state.py at 0a3e2dbc" },
    { architecture = nvidia, backend = "FLASH_ATTN", backend_words = "Flash Attention",
      backends = { "FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLEX_ATTENTION" }, source = "vllm/platforms/cuda.py, "
          .. "the order of back ends" },
    { since = "0.10", architecture = "blackwell", gpu = { not_named = "rtx" }, backend = "FLASHINFER",
      backend_words = "FlashInfer", backends = { "FLASHINFER", "FLASH_ATTN", "TRITON_ATTN", "FLEX_ATTENTION" },
      source = "the same, compute capability 10" },
    { architecture = { "ampere", "ada", "blackwell" }, when = config.is_latent, backend = "TRITON_MLA",
      backend_words = "Triton MLA", backends = { "TRITON_MLA" }, source = "the same, use_mla" },
    { architecture = "hopper", when = config.is_latent, backend = "FLASH_ATTN_MLA", backend_words = "FlashMLA",
      backends = { "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA" }, source = "the same" },
    { since = "0.10", architecture = "blackwell", gpu = { not_named = "rtx" }, when = config.is_latent,
      backend = "CUTLASS_MLA", backend_words = "Cutlass MLA",
      backends = { "CUTLASS_MLA", "FLASHINFER_MLA", "TRITON_MLA" }, source = "the same, compute capability 10" },
    { since = "0.19", architecture = "blackwell", gpu = { not_named = "rtx" }, when = config.is_latent,
      backend = "FLASHINFER_MLA", backends = { "FLASHINFER_MLA", "CUTLASS_MLA", "TRITON_MLA" },
      source = "at 384e4d5f" },
  },

  rows = {
    { by = "api", at = "__init__.py:239", text = "Automatically detected platform cuda.", when = "cuda",
      source = "vllm/platforms/__init__.py" },
    { before = "0.15", by = "api", at = "api_server.py:1043", text = "vLLM API server version {release}",
      after = "begin_s", source = "vllm/entrypoints/openai/api_server.py" },
    { since = "0.15", by = "api", at = "{logo_at}", after = "begin_s", text = "\n       █     █     █▄   ▄█\n ▄▄ ▄█ "
        .. "█     █     █ ▀▄▀ █  version {release}\n  █▄█▀ █     █     █     █  model   {model}\n   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ "
        .. "▀     ▀\n", source = "pull request 32796 of 2026-01-23: the logo" },
    { before = "0.9", by = "api", at = "api_server.py:1044", text = "args: Namespace({namespace})",
      source = "vllm/entrypoints/openai/api_server.py of 0.8.5" },
    { since = "0.9", by = "api", at = "{args_at}", text = "non-default args: {args}", source = "pull request 17803 "
        .. "of 2025-05-07" },
    { since = "0.10", by = "api", at = "model.py:549", text = "Resolved architecture: {class}", when = "class",
      source = "vllm/config.py of 0.10" },
    { since = "0.10", by = "api", at = "model.py:1665", text = "Using max model len {max_model_len}",
      source = "vllm/config.py of 0.10.0" },
    { by = "api", fails = true, form = "raw", when = "error_scheduler",
      text = "Traceback (most recent call last):\nValueError: max_num_batched_tokens ({step_tokens}) is smaller "
          .. "than max_model_len ({max_model_len}). This effectively limits the maximum sequence length to "
          .. "max_num_batched_tokens and makes vLLM reject longer sequences. Please increase max_num_batched_tokens "
          .. "or decrease max_model_len.", source = "vllm/config/scheduler.py" },
    { by = "api", at = "scheduler.py:239", text = "Chunked prefill is enabled with "
        .. "max_num_batched_tokens={step_tokens}.", when = "chunked", source = "vllm/config/scheduler.py" },
    { by = "core", at = "llm_engine.py:234", when = "v0", text = "Initializing a V0 LLM engine (v{release}) with "
        .. "config: {config}, use_cached_outputs=True, ", source = "vllm/engine/llm_engine.py of 0.7.3" },
    { by = "core", at = "core.py:106", text = "Initializing a V1 LLM engine (v{release}) with config: {config}",
      when = "not v0", source = "vllm/v1/engine/core.py" },
    { since = "0.8", by = "worker", at = "parallel_state.py:1004", when = "not v0", text = "rank {global} in world "
        .. "size {all_ranks} is assigned as DP rank {dp_rank}, PP rank {pp_rank}, {pcp_word}TP rank "
        .. "{tp_rank}{ep_word}", source = "vllm/distributed/parallel_state.py" },
    { before = "0.11.1", by = "worker", at = "cuda.py:221", text = "Using {backend_words} backend on V1 engine.",
      when = "backend not v0", source = "vllm/platforms/cuda.py of 0.8.5 and 0.10.0" },
    { before = "0.12", by = "worker", at = "{runner}.py:1329", text = "Starting to load model {model}...",
      source = runner },
    { since = "0.12", by = "lead", at = "gpu_model_runner.py:4724", text = "Starting to load model {model}...",
      source = runner .. ": once for all ranks" },
    { when = "error_unspoken", ends = true },
    { since = "0.11.1", by = "worker", at = "cuda.py:418", text = "Using {backend_enum} backend.",
      when = "backend stated_backend", source = "vllm/platforms/cuda.py" },
    { since = "0.11.1", before = "0.12", by = "worker", at = "cuda.py:418", text = "Using {backend} backend.",
      when = "backend not stated_backend", source = "vllm/platforms/cuda.py of 2025-11-12" },
    { since = "0.12", by = "worker", at = "cuda.py:335", when = "backend not stated_backend",
      text = "Using {backend} attention backend out of potential backends: {candidates}",
      source = "pull requests 29337 of 2025-11-25, 29903 of 2025-12-13, 33570 of 2026-02-02" },
    { by = "worker", fails = true, level = "ERROR", at = "core.py:1229", when = "oom", text = "EngineCore failed to "
        .. "start.\nTraceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to "
        .. "allocate {tried|mib2} MiB. GPU {rank} has a total capacity of {total|gib2} GiB of which "
        .. "{free_last|mib2} MiB is free.", source = "torch.OutOfMemoryError; vllm/v1/engine/core.py" },
    { since = "0.8", by = "worker", at = "default_loader.py:385", after = "load_s", text = "Loading weights took "
        .. "{load_s|f2} seconds", source = "vllm/model_executor/model_loader/default_loader.py" },
    { before = "0.8", by = "worker", at = "model_runner.py:1115", after = "load_s", text = "Loading model weights "
        .. "took {weights|gib4} GB", source = "vllm/worker/model_runner.py of 0.7.3" },
    { since = "0.8", before = "0.11.1", by = "worker", at = "gpu_model_runner.py:1892",
      text = "Model loading took {weights|gib4} GiB and {load_s|f6} seconds", source = "pull request 14063 of "
          .. "2025-03-01" },
    { since = "0.11.1", before = "0.14", by = "worker", at = "gpu_model_runner.py:3505",
      text = "Model loading took {weights|gib4} GiB memory and {load_s|f6} seconds", source = "pull request 28178" },
    { since = "0.14", by = "worker", at = "gpu_model_runner.py:4809",
      text = "Model loading took {weights|gib} GiB memory and {load_s|f6} seconds", source = "pull request 29493 of "
          .. "2026-01-06: format_gib rounds" },
    { since = "0.8", by = "worker", at = "backends.py:430", after = "compile_s", when = "compiles",
      text = "Dynamo bytecode transform time: {dynamo_s|f2} s", source = "vllm/compilation/backends.py" },
    { since = "0.8", before = "0.10", by = "worker", at = "backends.py:148", when = "compiles",
      text = "Compiling a graph for general shape takes {inductor_s|f2} s", source = "vllm/compilation/backends.py "
          .. "of 0.8.5" },
    { since = "0.10", before = "0.13", by = "worker", at = "backends.py:215", when = "compiles",
      text = "Compiling a graph for dynamic shape takes {inductor_s|f2} s", source = "of 0.10.0" },
    { since = "0.13", by = "worker", at = "backends.py:391", when = "compiles",
      text = "Compiling a graph for compile range (1, {step_tokens}) takes {inductor_s|f2} s",
      source = "pull request 24252 of 2025-12-05" },
    { since = "0.8", before = "0.18", by = "worker", at = "monitor.py:34", when = "compiles",
      text = "torch.compile takes {compile_s|f2} s in total", source = "vllm/compilation/monitor.py" },
    { since = "0.18", by = "worker", at = "monitor.py:48", when = "compiles",
      text = "torch.compile took {compile_s|f2} s in total", source = "pull request 36098 of 2026-03-07" },
    { since = "0.18", before = "0.21", by = "worker", at = "gpu_model_runner.py:5947", when = "graphs not stated_kv",
      text = "Estimated CUDA graph memory: {captured|gib2} GiB total", source = "pull request 30515 of 2026-03-07" },
    { since = "0.21", by = "worker", at = "gpu_model_runner.py:5947", when = "graph_bytes not stated_kv",
      text = "Estimated CUDA graph memory: {graph_bytes|gib2} GiB total", source = "the same" },
    { by = "worker", at = "worker.py:267", after = "profile_s", when = "v0",
      text = "Memory profiling takes {profile_s|f2} seconds\nthe current vLLM instance can use total_gpu_memory "
          .. "({total|gib2}GiB) x gpu_memory_utilization ({share|f2}) = {budget|gib2}GiB\nmodel weights take "
          .. "{weights|gib2}GiB; non_torch_memory takes {runtime|gib2}GiB; PyTorch activation peak memory takes "
          .. "{activations|gib2}GiB; the rest of the memory reserved for KV Cache is {kv|gib2}GiB.",
        source = "vllm/worker/worker.py of 0.7.3" },
    { since = "0.10.2", by = "worker", at = "gpu_worker.py:429", when = "stated_kv", text = "Initial free memory "
        .. "{free_first|gib} GiB, reserved {kv|gib} GiB memory for KV Cache as specified by kv_cache_memory_bytes "
        .. "config and skipped memory profiling. This does not respect the gpu_memory_utilization config. Only use "
        .. "kv_cache_memory_bytes config when you want manual control of KV cache memory size. If OOM'ed, check the "
        .. "difference of initial free memory between the current run and the previous run where "
        .. "kv_cache_memory_bytes is suggested and update it correspondingly.", source = worker .. " at 0a3e2dbc" },
    { since = "0.9.1", before = "0.14", by = "worker", at = "gpu_worker.py:298", after = "profile_s",
      when = "not v0 not stated_kv", text = "Available KV cache memory: {kv|gib2} GiB",
      source = worker .. " of 0.9.1" },
    { since = "0.14", by = "worker", at = "gpu_worker.py:437", after = "profile_s", when = "not stated_kv",
      text = "Available KV cache memory: {kv|gib} GiB", source = "pull request 29493 of 2026-01-06: format_gib "
          .. "rounds" },
    { since = "0.21", by = "worker", at = "gpu_worker.py:532", when = "graph_bytes not stated_kv",
      text = "CUDA graph memory profiling is enabled (default since v0.21.0). The current "
          .. "--gpu-memory-utilization={share|f4} is equivalent to --gpu-memory-utilization={share_without|f4} "
          .. "without CUDA graph memory profiling. To maintain the same effective KV cache size as before, increase "
          .. "--gpu-memory-utilization to {share_with|f4}. To disable, set "
          .. "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0.", source = worker .. " at 0a3e2dbc" },

    { by = "core", fails = true, level = "ERROR", at = "core.py:632", when = "error_memory",
      text = "EngineCore failed to start.\nTraceback (most recent call last):\nValueError: No available memory for "
          .. "the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine{no_memory_more}",
        source = cache },
    { by = "core", fails = true, level = "ERROR", at = "core.py:632", when = "error_length v0",
      text = "EngineCore failed to start.\nTraceback (most recent call last):\nValueError: The model's max seq len "
          .. "({max_model_len}) is larger than the maximum number of tokens that can be stored in KV cache "
          .. "({tokens}). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing "
          .. "the engine.", source = "vllm/worker/worker.py of 0.7.3" },
    { by = "core", fails = true, level = "ERROR", at = "core.py:632", when = "error_length not v0",
      text = "EngineCore failed to start.\nTraceback (most recent call last):\nValueError: To serve at least one "
          .. "request with the {models_word} max seq len ({max_model_len}), ({request_text} GiB KV cache is needed, "
          .. "which is larger than the available KV cache memory ({kv_text} GiB).{estimate}Try increasing "
          .. "`gpu_memory_utilization`{cpu_word} or decreasing `max_model_len` when initializing the "
          .. "engine.{length_more}", source = cache },

    { by = "core", at = "executor_base.py:111", when = "v0", text = "# cuda blocks: {blocks}, # CPU blocks: "
        .. "{cpu_blocks}\nMaximum concurrency for {max_model_len} tokens per request: {concurrency|f2}x",
      source = "vllm/executor/executor_base.py of 0.7.3" },
    { since = "0.8", by = "core", at = "kv_cache_utils.py:2074", when = "override not v0", text = "Overriding "
        .. "num_gpu_blocks={profiled_blocks} with num_gpu_blocks_override={override}",
        source = cache .. " at 0a3e2dbc" },
    { since = "0.8", before = "0.27", by = "core", at = "kv_cache_utils.py:1087", when = "not v0",
      text = "GPU KV cache size: {tokens|grouped} tokens", source = "pull request 13596 of 2025-02-20" },
    { since = "0.8", before = "0.27", by = "core", at = "kv_cache_utils.py:1091", when = "not v0",
      text = "Maximum concurrency for {max_model_len|grouped} tokens per request: {concurrency|f2}x", source = cache },
    { since = "0.27", by = "core", at = "kv_cache_utils.py:1862", text = "GPU KV cache size: {tokens|grouped} "
        .. "tokens, Maximum concurrency for {max_model_len|grouped} tokens per request: {concurrency|f2}x",
      source = "pull request 50462 of 2026-08-04" },
    { by = "core", fails = true, level = "ERROR", at = "core.py:1229", when = "error_seats",
      text = "EngineCore failed to start.\nTraceback (most recent call last):\nValueError: max_num_seqs ({seats}) "
          .. "exceeds available Mamba cache blocks ({state_blocks}). Each decode sequence requires one Mamba cache "
          .. "block, so CUDA graph capture cannot proceed. Please lower max_num_seqs to at most {state_blocks} or "
          .. "increase gpu_memory_utilization.", source = "vllm/config/compilation.py at 0a3e2dbc" },
    { by = "worker", at = "{runner}.py:2485", after = "capture_s", when = "graphs",
      text = "Graph capturing finished in {capture_s|f0} secs, took {captured|gib2} GiB", source = runner },
    { before = "0.20", by = "core", at = "core.py:193", text = "init engine (profile, create kv cache, warmup "
        .. "model) took {init_s|f2} seconds", source = "vllm/v1/engine/core.py of 0.10.0" },
    { since = "0.20", by = "core", at = "core.py:338", when = "compiles", text = "init engine (profile, create kv "
        .. "cache, warmup model) took {init_s|f2} s (compilation: {compile_s|f2} s)", source = "pull request 39240 "
        .. "of 2026-04-14" },
    { since = "0.20", by = "core", at = "core.py:345", when = "not compiles", text = "init engine (profile, create "
        .. "kv cache, warmup model) took {init_s|f2} s", source = "the same" },
    { before = "0.9", by = "api", at = "api_server.py:1090", after = "serve_s", when = "starts",
      text = "Starting vLLM API server on http://{host}:{port}", source = "api_server.py of 0.8.5" },
    { since = "0.9", before = "0.18", by = "api", at = "api_server.py:1818", after = "serve_s", when = "starts",
      text = "Starting vLLM API server 0 on http://{host}:{port}", source = "pull request 17546 of 2025-05-30" },
    { since = "0.18", by = "api", at = "api_server.py:594", after = "serve_s", when = "starts",
      text = "Starting vLLM server on http://{host}:{port}", source = "pull request 34551 of 2026-03-04" },
    { by = "api", form = "raw", when = "starts", text = "INFO:     Started server process [1]\nINFO:     Waiting "
        .. "for application startup.\nINFO:     Application startup complete.", source = "uvicorn" },
    { by = "api", form = "raw", fails = true, when = "not starts not error_scheduler",
      text = "Traceback (most recent call last):\nRuntimeError: Engine core initialization failed. See root cause "
          .. "above. Failed core proc(s): {failed}", source = "vllm/v1/engine/utils.py" },
  },
}
