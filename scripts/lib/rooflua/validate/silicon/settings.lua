-- The settings of the measured deployments, in one table: what an engine does by default, then what aiconfigurator's
-- generator or the launch scripts of InferenceX state for a model on an engine. Nothing here is of a single deployment
-- or a single question, and no value is fitted to these rows. apart.lua has the entries of prefill and decode apart.
--
-- An entry says where it holds (engine, version, family, format, system, tp, `export`: rows of InferenceX or the
-- others) and has values with one source. A later entry replaces the values of an earlier one. A value may be a
-- function of the question where a script computes it.
--
--     seats           requests at once                          budget        tokens of a step
--     chunk           SGLang: prompt tokens of a step before a prompt is cut
--     memory          {"total", share} of the GPU (vLLM); {"free", share} of what weights and activations leave
--                     (TensorRT-LLM); {"static", share} of the GPU for weights and KV cache (SGLang)
--     block_size      tokens per KV block                       kv            format of keys and values
--     largest_graph   tokens of the largest CUDA graph          async_depth   2: a step is planned while one runs
--     dp_padding      how ranks pad their tokens (steps/kernels/group.lua); default vLLM's way
--     prefill_interval  vLLM: ranks that decode run prompts in every n-th step
--     prompt_balance  TensorRT-LLM: {steps that ranks wait for each other's prompts, steps that they collect more}
--     reserve_full    vLLM: admit a request if its whole sequence fits
--     frontend_s      time of a request outside of the engine
--     sorted_logit_s  sorting a logit of a request, where the model's own sampling is top-p or top-k
--     recv_interval   SGLang: decode steps between two looks for new requests
--     batch_wait      TensorRT-LLM: {steps, part of the budget} that prompts wait for others
--     exchange        how tokens reach experts of other ranks (steps/kernels/exchange.lua)
--     prompt_overhead what prompts take beside their kernels (steps/kernels/prompts.lua); default the engine's own
--     block_gemm      who runs GEMMs in block-scaled FP8 on Blackwell (steps/kernels/blockscale.lua)
--     recurrent_copies  kernels that put what a recurrent layer projects in its order
--     norm_apart_s    what an all-reduce and the norm behind it take longer as two kernels (corrections/norm_apart.lua)
--     drafts          drafts of a step, by the model's own multi-token prediction
--     prefix_caching  whether prompts that are sent again hit the KV cache
local apart = require "rooflua.validate.silicon.apart"
local core = require "rooflua.base.core"
local engines = require "rooflua.validate.engines"
local release = require "rooflua.engines.release"
local releases = require "rooflua.validate.silicon.releases"

local settings = {}

--- GPUs as the file names them, and their names here.
settings.systems = { h100_sxm = "h100-sxm", h200_sxm = "h200-sxm", b200_sxm = "b200", b300_sxm = "b300",
  gb200 = "gb200", gb300 = "gb300" }

--- Versions that are taken where a row has none, or one without a number (nightly).
settings.newest = { vllm = "0.24", sglang = "0.5.14", trtllm = "1.3" }

--- Of one engine; a question that is not yet divided into roles has one.
local function clients(question) return question.clients_per_engine or question.clients end

--- batch_wait_timeout_iters and batch_wait_max_tokens_ratio of the scripts for Llama.
local function llama_wait(question)
  local waits = question.isl == 1024 and question.osl == 1024 and question.widths.tp < 8
  return waits and { 20, 0.9 } or nil
end

--- cuda_graph_config.max_batch_size of the scripts for DeepSeek.
local function graph_of_rank(question) return math.ceil(question.clients / question.widths.dp) end

--- SGLang's cuda-graph-max-bs counts requests, each with a token and three drafts.
local function eagle_graph(question) return 4 * question.clients end

--- Piecewise graphs of the scripts for DeepSeek: in FP4 with whole experts at 1,024 + 1,024, in FP8 from 64 clients on.
local function deepseek_prefill_graph(question)
  local short = question.isl == 1024 and question.osl == 1024
  if question.format == "fp4" then return short and question.widths.ep == 8 and 8192 or 0 end
  local from = question.osl == 8192 and 128 or 64
  return question.clients >= from and not (question.osl == 8192 and question.clients >= 256) and 8192 or 0
end

--- MTP of the scripts for DeepSeek with multi-token prediction.
local function mtp_drafts(question) return question.widths.dp > 1 and 1 or 3 end

--- cuda_graph_config.max_batch_size counts requests; a request with drafts has several tokens.
local function mtp_graph(question) return (mtp_drafts(question) + 1) * graph_of_rank(question) end

--- max_num_tokens of the same scripts.
local function mtp_budget(question)
  return math.ceil((mtp_graph(question) + question.isl + 64) / 64) * 64
end

--- Piecewise graphs of the same scripts.
local function mtp_prefill_graph(question)
  local n, to = question.clients, question.osl
  if question.isl ~= 1024 then return 0 end
  local has = n == 64 or to == 1024 and (n == 32 or n == 128 and question.widths.dp == 1)
  return has and mtp_budget(question) or 0
end

--- batch_wait_timeout_iters and batch_wait_max_tokens_ratio of the script for DeepSeek in FP8.
local function deepseek_wait(question)
  local waits = question.format == "fp8" and question.isl == 1024 and question.osl == 1024 and question.clients >= 64
  return waits and { 40, 0.8 } or nil
end

--- TensorRT-LLM cuts no prompt by default, so that a prompt must fit into a step beside the decodes.
local function whole_prompt(question) return math.max(8192, question.clients + question.isl + 64) end

--- max_num_tokens of aiconfigurator's generator for TensorRT-LLM, a multiple of a block.
local function generated_budget(question) return math.ceil((clients(question) + question.isl + 1500) / 32) * 32 end

--- The same for vLLM, and max_prefill_tokens of SGLang.
local function plain_budget(question) return clients(question) + question.isl + 1500 end
local function prefill_budget(question) return question.isl + 1500 end

--- SGLang's mem_fraction_static. Activations, graphs and communication buffers take the reserve.
local function sglang_memory(question, hardware, values)
  local mib, gib = 2 ^ 20, 2 ^ 30
  local reserve = 512 * mib + 1.5 * mib * values.chunk + question.widths.tp / 8 * gib + 2 * mib * values.largest_graph
  if hardware.usable_memory_bytes > 60 * gib then reserve = math.max(reserve, 10 * gib) end
  return { "static", 1 - reserve / hardware.usable_memory_bytes }
end

--- SGLang before 0.5.10 fused all-reduce and norm of other models, but not of Qwen3.5.
local function norm_apart_s(question) return question.family == "qwen3.5-397b-a17b" and 11.1e-6 or nil end

--- InferenceX's SGLang scripts of R1 in FP8 have two recipes, by TP.
local function r1(of_4, of_8)
  return function(question) return question.widths.tp == 4 and of_4 or of_8 end
end

--- scheduler-recv-interval of several SGLang scripts.
local function recv_interval(question)
  if question.family == "deepseek-v3" and question.format == "fp8" and question.widths.tp == 4 then return 10 end
  return question.clients >= 16 and 30 or 10
end

--- max-running-requests 128 of the scripts. They are of one date; in the runs with 256 clients TTFT is 0.7 to 7 s where
--- half of the clients would wait for an answer of 30 to 150 s, so that those servers had more seats.
local function seats_of_128(question) return math.max(128, question.clients) end

--- moe_config.backend of the recipes for FP8 on Blackwell: TRTLLM where experts are split, whose kernels FlashInfer
--- gives to vLLM; DEEPGEMM where experts are whole.
local function trtllm_experts(question) return question.widths.moe_tp > 1 and "vllm" or nil end

local entries = {
  -- Defaults of engines. vLLM's are those of validate/engines.lua.
  { engine = "vllm", values = { scheduler = "vllm_v1", block_size = 16, largest_graph = 512, kv = "auto" },
    source = "vLLM defaults: block_size 16, max_cudagraph_capture_size 512, kv_cache_dtype auto" },
  { engine = "sglang", values = { scheduler = "sglang", seats = 2048, budget = 16384, chunk = 8192, block_size = 1,
      largest_graph = 512, async_depth = 2, kv = "auto", memory = sglang_memory, dp_padding = "sglang" },
    source = "SGLang defaults: server_args.py on H100 and H200, overlap schedule, page_size 1" },
  { engine = "sglang", system = { "b200_sxm", "b300_sxm", "gb200", "gb300" }, values = { chunk = 16384 },
    source = "SGLang: chunked_prefill_size 16384 above 160 GB" },
  { engine = "trtllm", values = { scheduler = "trtllm", seats = 2048, budget = whole_prompt, block_size = 32,
      largest_graph = 128, async_depth = 2, kv = "auto", memory = { "free", 0.9 } },
    source = "TensorRT-LLM defaults: max_batch_size 2048, tokens_per_block 32, free fraction 0.9, overlap scheduler; "
      .. "max_num_tokens 8192, raised where a prompt would not fit" },
  -- Rows that are not InferenceX's are measurements of aiconfigurator's authors. No source states their settings; these
  -- are what its generator writes for such a deployment.
  { export = false, engine = "trtllm", values = { budget = generated_budget, seats = clients, largest_graph = clients,
      memory = { "free", 0.8 } },
    source = "aiconfigurator 095f58a5: rule_plugin/benchmark/trtllm.rule, extra_engine_args.1.0.0rc3.yaml.j2" },
  { export = false, engine = "trtllm", values = { prefix_caching = true },
    source = "TensorRT-LLM's default, to which aiconfigurator c0d8af1b, trtllm/cli_args.j2, leaves it" },
  { export = false, engine = "trtllm", version = { "1.3.0rc1", "1.3.0rc5" }, values = { prefix_caching = false },
    source = "aiconfigurator 581e4591, 4d5763a5: extra_engine_args.1.3.0rc1 and 1.3.0rc3.yaml.j2: no block reuse" },
  { export = false, engine = "trtllm", version = "1.3.0rc1", values = { largest_graph = 1 },
    source = "no source: docs/VALIDATION.md, \"Decodes without graphs\"" },
  { export = false, engine = "vllm", values = { budget = plain_budget, seats = clients, largest_graph = clients,
      prefix_caching = true },
    source = "aiconfigurator 2b264ba7: rule_plugin/benchmark/vllm.rule; prefix caching is vLLM's default, and the "
      .. "generator states no other" },
  { export = false, engine = "vllm", before = "0.16", role = "none", values = { sorted_logit_s = 0.14e-9 },
    source = "vLLM pull request 40376; aiconfigurator 095f58a5: benchmark/bench_run.sh.j2 asks for no sampling, so "
      .. "that vLLM takes the model's own" },
  { export = false, engine = "sglang", values = { budget = prefill_budget, seats = clients, largest_graph = clients,
      mixed_chunk = true }, source = "aiconfigurator 043c66c5: rule_plugin/benchmark/sglang.rule" },
  { export = false, engine = "sglang", before = "0.5.3", values = { mixed_chunk = false },
    source = "aiconfigurator 5dc6d4f9: backend_templates/sglang/cli_args.0.5.1.post1.j2 asks for enable-mix-chunk, "
      .. "which its parameters do not have" },
  { export = false, engine = { "trtllm", "sglang", "vllm" }, format = { "fp8", "fp4" }, values = { kv = "fp8" },
    source = "aiconfigurator 095f58a5: sdk/models/helpers.py, keys and values in FP8 where weights are quantised" },
  -- InferenceX's client sends random tokens as text, which the server splits into tokens again.
  { export = true, role = "every", values = { frontend_token_s = 5e-6 },
    source = "fitted to TTFT of InferenceX's rows, leaving deployments out: docs/VALIDATION.md" },
  -- Before 0.5.10 SGLang copied q, k, v, both gates, z and their joint tensor one by one.
  { engine = "sglang", before = "0.5.10", role = "every",
    values = { recurrent_copies = 7, norm_apart_s = norm_apart_s },
    source = "SGLang pull requests 20627, 21019; 19889: 21.5 us for all-reduce and norm, 10.4 us in one kernel" },
  { engine = "sglang", version = { "nightly-dev", "nightly-dev-20260216-d3bae71e" }, role = "every",
    values = { recurrent_copies = 7, norm_apart_s = norm_apart_s },
    source = "the same: nightly builds of February 2026" },
  -- Launch scripts of InferenceX, vLLM.
  { export = true, engine = "vllm", family = "llama-3.1-70b", values = { budget = 8192, memory = { "total", 0.9 },
      kv = "fp8", async_depth = 2, seats = clients }, source = "benchmarks/70b_fp8_h200_slurm.sh" },
  { export = true, engine = "vllm", family = "llama-3.1-70b", system = { "b200_sxm" },
    values = { seats = 512, largest_prefill_graph = 0 },
    source = "benchmarks/70b_fp4_b200_docker.sh: cudagraph_mode FULL_DECODE_ONLY" },
  { export = true, engine = "vllm", family = "gpt-oss-120b", values = { budget = 8192, memory = { "total", 0.9 },
      seats = clients, largest_graph = 2048 }, source = "benchmarks/gptoss_fp4_h100.sh" },
  { export = true, engine = "vllm", family = "gpt-oss-120b", system = { "h100_sxm", "h200_sxm" },
    values = { experts_kernels = "marlin" }, source = "benchmarks/gptoss_fp4_h100.sh, gptoss_fp4_h200.sh: Marlin" },
  { export = true, engine = "vllm", family = "gpt-oss-120b", system = { "h200_sxm" }, values = { async_depth = 2 },
    source = "benchmarks/gptoss_fp4_h200.sh" },
  { export = true, engine = "vllm", family = "gpt-oss-120b", system = { "b200_sxm" },
    values = { async_depth = 2, seats = 512, kv = "fp8" }, source = "benchmarks/gptoss_fp4_b200.sh" },
  { export = true, engine = "vllm", family = "minimax-m2.5", values = { memory = { "total", 0.9 }, block_size = 32,
      kv = "fp8", largest_graph = 2048, seats = clients, budget = function(question) return 2 * question.isl end },
    source = "benchmarks/single_node/minimaxm2.5_*.sh at 843c6254" },
  { export = true, engine = "vllm", family = "kimi-k2.5", values = { memory = { "total", 0.9 }, seats = clients,
      kv = "fp8" }, source = "benchmarks/single_node/kimik2.5_fp4_b200.sh; KV format of the release" },
  { export = true, engine = "vllm", family = "kimi-k2.5", system = { "b200_sxm" }, values = { prefill_interval = 4 },
    source = "the same, with attention on DP ranks" },
  -- SGLang. Attention kernels of TensorRT-LLM work on pages of 64 tokens.
  { export = true, engine = "sglang", family = "deepseek-v3", format = "fp8", values = { chunk = r1(8192, 32768),
      budget = r1(8192, 32768), seats = r1(32, 128), memory = { "static", 0.82 }, kv = "fp8",
      largest_graph = r1(32, 128), block_size = 64, recv_interval = recv_interval, block_gemm = "flashinfer" },
    source = "benchmarks/dsr1_fp8_b200.sh, single_node/dsr1_fp8_b300.sh: DeepGEMM is off" },
  { export = true, engine = "sglang", family = "deepseek-v3", format = "fp8", tp = 4,
    values = { memory = { "static", 0.95 } }, source = "benchmarks/dsr1_fp8_b200.sh" },
  { export = true, engine = "sglang", family = "deepseek-v3", format = "fp8", system = { "h200_sxm" },
    values = { seats = 256, largest_graph = 256, kv = "auto", block_size = 1, recv_interval = 1 },
    source = "benchmarks/dsr1_fp8_h200.sh" },
  { export = true, engine = "sglang", family = "deepseek-v3", format = "fp4", values = { chunk = 16384, seats = 256,
      largest_graph = 256, memory = { "static", 0.85 }, kv = "fp8", block_size = 64, recv_interval = recv_interval },
    source = "benchmarks/dsr1_fp4_b200.sh" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", values = { chunk = 16384, budget = 16384,
      seats = seats_of_128, memory = { "static", 0.8 }, kv = "fp8", largest_graph = clients, recv_interval = 10 },
    source = "benchmarks/single_node/qwen3.5_fp8_h200.sh, _b300.sh" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", system = { "b200_sxm" }, values = { chunk = 32768,
      budget = 32768, memory = { "static", 0.82 }, recv_interval = recv_interval },
    source = "benchmarks/single_node/qwen3.5_fp8_b200.sh" },
  -- The first script for B300 is not public. Before April, B200's had these values (pull request 1027), and B300's runs
  -- under 0.5.9 wait for the scheduler from 16 clients on, as B200's do.
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", system = { "b300_sxm" }, version = "0.5.9",
    values = { chunk = 32768, budget = 32768, memory = { "static", 0.82 }, recv_interval = recv_interval },
    source = "benchmarks/single_node/qwen3.5_fp8_b200.sh" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", system = { "b200_sxm", "b300_sxm" },
    values = { block_size = 64 }, source = "the same: attention-backend trtllm_mha" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", format = "bf16", values = { chunk = 32768,
      budget = 32768, memory = { "static", 0.82 }, kv = "auto", recv_interval = recv_interval },
    source = "benchmarks/single_node/qwen3.5_bf16_b200.sh" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", format = "fp4", values = { chunk = 32768,
      budget = 32768, recv_interval = recv_interval }, source = "benchmarks/single_node/qwen3.5_fp4_b300.sh" },
  -- Under 0.5.9 runs in FP8 without drafts have whole experts at tp 4, or tp 8 (pull request 804); those with drafts
  -- have neither (897, 898). Their scheduler waits for each step.
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", format = "fp8", tp = 4, ep = 1,
    system = { "b200_sxm", "b300_sxm" }, version = "0.5.9",
    values = { drafts = 3, seats = clients, largest_graph = eagle_graph, async_depth = 1 },
    source = "InferenceX perf-changelog.yaml: qwen3.5-fp8-b200-sglang-mtp; qwen3.5_fp8_b200_mtp.sh" },
  { export = true, engine = "sglang", family = "qwen3.5-397b-a17b", format = "fp8", system = { "b200_sxm", "b300_sxm" },
    version = "0.5.9", values = { block_gemm = "flashinfer" },
    source = "InferenceX pull request 804: SGLANG_ENABLE_FLASHINFER_GEMM" },
  { export = true, engine = "sglang", family = "glm-5", values = { chunk = 32768, budget = 32768,
      memory = { "static", 0.85 }, kv = "fp8", largest_graph = clients, seats = clients, block_size = 64 },
    source = "benchmarks/single_node/glm5_fp8_b200.sh" },
  { export = true, engine = "sglang", family = "glm-5", format = "fp4", values = { memory = { "static", 0.9 },
      seats = 2048, recv_interval = 10 }, source = "benchmarks/single_node/glm5_fp4_b200.sh" },
  -- TensorRT-LLM.
  -- The first scripts had a budget of max_model_len and no waiting; TTFT at 1,024 + 1,024 is that of the later ones.
  { export = true, engine = "trtllm", family = "llama-3.1-70b", values = { budget = 16384, kv = "fp8",
      largest_graph = 1024, batch_wait = llama_wait },
    source = "benchmarks/70b_fp4_b200_trt_docker.sh: --max_num_tokens 16384 beside batch_wait" },
  { export = true, engine = "trtllm", family = "deepseek-v3", values = { kv = "fp8", memory = { "free", 0.8 },
      budget = whole_prompt, largest_graph = graph_of_rank, largest_prefill_graph = deepseek_prefill_graph,
      batch_wait = deepseek_wait, prompt_balance = { 60, 0 } },
    source = "benchmarks/single_node/dsr1_fp4_b200_trt.sh, dsr1_fp8_b200_trt.sh" },
  -- The image tells the runs of one engine with drafts from those without: both kinds of scripts changed to 1.2.0rc6 at
  -- about the same time, those without to post2 (pull requests 594, 620), those with drafts to post3 (642).
  { export = true, engine = "trtllm", family = "deepseek-v3", format = "fp4", version = "1.2.0rc6.post3",
    values = { drafts = mtp_drafts, seats = graph_of_rank, budget = mtp_budget,
      largest_graph = mtp_graph, largest_prefill_graph = mtp_prefill_graph },
    source = "InferenceX perf-changelog.yaml: dsr1-fp4-b200-trt-mtp; benchmarks/single_node/dsr1_fp4_b200_trt_mtp.sh" },
  { export = true, role = "every", engine = "trtllm", family = "deepseek-v3", format = "fp8",
    system = { "b200_sxm", "b300_sxm", "gb200", "gb300" }, values = { experts_kernels = trtllm_experts },
    source = "benchmarks/single_node/dsr1_fp8_b200_trt.sh; srt-slurm recipes/trtllm/b200-fp8/8k1k/stp" },
  { export = true, engine = "trtllm", family = "gpt-oss-120b", values = { seats = clients, budget = 20000,
      largest_graph = clients, memory = { "free", 0.85 } }, source = "benchmarks/gptoss_fp4_h200_trt.sh" },
  { export = true, engine = "trtllm", family = "gpt-oss-120b", system = { "b200_sxm" },
    values = { kv = "fp8", prompt_balance = { 50, 10 } },
    source = "benchmarks/single_node/gptoss_fp4_b200_trt.sh: enable_balance; TensorRT-LLM's limits of the balance" },
}

