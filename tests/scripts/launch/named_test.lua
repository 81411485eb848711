-- Options that were written down by name, without their command: "max_num_seqs" "64". They mean what the flag or the
-- key of the YAML file means.
local test = dofile "tests/scripts/harness.lua"
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local json = require "rooflua.json"

--- The deployment of "name=value;name=value".
local function named(engine, text, environment)
  local function pairs_of(list)
    local out = {}
    for part in (list or ""):gmatch "[^;]+" do
      local name, value = part:match "^([^=]+)=(.*)$"
      out[#out + 1] = { name, value }
    end
    return out
  end
  return command.named(choice.parse(engine), pairs_of(text), environment and pairs_of(environment))
end

local function options(engine, text, environment) return named(engine, text, environment).options end

local sglang, trtllm, vllm = "sglang 0.5.9", "trtllm 1.2.0rc2", "vllm 0.15.1"

test("names mean what the flags of a command mean", function()
  for _, each in ipairs {
    { vllm, "max_num_seqs=64;max_num_batched_tokens=8192;gpu_memory_utilization=0.9;max_model_len=32k",
      "vllm serve m --max-num-seqs 64 --max-num-batched-tokens 8192 --gpu-memory-utilization 0.9 --max-model-len 32k" },
    { vllm, "enable_prefix_caching=false;async_scheduling=true;enforce_eager=true",
      "vllm serve m --no-enable-prefix-caching --async-scheduling --enforce-eager" },
    { vllm, "tensor_parallel_size=4;kv_cache_dtype=fp8", "vllm serve m -tp 4 --kv-cache-dtype fp8" },
    { sglang, "tp_size=8;mem_fraction_static=0.85;chunked_prefill_size=16384;kv_cache_dtype=fp8_e4m3",
      "sglang serve --model m --tp 8 --mem-fraction-static 0.85 --chunked-prefill-size 16384 "
        .. "--kv-cache-dtype fp8_e4m3" },
    { sglang, "disable_radix_cache=true;cuda_graph_bs=[1,2,4]",
      "sglang serve --model m --disable-radix-cache --cuda-graph-bs 1 2 4" },
    { trtllm, "max_batch_size=64;max_num_tokens=4096;tp_size=8;ep_size=4",
      "trtllm-serve serve m --max_batch_size 64 --max_num_tokens 4096 --tp_size 8 --ep_size 4" } } do
    local found = options(each[1], each[2])
    local expected = command.read(each[3], { engine = each[1] }).options
    test.equal(json.encode(found), json.encode(expected), each[2])
  end
end)

test("JSON may stand whole or in dotted parts", function()
  for _, text in ipairs { 'compilation_config={"max_cudagraph_capture_size":256,"cudagraph_mode":"NONE"}',
    "compilation_config.max_cudagraph_capture_size=256;compilation_config.cudagraph_mode=NONE",
    'max_cudagraph_capture_size=256;compilation_config={"cudagraph_mode":"NONE"}' } do
    local found = options(vllm, text)
    test.equal(found.max_cudagraph_capture_size, 256, text)
    test.equal(found["compilation_config.cudagraph_mode"], "NONE", text)
  end
  local found = options(vllm, 'speculative_config={"method":"mtp","num_speculative_tokens":2}')
  test.equal(json.encode(found), json.encode(options(vllm,
    "speculative_config.method=mtp;speculative_config.num_speculative_tokens=2")))
end)

test("keys of a YAML file keep their path with dots", function()
  local found = options(trtllm, "kv_cache_config.free_gpu_memory_fraction=0.8;kv_cache_config.dtype=fp8;"
    .. "kv_cache_config.enable_block_reuse=false;cuda_graph_config.batch_sizes=[1,2,128];"
    .. "attention_dp_config.batching_wait_iters=0;moe_config.backend=TRTLLM;enable_attention_dp=true")
  test.equal(found["kv_cache_config.free_gpu_memory_fraction"], 0.8)
  test.equal(found["kv_cache_config.dtype"], "fp8")
  test.equal(found["kv_cache_config.enable_block_reuse"], false)
  test.equal(table.concat(found["cuda_graph_config.batch_sizes"], " "), "1 2 128")
  test.equal(found["moe_config.backend"], "TRTLLM")
  test.equal(found.enable_attention_dp, true)
  test.equal(json.encode(found), json.encode(options(trtllm, 'kv_cache_config={"free_gpu_memory_fraction":0.8,'
    .. '"dtype":"fp8","enable_block_reuse":false};cuda_graph_config={"batch_sizes":[1,2,128]};'
    .. 'attention_dp_config={"batching_wait_iters":0};moe_config={"backend":"TRTLLM"};enable_attention_dp=true')))
end)

test("keys of a document that no option has stay in it", function()
  local found = options(trtllm, "moe_config.use_low_precision_moe_combine=true;moe_config.backend=CUTLASS;"
    .. "cache_transceiver_config.backend=UCX;cache_transceiver_config.max_tokens_in_buffer=8448")
  test.equal(found.moe_config, '{"use_low_precision_moe_combine":true}')
  test.equal(found["moe_config.backend"], "CUTLASS")
  test.equal(found.cache_transceiver_config, '{"backend":"UCX","max_tokens_in_buffer":8448}')
end)

test("null is the engine's own, or what the engine takes it for", function()
  test.equal(options(trtllm, "cuda_graph_config=null")["cuda_graph_config.max_batch_size"], 0)
  test.equal(options(trtllm, "moe_config.backend=null")["moe_config.backend"], nil)
  test.equal(options(vllm, "max_num_seqs=null").max_num_seqs, nil)
end)

test("variables of the environment stand beside", function()
  local found = named(sglang, "tp_size=2", "SGLANG_ENABLE_JIT_DEEPGEMM=false;SGLANG_NO_SUCH=1;NCCL_X=1")
  test.equal(found.options.SGLANG_ENABLE_JIT_DEEPGEMM, "false")
  test.equal(found.options.tp_size, 2)
  test.check(table.concat(found.told, "\n"):find("SGLANG_NO_SUCH: a variable that is not known", 1, true))
  test.equal(table.concat(found.others, " "), "NCCL_X")
  test.equal(#named(sglang, "tp_size=2").others, 0)
end)

test("the release is the one that was chosen, and nothing names a model", function()
  local found = named("vllm 0.10", "max_num_seqs=3")
  test.equal(found.engine.name .. " " .. found.release, "vllm 0.10")
  test.equal(found.model, nil)
end)

test("what is wrong with a name or its value is told, and the run has the others", function()
  for _, each in ipairs {
    { vllm, "max_num_sequences=3", "max_num_sequences", "max-num-seqs" },
    { vllm, "max_num_seqs=many", "max-num-seqs" }, { vllm, "max_num_seqs=0", "max-num-seqs" },
    { vllm, "max_num_seqs=", "max-num-seqs" }, { vllm, "max_num_seqs=3;max_num_seqs=4", "stated twice, as 3 and as 4" },
    { vllm, "enable_prefix_caching=perhaps", "enable-prefix-caching" },
    { vllm, "compilation_config=NONE", "compilation" },
    { sglang, "tp_size=2;tensor_parallel_size=4", "stated twice" }, { sglang, "cuda_graph_bs=[1,two]", "cuda" },
    { trtllm, "kv_cache_config.dtipe=fp8", "kv_cache_config.dtipe" },
    { trtllm, 'kv_cache_config={"dtipe":"fp8"}', "kv_cache_config.dtipe: TensorRT-LLM has no such option" },
    { trtllm, "kv_cache_config=fp8", "kv_cache_config" },
    { trtllm, "max_batch=3", "max_batch" },
    { "sglang 0.4.6", "moe_a2a_backend=deepep", "moe_a2a_backend: SGLang 0.4.6 does not have it (since 0.5.0rc0)" },
  } do
    local told = table.concat(named(each[1], each[2]).told, "\n")
    test.check(told:find("not read: ", 1, true), "%s is taken", each[2])
    for i = 3, #each do
      local text = told:gsub("_", "-")
      test.check(text:find((each[i]:gsub("_", "-")), 1, true), "%s: %s", each[2], told)
    end
  end
end)

test("what a run was started with is told where it cannot be read; a command that somebody gives is refused", function()
  local text = "vllm serve x --no-such-flag 3 4 --max-num-seqs 5 --block-size many"
  local found = command.read(text, { engine = vllm, is_measured = true })
  test.equal(found.options.max_num_seqs, 5)
  test.equal(found.options.block_size, nil)
  local told = table.concat(found.told, "\n")
  test.check(told:find("not read: --no-such-flag", 1, true) and told:find("not read: --block-size", 1, true), told)
  test.raises("--no-such-flag", function() command.read(text, { engine = vllm }) end)
end)

test("a value that is stated twice the same is stated once", function()
  test.equal(options(sglang, "tp_size=4;tensor_parallel_size=4").tp_size, 4)
end)

test.finish()
