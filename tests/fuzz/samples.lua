-- Small sound files of every kind that the program reads, as texts: what the fuzzer of files damages.
local samples = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function read_all(command)
  local out, pipe = {}, io.popen(command)
  for path in pipe:lines() do out[#out + 1] = read(path) end
  pipe:close()
  return out
end

samples.models = read_all "ls scenarios/models/*.toml"
samples.hardware = read_all "ls bench_data/*/hardware.toml"

samples.configs = { [[{"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048,
"head_dim": 128, "num_attention_heads": 32, "num_hidden_layers": 12, "num_key_value_heads": 4, "vocab_size": 151936,
"intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
"decoder_sparse_step": 1, "mlp_only_layers": [], "max_position_embeddings": 40960, "tie_word_embeddings": false,
"torch_dtype": "bfloat16", "sliding_window": null, "quantization_config": {"quant_method": "fp8",
"weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]}}]],
  [[{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 7168,
"num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280,
"intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
"num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "max_position_embeddings": 163840,
"tie_word_embeddings": false, "torch_dtype": "bfloat16", "num_nextn_predict_layers": 1}]],
  [[{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
"num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "intermediate_size": 14336,
"max_position_embeddings": 131072, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "attention_bias": false,
"rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "hidden_act": "silu"}]],
  read "tests/fixtures/models/small_hybrid.json" }

-- Tables: {layout, gpu, files = {path = text}}. Of the shipped tables a few rows, and what tables.toml says of them.
samples.tables = {}

--- The header of a table and up to `most` of its rows, from all over it.
local function thinned(text, most)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  local out, stride = { lines[1] }, math.max(1, (#lines - 1) / most)
  for i = 2, #lines, stride do out[#out + 1] = lines[math.floor(i)] end
  return table.concat(out, "\n") .. "\n"
end

for _, gpu in ipairs { "h100-sxm", "h20" } do
  local sections, section = {}, nil
  for line in read("bench_data/" .. gpu .. "/tables.toml"):gmatch "[^\n]+" do
    section = line:match "^%[([%w_]+)%]" or section
    if section then sections[section] = (sections[section] or "") .. line .. "\n" end
  end
  local pipe = io.popen("ls bench_data/" .. gpu .. "/*.csv")
  for path in pipe:lines() do
    local name = path:match "([^/]+)%.csv$"
    local files = { [name .. ".csv"] = thinned(read(path), 6) }
    if sections[name] then files["tables.toml"] = sections[name] end
    samples.tables[#samples.tables + 1] = { layout = "rooflua", gpu = gpu, files = files }
  end
  pipe:close()
end

local function add(layout, gpu, files)
  samples.tables[#samples.tables + 1] = { layout = layout, gpu = gpu, files = files }
end
local infersim = { "m,k,n,latency_us,mfu\r\n16,2048,6144,10.63,0.127969\r\n64,2048,6144,11.2,0.4\r\n",
  "bf16,bf16,1,1024,25.5,0.009\nbf16,fp8,1,1024,20.5,0.011\n" }
add("infersim", "h20", { ["bench_data/gemm/h20/data.csv"] = infersim[1],
  ["bench_data/mha/decode/h20/8-2-128.csv"] = infersim[2] })
add("infersim", "h100", { ["gemm/h100/data.csv"] = read "tests/fixtures/mfu_denominators/gemm/h100/data.csv",
  ["mha/prefill/h100/32-8-128.csv"] = read "tests/fixtures/mfu_denominators/mha/prefill/h100/32-8-128.csv" })
add("blis", "h100", { ["mha/decode/h100/32-8-128-tp4.csv"] =
  "dtype,kv_dtype,batch_size,kv_len,latency_us,mfu\nbf16,bf16,1,1024,25,0.001\nbf16,bf16,8,1024,30,0.008\n" })
for name, text in pairs {
  context_attention = "num_heads,num_key_value_heads,head_dim,batch_size,isl,step,latency\n1,1,128,1,1,0,0.0112\n"
    .. "32,8,128,1,1024,0,0.2\n",
  generation_attention = "num_heads,num_key_value_heads,head_dim,kv_cache_dtype,batch_size,isl,step,latency\n"
    .. "1,1,128,bfloat16,1,1,1,0.0112\n32,8,128,fp8,8,1,1023,0.03\n",
  moe = "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
    .. "distribution,latency\nx,fp8_block,1,2048,512,8,256,1,2,balanced,0.06\nx,bfloat16,64,2048,512,8,256,1,1,"
    .. "power_law_1.01,0.3\n",
  ["nccl2.29.2"] = "op_name,nccl_dtype,num_gpus,message_size,latency\nall_gather,half,2,256,0.00531\n"
    .. "all_reduce,half,8,512,0.00524\n",
  custom_allreduce = "kernel_source,allreduce_dtype,num_gpus,message_size,latency\nvLLM_custom_eager,bfloat16,2,128,"
    .. "0.0206\nvLLM_custom_graph,bfloat16,2,256,0.004\n",
  gemm = "gemm_dtype,m,n,k,latency\r\nfp8,1,32,64,0.002\r\nbfloat16,1,32,64,0.003\r\nfp8_block,64,4096,4096,0.02\r\n",
} do
  add("aic", "h100-sxm", { ["h100_sxm_" .. name .. (name:find "nccl" and "" or "_vllm0.24") .. ".csv"] = text })
end

--- The first of the names of its files: an order that every process has.
local function first_name(sample)
  local first
  for name in pairs(sample.files) do first = (not first or name < first) and name or first end
  return sample.layout .. sample.gpu .. first
end
table.sort(samples.tables, function(a, b) return first_name(a) < first_name(b) end)

-- Recorded requests: {ending, text}.
samples.traces = {
  { "csv", "arrival_s,prompt_tokens,output_tokens\n0,100,10\n0.5,20,3\n0.75,1,1\n1.25,700,20\n" },
  { "csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"
    .. "2023-11-16 18:17:04.0319569,3180,8\n2023-11-16 18:17:05.0319569,110,27\n" },
  { "jsonl", '{"timestamp": 0, "input_length": 1200, "output_length": 12, "hash_ids": [0, 1, 2]}\n'
    .. '{"timestamp": 900, "input_length": 600, "output_length": 3, "hash_ids": [0, 5]}\n' },
  { "csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,"
    .. "Conversation log\n45,ChatGPT,1087,23,1110,Conversation log\n" },
  { "csv", "arrival_time_us,input_tokens,output_tokens,slo_class,session_id,round_index,vllm_priority,prefix_group,"
    .. "prefix_length,server_input_tokens,status\n0,100,5,a,s1,0,0,g,50,150,ok\n9000,10,5,b,s1,1,1,,0,10,error\n" },
  { "csv", "arrival_us,input_tokens,output_tokens_true,prompt_id,error\n0,100,5,7,\n1000,20,5,7,x\n" },
  { "csv", thinned(read "scenarios/traces/bursty_chat.csv", 20) },
}

-- Measured runs: {ending, text}.
samples.measured = {
  { "csv", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,64,4,0.02,0.06\n0.1,64,4,0.02,0.06\n" },
  { "csv", "arrival_ms,prompt_tokens,output_tokens,ttft_ms,e2e_ms,status\n0,64,4,20,60,ok\n100,64,4,20,60,error\n" },
  { "json", [=[{"backend": "vllm", "num_prompts": 2, "request_rate": 5, "burstiness": 1.0, "max_concurrency": 2,
"completed": 2, "duration": 1.5, "input_lens": [100, 20], "output_lens": [3, 2], "start_times": [0.0, 0.5],
"ttfts": [0.02, 0.03], "itls": [[0.01, 0.02], [0.015]], "errors": ["", ""], "mean_ttft_ms": 25.0,
"median_tpot_ms": 15.0}]=] },
  { "json", [[{"backend": "sglang", "completed": 2, "duration": 1.5, "request_rate": "inf", "total_input_tokens": 120,
"total_output_tokens": 5, "mean_e2e_latency_ms": 60, "input_lens": [100, 20], "output_lens": [3, 2]}]] },
}

-- Validation: a folder's cases.csv and the files of its cases.
local head = "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,measured,notes\n"
samples.validation = {
  ["cases.csv"] = head .. "loop,C,own,loop.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,closed loop c=2 in=20 out=5,x,"
    .. "e2e_ms=400;tpot_ms=8,\n"
    .. "run,B,own,run.json,row,llama-3.1-8b,H100,1,fp8,SGLang 0.5.10,poisson 5 req/s,ttft,,16-token shared prefix\n"
    .. "steps,A+B,own,steps.csv,\"experiment=a,stage=0\",qwen3-30b-a3b,H200,2,fp8 kv fp8,vLLM V1,steps,step_time,,\n",
  ["loop.csv"] = "a,b\n1,2\n", ["run.json"] = samples.measured[3][2],
  ["steps.csv"] = "experiment,stage,decodes,decode_context_tokens,time_ms\na,0,4,400,8.5\na,0,8,900,9.1\n",
}

samples.scenarios = {
  [[--- A question.
local policy = require "rooflua.policy"
local Flat = policy.define { name = "flat", doc = "A millisecond a step.", params = { step_s = { default = 1e-3,
  unit = "s", doc = "Of a step." } } }
function Flat:time() return self.step_s end
return { rooflua = 1, title = "t", model = "llama-3.1-8b", hardware = "mi300x", steps = Flat {}, seed = 3,
  deployment = { tp = 1, kv_blocks = 200, block_size = 16 }, scheduler = "vllm_v1", slo = { ttft_s = 1 },
  workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 6, prompt_tokens = 64, output_tokens = 4 },
  vary = { ["scheduler.max_num_seqs"] = { 2, 8 } } }
]],
  [[return { kind = "price", model = "llama-3.1-8b", hardware = "mi300x", steps = "roofline_v1",
  price = { { decodes = 4, decode_context_tokens = 400 }, { prefills = { { new_tokens = 100 } }, name = "p" } } }
]],
  [[return { kind = "search", model = "llama-3.1-8b", hardware = "mi300x", steps = "roofline_v1",
  workload = require "workloads.closed_loop" { clients = 2, num_requests = 6, prompt_tokens = 16, output_tokens = 2 },
  replicas = { { count = 1 }, { role = "both" } }, router = "round_robin", frontend = { base_s = 0.01 },
  search = { parameter = "workload.clients", slo = { ttft_s_p99 = 1 }, min = 1, max = 4, tolerance = 0.5, checks = 0 } }
]],
}

return samples
