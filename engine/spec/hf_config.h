#pragma once
// Reads a Hugging Face config.json with all the key names that published models use for one
// quantity. Other floors use spec/model.h, which calls this.
//
//     nesting       the language model's table over the root, under any word (hf/document.h)
//     defaults      of the class, by model_type or architectures (hf/classes.h)
//     layers        num_hidden_layers | num_layers | n_layers | n_layer
//     width         hidden_size | d_model | n_embd | n_embed
//     KV heads      num_key_value_heads | num_kv_heads | multi_query_group_num | kv_n_heads | ...
//                   | = heads; by layer: lists, num_key_value_heads_per_layer, block_configs
//     MLP           intermediate_size | ffn_hidden_size | ffn_dim | n_inner | of dense layers:
//                   intermediate_size_mlp, dense_intermediate_size; its gate: hf/mlps.h
//     head dim      head_dim | kv_channels | attention_head_dim | head_size | hidden_size / heads
//     experts       hf/experts.cpp: their number, those of a token, their width, shared ones and
//                   the layers that have them, under about 40 words; Llama 4 always has a shared
//                   one
//     latent        routed_expert_hidden_size | moe_latent_size
//     latent attn   kv_lora_rank and its companions
//     prediction    num_nextn_predict_layers | mtp_num_hidden_layers | num_mtp_modules
//     kinds         hf/layers.h
//     weights       quantization_config (fp8, compressed-tensors, gptq, awq, bitsandbytes, mxfp4,
//                   modelopt), with the modules that it leaves out; expert_dtype

#include <string>

#include "base/json.h"
#include "spec/declared/read_kind.h"
#include "spec/model.h"

namespace rooflua {

/// @param folders  of files of kinds of layers
/// @throws Error for a missing key, for architectures that a Model cannot describe (hf/refused.h),
/// and for keys that nothing reads and that speak of the shape (hf/unknown.h); it names the key
Model model_from_hf_config(const Json& document, const std::string& name, const std::string& origin,
                           const declared::Folders& folders = {});

}  // namespace rooflua
