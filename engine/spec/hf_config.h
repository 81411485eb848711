#pragma once
// Reads a Hugging Face config.json with all the key names that published models use for one
// quantity. Other floors use spec/model.h, which calls this.
//
//     nesting       text_config over the root (multi-modal models)
//     KV heads      num_key_value_heads | num_kv_heads | multi_query_group_num | = heads
//     MLP           intermediate_size | ffn_hidden_size | of dense layers: intermediate_size_mlp,
//                   dense_intermediate_size
//     head dim      head_dim | kv_channels | attention_head_dim | hidden_size / heads
//     experts       n_routed_experts | num_routed_experts | num_local_experts | num_experts
//     per token     num_experts_per_tok | experts_per_token | moe_topk | num_experts_per_token |
//                   top_k_experts
//     shared        shared_expert_intermediate_size | shared_intermediate_size | share_expert_dim |
//                   n_shared_experts | num_shared_experts (each as wide as a routed one, or as
//                   moe_shared_expert_intermediate_size says); Llama 4 always has one
//     latent        routed_expert_hidden_size | moe_latent_size
//     dense layers  first_k_dense_replace, moe_layer_freq (a number or a list), mlp_layer_types,
//                   mlp_only_layers, decoder_sparse_step, interleave_moe_layer_step, moe_layers
//     latent attn   kv_lora_rank and its companions
//     prediction    num_nextn_predict_layers | mtp_num_hidden_layers | num_mtp_modules
//     kinds         hf/layers.h
//     weights       quantization_config (fp8, compressed-tensors, gptq, awq, bitsandbytes, mxfp4,
//                   modelopt), with the modules that it leaves out; expert_dtype

#include <string>

#include "base/json.h"
#include "spec/model.h"

namespace rooflua {

/// @throws Error for a missing key, and for architectures that a Model cannot describe (an MLP
/// without gate, learned state spaces); the error names the key
Model model_from_hf_config(const Json& document, const std::string& name,
                           const std::string& origin);

}  // namespace rooflua
