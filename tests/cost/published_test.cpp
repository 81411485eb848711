// Published tables of engines: a few rows of each kind, with the publisher's columns and numbers of
// our own.

#include "cost/tables/published.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "base/error.h"
#include "cost/mfu_database.h"
#include "cost/tables/importers.h"
#include "cost/tables/published_folder.h"
#include "cost/tables/published_table.h"
#include "cost/tables/row_fates.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    path = rooflua::test::scratch() / "published";
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

/// What an import writes: the text of each file of ours.
struct Imported {
  std::map<std::string, std::string> files;
  RowFates fates;
  PublishedFolder folder;

  Imported(const Folder& from, const std::string& gpu, const PublishedChoice& choice = {},
           double tolerance = 0) {
    folder = published_folder(from.path, gpu, choice);
    std::vector<KernelTable> tables;
    for (const TableFile& file : folder.tables) {
      tables.push_back(read_published(file, &fates));
      if (tables.back().rows.empty()) tables.pop_back();
    }
    std::vector<const KernelTable*> pointers;
    for (const KernelTable& table : tables) pointers.push_back(&table);
    const fs::path to = rooflua::test::scratch() / "imported";
    fs::remove_all(to);
    write_tables(pointers, to, Layout::aic, {tolerance, &fates});
    for (const auto& entry : fs::directory_iterator(to)) {
      std::ifstream in(entry.path());
      files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    // Every import is a folder of ours.
    DatabaseOptions options;
    options.path = to;
    const auto database = MfuDatabase::open(options);
    for (const KernelTable* table : database->tables()) CHECK(!table->rows.empty());
    fs::remove_all(to);
  }
  std::size_t rows_left_out(const std::string& reason) const {
    std::size_t rows = 0;
    for (const RowFates::Count& each : fates.left_out()) {
      if (each.reason.find(reason) != std::string::npos) rows += each.rows;
    }
    return rows;
  }
  bool says(const std::string& table, const std::string& line) const {
    const std::string& toml = files.at("tables.toml");
    const std::size_t start = toml.find("[" + table + "]\n");
    if (start == std::string::npos) return false;
    const std::string part = toml.substr(start, toml.find("\n[", start) - start);
    return part.find(line + "\n") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("every map names an op, its columns and formats that exist") {
  for (const PublishedMap& map : published_maps()) {
    INFO(map.file);
    const auto ops = declared_ops();
    const auto op =
        std::find_if(ops.begin(), ops.end(), [&](const auto& o) { return o.name == map.op; });
    REQUIRE(op != ops.end());
    std::vector<std::string_view> wanted;
    for (const Field& field : op->fields) {
      if (field.in_tables() || field.is_kv()) wanted.push_back(field.column_name());
    }
    for (const PublishedColumn& column : map.columns) {
      if (column.field.empty()) continue;
      INFO(column.field);
      CHECK(std::count(wanted.begin(), wanted.end(), column.field) == 1);
    }
    for (const std::string_view field : wanted) {
      INFO(field);
      CHECK(std::any_of(map.columns.begin(), map.columns.end(),
                        [&](const PublishedColumn& column) { return column.field == field; }));
    }
    CHECK(!map.formats.empty());
    for (const std::string_view part : map.includes)
      CHECK(std::find(table_parts.begin(), table_parts.end(), part) != table_parts.end());
  }
}

TEST_CASE("docs/DATA.md lists every published file with its ops") {
  std::ifstream in(test::source_dir() / "docs/DATA.md");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.erase(0, text.find("### Tables of aiconfigurator"));
  for (const PublishedMap& map : published_maps()) {
    INFO(map.file << " " << map.op);
    const std::size_t line = text.find("\n| " + std::string(map.file) + " | ");
    REQUIRE(line != std::string::npos);
    const std::string found = text.substr(line + 1, text.find('\n', line + 1) - line);
    CHECK(found.find(std::string(map.op)) != std::string::npos);
  }
}

TEST_CASE("GEMMs and attention of two engines stand in tables of their own, with their versions") {
  Folder from;
  from.write("h100_sxm_gemm_vllm0.24.0.csv",
             "gemm_dtype,m,n,k,latency\nbfloat16,1,32,64,0.002\nbfloat16,17,32,64,0.009\n"
             "fp8,32,32,64,0.003\nfp8_block,1,32,64,0.055\nint8_wo,1,32,64,0.001\n"
             "odd,1,32,64,0.001\n");
  from.write("h100_sxm_gemm_sglang0.5.14.csv",
             "gemm_dtype,m,n,k,latency\nfp8_block,1,32,64,0.004\nint4_wo,1,32,64,0.005\n");
  from.write("h100_sxm_context_attention_vllm0.24.0.csv",
             "kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,"
             "step,window_size,latency\nfa3,1,16,4,1,128,bfloat16,0,0,0.01\n"
             "fa3,1,16,4,1,128,fp8,0,0,0.011\nfa3,1,16,4,1,128,bfloat16,8,128,0.012\n");
  from.write("h100_sxm_generation_attention_vllm0.24.0.csv",
             "kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,"
             "step,window_size,latency\nfa3,2,1,4,1,128,fp8,7,0,0.02\n"
             "fa3,2,1,4,1,128,bfloat16,7,64,0.03\n");
  from.write("h100_sxm_context_attention_sglang0.5.14.csv",
             "kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,"
             "kv_cache_dtype,step,window_size,latency\n"
             "fa3,1,16,4,1,128,bfloat16,bfloat16,0,0,0.02\n"
             "triton,1,16,4,1,128,bfloat16,bfloat16,0,0,0.01\n"
             "fa3,1,16,4,1,128,bfloat16,fp8,0,0,0.03\n");
  const Imported got(from, "h100-sxm");
  const auto& files = got.files;
  CHECK(files.at("gemm_bf16_vllm.csv") == "m,k,n,latency_us\n1,64,32,2\n");
  CHECK(files.at("gemm_fp8_vllm.csv") == "m,k,n,latency_us\n32,64,32,3\n");
  CHECK(files.at("gemm_fp8_block_sglang.csv") == "m,k,n,latency_us\n1,64,32,4\n");
  CHECK(files.at("gemm_int4_wo_sglang.csv") == "m,k,n,latency_us\n1,64,32,5\n");
  CHECK(files.at("attention_prefill_bf16_vllm.csv") ==
        "heads,kv_heads,head_dim,batch,context_tokens,new_tokens,latency_us\n4,1,128,1,0,16,10\n");
  CHECK(files.at("attention_prefill_fp8_vllm.csv").ends_with("\n4,1,128,1,0,16,11\n"));
  CHECK(files.at("attention_window_prefill_bf16_vllm.csv").ends_with("\n4,1,128,128,1,8,16,12\n"));
  CHECK(files.at("attention_decode_bf16_vllm.csv") ==
        "heads,kv_heads,head_dim,kv_dtype,batch,context_tokens,latency_us\n4,1,128,fp8,2,8,20\n");
  CHECK(files.at("attention_window_decode_bf16_vllm.csv").ends_with("\n4,1,128,64,bf16,2,8,30\n"));
  CHECK(files.at("attention_prefill_bf16_sglang.csv").ends_with("latency_us\n4,1,128,1,0,16,20\n"));
  CHECK(files.size() == 11);
  CHECK(got.says("gemm_fp8_vllm", "engine_version = \"0.24.0\""));
  CHECK(got.says("gemm_fp8_vllm", "includes = [\"quantize\"]"));
  CHECK(got.says("gemm_fp8_block_sglang", "engines = [\"vllm\"]"));
  CHECK(got.says("attention_prefill_bf16_sglang", "kernel = \"fa3\""));
  CHECK(got.rows_left_out("no multiple of 16") == 1);
  CHECK(got.rows_left_out("timed eagerly") == 1);
  CHECK(got.rows_left_out("gemm_dtype is int8_wo: no table of ours") == 1);
  CHECK(got.rows_left_out("gemm_dtype is odd: no table of ours") == 1);
  CHECK(got.rows_left_out("second kernel") == 1);
  CHECK(got.rows_left_out("16-bit products") == 1);
  CHECK(got.fates.taken() == 10);
  const Imported all(from, "h100-sxm", {"", true});
  CHECK(all.files.at("gemm_fp8_block_vllm.csv") == "m,k,n,latency_us\n1,64,32,55\n");
  CHECK(all.rows_left_out("second kernel") == 0);
  CHECK(all.rows_left_out("gemm_dtype is int8_wo: no table of ours") == 1);
}

TEST_CASE("MoE layers, experts, all-reduces and collectives have their own units and words") {
  Folder from;
  const std::string moe_header =
      "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
      "distribution,latency\n";
  from.write("h200_sxm_moe_vllm0.24.0.csv",
             "kernel_source," + moe_header +
                 "triton,bfloat16,8,4096,1536,8,128,2,1,balanced,0.1\n"
                 "triton,bfloat16,8,7168,2048,8,256,1,1,balanced,0.2\n"
                 "untuned,fp8,8,4096,1536,8,128,2,1,balanced,0.3\n"
                 "marlin,w4a16_mxfp4,8,2880,2880,4,32,1,1,power_law_1.2,0.4\n"
                 "triton,bfloat16,8,4096,1536,8,128,2,1,zipf,0.1\n");
  from.write("h200_sxm_moe_trtllm1.3.0rc20.csv",
             "kernel_source," + moe_header +
                 "slow,nvfp4,8,4096,1536,8,128,2,1,balanced,0.5\n"
                 "fast,nvfp4,8,4096,1536,8,128,2,1,balanced,0.4\n"
                 "moe_torch_flow_nongated,bfloat16,8,4096,1536,8,128,2,1,balanced,0.4\n");
  from.write("h200_sxm_wideep_moe_trtllm1.3.0rc10.csv",
             "op_name,moe_dtype,num_tokens,dp_num_tokens,rank0_num_tokens,hidden_size,inter_size,"
             "topk,num_experts,num_slots,moe_tp_size,moe_ep_size,distribution,latency\n"
             "wideep_moe_eplb,fp8_block,4,1,1,7168,2048,8,256,288,1,4,power_law_1.01_eplb,0.06\n");
  from.write("h200_sxm_custom_allreduce_vllm0.24.0.csv",
             "kernel_source,allreduce_dtype,num_gpus,message_size,backend,latency\n"
             "vLLM_custom_eager,bfloat16,2,128,vllm_eager,0.02\n"
             "vLLM_custom_graph,bfloat16,2,128,vllm_graph,0.004\n");
  from.write("h200_sxm_custom_allreduce_trtllm1.3.0rc20.csv",
             "allreduce_dtype,num_gpus,message_size,latency\nbfloat16,2,128,0.003\n");
  from.write("h200_sxm_nccl2.29.2.csv",
             "op_name,nccl_dtype,num_gpus,message_size,latency\nalltoall,half,2,256,0.005\n"
             "all_gather,half,2,256,0.004\nall_gather,half,2,256,0.006\n"
             "all_gather,int8,2,256,0.005\n");
  const Imported got(from, "h200_sxm");
  CHECK(got.files.at("moe_layer_bf16_vllm.csv") ==
        "hidden_size,intermediate_size,experts,experts_per_token,tp,ep,distribution,tokens,"
        "latency_us\n4096,1536,128,8,2,1,balanced,8,100\n");
  CHECK(got.files.at("moe_layer_mxfp4_vllm.csv")
            .ends_with("\n2880,2880,32,4,1,1,power_law_1.2,8,400\n"));
  CHECK(got.files.at("moe_layer_nvfp4_trtllm.csv")
            .ends_with("us\n4096,1536,128,8,2,1,balanced,8,400\n"));
  CHECK(got.files.at("moe_experts_fp8_block_trtllm.csv")
            .ends_with("\ngrouped,7168,2048,256,8,288,4,power_law_1.01_eplb,4,60\n"));
  CHECK(got.files.at("all_reduce_bf16_vllm.csv") ==
        "ranks,bytes,mode,latency_us\n2,256,eager,20\n2,256,graph,4\n");
  CHECK(got.files.at("all_reduce_bf16_trtllm.csv").ends_with("\n2,256,graph,3\n"));
  CHECK(got.files.at("collective_bf16_nccl.csv") ==
        "collective,ranks,bytes,latency_us\nall_gather,2,512,5\nall_to_all,2,512,5\n");
  CHECK(got.files.size() == 8);
  CHECK(got.rows_left_out("DeepSeek-V3") == 1);
  CHECK(got.rows_left_out("untuned kernel") == 1);
  CHECK(got.rows_left_out("distribution zipf: no word of ours") == 1);
  CHECK(got.rows_left_out("without a gate") == 1);
  CHECK(got.rows_left_out("the fastest row of a shape is taken") == 1);
  CHECK(got.rows_left_out("nccl_dtype is int8: no table of ours") == 1);
  CHECK(got.fates.averaged() == 1);
}

TEST_CASE("latent attention, modules and their constants beside the file") {
  Folder from;
  from.write("b200_sxm_context_mla_trtllm1.3.0rc20.csv",
             "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n"
             "bfloat16,16,1,32,8,0,0.01\nbfloat16,16,1,32,4,0,0.02\nfp8,16,1,32,8,0,0.03\n");
  from.write(
      "b200_sxm_generation_mla_trtllm1.3.0rc20.csv",
      "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\nfp8,16,4,1,8,31,0.01\n");
  from.write("b200_sxm_context_mla_vllm0.14.0.csv",
             "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\nfp8,16,1,32,8,0,0.2\n");
  from.write("b200_sxm_mla_bmm_vllm0.24.0.csv",
             "op_name,bmm_dtype,num_tokens,num_heads,latency\nmla_gen_pre,bfloat16,4,16,0.005\n"
             "mla_gen_post,bfloat16,4,16,0.006\n");
  const std::string module = "kv_cache_dtype,gemm_type,num_heads,batch_size,isl,step,latency\n";
  from.write("b200_sxm_mla_context_module_vllm0.24.0.csv",
             "kernel_source,mla_dtype," + module + "A,bfloat16,fp8,bfloat16,16,1,32,0,0.1\n" +
                 "B,fp8,fp8,bfloat16,16,1,32,0,0.09\n");
  from.write("b200_sxm_msa_generation_module_vllm0.24.0.csv", module + "fp8,nvfp4,8,2,1,15,0.03\n");
  const std::string sparse =
      "kernel_source,model,architecture,kv_cache_dtype,gemm_type,num_heads,batch_size,isl,step,"
      "latency\n";
  const auto dsa = [](const std::string& model, int isl, const std::string& latency) {
    return "S," + model + ",X,fp8,bfloat16,16,1," + std::to_string(isl) + ",0," + latency + "\n";
  };
  from.write("b200_sxm_dsa_context_module_vllm0.24.0.csv",
             sparse + dsa("deepseek-ai/DeepSeek-V3.2", 16, "1.0") +
                 dsa("deepseek-ai/DeepSeek-V3.2", 1024, "1.4") +
                 dsa("deepseek-ai/DeepSeek-V3.2", 8192, "4.0") + dsa("zai-org/GLM-5", 8192, "5.0") +
                 dsa("another/model", 8192, "5.0"));
  from.write(
      "b200_sxm_dsv4_csa_context_module_vllm0.24.0.csv",
      "kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\nfp8,16,1,1,8,64,0.07\n");
  from.write("b200_sxm_dsv4_hca_context_module_vllm0.24.0.csv",
             "model,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n"
             "sgl-project/DeepSeek-V4-Flash-FP8,fp8,8,1,1,8,0,0.05\n");
  from.write("b200_sxm_mhc_module_vllm0.24.0.csv",
             "op_name,kernel_source,num_tokens,hidden_size,latency\npost,x,1,4096,0.0066\n");
  from.write("constants.csv",
             "file,column,value\n"
             "b200_sxm_dsv4_csa_context_module_vllm0.24.0.csv,model,deepseek-ai/DeepSeek-V4-Pro\n"
             "b200_sxm_mhc_module_vllm0.24.0.csv,device,\"GPU, of a kind\"\n");
  const Imported got(from, "b200");
  const auto& files = got.files;
  CHECK(files.at("mla_prefill_bf16_trtllm.csv") ==
        "heads,qk_nope_head_dim,qk_rope_head_dim,batch,context_tokens,new_tokens,latency_us\n"
        "16,128,64,1,0,32,15\n");
  CHECK(got.fates.averaged() == 1);
  CHECK(files.at("mla_prefill_fp8_trtllm.csv").ends_with("\n16,128,64,1,0,32,30\n"));
  CHECK(files.at("mla_decode_bf16_trtllm.csv").ends_with("\n16,512,64,fp8,4,32,10\n"));
  CHECK(files.count("mla_prefill_fp8_vllm.csv") == 0);
  CHECK(files.at("mla_bmm_bf16_vllm.csv").ends_with("\npost,16,512,128,4,6\npre,16,512,128,4,5\n"));
  CHECK(files.at("mla_module_prefill_bf16_vllm.csv").ends_with("us\n16,fp8,1,0,32,100\n"));
  CHECK(files.at("msa_module_decode_nvfp4_vllm.csv").ends_with("\n8,fp8,2,16,30\n"));
  CHECK(files.at("dsa_module_prefill_bf16_vllm.csv")
            .ends_with("us\n6144,16,fp8,1,0,8192,5000\n7168,16,fp8,1,0,8192,4000\n"));
  CHECK(got.rows_left_out("floor of the launches") == 2);
  CHECK(got.rows_left_out("model another/model: no word of ours") == 1);
  CHECK(files.at("v4_module_prefill_fp8_block_vllm.csv")
            .ends_with("us\n4096,128,8,1,0,1,50\n7168,4,16,1,64,1,70\n"));
  CHECK(got.says("v4_module_prefill_fp8_block_vllm",
                 "source = \"aic: b200_sxm_dsv4_csa_context_module_vllm0.24.0.csv and "
                 "b200_sxm_dsv4_hca_context_module_vllm0.24.0.csv\""));
  CHECK(files.at("mhc_bf16_vllm.csv").ends_with("\npost,4096,1,6.6\n"));
  CHECK(got.says("mhc_bf16_vllm", "gpu = \"GPU, of a kind\""));
  REQUIRE(got.folder.left_out.size() == 1);
  CHECK(got.folder.left_out[0].reason.find("a floor of") != std::string::npos);
}

TEST_CASE("recurrent layers are the sum of their kernels, quantisation that of two files") {
  Folder from;
  const auto gdn = [](const std::string& kernel, const std::string& phase, int batch, int tokens,
                      const std::string& latency) {
    return kernel + "," + phase + "," + std::to_string(batch) + "," + std::to_string(tokens) +
           ",1,1024,2,4,model," + latency + "\n";
  };
  from.write("l40s_gdn_vllm0.24.0.csv",
             "kernel_source,phase,batch_size,seq_len,num_tokens,d_model,num_k_heads,num_v_heads,"
             "model_name,latency\n" +
                 gdn("causal_conv1d_fn", "context", 1, 64, "0.002") +
                 gdn("causal_conv1d_fn", "context", 1, 64, "0.004") +
                 gdn("causal_conv1d_fn", "context", 1, 64, "0.003") +
                 gdn("chunk_gated_delta_rule_x", "context", 1, 64, "0.010") +
                 gdn("causal_conv1d_fn", "context", 1, 128, "0.002") +
                 gdn("causal_conv1d_update", "generation", 8, 1, "0.001") +
                 gdn("fused_recurrent_x", "generation", 8, 1, "0.005") +
                 gdn("fused_recurrent_x", "generation", 8, 4, "0.005"));
  from.write(
      "l40s_kda_vllm0.1.dev19262.csv",
      "kernel_source,phase,batch_size,seq_len,num_tokens,num_k_heads,num_v_heads,latency\n"
      "causal_conv1d_fn_qkv3,context,1,64,64,12,12,0.4\nflashkda_fwd,context,1,64,64,12,12,0.1\n"
      "causal_conv1d_update,generation,2,1,2,12,12,0.002\n"
      "fused_recurrent_kda_packed_decode,generation,2,1,2,12,12,0.004\n"
      "fused_recurrent_kda,verify,2,4,8,12,12,0.004\n");
  from.write("l40s_scale_matrix_vllm0.24.0.csv", "m,k,quant_dtype,latency\n1,32,fp8,0.002\n");
  from.write("l40s_computescale_vllm0.24.0.csv", "m,k,quant_dtype,latency\n1,32,fp8,0.0005\n");
  const Imported got(from, "l40s");
  CHECK(got.files.at("gdn_prefill_bf16_vllm.csv") ==
        "key_heads,key_head_dim,value_heads,value_head_dim,conv,batch,new_tokens,latency_us\n"
        "2,128,4,128,4,1,64,13\n");
  CHECK(got.files.at("gdn_decode_bf16_vllm.csv").ends_with("us\n2,128,4,128,4,8,6\n"));
  CHECK(got.files.at("kda_prefill_bf16_vllm.csv").ends_with("us\n12,128,12,128,1,64,100\n"));
  CHECK(got.files.at("kda_decode_bf16_vllm.csv").ends_with("us\n12,128,12,128,4,2,6\n"));
  CHECK(got.files.at("elementwise_vllm.csv") ==
        "op,tokens,width,dtype,latency_us\nquantize,1,32,bf16,2.5\n");
  CHECK(got.folder.left_out.empty());
  CHECK(got.rows_left_out("the other part of the shape has no row") == 1);
  CHECK(got.rows_left_out("several new tokens") == 1);
  CHECK(got.rows_left_out("convolution of the prefill") == 1);
  CHECK(got.rows_left_out("phase is verify: no table of ours") == 1);
  fs::remove(from.path / "l40s_computescale_vllm0.24.0.csv");
  CHECK(Imported(from, "l40s").folder.left_out.at(0).reason.find("computescale") !=
        std::string::npos);
}

TEST_CASE("an exchange has a row for each phase, and nodes of the GB200 have four GPUs") {
  Folder from;
  const std::string normal =
      "node_num,hidden_size,num_token,num_topk,num_experts,dispatch_sms,combine_sms,"
      "dispatch_transmit_us,dispatch_notify_us,combine_transmit_us,combine_notify_us\n";
  from.write("gb200_wideep_deepep_normal_sglang0.5.12.csv",
             normal + "1,2048,16,8,128,20,24,30,1,40,2\n");
  from.write("gb200_wideep_deepep_normal_sglang0.5.6.post2.csv",
             normal + "2,2048,16,8,128,20,20,50,0,60,0\n1,2048,16,8,128,20,20,51,0,61,0\n");
  from.write("gb200_wideep_deepep_ll_sglang0.5.12.csv",
             "node_num,hidden_size,num_token,num_experts,combine_avg_t_us,combine_bandwidth_gbps,"
             "dispatch_avg_t_us,dispatch_bandwidth_gbps\n2,7168,1,256,12.5,1,16.5,1\n");
  from.write("gb200_trtllm_alltoall_trtllm1.3.0rc10.csv",
             "op_name,kernel_source,moe_dtype,num_tokens,hidden_size,topk,num_experts,moe_ep_size,"
             "distribution,latency\nalltoall_dispatch,NVLinkOneSided,nvfp4,1,7168,8,256,16,"
             "balanced,0.02\n");
  const Imported got(from, "gb200");
  CHECK(got.files.at("expert_exchange_fp8_deepep.csv") ==
        "mode,phase,ranks,hidden_size,experts,experts_per_token,sms,tokens,latency_us\n"
        "low_latency,combine,8,7168,256,8,0,1,12.5\nlow_latency,dispatch,8,7168,256,8,0,1,16.5\n"
        "normal,combine,4,2048,128,8,24,16,42\nnormal,combine,8,2048,128,8,20,16,60\n"
        "normal,dispatch,4,2048,128,8,20,16,31\nnormal,dispatch,8,2048,128,8,20,16,50\n");
  CHECK(got.says("expert_exchange_fp8_deepep", "engine_version = \"0.5.12, 0.5.6.post2\""));
  CHECK(got.rows_left_out("one node") == 1);
  CHECK(got.files.at("expert_exchange_nvfp4_trtllm.csv")
            .ends_with("us\nnvlink_one_sided,dispatch,16,7168,256,8,0,1,20\n"));
}

TEST_CASE("experts behind DeepEP's two modes are taken with their layouts") {
  Folder from;
  const std::string header =
      "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
      "distribution,latency\n";
  const std::string row = "fp8_block,4096,7168,2048,8,256,1,16,";
  from.write("gb200_wideep_context_moe_sglang0.5.10.csv",
             header + row + "power_law_1.01,0.5\n" + row + "uniform,0.4\n");
  from.write("gb200_wideep_generation_moe_sglang0.5.10.csv", header + row + "power_law_1.01,0.1\n");
  const Imported got(from, "gb200");
  CHECK(got.files.at("moe_experts_fp8_block_deepep.csv") ==
        "layout,hidden_size,intermediate_size,experts,experts_per_token,slots,ep,distribution,tokens,"
        "latency_us\ncontiguous,7168,2048,256,8,256,16,power_law_1.01,4096,500\n"
        "masked,7168,2048,256,8,256,16,power_law_1.01,4096,100\n");
  CHECK(got.rows_left_out("distribution uniform") == 1);
  CHECK(got.folder.left_out.empty());
}
