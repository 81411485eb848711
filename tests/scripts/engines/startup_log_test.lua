-- Start-up logs: the figures of engines.capacity, in the words and the digits of the release.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.engines"
local json = require "rooflua.json"
local units = require "rooflua.text.units"

local gib = 2 ^ 30

local function about(engine, more)
  local out = { model = "llama-3.1-8b", hardware = "h100-sxm", engine = engine }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function log(engine, more) return (engines.startup_log(about(engine, more))) end

--- Bytes of a part of the ledger.
local function part(found, name)
  for _, each in ipairs(found.parts) do
    if each.name == name then return each.bytes end
  end
  return 0
end

--- round(bytes / GiB, 2) as Python prints it: no zero at the end, but after the point.
local function rounded(bytes) return (("%.2f"):format(bytes / gib):gsub("0$", "")) end
local function two(bytes) return ("%.2f"):format(bytes / gib) end

--- What each release of vLLM prints of a ledger.
local vllm = {
  { "0.7.3", function(found) return {
      ("Loading model weights took %.4f GB"):format(part(found, "weights") / gib),
      ("total_gpu_memory (%sGiB) x gpu_memory_utilization (%.2f) = %sGiB"):format(two(found.total_bytes),
        found.deployment.share, two(found.budget_bytes)),
      ("PyTorch activation peak memory takes %sGiB; the rest of the memory reserved for KV Cache is %sGiB."):format(
        two(part(found, "activations")), two(found.kv_bytes)),
      ("# cuda blocks: %d, # CPU blocks: "):format(found.kv_blocks),
      ("Maximum concurrency for %d tokens per request: %.2fx"):format(found.deployment.max_model_len,
        found.max_concurrency) }
  end },
  { "0.8.5", function(found) return { ("Model loading took %.4f GiB and "):format(part(found, "weights") / gib) } end },
  { "0.10.0", function(found) return { ("Model loading took %.4f GiB and "):format(part(found, "weights") / gib),
    "Available KV cache memory: " .. two(found.kv_bytes) .. " GiB" } end },
  { "0.12.0", function(found) return { ("Model loading took %.4f GiB memory and "):format(part(found, "weights") / gib),
    "Available KV cache memory: " .. two(found.kv_bytes) .. " GiB" } end },
  { "0.14.0", function(found) return { "Model loading took " .. rounded(part(found, "weights")) .. " GiB memory and ",
    "Available KV cache memory: " .. rounded(found.kv_bytes) .. " GiB" } end },
  { "0.24.0", function(found) return { "Model loading took " .. rounded(part(found, "weights")) .. " GiB memory and ",
    "Estimated CUDA graph memory: " .. two(part(found, "graphs")) .. " GiB total",
    "Available KV cache memory: " .. rounded(found.kv_bytes) .. " GiB" } end },
  { "0.29.0", function(found) return { ("GPU KV cache size: %s tokens, Maximum concurrency for %s tokens per request: "
    .. "%.2fx"):format(units.grouped(found.kv_tokens), units.grouped(found.deployment.max_model_len),
    found.max_concurrency) } end },
}

local deployments = {
  { name = "one GPU" },
  { name = "two GPUs, FP8 KV", deployment = { tp = 2, kv = "fp8", max_model_len = 30000 } },
  { name = "stages", deployment = { tp = 2, pp = 2 } },
  { name = "a share", deployment = { memory_utilization = 0.6, max_model_len = 8192 } },
  { name = "experts", model = "qwen3-30b-a3b", hardware = "h200-sxm", deployment = { tp = 2, dp = 2, ep = 4 } },
  { name = "windows", model = "gpt-oss-120b", hardware = "h200-sxm", deployment = { tp = 2 } },
}

