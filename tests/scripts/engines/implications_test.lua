-- A flag from which others follow is the same as all of them given outright: the deployment of a run, its memory, its
-- figures. The pairs below are read from the sources of the engines, not from the rows of scripts/engines.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local application = require "rooflua.applied.application"
local capacity_of = require "rooflua.program.capacity"
local catalogue = require "rooflua.engines.catalogue"
local command = require "rooflua.applied.command"
local json = require "rooflua.json"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local release = require "rooflua.engines.release"

local deepseek, dense, small = "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-32B", "Qwen/Qwen3-8B"
local routed = "MiniMaxAI/MiniMax-M2.5"
local hybrid, windows = "Qwen/Qwen3-Next-80B-A3B-Instruct", "openai/gpt-oss-120b"

local offloads = "--kv-transfer-config '{\"kv_connector\": \"OffloadingConnector\", \"kv_role\": \"kv_both\", "
  .. "\"kv_connector_extra_config\": {\"cpu_bytes_to_use\": 1000000000}}'"

--- A file with options in front of a command of TensorRT-LLM.
local function with_file(text)
  return { front = "cat > o.yaml <<'END'\n" .. text .. "\nEND\n", flags = "--extra_llm_api_options o.yaml" }
end

--- {engine, since, before (nil: the newest), model, hardware, what all have, the cause, cause and effect given
--- outright, neither}
local pairs_of = {
  { "sglang", "0.5.0", nil, deepseek, "h200-sxm", "--tp 8 --dp 8 --enable-dp-attention", "--moe-a2a-backend deepep",
    "--moe-a2a-backend deepep --ep-size 8", "" },
  { "sglang", "0.5.6", nil, deepseek, "h200-sxm", "--tp 8", "--moe-a2a-backend mooncake",
    "--moe-a2a-backend mooncake --ep-size 8", "" },
  { "sglang", "0.5.9", nil, deepseek, "h200-sxm", "--tp 16 --dp 4 --enable-dp-attention", "--moe-a2a-backend mori",
    "--moe-a2a-backend mori --ep-size 16", "" },
  { "sglang", "0.4.7", "0.5.3", deepseek, "h200-sxm", "--tp 8", "--enable-deepep-moe",
    "--enable-deepep-moe --enable-ep-moe", "" },
  { "sglang", "0.4.0", "0.5.3", deepseek, "h200-sxm", "--tp 8", "--enable-ep-moe", "--ep-size 8", "" },
  { "sglang", "0.5.16", nil, deepseek, "h200-sxm", "--tp 8", "--enable-waterfill",
    "--moe-a2a-backend deepep --ep-size 8", "" },
  { "sglang", "0.5.12", "0.5.16", deepseek, "h200-sxm", "--tp 8", "--enable-deepep-waterfill",
    "--moe-a2a-backend deepep --ep-size 8", "" },
  { "sglang", "0.5.0", nil, deepseek, "h200-sxm", "--tp 8", "--moe-a2a-backend deepep --deepep-mode normal",
    "--moe-a2a-backend deepep --deepep-mode normal --disable-cuda-graph", "--moe-a2a-backend deepep" },
  { "sglang", "0.4.7", "0.5.3", deepseek, "h200-sxm", "--tp 8", "--enable-deepep-moe --deepep-mode normal",
    "--enable-deepep-moe --ep-size 8 --disable-cuda-graph", "--enable-deepep-moe" },
  { "sglang", "0.4.0", nil, small, "h100-sxm", "", "--attention-backend torch_native", "--disable-cuda-graph", "" },
  { "sglang", "0.5.0", nil, small, "h100-sxm", "", "--attention-backend flex_attention", "--disable-cuda-graph", "" },
  { "sglang", "0.5.0", nil, small, "h100-sxm", "", "--attention-backend dual_chunk_flash_attn --enable-mixed-chunk",
    "--disable-radix-cache", "--enable-mixed-chunk" },
  { "sglang", "0.4.7", nil, deepseek, "h200-sxm", "--tp 8 --page-size 16", "--attention-backend flashmla",
    nil, "", page = 64 },
  { "sglang", "0.4.4", "0.4.7", deepseek, "h200-sxm", "--tp 8", "--enable-flashmla", "--page-size 64", "" },
  { "sglang", "0.4.7", nil, deepseek, "h200-sxm", "--tp 8", "--decode-attention-backend flashmla", "--page-size 64",
    "" },
  { "sglang", "0.4.8", "0.5.15", deepseek, "b200", "--tp 8", "--attention-backend cutlass_mla", "--page-size 128", "" },
  { "sglang", "0.5.0", nil, deepseek, "b200", "--tp 8", "--decode-attention-backend cutlass_mla", "--page-size 128",
    "" },
  { "sglang", "0.5.0", nil, deepseek, "b200", "--tp 8", "--attention-backend trtllm_mla", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.0", nil, deepseek, "b200", "--tp 8 --page-size 32", "--attention-backend trtllm_mla", "",
    "--attention-backend cutlass_mla" },
  { "sglang", "0.5.0", nil, deepseek, "b200", "--tp 8", "--decode-attention-backend trtllm_mla", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.0", "0.5.17", small, "b200", "", "--attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.17", nil, small, "b200", "", "--attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.0", "0.5.17", small, "b200", "", "--decode-attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.17", nil, small, "b200", "", "--decode-attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.0", "0.5.17", small, "b200", "", "--prefill-attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.17", nil, small, "b200", "", "--prefill-attention-backend trtllm_mha", "--page-size 64",
    "--attention-backend flashinfer" },
  { "sglang", "0.5.17", nil, small, "h100-sxm", "", "--attention-backend hpc_ops", "--page-size 64", "" },
  { "sglang", "0.5.17", nil, small, "h100-sxm", "", "--decode-attention-backend hpc_ops", "--page-size 64", "" },
  { "sglang", "0.5.15", nil, small, "b200", "", "--prefill-attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.4", nil, small, "h100-sxm", "",
    "--prefill-attention-backend torch_native --decode-attention-backend torch_native", "--disable-cuda-graph", "" },
  { "sglang", "0.5.3", nil, small, "b200", "", "--enable-deterministic-inference",
    "--disable-radix-cache --attention-backend flashinfer", "" },
  { "sglang", "0.5.3", nil, small, "h100-sxm", "", "--enable-deterministic-inference", "", "--disable-radix-cache" },
  { "sglang", "0.5.3", nil, deepseek, "b200", "--tp 8", "--enable-deterministic-inference", "",
    "--disable-radix-cache" },
  { "sglang", "0.5.4", nil, small, "b200", "", "--rl-on-policy-target fsdp",
    "--disable-radix-cache --attention-backend flashinfer", "" },
  { "sglang", "0.5.3", nil, dense, "h100-sxm", "--tp 2", "--cuda-graph-bs 1 2 4 8", "--cuda-graph-max-bs 8", "" },
  { "sglang", "0.4.6", nil, small, "h100-sxm", "", "--debug-tensor-dump-output-folder /tmp/x",
    "--disable-cuda-graph", "" },
  { "sglang", "0.4.6", nil, dense, "h100-sxm", "--tp 2", "--pp-size 2", "--pp-size 2 --disable-overlap-schedule", "" },
  { "sglang", "0.4.8", nil, deepseek, "h200-sxm", "--tp 8 --speculative-algorithm EAGLE", "--enable-mixed-chunk",
    "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
    "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2" },
  { "sglang", "0.5.4", "0.5.14", hybrid, "h200-sxm", "--tp 4", "--mamba-scheduler-strategy extra_buffer", nil, "",
    async_depth = 2 },
  { "sglang", "0.5.10", "0.5.14", hybrid, "h200-sxm", "--tp 4", "--mamba-radix-cache-strategy extra_buffer", nil, "",
    async_depth = 2 },
  { "sglang", "0.5.1", "0.5.3", routed, "b200", "--tp 8", "--enable-flashinfer-cutlass-moe",
    "--moe-runner-backend flashinfer_cutlass", "" },
  { "sglang", "0.5.1", "0.5.3", routed, "b200", "--tp 8", "--enable-flashinfer-trtllm-moe",
    "--moe-runner-backend flashinfer_trtllm", "" },
  { "sglang", "0.5.1", "0.5.3", routed, "b200", "--tp 8", "--enable-flashinfer-cutedsl-moe",
    "--moe-runner-backend flashinfer_cutedsl", "" },
  { "sglang", "0.5.1", "0.5.3", routed, "b200", "--tp 8 --moe-runner-backend flashinfer_cutlass",
    "--enable-triton-kernel-moe", "", nil },
  { "sglang", "0.5.1", "0.5.3", "openai/gpt-oss-120b", "b200", "--tp 2", "--enable-triton-kernel-moe",
    "--moe-runner-backend triton_kernel", "" },
  { "sglang", "0.5.5", "0.5.18", routed, "b200", "--tp 8", { front = "SGLANG_CUTLASS_MOE=1 " },
    "--moe-runner-backend cutlass", "" },
  { "sglang", "0.5.17", nil, small, "h100-sxm", "", "--prefill-attention-backend hpc_ops", "--page-size 64", "" },
  { "sglang", "0.5.4", "0.5.6", small, "h100-sxm", "", "--prefill-attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.6", "0.5.10", small, "h100-sxm", "", "--prefill-attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.10", "0.5.15", small, "b200", "", "--prefill-attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.15", nil, small, "b200", "", "--attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.15", nil, small, "b200", "", "--decode-attention-backend fa4", "--page-size 128", "" },
  { "sglang", "0.5.13", nil, deepseek, "b200", "--tp 8", "--prefill-attention-backend cutedsl_mla",
    "--prefill-attention-backend flashinfer --page-size 64", "--prefill-attention-backend flashinfer" },
  { "sglang", "0.5.17", nil, small, "b200", "--attention-backend flashinfer",
    "--speculative-draft-attention-backend trtllm_mha", "--page-size 64", "" },

  { "vllm", "0.9.1", nil, deepseek, "h200-sxm", "-tp 1 -dp 8 --enable-expert-parallel",
    "--all2all-backend deepep_high_throughput",
    "--all2all-backend deepep_high_throughput --compilation-config.cudagraph_mode NONE",
    "--all2all-backend deepep_low_latency" },
  { "vllm", "0.10.0", "0.16", deepseek, "h200-sxm", "-tp 1 -dp 8 --enable-expert-parallel",
    { front = "VLLM_ALL2ALL_BACKEND=deepep_low_latency " }, "--all2all-backend deepep_low_latency", "" },
  { "vllm", "0.10.0", nil, small, "h100-sxm", "", "--max-num-batched-tokens 512",
    "--max-num-batched-tokens 512 --max-num-seqs 512", "" },
  { "vllm", "0.11.0", nil, small, "h100-sxm", "--max-model-len 16384", "--no-enable-chunked-prefill",
    "--no-enable-chunked-prefill --max-num-batched-tokens 16384", "" },
  { "vllm", "0.11.0", nil, small, "h100-sxm", "--max-model-len 2048", "--max-num-seqs 2",
    "--max-num-seqs 2 --max-num-batched-tokens 4096", "" },
  { "vllm", "0.16.0", nil, small, "h100-sxm", "", "--performance-mode throughput",
    "--max-num-seqs 2048 --max-num-batched-tokens 16384", "" },
  { "vllm", "0.12.0", nil, small, "h100-sxm", "", "-O0", "--enforce-eager", "-O2" },
  { "vllm", "0.12.0", nil, small, "h100-sxm", "", "-O.mode=0", "--compilation-config.cudagraph_mode NONE", "" },
  { "vllm", "0.11.0", nil, small, "h100-sxm", "", "--compilation-config '{\"level\": 0}'", "--enforce-eager", "" },
  { "vllm", "0.12.0", nil, small, "h100-sxm", "", { front = "TORCH_COMPILE_DISABLE=1 " },
    "--compilation-config.cudagraph_mode NONE", "" },
  { "vllm", "0.14.0", nil, small, "h100-sxm", "",
    "--speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 3}'",
    "--speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 3}' --no-async-scheduling", "" },
  { "vllm", "0.8.0", nil, deepseek, "b200", "-tp 8", "--attention-backend CUTLASS_MLA", "--block-size 128", "" },
  { "vllm", "0.8.0", "0.15", deepseek, "b200", "-tp 8", { front = "VLLM_ATTENTION_BACKEND=CUTLASS_MLA " },
    "--block-size 128", "" },
  { "vllm", "0.8.0", nil, deepseek, "b200", "-tp 8 --block-size 16", "--attention-backend FLASHINFER_MLA", nil, "",
    page = 64 },
  { "vllm", "0.8.0", nil, deepseek, "h200-sxm", "-tp 8 --block-size 16", "--attention-backend FLASHMLA", nil, "",
    page = 64 },
  { "vllm", "0.11.0", "0.22", windows, "h100-sxm", "-tp 2",
    offloads, offloads .. " --disable-hybrid-kv-cache-manager",
    offloads .. " --no-disable-hybrid-kv-cache-manager" },
  { "vllm", "0.10.0", "0.19", windows, "h100-sxm", "-tp 2", "--kv-events-config '{\"publisher\": \"zmq\"}'",
    "--disable-hybrid-kv-cache-manager", "" },
  { "vllm", "0.12.0", nil, "google/gemma-3-27b-it", "h100-sxm", "",
    "--limit-mm-per-prompt '{\"image\": 0, \"video\": 0}'", "--language-model-only", "" },

  { "trtllm", "1.0.0", nil, small, "h100-sxm", "",
    with_file "speculative_config: {decoding_type: NGram, max_draft_len: 3}",
    with_file "speculative_config: {decoding_type: NGram, max_draft_len: 3}\ndisable_overlap_scheduler: true", "" },
  { "trtllm", "0.20.0", "0.21.0", small, "h100-sxm", "", with_file "pytorch_backend_config: {kv_cache_dtype: fp8}",
    with_file "kv_cache_config: {dtype: fp8}", "" },
  { "trtllm", "0.20.0", "0.21.0", small, "h100-sxm", "", with_file "pytorch_backend_config: {use_cuda_graph: false}",
    with_file "cuda_graph_config: {max_batch_size: 0}", "" },
  { "trtllm", "0.20.0", "1.0.0", small, "h100-sxm", "", with_file "cuda_graph_batch_sizes: [1, 2, 4]",
    with_file "cuda_graph_config: {batch_sizes: [1, 2, 4]}", "" },
  { "trtllm", "0.20.0", "1.0.0", small, "h100-sxm", "", with_file "cuda_graph_max_batch_size: 16",
    with_file "cuda_graph_config: {max_batch_size: 16}", "" },
  { "trtllm", "0.20.0", "0.21.0", small, "h100-sxm", "",
    with_file "pytorch_backend_config: {cuda_graph_batch_sizes: [1, 2], disable_overlap_scheduler: true}",
    with_file "cuda_graph_config: {batch_sizes: [1, 2]}\ndisable_overlap_scheduler: true",
    with_file "cuda_graph_config: {batch_sizes: [1, 2]}" },
  { "trtllm", "0.20.0", "0.21.0", small, "h100-sxm", "",
    with_file "pytorch_backend_config: {cuda_graph_max_batch_size: 16}",
    with_file "cuda_graph_config: {max_batch_size: 16}", "" },
  { "trtllm", "0.20.0", "0.21.0", deepseek, "b200", "--tp_size 8",
    with_file "pytorch_backend_config: {moe_backend: TRTLLM}", with_file "moe_config: {backend: TRTLLM}", "" },
  { "trtllm", "0.20.0", "1.0.0", deepseek, "b200", "--tp_size 8", with_file "moe_backend: TRTLLM",
    with_file "moe_config: {backend: TRTLLM}", "" },
  { "trtllm", "0.20.0", "1.0.0", small, "h100-sxm", "", with_file "use_cuda_graph: false\nkv_cache_dtype: fp8",
    with_file "cuda_graph_config: {max_batch_size: 0}\nkv_cache_config: {dtype: fp8}",
    with_file "kv_cache_config: {dtype: fp8}" },
  { "trtllm", "0.20.0", "1.0.0", small, "h100-sxm", "", with_file "kv_cache_dtype: fp8",
    with_file "kv_cache_config: {dtype: fp8}", "" },
  { "trtllm", "0.9.0", "0.20.0", small, "h100-sxm", "", with_file "enable_overlap_scheduler: false",
    with_file "disable_overlap_scheduler: true", "" },
  { "trtllm", "0.9.0", "0.20.0", small, "h100-sxm", "",
    with_file "pytorch_backend_config: {enable_overlap_scheduler: false}", with_file "disable_overlap_scheduler: true",
    "" },
}

