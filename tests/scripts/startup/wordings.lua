-- Start-ups in the words of releases, filled in with figures. The words are those of the engines' sources and of logs
-- that people published; the figures are a test's own.
local wordings = {}

local function filled(text, figures)
  return (text:gsub("@([%w_]+)@", function(name) return tostring(figures[name] or "") end))
end

--- {engine, release, text}; the words of a release hold until the next one.
wordings.list = {
  { engine = "vllm", release = "0.6.4", text = [[
INFO 11-20 10:00:00 api_server.py:592] vLLM API server version 0.6.4
INFO 11-20 10:00:00 api_server.py:593] args: Namespace(subparser='serve', model_tag='@model@', host=None, model='facebook/opt-125m', max_model_len=@max_model_len@, gpu_memory_utilization=@share@, tensor_parallel_size=@tp@, api_key=None)
INFO 11-20 10:00:05 llm_engine.py:249] Initializing an LLM engine (v0.6.4) with config: model='@model@', speculative_config=None, tokenizer='@model@', dtype=torch.bfloat16, max_seq_len=@max_model_len@, tensor_parallel_size=@tp@, quantization=None, enforce_eager=False, kv_cache_dtype=auto
INFO 11-20 10:00:30 model_runner.py:1077] Loading model weights took @weights_gib@ GB
INFO 11-20 10:00:33 worker.py:232] Memory profiling results: total_gpu_memory=79.10GiB
INFO 11-20 10:00:33 gpu_executor.py:113] # GPU blocks: @kv_blocks@, # CPU blocks: 2048
INFO 11-20 10:00:33 gpu_executor.py:117] Maximum concurrency for @max_model_len@ tokens per request: @concurrency@x
INFO:     Application startup complete.
]] },
  { engine = "vllm", release = "0.7.3", text = [[
INFO 03-01 10:00:00 api_server.py:912] vLLM API server version 0.7.3
INFO 03-01 10:00:05 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.3) with config: model='@model@', dtype=torch.bfloat16, max_seq_len=@max_model_len@, tensor_parallel_size=@tp@, quantization=None, kv_cache_dtype=auto,
INFO 03-01 10:00:33 worker.py:267] Memory profiling takes 5.07 seconds
INFO 03-01 10:00:33 worker.py:267] the current vLLM instance can use total_gpu_memory (@memory_gib@GiB) x gpu_memory_utilization (@share@) = 71.2GiB
INFO 03-01 10:00:33 worker.py:267] model weights take @weights_gib@GiB; non_torch_memory takes 0.06GiB; PyTorch activation peak memory takes @activation_gib@GiB; the rest of the memory reserved for KV Cache is @kv_gib@GiB.
INFO 03-01 10:00:34 executor_base.py:111] # cuda blocks: @kv_blocks@, # CPU blocks: 2048
INFO 03-01 10:00:34 executor_base.py:116] Maximum concurrency for @max_model_len@ tokens per request: @concurrency@x
INFO 03-01 10:00:50 model_runner.py:1562] Graph capturing finished in 16 secs, took @graphs_gib@ GiB
]] },
  { engine = "vllm", release = "0.10.2", text = [[
(APIServer pid=1) INFO 09-23 18:11:14 [api_server.py:1896] vLLM API server version 0.10.2
(APIServer pid=1) INFO 09-23 18:11:14 [utils.py:328] non-default args: {'model_tag': '@model@', 'api_key': ['sk-secret-0123456789'], 'model': '@model@', 'max_model_len': @max_model_len@, 'tensor_parallel_size': @tp@, 'gpu_memory_utilization': @share@}
(EngineCore_DP0 pid=30) INFO 09-23 18:12:00 [core.py:76] Initializing a V1 LLM engine (v0.10.2) with config: model='@model@', speculative_config=None, dtype=torch.bfloat16, max_seq_len=@max_model_len@, tensor_parallel_size=@tp@, quantization=None, kv_cache_dtype=auto, compilation_config={"level":3,"cudagraph_capture_sizes":[512,1]}
(EngineCore_DP0 pid=30) INFO 09-23 18:12:10 [gpu_model_runner.py:2392] Model loading took @weights_gib@ GiB and 3.1 seconds
(EngineCore_DP0 pid=30) INFO 09-23 18:12:34 [gpu_worker.py:298] Available KV cache memory: @kv_gib@ GiB
(EngineCore_DP0 pid=30) INFO 09-23 18:12:34 [kv_cache_utils.py:864] GPU KV cache size: @kv_tokens_grouped@ tokens
(EngineCore_DP0 pid=30) INFO 09-23 18:12:34 [kv_cache_utils.py:868] Maximum concurrency for @max_model_len@ tokens per request: @concurrency@x
(EngineCore_DP0 pid=30) INFO 09-23 18:12:39 [gpu_model_runner.py:3118] Graph capturing finished in 5 secs, took @graphs_gib@ GiB
(APIServer pid=1) INFO:     Application startup complete.
]] },
  { engine = "vllm", release = "0.19.1", text = [[
(APIServer pid=33) INFO 04-04 18:12:14 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.19.1
(APIServer pid=33) INFO 04-04 18:12:14 [utils.py:299]   █▄█▀ █     █     █     █  model   @model@
(APIServer pid=33) INFO 04-04 18:12:14 [utils.py:233] non-default args: {'model_tag': '@model@', 'model': '@model@', 'max_model_len': @max_model_len@, 'tensor_parallel_size': @tp@, 'gpu_memory_utilization': @share@}
(EngineCore pid=99) INFO 04-04 18:12:31 [core.py:105] Initializing a V1 LLM engine (v0.19.1) with config: model='@model@', speculative_config=None, dtype=torch.bfloat16, max_seq_len=@max_model_len@, tensor_parallel_size=@tp@, compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, 'debug_dump_path': None, 'compile_sizes': []}
(Worker_TP0 pid=101) INFO 04-04 18:12:40 [cuda.py:334] Using FLASH_ATTN attention backend out of potential backends: ['FLASH_ATTN', 'FLASHINFER'].
(Worker_TP0 pid=101) INFO 04-04 18:12:50 [gpu_model_runner.py:4879] Model loading took @weights_gib@ GiB memory and 60.29 seconds
(Worker_TP0 pid=101) INFO 04-04 18:12:55 [gpu_model_runner.py:5900] Estimated CUDA graph memory: @graphs_gib@ GiB total
(Worker_TP0 pid=101) INFO 04-04 18:13:01 [gpu_worker.py:440] Available KV cache memory: @kv_gib@ GiB
(EngineCore pid=99) INFO 04-04 18:13:01 [kv_cache_utils.py:1708] GPU KV cache size: @kv_tokens_grouped@ tokens
(EngineCore pid=99) INFO 04-04 18:13:01 [kv_cache_utils.py:1711] Maximum concurrency for @max_model_len@ tokens per request: @concurrency@x
(Worker_TP0 pid=101) INFO 04-04 18:13:20 [gpu_worker.py:597] CUDA graph pool memory: @graphs_gib@ GiB (actual), 0.83 GiB (estimated), difference: 0.42 GiB (103.5%).
(APIServer pid=33) INFO:     Application startup complete.
]] },
  { engine = "vllm", release = "0.29.0", text = [[
(APIServer pid=33) INFO 10-06 16:59:14 [api_utils.py:339]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.29.0
(APIServer pid=33) INFO 10-06 16:59:14 [api_utils.py:273] non-default args: {'model_tag': '@model@', 'model': '@model@', 'max_model_len': @max_model_len@, 'tensor_parallel_size': @tp@, 'gpu_memory_utilization': @share@, 'speculative_config': None}
(EngineCore pid=326) INFO 10-06 17:00:11 [model_runner.py:407] Model loading took @weights_gib@ GiB memory and 5.420225 seconds
(EngineCore pid=326) INFO 10-06 17:00:33 [gpu_worker.py:692] Available KV cache memory: @kv_gib@ GiB
(EngineCore pid=326) INFO 10-06 17:00:33 [kv_cache_utils.py:2464] GPU KV cache size: @kv_tokens_grouped@ tokens, Maximum concurrency for @max_model_len@ tokens per request: @concurrency@x
(EngineCore pid=326) INFO 10-06 17:00:41 [gpu_worker.py:955] Free memory on device (78.84/@memory_gib@ GiB) on startup. Desired GPU memory utilization is (@share@, 72.91 GiB). Actual usage is 15.26 GiB for consumed memory (weights + non-torch), @activation_gib@ GiB for peak activation, and @graphs_gib@ GiB for CUDAGraph memory. Current kv cache memory in use is @kv_gib@ GiB.
]] },
  { engine = "sglang", release = "0.4.8", text = [[
[2025-07-14 05:48:30] server_args=ServerArgs(model_path='@model@', tokenizer_path='@model@', load_format='auto', dtype='auto', kv_cache_dtype='auto', quantization=None, context_length=@max_model_len@, mem_fraction_static=@share@, max_running_requests=None, chunked_prefill_size=8192, tp_size=@tp@, api_key='hidden', speculative_algorithm=None, cuda_graph_bs=None)
[2025-07-14 05:48:41] Attention backend not set. Use fa3 backend by default.
[2025-07-14 05:48:41 TP0] Load weight begin. avail mem=78.50 GB
[2025-07-14 05:48:43 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.37 GB, mem usage=@weights_gib@ GB.
[2025-07-14 05:48:43 TP0] KV Cache is allocated. #tokens: @kv_tokens@, K size: @half_kv_gib@ GB, V size: @half_kv_gib@ GB
[2025-07-14 05:48:43 TP0] Memory pool end. avail mem=8.46 GB
[2025-07-14 05:48:50 TP0] Capture cuda graph end. Time elapsed: 7.23 s. mem usage=@graphs_gib@ GB. avail mem=7.53 GB.
[2025-07-14 05:48:51 TP0] max_total_num_tokens=@kv_tokens@, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=@max_model_len@, available_gpu_mem=7.53 GB
[2025-07-14 05:48:55] The server is fired up and ready to roll!
]] },
  { engine = "sglang", release = "0.5.12", text = [[
[2026-07-21 10:36:36] server_args=ServerArgs(model_path='@model@', tokenizer_worker_num=1, context_length=@max_model_len@, mem_fraction_static=@share@, tp_size=@tp@, max_queued_requests=None, cuda_graph_bs=[1, 2, 4], mm_process_config={}, forward_hooks=None)
[2026-07-21 10:36:48] Load weight end. elapsed=0.41 s, type=Qwen2ForCausalLM, quant=fp8, fmt=e4m3, avail mem=35.57 GB, mem usage=@weights_gib@ GB.
[2026-07-21 10:36:49] KV Cache is allocated. dtype: torch.bfloat16, #tokens: @kv_tokens@, K size: @half_kv_gib@ GB, V size: @half_kv_gib@ GB
[2026-07-21 10:36:55] Capture target decode CUDA graph end. elapsed=0.80 s, mem usage=@graphs_gib@ GB, avail mem=5.12 GB.
[2026-07-21 10:36:55] max_total_num_tokens=@kv_tokens@, chunked_prefill_size=8192, context_len=@max_model_len@, available_gpu_mem=5.12 GB
[2026-07-21 10:36:57] INFO:     Application startup complete.
]] },
  { engine = "trtllm", release = "1.0.0", text = [[
[TensorRT-LLM] TensorRT-LLM version: 1.0.0
[12/20/2025-04:20:04] [TRT-LLM] [I] Using LLM with PyTorch backend
[12/20/2025-04:20:21] [TRT-LLM] [I] Use @weights_gib@ GB for model weights.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.56 GiB for max tokens in paged KV cache (8224).
[12/20/2025-04:21:51] [TRT-LLM] [I] Peak memory during memory usage profiling (torch + non-torch): 20.65 GiB, available KV cache memory when calculating max tokens: @kv_gib@ GiB, fraction is set @share@, kv size is 73728. device total memory @memory_gib@ GiB, , tmp kv_mem 0.56 GiB
[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 2710 [window size=86720], tokens per block=32, primary blocks=@kv_blocks@, secondary blocks=0
[TensorRT-LLM][INFO] [MemUsageChange] Allocated @kv_gib@ GiB for max tokens in paged KV cache (@kv_tokens@).
[12/20/2025-04:21:52] [TRT-LLM] [I] max_seq_len=@max_model_len@, max_num_requests=64, max_num_tokens=8192
INFO:     Application startup complete.
]] },
  { engine = "trtllm", release = "1.3.0rc20", text = [[
[TensorRT-LLM] TensorRT LLM version: 1.3.0rc20
[09/11/2026-08:00:01] [TRT-LLM] [RANK 0] [I] Use @weights_gib@ GB for model weights.
[TRT-LLM] [I] [batchmgr][RANK 0] Max KV cache blocks per sequence: 128 [window size=4096], tokens per block=32, primary blocks=@kv_blocks@, secondary blocks=0, max sequence length=4096
[TRT-LLM] [I] [batchmgr][RANK 0] [MemUsageChange] Allocated @kv_gib@ GiB for max tokens in paged KV cache (@kv_tokens@).
[09/11/2026-08:00:02] [TRT-LLM] [RANK 0] [I] LLM Args:
model='@model@' tokenizer=None tensor_parallel_size=@tp@ dtype='auto' kv_cache_config=KvCacheConfig(enable_block_reuse=True, max_tokens=None, free_gpu_memory_fraction=@share@, dtype='auto') max_batch_size=64 max_num_tokens=8192 max_seq_len=@max_model_len@ scheduler_config=SchedulerConfig(capacity_scheduler_policy=<CapacitySchedulerPolicy.GUARANTEED_NO_EVICT: 'GUARANTEED_NO_EVICT'>) speculative_config=None
INFO:     Application startup complete.
]] },
}

--- The text of a wording with figures.
function wordings.text(wording, figures) return filled(wording.text, figures) end

--- Figures of a start of Llama-3.1-8B.
wordings.figures = { model = "meta-llama/Llama-3.1-8B-Instruct", max_model_len = 4096, share = 0.9, tp = 1,
  weights_gib = 14.99, activation_gib = 1.44, graphs_gib = 0.67, memory_gib = 79.19, kv_gib = 55.12,
  half_kv_gib = 27.56, kv_tokens = 451744, kv_tokens_grouped = "451,744", kv_blocks = 28234, concurrency = 110.29 }

return wordings