test("vLLM's log has the ledger's figures, as its releases print them", function()
  for _, row in ipairs(vllm) do
    for _, each in ipairs(deployments) do
      local given = about("vllm " .. row[1], each)
      given.name = nil
      local found = engines.capacity(given)
      local text = engines.startup_log(given)
      if found.starts then
        local expected = row[2](found)
        if row[1] ~= "0.7.3" and row[1] ~= "0.29.0" then
          expected[#expected + 1] = ("GPU KV cache size: %s tokens\n"):format(units.grouped(found.kv_tokens))
          expected[#expected + 1] = ("Maximum concurrency for %s tokens per request: %.2fx\n"):format(
            units.grouped(found.deployment.max_model_len), found.max_concurrency)
        end
        for _, line in ipairs(expected) do
          test.check(text:find(line, 1, true), "vllm %s, %s: no '%s' in\n%s", row[1], each.name, line, text)
        end
      end
    end
  end
end)

test("SGLang's log has the ledger's figures, as its releases print them", function()
  for _, release in ipairs { "0.4.3", "0.4.6", "0.5.2", "0.5.9", "0.5.13", "0.5.20" } do
    for _, each in ipairs { deployments[1], deployments[2], deployments[3], deployments[4] } do
      local given = about("sglang " .. release, each)
      given.name = nil
      local found, text = engines.capacity(given), engines.startup_log(given)
      local before = found.total_bytes - part(found, "non-torch")
      test.has(text, "Load weight begin. avail mem=" .. two(before) .. " GB",
        "avail mem=" .. two(before - part(found, "weights")) .. " GB",
        ("max_total_num_tokens=%d, "):format(found.kv_tokens),
        ("max_running_requests=%d, context_len=%d"):format(found.max_running_requests, found.deployment.max_model_len))
      if release ~= "0.4.3" then
        test.has(text, ("#tokens: %d, K size: "):format(found.kv_tokens), "mem usage=" .. two(part(found, "weights")))
      end
    end
  end
  local found = engines.capacity(about("sglang 0.5.13", { model = "deepseek-v3", hardware = "b200",
    deployment = { tp = 8 } }))
  test.has(log("sglang 0.5.13", { model = "deepseek-v3", hardware = "b200", deployment = { tp = 8 } }),
    ("KV Cache is allocated. dtype: torch.bfloat16, #tokens: %d, KV size: "):format(found.kv_tokens))
  local windows = { model = "gpt-oss-120b", hardware = "h200-sxm" }
  local tokens = engines.capacity(about("sglang 0.5.9", windows)).kv_tokens
  local window = math.floor(0.8 * tokens)
  test.has(log("sglang 0.5.9", windows), ("full_layer_tokens=%d, swa_layer_tokens=%d\n"):format(tokens, window))
  local first, second = log("sglang 0.5.9", windows):match "#tokens: (%d+), .-#tokens: (%d+), "
  test.equal(first .. " " .. second, ("%d %d"):format(window, tokens))
end)

local allocated = "%[MemUsageChange%] Allocated ([%d.]+) GiB for max tokens in paged KV cache %((%d+)%)%."

test("TensorRT-LLM's log has the ledger's figures, and its dry run before", function()
  for _, release in ipairs { "0.12.0", "1.0.0", "1.1.0rc5", "1.2.0", "1.3.0" } do
    for _, each in ipairs { deployments[1], deployments[2], deployments[3] } do
      local given = about("trtllm " .. release, each)
      given.name = nil
      local found, text = engines.capacity(given), engines.startup_log(given)
      local last
      for size, tokens in text:gmatch(allocated) do
        last = size .. " " .. tokens
      end
      local cell = found.kv_bytes / found.kv_tokens
      test.near(tonumber(last:match "^%S+"), found.kv_tokens * cell / gib, 0.002, release)
      test.equal(last:match "%d+$", ("%d"):format(found.kv_tokens), release)
      if release ~= "0.12.0" then
        local peak, kv, share, total, dry = text:match("profiling %(torch %+ non%-torch%): ([%d.]+) GiB, available "
            .. "KV cache "
          .. "memory when calculating max tokens: ([%d.]+) GiB, fraction is set ([%d.]+), kv size[%a ]* is %d+%. "
          .. "device "
          .. "total memory ([%d.]+) GiB, [%a, _]+([%d.]+) GiB")
        test.near(tonumber(kv), found.kv_bytes / gib, 1e-3, release)
        test.near((total - peak + dry) * share, tonumber(kv), 2e-3, release .. ": the sum of its line")
      end
    end
  end
end)

--- One line by release where the words changed.
local words = {
  { "vllm 0.8.5", "args: Namespace(model_tag='llama-3.1-8b'", "INFO 01-01 00:00:02 [api_server.py:1043] vLLM API "
      .. "server "
    .. "version 0.8.5", "Using Flash Attention backend on V1 engine.", "Starting vLLM API server on http://" },
  { "vllm 0.10.0", "non-default args: {'model_tag': 'llama-3.1-8b', 'model': 'llama-3.1-8b'}",
    "Starting vLLM API server 0 on http://", "Compiling a graph for dynamic shape takes" },
  { "vllm 0.14", "(APIServer pid=1) INFO", "vLLM API server version 0.14.0", "(EngineCore_DP0 pid=100) INFO",
    "Using FLASH_ATTN attention backend out of potential backends: ('FLASH_ATTN', 'FLASHINFER', ",
    "torch.compile takes 20.00 s in total" },
  { "vllm 0.19", "▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.19.0", "(EngineCore pid=100) INFO", "'FLEX_ATTENTION'].\n",
    "torch.compile took 20.00 s in total", "Starting vLLM server on http://", "took 34.00 seconds\n" },
  { "vllm 0.24", "decode_context_parallel_size=1, dcp_comm_backend=ag_rs", "EP rank N/A, EPLB rank N/A",
    "CUDA graph memory profiling is enabled (default since v0.21.0)", "took 34.00 s (compilation: 20.00 s)\n" },
  { "sglang 0.4.3", "KV Cache is allocated. K size: ", "Capture cuda graph begin. This can take up to several "
      .. "minutes.\n" },
  { "sglang 0.4.6", "Attention backend not set. Use fa3 backend by default.", "dtype=torch.bfloat16, avail mem=",
    "Capture cuda graph bs [1, 2, 4, 8, 16, 24" },
  { "sglang 0.5.2", "Attention backend not explicitly specified. Use fa3", "available_gpu_mem=" },
  { "sglang 0.5.9", "Load weight end. elapsed=8.05 s, type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=",
    "Capture cuda graph bs [1, 2, 4, 8, 12, 16, 24", "Using KV cache dtype: torch.bfloat16" },
  { "sglang 0.5.13", "Load weight end. elapsed=8.05 s, type=LlamaForCausalLM, avail mem=",
    "KV Cache is allocated. dtype: torch.bfloat16, #tokens: " },
  { "sglang 0.5.16", "Capture target decode CUDA graph begin. backend=full, num_tokens_per_bs=1, bs=[1, 2, 4, 8, 12" },
  { "sglang 0.5.20", "Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[" },
  { "trtllm 0.12.0", "Memory usage when calculating max tokens in paged kv cache: total: 79.18 GiB, available: ",
    "Max KV cache pages per sequence: 2048" },
  { "trtllm 1.1.0rc5", "TensorRT-LLM version: 1.1.0rc5", "fraction is set 0.8999999761581421, kv size is 131072. "
      .. "device",
    "PyTorchConfig(" },
  { "trtllm 1.2.0", "TensorRT LLM version: 1.2.0", "fraction is set 0.9, kv size is 131072. device",
    "LLM Args:\nmodel=" },
  { "trtllm 1.3.0", "kv size per token is 131072. device total memory 79.18 GiB, temporary kv cache memory during" },
}

test("each line has the words of the release", function()
  for _, row in ipairs(words) do
    test.has(log(row[1]), unpack(row, 2))
  end
  local newer = log "vllm 0.24"
  test.check(not newer:find "API server version", "0.24 has a logo")
  test.check(not log("vllm 0.8.5"):find "Available KV cache memory", "0.8.5 does not say what is available")
  test.check(not log("vllm 0.19"):find "EPLB", "0.19 has no EPLB rank")
end)

test("numbers are printed as Python prints them", function()
  test.has(log { "vllm 0.24", kv_cache_memory_bytes = 20 * gib }, "reserved 20.0 GiB memory for KV Cache")
  test.has(log { "vllm 0.24", kv_cache_memory_bytes = 20.5 * gib }, "reserved 20.5 GiB memory for KV Cache")
  test.has(log { "vllm 0.24", gpu_memory_utilization = 1 }, "'gpu_memory_utilization': 1.0}")
  test.has(log({ "vllm 0.24", num_gpu_blocks_override = 2000 }, { deployment = { max_model_len = 8192 } }),
    " with num_gpu_blocks_override=2000\n", "GPU KV cache size: 32,000 tokens\n")
  test.has(log({ "sglang 0.5.9" }, { deployment = { memory_utilization = 0.875 } }), "mem_fraction_static=0.875, ")
end)

test("the same inputs give the same bytes", function()
  for _, engine in ipairs { "vllm 0.24", "sglang 0.5.9", "trtllm 1.2.0" } do
    test.equal(log(engine, { deployment = { tp = 2 } }), log(engine, { deployment = { tp = 2 } }), engine)
  end
end)

test("options that the deployment does not name are not listed, and neither are defaults", function()
  local function args(engine, more) return log(engine, more):match "non%-default args: ([^\n]*)" end
  test.equal(args "vllm 0.24", "{'model_tag': 'llama-3.1-8b', 'model': 'llama-3.1-8b'}")
  test.equal(args({ "vllm 0.24", max_num_seqs = 64, tensor_parallel_size = 1, gpu_memory_utilization = 0.5 }),
    "{'model_tag': 'llama-3.1-8b', 'model': 'llama-3.1-8b', 'gpu_memory_utilization': 0.5, 'max_num_seqs': 64}")
  test.equal(args({ "vllm 0.24", enforce_eager = true, VLLM_USE_V2_MODEL_RUNNER = "0" }, { deployment = { tp = 2,
  kv = "fp8",
    max_model_len = 4096 } }), "{'model_tag': 'llama-3.1-8b', 'model': 'llama-3.1-8b', 'max_model_len': 4096, "
    .. "'enforce_eager': True, 'tensor_parallel_size': 2, 'kv_cache_dtype': 'fp8'}")
  test.equal(args("vllm 0.24", { model = "qwen3-30b-a3b", deployment = { tp = 2, ep = 2 } }), "{'model_tag': "
    .. "'qwen3-30b-a3b', 'model': 'qwen3-30b-a3b', 'tensor_parallel_size': 2, 'enable_expert_parallel': True}")
  test.has(log({ "sglang 0.5.9", mem_fraction_static = 0.8, max_running_requests = 48 }, { deployment = { tp = 2 } }),
    "mem_fraction_static=0.8, max_running_requests=48", "tp_size=2, ")
end)

test("options that change no figure stand where the engine prints them", function()
  local vllm_log = log { "vllm 0.24", port = 9000, trust_remote_code = true, served_model_name = { "x" },
    max_num_seqs = 8 }
  test.has(vllm_log, "{'model_tag': 'llama-3.1-8b', 'port': 9000, 'model': 'llama-3.1-8b', 'trust_remote_code': True, "
    .. "'served_model_name': ['x'], 'max_num_seqs': 8}\n", " trust_remote_code=True, ", " served_model_name=x, ",
    "Starting vLLM server on http://0.0.0.0:9000\n")
  test.has(log { "sglang 0.5.9", host = "0.0.0.0", port = 9001, served_model_name = "y" }, "host='0.0.0.0', "
    .. "port=9001, ",
    "served_model_name='y', ", "Uvicorn running on http://0.0.0.0:9001 ")
end)

test("an engine that does not start ends with its own error", function()
  local function last(engine, more) return log(engine, more):match "([^\n]*)\n[^\n]*\n[^\n]*\n$" end
  local short = { model = "qwen3-32b" }
  local found = engines.capacity(about("vllm 0.24", short))
  test.check(not found.starts)
  test.has(log("vllm 0.24", short), ("ValueError: To serve at least one request with the model's max seq len "
      .. "(40960), (10.0 "
    .. "GiB KV cache is needed, which is larger than the available KV cache memory (%s GiB). Based on the available "
    .. "memory, "
    .. "the estimated maximum model length is %d. Try"):format(rounded(found.kv_bytes), found.longest_tokens))
  test.has(log("vllm 0.14", short), "with the models's max seq len (40960), (10.0 GiB KV")
  test.has(log("vllm 0.10.0", short), "(40960), (10.00 GiB KV cache")
  test.has(log("vllm 0.7.3", short), "ValueError: The model's max seq len (40960) is larger than the maximum number "
      .. "of tokens")
  local none = { model = "qwen3-32b", deployment = { memory_utilization = 0.75 } }
  test.has(log("vllm 0.24", none), "ValueError: No available memory for the cache blocks. Try increasing")
  test.has(log("sglang 0.5.9", { deployment = { memory_utilization = 0.1 } }), "RuntimeError: Not enough memory. "
      .. "Please try "
    .. "to increase --mem-fraction-static. Current value: self.server_args.mem_fraction_static=0.1\n")
  test.has(log("sglang 0.5.2", { deployment = { memory_utilization = 0.1 } }),
  "try to increase --mem-fraction-static.\n")
  for _, engine in ipairs { "vllm 0.24", "sglang 0.5.9" } do
    local text = log(engine, { model = "llama-3.1-70b" })
    test.has(text, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ", " has a total capacity of "
        .. "79.18 GiB")
    test.check(not text:find "KV cache size" and not text:find "fired up", engine .. " goes on after its error")
  end
  test.has(log("trtllm 1.2.0", { model = "llama-3.1-70b" }), "Executor creation failed due to insufficient GPU memory.",
    "The following component could not be created: Model\nTotal GPU memory (GiB): 79.18\n")
  test.has(last("vllm 0.24", short), "ERROR 01-01 ")
  test.has(log("vllm 0.24", short), "RuntimeError: Engine core initialization failed. See root cause above.")
end)

test("an error whose words are not known is told, and not made up", function()
  local text, told = engines.startup_log(about({ "trtllm 1.2.0", fail_fast_on_attention_window_too_large = true },
    { model = "qwen3-32b", deployment = { memory_utilization = 0.3 } }))
  test.has(told[1] or "nothing", "whose words are not known")
  test.check(not text:find "startup complete")
end)

test("ranks write lines of their own", function()
  local text = log("vllm 0.24", { model = "qwen3-30b-a3b", hardware = "h200-sxm", deployment = { tp = 2, dp = 2,
  ep = 4 } })
  for _, name in ipairs { "Worker_DP0_TP0_EP0", "Worker_DP0_TP1_EP1", "Worker_DP1_TP0_EP2", "Worker_DP1_TP1_EP3" } do
    test.check(text:find("%(" .. name .. " pid=%d+%) INFO [^\n]*Model loading took"), name)
  end
  test.check(text:find "%(EngineCore_DP1 pid=101%) INFO [^\n]*GPU KV cache size", "each data-parallel rank has a cache")
  test.has(log("vllm 0.10.0", { deployment = { tp = 2 } }), "(VllmWorker rank=1 pid=201) INFO")
  test.has(log("sglang 0.5.9", { deployment = { tp = 2, pp = 2 } }), " PP1 TP1] Load weight end.")
  test.has(log("sglang 0.5.2", { deployment = { tp = 2, pp = 2 } }), " TP1 PP1] Load weight end.")
  test.has(log("trtllm 1.2.0", { deployment = { tp = 2 } }), "[TRT-LLM] [RANK 1] [I] Peak memory")
end)

test("a log may be as containers print it", function()
  local plain = log "vllm 0.24"
  local first = plain:match "^[^\n]*"
  test.equal(log("vllm 0.24", { form = "compose" }):match "^[^\n]*", "vllm-1  | " .. first)
  test.equal(log("vllm 0.24", { form = "kubectl", replica = 2 }):match "^[^\n]*", "[pod/vllm-2/vllm] " .. first)
  local back = {}
  for line in log("vllm 0.24", { form = "json" }):gmatch "[^\n]+" do back[#back + 1] = json.decode(line).log end
  test.equal(table.concat(back), plain)
  test.raises("did you mean 'compose'", function() log("vllm 0.24", { form = "compos" }) end)
end)

test("emulate writes the log of an engine that does not start, and fails as without it", function()
  local folder = test.folder()
  local path = test.file("large.lua", 'return { rooflua = 1, model = "llama-3.1-70b", hardware = "h100-sxm", '
    .. 'engine = "vllm 0.24" }')
  local said = test.printed("emulate " .. path .. " --port 0 --startup-log engine-%replica.log", folder)
  test.has(said, "does not fit on h100-sxm")
  local file = assert(io.open(folder .. "/engine-0.log"))
  test.equal(file:read "*a", log("vllm 0.24", { model = "llama-3.1-70b" }))
  file:close()
end)

test.finish()