local starts = { sglang = "python3 -m sglang.launch_server --model-path %s ", vllm = "vllm serve %s ",
  trtllm = "trtllm-serve %s " }

--- Flags that may stand beside any other, as lists of choices.
local besides = { sglang = { "", "--mem-fraction-static 0.8", "--schedule-policy lpm", "--trust-remote-code" },
  vllm = { "", "--gpu-memory-utilization 0.85", "--seed 3", "--trust-remote-code" },
  trtllm = { "", "--kv_cache_free_gpu_memory_fraction 0.8", "--log_level info" } }

local function text_of(case, variant, beside)
  local own = type(variant) == "table" and variant or { flags = variant }
  return (own.front or "") .. starts[case[1]]:format(case[4]) .. case[6] .. " " .. (own.flags or "") .. " " .. beside
end

local function parameters(instance) return policy.is_instance(instance) and policy.parameters(instance) or instance end

--- What a deployment is to a run, and its memory, as text.
local function deployment_of(case, version, text)
  local keys = command.keys(command.read(text, { engine = case[1] .. " " .. version }))
  local given = { model = keys.model, hardware = case[5], engine = keys.engine, speculation = keys.speculation }
  local applied = application.of(Reader.new "scenario", given, true)
  local ledger = capacity_of.command({ hardware = case[5] }, {}, { text = text,
    engine = case[1] .. " " .. version }).document
  ledger.notes = nil
  return json.encode { deployment = applied.given.deployment, scheduler = applied.given.scheduler.name,
    of_scheduler = parameters(applied.given.scheduler), async_depth = applied.given.async_depth,
    memory = applied.memory, ledger = ledger, largest_graph = policy.parameters(applied.given.steps).largest_graph,
    steps = { policy.parameters(applied.given.steps).exchange, policy.parameters(applied.given.steps).dp_padding,
      tostring(applied.engine.values.expert_operations), policy.parameters(applied.given.steps).experts_kernels,
      policy.parameters(applied.given.steps).sorted_logit_s } }, applied
