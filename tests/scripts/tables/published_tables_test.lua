-- Published tables of engines: a few rows of each kind, with the publisher's columns and numbers of our own.
local test = dofile "tests/scripts/harness.lua"
local imported = dofile "tests/scripts/tables/imported.lua"
local native = require "rooflua.native"
local mfu = require "rooflua.mfu"
local kinds = require "rooflua.tables.kinds"

local function run(files, gpu, options) return imported.run(test, test.folder_of(files), gpu, options) end
local function ends(text, tail)
  test.check(imported.ends(text, tail), "expected the end %s, found %s", tail, tostring(text))
end

test("every kind names an op, its columns and formats that exist", function()
  local ops, formats = native.op_tables(), {}
  for _, format in ipairs(native.formats()) do formats[format.name] = true end
  for _, kind in ipairs(kinds) do
    local what = kind.file .. " " .. kind.op
    test.check(ops[kind.op], "%s: no such op", what)
    local wanted, given = {}, {}
    for _, column in ipairs(ops[kind.op].columns) do wanted[column.name] = true end
    for _, column in ipairs(kind.columns) do
      if column.field then
        test.check(wanted[column.field], "%s: no column %s", what, column.field)
        given[column.field] = true
      end
    end
    for column in pairs(wanted) do test.check(given[column], "%s: nothing gives %s", what, column) end
    test.check(#kind.formats > 0, "%s has no format", what)
    for _, format in ipairs(kind.formats) do test.check(formats[format[2]], "%s: %s is no format", what, format[2]) end
    local parts = table.concat({ "norm", unpack(kind.includes or {}) }, '", "')
    mfu.open { path = test.folder_of({ ["gemm_bf16.csv"] = "m,k,n,latency_us\n1,1,1,1\n",
      ["tables.toml"] = ('[gemm_bf16]\nincludes = ["%s"]\n'):format(parts) }) }
  end
end)

test("docs/DATA.md lists every published file with its ops", function()
  local file = assert(io.open "docs/DATA.md")
  local text = file:read "*a"
  file:close()
  text = text:sub((text:find("### Tables of aiconfigurator", 1, true)))
  for _, kind in ipairs(kinds) do
    local line = text:match("\n(| " .. kind.file .. " | [^\n]*)")
    test.check(line and line:find(kind.op, 1, true), "%s: %s is not in %s", kind.file, kind.op, tostring(line))
  end
end)

test("GEMMs and attention of two engines stand in tables of their own, with their versions", function()
  local from = {}
  from["h100_sxm_gemm_vllm0.24.0.csv"] = "gemm_dtype,m,n,k,latency\nbfloat16,1,32,64,0.002\n"
    .. "bfloat16,17,32,64,0.009\nfp8,32,32,64,0.003\nfp8_block,1,32,64,0.055\nint8_wo,1,32,64,0.001\n"
    .. "odd,1,32,64,0.001\n"
  from["h100_sxm_gemm_sglang0.5.14.csv"] = "gemm_dtype,m,n,k,latency\nfp8_block,1,32,64,0.004\n"
    .. "int4_wo,1,32,64,0.005\n"
  from["h100_sxm_context_attention_vllm0.24.0.csv"] = "kernel_source,"
    .. "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,step,window_size,latency\n"
    .. "fa3,1,16,4,1,128,bfloat16,0,0,0.01\nfa3,1,16,4,1,128,fp8,0,0,0.011\nfa3,1,16,4,1,128,bfloat16,8,128,0.012\n"
  from["h100_sxm_generation_attention_vllm0.24.0.csv"] = "kernel_source,"
    .. "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,step,window_size,latency\n"
    .. "fa3,2,1,4,1,128,fp8,7,0,0.02\nfa3,2,1,4,1,128,bfloat16,7,64,0.03\n"
  from["h100_sxm_context_attention_sglang0.5.14.csv"] = "kernel_source,"
    .. "batch_size,isl,num_heads,num_key_value_heads,head_dim,"
    .. "attn_dtype,kv_cache_dtype,step,window_size,latency\nfa3,1,16,4,1,128,bfloat16,bfloat16,0,0,0.02\n"
    .. "triton,1,16,4,1,128,bfloat16,bfloat16,0,0,0.01\nfa3,1,16,4,1,128,bfloat16,fp8,0,0,0.03\n"
  local got = run(from, "h100-sxm")
  test.equal(got.files["gemm_bf16_vllm.csv"], "m,k,n,latency_us\n1,64,32,2\n")
  test.equal(got.files["gemm_fp8_vllm.csv"], "m,k,n,latency_us\n32,64,32,3\n")
  test.equal(got.files["gemm_fp8_block_sglang.csv"], "m,k,n,latency_us\n1,64,32,4\n")
  test.equal(got.files["gemm_int4_wo_sglang.csv"], "m,k,n,latency_us\n1,64,32,5\n")
  test.equal(got.files["attention_prefill_bf16_vllm.csv"],
    "heads,kv_heads,head_dim,batch,context_tokens,new_tokens,latency_us\n4,1,128,1,0,16,10\n")
  ends(got.files["attention_prefill_fp8_vllm.csv"], "\n4,1,128,1,0,16,11\n")
  ends(got.files["attention_window_prefill_bf16_vllm.csv"], "\n4,1,128,128,1,8,16,12\n")
  test.equal(got.files["attention_decode_bf16_vllm.csv"],
    "heads,kv_heads,head_dim,kv_dtype,batch,context_tokens,latency_us\n4,1,128,fp8,2,8,20\n")
  ends(got.files["attention_window_decode_bf16_vllm.csv"], "\n4,1,128,64,bf16,2,8,30\n")
  ends(got.files["attention_prefill_bf16_sglang.csv"], "latency_us\n4,1,128,1,0,16,20\n")
  test.equal(got.count, 11)
  test.check(got.says("gemm_fp8_vllm", "engine_version = \"0.24.0\""))
  test.check(got.says("gemm_fp8_vllm", "includes = [\"quantize\"]"))
  test.check(got.says("gemm_fp8_block_sglang", "engines = [\"vllm\"]"))
  test.check(got.says("attention_prefill_bf16_sglang", "kernel = \"fa3\""))
  test.equal(got.rows("no multiple of 16"), 1)
  test.equal(got.rows("timed eagerly"), 1)
  test.equal(got.rows("gemm_dtype is int8_wo: no table of ours"), 1)
  test.equal(got.rows("gemm_dtype is odd: no table of ours"), 1)
  test.equal(got.rows("second kernel"), 1)
  test.equal(got.rows("16-bit products"), 1)
  test.equal(got.taken, 10)
  local all = run(from, "h100-sxm", { all_rows = true })
  test.equal(all.files["gemm_fp8_block_vllm.csv"], "m,k,n,latency_us\n1,64,32,55\n")
  test.equal(all.rows("second kernel"), 0)
  test.equal(all.rows("gemm_dtype is int8_wo: no table of ours"), 1)
end)

test("MoE layers, experts, all-reduces and collectives have their own units and words", function()
  local from = {}
  local moe_header = "moe_dtype,num_tokens,hidden_size,inter_size,"
    .. "topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n"
  from["h200_sxm_moe_vllm0.24.0.csv"] = "kernel_source," .. moe_header
    .. "triton,bfloat16,8,4096,1536,8,128,2,1,balanced,0.1\n"
    .. "triton,bfloat16,8,7168,2048,8,256,1,1,balanced,0.2\nuntuned,fp8,8,4096,1536,8,128,2,1,balanced,0.3\n"
    .. "marlin,w4a16_mxfp4,8,2880,2880,4,32,1,1,power_law_1.2,0.4\ntriton,bfloat16,8,4096,1536,8,128,2,1,zipf,0.1\n"
  from["h200_sxm_moe_trtllm1.3.0rc20.csv"] = "kernel_source," .. moe_header
    .. "slow,nvfp4,8,4096,1536,8,128,2,1,balanced,0.5\nfast,nvfp4,8,4096,1536,8,128,2,1,balanced,0.4\n"
    .. "moe_torch_flow_nongated,bfloat16,8,4096,1536,8,128,2,1,balanced,0.4\n"
  from["h200_sxm_wideep_moe_trtllm1.3.0rc10.csv"] = "op_name,moe_dtype,"
    .. "num_tokens,dp_num_tokens,rank0_num_tokens,hidden_size,"
    .. "inter_size,topk,num_experts,num_slots,moe_tp_size,moe_ep_size,distribution,latency\n"
    .. "wideep_moe_eplb,fp8_block,4,1,1,7168,2048,8,256,288,1,4,power_law_1.01_eplb,0.06\n"
  from["h200_sxm_custom_allreduce_vllm0.24.0.csv"] = "kernel_source,"
    .. "allreduce_dtype,num_gpus,message_size,backend,latency\n"
    .. "vLLM_custom_eager,bfloat16,2,128,vllm_eager,0.02\nvLLM_custom_graph,bfloat16,2,128,vllm_graph,0.004\n"
  from["h200_sxm_custom_allreduce_trtllm1.3.0rc20.csv"] = "allreduce_dtype,num_gpus,message_size,latency\n"
    .. "bfloat16,2,128,0.003\n"
  from["h200_sxm_nccl2.29.2.csv"] = "op_name,nccl_dtype,num_gpus,message_size,latency\n"
    .. "alltoall,half,2,256,0.005\nall_gather,half,2,256,0.004\nall_gather,half,2,256,0.006\n"
    .. "all_gather,int8,2,256,0.005\n"
  local got = run(from, "h200_sxm")
  test.equal(got.files["moe_layer_bf16_vllm.csv"],
    "hidden_size,intermediate_size,experts,experts_per_token,tp,ep,distribution,tokens,latency_us\n"
    .. "4096,1536,128,8,2,1,balanced,8,100\n")
  ends(got.files["moe_layer_mxfp4_vllm.csv"], "\n2880,2880,32,4,1,1,power_law_1.2,8,400\n")
  ends(got.files["moe_layer_nvfp4_trtllm.csv"], "us\n4096,1536,128,8,2,1,balanced,8,400\n")
  ends(got.files["moe_experts_fp8_block_trtllm.csv"], "\ngrouped,7168,2048,256,8,288,4,power_law_1.01_eplb,4,60\n")
  test.equal(got.files["all_reduce_bf16_vllm.csv"], "ranks,bytes,mode,latency_us\n2,256,eager,20\n2,256,graph,4\n")
  ends(got.files["all_reduce_bf16_trtllm.csv"], "\n2,256,graph,3\n")
  test.equal(got.files["collective_bf16_nccl.csv"], "collective,ranks,bytes,latency_us\nall_gather,2,512,5\n"
    .. "all_to_all,2,512,5\n")
  test.equal(got.count, 8)
  test.equal(got.rows("DeepSeek-V3"), 1)
  test.equal(got.rows("untuned kernel"), 1)
  test.equal(got.rows("distribution zipf: no word of ours"), 1)
  test.equal(got.rows("without a gate"), 1)
  test.equal(got.rows("the fastest row of a shape is taken"), 1)
  test.equal(got.rows("nccl_dtype is int8: no table of ours"), 1)
  test.equal(got.averaged, 1)
end)

test("latent attention, modules and their constants beside the file", function()
  local from = {}
  from["b200_sxm_context_mla_trtllm1.3.0rc20.csv"] = "kv_cache_dtype,"
    .. "num_heads,batch_size,isl,tp_size,step,latency\nbfloat16,16,1,32,8,0,0.01\nbfloat16,16,1,32,4,0,0.02\n"
    .. "fp8,16,1,32,8,0,0.03\n"
  from["b200_sxm_generation_mla_trtllm1.3.0rc20.csv"] = "kv_cache_dtype,"
    .. "num_heads,batch_size,isl,tp_size,step,latency\nfp8,16,4,1,8,31,0.01\n"
  from["b200_sxm_context_mla_vllm0.14.0.csv"] = "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n"
    .. "fp8,16,1,32,8,0,0.2\n"
  from["b200_sxm_mla_bmm_vllm0.24.0.csv"] = "op_name,bmm_dtype,num_tokens,num_heads,latency\n"
    .. "mla_gen_pre,bfloat16,4,16,0.005\nmla_gen_post,bfloat16,4,16,0.006\n"
  local module = "kv_cache_dtype,gemm_type,num_heads,batch_size,isl,step,latency\n"
  from["b200_sxm_mla_context_module_vllm0.24.0.csv"] = "kernel_source,mla_dtype," .. module
    .. "A,bfloat16,fp8,bfloat16,16,1,32,0,0.1\n" .. "B,fp8,fp8,bfloat16,16,1,32,0,0.09\n"
  from["b200_sxm_msa_generation_module_vllm0.24.0.csv"] = module .. "fp8,nvfp4,8,2,1,15,0.03\n"
  local sparse = "kernel_source,model,architecture,kv_cache_dtype,gemm_type,num_heads,batch_size,isl,step,latency\n"
  local function dsa(model, isl, latency)
    return ("S,%s,X,fp8,bfloat16,16,1,%d,0,%s\n"):format(model, isl, latency)
  end
  from["b200_sxm_dsa_context_module_vllm0.24.0.csv"] = sparse .. dsa("deepseek-ai/DeepSeek-V3.2", 16, "1.0")
    .. dsa("deepseek-ai/DeepSeek-V3.2", 1024, "1.4") .. dsa("deepseek-ai/DeepSeek-V3.2", 8192, "4.0")
    .. dsa("zai-org/GLM-5", 8192, "5.0") .. dsa("another/model", 8192, "5.0")
  from["b200_sxm_dsv4_csa_context_module_vllm0.24.0.csv"] = "kv_cache_dtype,"
    .. "num_heads,batch_size,isl,tp_size,step,latency\nfp8,16,1,1,8,64,0.07\n"
  from["b200_sxm_dsv4_hca_context_module_vllm0.24.0.csv"] = "model,"
    .. "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n"
    .. "sgl-project/DeepSeek-V4-Flash-FP8,fp8,8,1,1,8,0,0.05\n"
  from["b200_sxm_mhc_module_vllm0.24.0.csv"] = "op_name,kernel_source,num_tokens,hidden_size,latency\n"
    .. "post,x,1,4096,0.0066\n"
  from["constants.csv"] = "file,column,value\nb200_sxm_dsv4_csa_context_module_vllm0.24.0.csv,"
    .. "model,deepseek-ai/DeepSeek-V4-Pro\nb200_sxm_mhc_module_vllm0.24.0.csv,device,\"GPU, of a kind\"\n"
  local got = run(from, "b200")
  test.equal(got.files["mla_prefill_bf16_trtllm.csv"],
    "heads,qk_nope_head_dim,qk_rope_head_dim,batch,context_tokens,new_tokens,latency_us\n16,128,64,1,0,32,15\n")
  test.equal(got.averaged, 1)
  ends(got.files["mla_prefill_fp8_trtllm.csv"], "\n16,128,64,1,0,32,30\n")
  ends(got.files["mla_decode_bf16_trtllm.csv"], "\n16,512,64,fp8,4,32,10\n")
  test.equal((got.files["mla_prefill_fp8_vllm.csv"] and 1 or 0), 0)
  ends(got.files["mla_bmm_bf16_vllm.csv"], "\npost,16,512,128,4,6\npre,16,512,128,4,5\n")
  ends(got.files["mla_module_prefill_bf16_vllm.csv"], "us\n16,fp8,1,0,32,100\n")
  ends(got.files["msa_module_decode_nvfp4_vllm.csv"], "\n8,fp8,2,16,30\n")
  ends(got.files["dsa_module_prefill_bf16_vllm.csv"], "us\n6144,16,fp8,1,0,8192,5000\n7168,16,fp8,1,0,8192,4000\n")
  test.equal(got.rows("floor of the launches"), 2)
  test.equal(got.rows("model another/model: no word of ours"), 1)
  ends(got.files["v4_module_prefill_fp8_block_vllm.csv"], "us\n4096,128,8,1,0,1,50\n7168,4,16,1,64,1,70\n")
  test.check(got.says("v4_module_prefill_fp8_block_vllm",
    "source = \"aic: b200_sxm_dsv4_csa_context_module_vllm0.24.0.csv and "
    .. "b200_sxm_dsv4_hca_context_module_vllm0.24.0.csv\""))
  ends(got.files["mhc_bf16_vllm.csv"], "\npost,4096,1,6.6\n")
  test.check(got.says("mhc_bf16_vllm", "gpu = \"GPU, of a kind\""))
  test.equal(#got.whole_files(), 1)
  test.check(got.whole_files()[1]:find("a floor of", 1, true))
end)

test("recurrent layers are the sum of their kernels, quantisation that of two files", function()
  local from = {}
  local function gdn(kernel, phase, batch, tokens, latency)
    return ("%s,%s,%d,%d,1,1024,2,4,model,%s\n"):format(kernel, phase, batch, tokens, latency)
  end
  from["l40s_gdn_vllm0.24.0.csv"] = "kernel_source,phase,batch_size,"
    .. "seq_len,num_tokens,d_model,num_k_heads,num_v_heads,model_name,latency\n" .. gdn("causal_conv1d_fn",
    "context", 1, 64, "0.002") .. gdn("causal_conv1d_fn", "context", 1, 64, "0.004") .. gdn("causal_conv1d_fn",
    "context", 1, 64, "0.003") .. gdn("chunk_gated_delta_rule_x", "context", 1, 64, "0.010")
    .. gdn("causal_conv1d_fn", "context", 1, 128, "0.002") .. gdn("causal_conv1d_update", "generation", 8, 1,
    "0.001") .. gdn("fused_recurrent_x", "generation", 8, 1, "0.005") .. gdn("fused_recurrent_x",
    "generation", 8, 4, "0.005")
  from["l40s_kda_vllm0.1.dev19262.csv"] = "kernel_source,phase,"
    .. "batch_size,seq_len,num_tokens,num_k_heads,num_v_heads,latency\n"
    .. "causal_conv1d_fn_qkv3,context,1,64,64,12,12,0.4\nflashkda_fwd,context,1,64,64,12,12,0.1\n"
    .. "causal_conv1d_update,generation,2,1,2,12,12,0.002\n"
    .. "fused_recurrent_kda_packed_decode,generation,2,1,2,12,12,0.004\n"
    .. "fused_recurrent_kda,verify,2,4,8,12,12,0.004\n"
  from["l40s_scale_matrix_vllm0.24.0.csv"] = "m,k,quant_dtype,latency\n1,32,fp8,0.002\n"
  from["l40s_computescale_vllm0.24.0.csv"] = "m,k,quant_dtype,latency\n1,32,fp8,0.0005\n"
  local got = run(from, "l40s")
  test.equal(got.files["gdn_prefill_bf16_vllm.csv"],
    "key_heads,key_head_dim,value_heads,value_head_dim,conv,batch,new_tokens,latency_us\n2,128,4,128,4,1,64,13\n")
  ends(got.files["gdn_decode_bf16_vllm.csv"], "us\n2,128,4,128,4,8,6\n")
  ends(got.files["kda_prefill_bf16_vllm.csv"], "us\n12,128,12,128,1,64,100\n")
  ends(got.files["kda_decode_bf16_vllm.csv"], "us\n12,128,12,128,4,2,6\n")
  test.equal(got.files["elementwise_vllm.csv"], "op,tokens,width,dtype,latency_us\nquantize,1,32,bf16,2.5\n")
  test.check(#got.whole_files() == 0)
  test.equal(got.rows("the other part of the shape has no row"), 1)
  test.equal(got.rows("several new tokens"), 1)
  test.equal(got.rows("convolution of the prefill"), 1)
  test.equal(got.rows("phase is verify: no table of ours"), 1)
  from["l40s_computescale_vllm0.24.0.csv"] = nil
  test.check(run(from, "l40s").whole_files()[1]:find("computescale", 1, true))
end)

test("an exchange has a row for each phase, and nodes of the GB200 have four GPUs", function()
  local from = {}
  local normal = "node_num,hidden_size,num_token,num_topk,num_experts,"
    .. "dispatch_sms,combine_sms,dispatch_transmit_us,dispatch_notify_us,combine_transmit_us,combine_notify_us\n"
  from["gb200_wideep_deepep_normal_sglang0.5.12.csv"] = normal .. "1,2048,16,8,128,20,24,30,1,40,2\n"
  from["gb200_wideep_deepep_normal_sglang0.5.6.post2.csv"] = normal .. "2,2048,16,8,128,20,20,50,0,60,0\n"
    .. "1,2048,16,8,128,20,20,51,0,61,0\n"
  from["gb200_wideep_deepep_ll_sglang0.5.12.csv"] = "node_num,"
    .. "hidden_size,num_token,num_experts,combine_avg_t_us,combine_bandwidth_gbps,"
    .. "dispatch_avg_t_us,dispatch_bandwidth_gbps\n2,7168,1,256,12.5,1,16.5,1\n"
  from["gb200_trtllm_alltoall_trtllm1.3.0rc10.csv"] = "op_name,"
    .. "kernel_source,moe_dtype,num_tokens,hidden_size,topk,num_experts,moe_ep_size,distribution,latency\n"
    .. "alltoall_dispatch,NVLinkOneSided,nvfp4,1,7168,8,256,16,balanced,0.02\n"
  local got = run(from, "gb200")
  test.equal(got.files["expert_exchange_fp8_deepep.csv"],
    "mode,phase,ranks,hidden_size,experts,experts_per_token,sms,tokens,latency_us\n"
    .. "low_latency,combine,8,7168,256,8,0,1,12.5\nlow_latency,dispatch,8,7168,256,8,0,1,16.5\n"
    .. "normal,combine,4,2048,128,8,24,16,42\nnormal,combine,8,2048,128,8,20,16,60\n"
    .. "normal,dispatch,4,2048,128,8,20,16,31\nnormal,dispatch,8,2048,128,8,20,16,50\n")
  test.check(got.says("expert_exchange_fp8_deepep", "engine_version = \"0.5.12, 0.5.6.post2\""))
  test.equal(got.rows("one node"), 1)
  ends(got.files["expert_exchange_nvfp4_trtllm.csv"], "us\nnvlink_one_sided,dispatch,16,7168,256,8,0,1,20\n")
end)

test("experts behind DeepEP's two modes are taken with their layouts", function()
  local from = {}
  local header = "moe_dtype,num_tokens,hidden_size,inter_size,"
    .. "topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n"
  local row = "fp8_block,4096,7168,2048,8,256,1,16,"
  from["gb200_wideep_context_moe_sglang0.5.10.csv"] = header .. row .. "power_law_1.01,0.5\n" .. row
    .. "uniform,0.4\n"
  from["gb200_wideep_generation_moe_sglang0.5.10.csv"] = header .. row .. "power_law_1.01,0.1\n"
  local got = run(from, "gb200")
  test.equal(got.files["moe_experts_fp8_block_deepep.csv"],
    "layout,hidden_size,intermediate_size,experts,experts_per_token,slots,ep,distribution,tokens,latency_us\n"
    .. "contiguous,7168,2048,256,8,256,16,power_law_1.01,4096,500\n"
    .. "masked,7168,2048,256,8,256,16,power_law_1.01,4096,100\n")
  test.equal(got.rows("distribution uniform"), 1)
  test.equal(#got.whole_files(), 0)
end)

test("a published table without a row is read, also by the columns that hold words", function()
  local header = { ["h200_sxm_nccl2.29.2.csv"] = "op_name,nccl_dtype,num_gpus,message_size,latency\n",
    ["h200_sxm_moe_trtllm1.3.0rc20.csv"] = "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,"
      .. "num_experts,moe_tp_size,moe_ep_size,distribution,latency\n",
    ["h200_sxm_gemm_vllm0.24.0.csv"] = "gemm_dtype,m,n,k,latency\nbfloat16,1,2,3,1\n" }
  local got = run(header, "h200_sxm")
  test.check(got.files["gemm_bf16_vllm.csv"]:find("1000\n", 1, true))
end)

test("words of a file reach the report and tables.toml on one line, whatever bytes they hold", function()
  local got = run({ ["h100_sxm_gemm_vllm0.24.0.csv"] = "gemm_dtype,kernel_source,m,n,k,latency\n"
    .. "bfl\255oat16,x,1,2,3,1\nbfloat16,a\1\255\"\\b,1,2,3,1\n" }, "h100")
  test.equal(got.rows "gemm_dtype is bfl\\xffoat16: no table of ours", 1)
  test.check(got.says("gemm_bf16_vllm", [[kernel = "a\\x01\\xff\"\\b"]]))
  test.check(require("rooflua.native").read_toml(got.to .. "/tables.toml").gemm_bf16_vllm)
end)

test.finish()