for _, entry in ipairs(apart.entries) do entries[#entries + 1] = entry end

local function listed(list, name)
  for _, each in ipairs(list) do
    if each == name then return true end
  end
  return false
end

--- Whether a version is a number, and no nightly build.
local function is_number(version) return version:find "^v?%d" ~= nil end

local function is_one_of(given, name)
  return given == nil or given == name or type(given) == "table" and listed(given, name)
end

--- Whether an entry holds for the role of an engine. Launch scripts of InferenceX without a role are of one engine.
local function is_of_role(entry, question)
  if entry.role == "every" then return true end
  if entry.role == "none" then return question.role == nil end
  if entry.role then return is_one_of(entry.role, question.role) end
  return not (entry.export and question.role)
end

local function fits(entry, question)
  return is_of_role(entry, question) and is_one_of(entry.engine, question.engine)
    and (entry.export == nil or entry.export == question.is_export)
    and is_one_of(entry.family, question.family) and is_one_of(entry.format, question.format)
    and is_one_of(entry.system, question.system) and is_one_of(entry.tp, question.widths.tp)
    and is_one_of(entry.ep, question.widths.ep)
    and is_one_of(entry.version, question.version)
    and (entry.before == nil or is_number(question.version) and release.earlier(question.version, entry.before))
end

--- The version whose defaults hold, and a note where that is not the row's own.
function settings.version(question)
  local newest = settings.newest[question.engine]
  if is_number(question.version) then return question.version end
  return newest, ("engine version %s: defaults of %s %s"):format(
    question.version == "" and "not stated" or "'" .. question.version .. "'", question.engine, newest)
end

--- vLLM's defaults by version and GPU, which validation of cases declares.
local function of_vllm(question, hardware, put)
  local parameters = engines.of("vllm " .. (settings.version(question)), nil, hardware).parameters
  local names = { seats = "seats", budget = "budget", async_depth = "async_depth",
    reserve_full = "reserve_full_sequence" }
  for name, theirs in pairs(names) do put(name, parameters[theirs][1], parameters[theirs][2]) end
  put("memory", { "total", parameters.memory_utilization[1] }, parameters.memory_utilization[2])
end

--- The settings of a question, or of one role of it (roles.lua).
--- @param overrides table? of --set silicon.NAME
--- @return table values by name
--- @return table sources by name
function settings.of(question, hardware, overrides)
  local values, sources = {}, {}
  local function put(name, value, source) values[name], sources[name] = value, source end
  put("frontend_token_s", 0, "no delay per token is seen")
  put("frontend_s", engines.fitted().client_frontend_s.value, "fitted to vLLM on H100; taken for every engine")
  if question.engine == "vllm" then of_vllm(question, hardware, put) end
  for _, entry in ipairs(entries) do
    if fits(entry, question) then
      for name, value in core.sorted_pairs(entry.values) do put(name, value, entry.source) end
    end
  end
  for name, value in core.sorted_pairs(overrides or {}) do put(name, value, "--set") end
  local memory = values.memory
  values.memory = nil
  for name, value in pairs(values) do
    if type(value) == "function" then values[name] = value(question) end
  end
  values.memory = type(memory) == "function" and memory(question, hardware, values) or memory
  local weights = releases.of(question)
  if values.kv == "auto" then values.kv = question.engine == "trtllm" and weights.kv or nil end
  values.weights, sources.weights = weights.weights, weights.source
  return values, sources
end

--- Names of settings that --set silicon.NAME may replace.
settings.names = { "async_depth", "block_size", "budget", "chunk", "frontend_s", "frontend_token_s", "largest_graph",
  "recv_interval", "reserve_full", "seats", "transfer_s" }

--- A name, or the names of a list, as text.
local function names_of(given) return type(given) == "table" and core.join(given, " ") or tostring(given) end

local function place_of(entry)
  local out = {}
  if entry.export ~= nil then out[1] = entry.export and "InferenceX" or "other rows" end
  for _, name in ipairs { "role", "family", "format", "tp", "ep", "system", "version" } do
    out[#out + 1] = entry[name] and names_of(entry[name]) or nil
  end
  out[#out + 1] = entry.before and "before " .. entry.before or nil
  return #out > 0 and core.join(out, ", ") or "default"
end

--- Rows {engine, where it holds, setting, value, source} of the whole table, for reports.
function settings.describe()
  local out = {}
  for _, entry in ipairs(entries) do
    for name, value in core.sorted_pairs(entry.values) do
      local shown = type(value) == "function" and "computed" or type(value) == "table"
        and ("%g of %s"):format(value[2], value[1]) or tostring(value)
      out[#out + 1] = { entry.engine and names_of(entry.engine) or "every", place_of(entry), name, shown, entry.source }
    end
  end
  return out
end

return settings