end

local streams = require("rooflua.random").streams(5)
local stream = streams:stream "besides"
local function drawn(list) return list[1 + math.floor(stream:uniform(0, #list)) % #list] end

--- Releases in which a case holds: the first, the last, and two that are drawn.
local function releases_of(case)
  local all = {}
  for _, each in ipairs(catalogue.of(case[1]).releases) do
    if release.holds({ since = case[2], before = case[3] }, each.name) then all[#all + 1] = each.name end
  end
  return { all[1], drawn(all), drawn(all), all[#all] }
end

--- Why a case does not hold; nil where it does.
local function problem_of(case, version, beside)
  local a, applied = deployment_of(case, version, text_of(case, case[7], beside))
  if case[8] then
    local b, outright = deployment_of(case, version, text_of(case, case[8], beside))
    for _, note in ipairs(outright.notes) do
      if note:find " sets .* not to " then return "what is given outright does not hold: " .. note end
    end
    if a ~= b then return "the cause is not the same as its effect given outright:\n" .. a .. "\n" .. b end
  end
  if case[9] and a == deployment_of(case, version, text_of(case, case[9], beside)) then
    return "the cause changes nothing"
  end
  if case.page and applied.given.deployment.block_size ~= case.page then return "another block size" end
  if case.async_depth and applied.given.async_depth ~= case.async_depth then return "another depth" end
end

local function name_of(case) return ("%s: %s"):format(case[1], json.encode { case[7] }) end

for _, case in ipairs(pairs_of) do
  test(name_of(case), function()
    for _, version in ipairs(releases_of(case)) do
      test.equal(problem_of(case, version, drawn(besides[case[1]])), nil, version)
    end
  end)
end

--- The figures of a short run.
local function figures_of(case, version, variant)
  local keys = command.keys(command.read(text_of(case, variant, ""), { engine = case[1] .. " " .. version }))
  return json.encode(rooflua.serve.run { model = keys.model, hardware = case[5], engine = keys.engine,
    speculation = keys.speculation, seed = 3, workload = require "workloads.closed_loop" { clients = 40,
      num_requests = 80, prompt_tokens = 600, output_tokens = 12 } }.summary)
end

test("a run has the same figures", function()
  for _, i in ipairs { 1, 7, 11, 36 } do
    local case = pairs_of[i]
    local version = releases_of(case)[4]
    local cause = figures_of(case, version, case[7])
    if case[8] then test.equal(cause, figures_of(case, version, case[8]), i) end
    test.check(cause ~= figures_of(case, version, case[9]), i)
  end
end)

--- What the causes of an engine's cases make of their newest releases.
local function causes_of(name)
  local out = {}
  for _, case in ipairs(pairs_of) do
    if case[1] == name then
      local version = releases_of(case)[4]
      out[#out + 1] = function() return (deployment_of(case, version, text_of(case, case[7], ""))) end
    end
  end
  return out
end

for _, name in ipairs { "sglang", "vllm", "trtllm" } do
  test("no row of " .. name .. " is there for nothing: without it a pair is not the same", function()
    local rows, causes, before, unseen = catalogue.of(name).implies, causes_of(name), {}, {}
    for i, cause in ipairs(causes) do before[i] = cause() end
    for i = 1, #rows do
      local row, is_seen = table.remove(rows, i), false
      for j, cause in ipairs(causes) do
        is_seen = is_seen or cause() ~= before[j]
      end
      if not is_seen then unseen[#unseen + 1] = json.encode(row.where or {}) .. " " .. i end
      table.insert(rows, i, row)
    end
    test.equal(table.concat(unseen, "\n"), "")
  end)
end

test.finish()
