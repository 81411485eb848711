#include "spec/harmless_keys.h"

#include <algorithm>
#include <iterator>

namespace rooflua {

namespace {

// Sorted: the search is binary, and a compile-time check holds the order.
constexpr std::string_view keys[] = {
    "activation_situ_beta", "activation_situ_linear_beta", "add_bias_linear",
    "add_classification_head", "add_full_attention_sink_bias", "add_swa_attention_sink_bias",
    "alibi", "alibi_bias_max", "apply_query_key_layer_scaling",
    "apply_residual_connection_post_layernorm", "architectures", "attention_dropout",
    "attention_multiplier", "attention_out_bias", "attention_probs_dropout_prob",
    "attention_sink_bias", "attention_sink_size", "attention_softmax_in_fp32",
    "attention_value_scale", "attn_dropout_prob", "attn_impl", "attn_implementation",
    "attn_logit_softcapping", "attn_output_multiplier", "attn_pdrop", "attn_qkv_pdrop",
    "attn_res_block_size", "attn_scale", "attn_temperature_tuning", "attn_uses_sequence_id",
    "auto_map", "aux_loss_alpha", "bad_words_ids", "begin_suppress_tokens", "bf16", "bias",
    "bias_dropout_fusion", "block_auto_adjust_block_size", "boi_token_index", "bos_id",
    "cache_implementation", "candidate_resolutions", "capacity_factor", "chunk_size_feed_forward",
    "cla_share_factor", "class_num", "classifier_dropout", "clip_qkv", "cls_token_id",
    "compress_rope_theta", "context_window_size", "decoder_sparse_step", "dim_model_base",
    "diversity_penalty", "do_layer_norm_before", "do_sample", "downsample_ratio",
    "dynamic_image_size", "early_stopping", "emb_dropout_prob", "emb_pdrop", "embd_layer",
    "embd_pdrop", "embed_dropout", "embedding_dropout", "embedding_multiplier",
    "embedding_multiplier_scale", "enable_expert_tensor_parallelism",
    "encoder_no_repeat_ngram_size", "eos_id", "ep_size", "exponential_decay_length_penalty",
    "ffn_dropout", "final_logit_softcapping", "finetuning_task", "first_k_dense_replace",
    "flash_attn", "flash_rotary", "floor_scale", "for_llm_compressor", "fp16",
    "fp32_residual_connection", "full_attn_mod", "fuse_attn_ffn", "fuse_attn_qkv", "fuse_rope",
    "fused_dense", "gate_lower_bound", "global_view_pos", "gradient_checkpointing",
    "group_limited_greedy", "hc_eps", "hc_sinkhorn_iters", "hidden_act", "hidden_activation",
    "hidden_dropout", "hidden_dropout_prob", "id2label", "ignore_index", "im_end_id",
    "im_start_id", "image_grid_pinpoints", "image_placeholder", "image_seq_length",
    "index_share_for_mtp_iteration", "index_skip_topk_offset", "index_topk_freq",
    "index_topk_pattern", "indexer_rope_interleave", "inference_runner", "init_device",
    "init_std", "initial_context_length", "initializer_factor", "initializer_range",
    "input_jitter_noise", "interleave_moe_layer_step", "interleaved_qkv", "interpolate_factor",
    "is_decoder", "is_encoder_decoder", "is_llama_config", "kv_channels", "label2id",
    "language_model_only", "latent_moe_use_norm", "layer_norm_eps", "layer_norm_epsilon",
    "layer_switch", "layerdrop", "layernorm_epsilon", "learned_pos_emb", "length_penalty",
    "lm_head", "lm_head_bias", "logit_scale", "logits_scaling", "logits_soft_cap",
    "mamba_chunk_size", "mamba_conv_bias", "mamba_expand", "mamba_hidden_act", "mamba_proj_bias",
    "mamba_rms_norm", "mamba_ssm_cache_dtype", "mamba_ssm_dtype", "masked_softmax_fusion",
    "max_attn_value", "max_batch_size", "max_dynamic_patch", "max_length", "max_new_tokens",
    "max_window_layers", "min_dynamic_patch", "min_length", "mla_use_nope", "mlp_bias",
    "mlp_only_layers", "mm_tokens_per_image", "model_parallel_size", "model_type",
    "model_version", "moe_aux_loss_coeff", "moe_capacity", "moe_drop_tokens",
    "moe_eval_capacity_factor", "moe_gate", "moe_jitter_eps", "moe_layer_freq", "moe_layers",
    "moe_loss_weight", "moe_min_capacity", "moe_normalize_expert_weights",
    "moe_random_routing_dropped_token", "moe_renormalize", "moe_router_activation_func",
    "moe_router_dtype", "moe_router_enable_expert_bias", "moe_router_scaling_factor",
    "moe_router_topk_scaling_factor", "moe_shared_expert_overlap", "moe_token_dropping",
    "moe_train_capacity_factor", "moe_use_aux_free", "moe_use_expert_bias", "moe_z_loss_coeff",
    "mtp_hybrid_override_pattern", "mtp_layers_block_type", "mtp_loss_scaling_factor",
    "mtp_transformer_layers", "mtp_use_dedicated_embeddings", "multi_gate",
    "multimodal_projector_bias", "n_group", "n_special", "no_bias", "no_repeat_ngram_size",
    "no_rope_layer_interval", "no_rope_layers", "norm_eps", "norm_epsilon", "norm_head",
    "norm_softmax", "norm_topk_prob", "norm_type", "normalization_function",
    "num_attn_temperature_tuning_layers", "num_beam_groups", "num_beams", "num_choices",
    "num_expert_group", "num_hash_layers", "num_labels", "num_logits_to_keep", "num_media_embeds",
    "num_return_sequences", "num_reward_heads", "offset_alibi", "onnx_safe",
    "order_of_interleaved_layers", "org_vocab_size", "original_architecture",
    "original_max_position_embeddings", "original_rope", "output_attentions", "output_gate_type",
    "output_hidden_states", "output_multiplier_scale", "output_router_logits", "output_scores",
    "pad_to_multiple_of", "parallel_attn", "partial_rotary_dim", "partial_rotary_factor",
    "pool_type", "position_embedding_type", "post_layer_norm", "post_norm", "pre_seq_len",
    "predict_special_tokens", "prefill_chunk_size", "prefix", "prefix_lm", "prefix_projection",
    "pretraining_tp", "problem_type", "process_image_mode", "projector_hidden_act",
    "projector_hidden_size", "pruned_heads", "ps_version", "qk_head_dim", "qk_layernorm", "qk_ln",
    "qk_norm", "qk_normalization", "query_pre_attn_scalar", "remove_invalid_values",
    "repetition_penalty", "rescale_every", "rescale_prenorm_residual", "resid_dropout",
    "resid_pdrop", "residual_dropout", "residual_in_fp32", "residual_multiplier", "return_dict",
    "return_dict_in_generate", "rm_head", "rms_norm_eps", "rmsnorm", "rope_dim",
    "rope_interleave", "rope_interleaved", "rope_local_base_freq", "rope_local_theta",
    "rope_parameters", "rope_percent", "rope_ratio", "rope_scaling", "rope_theta", "rotary",
    "rotary_dim", "rotary_emb_base", "rotary_pct", "route_norm", "route_scale",
    "routed_scaling_factor", "router_activation", "router_aux_loss_coef",
    "router_bias_update_rate", "router_dtype", "router_jitter_noise", "router_norm_topk_prob",
    "router_scale", "router_score_function", "router_topk_scaling", "router_z_loss_coef",
    "runner_max_sequence_length", "scale_attention_softmax_in_fp32", "scale_attn_weights",
    "scale_depth", "scale_emb", "scale_fmt", "score_function", "scoring_func", "select_layer",
    "seq_aux", "sink_token_length", "skip_bias_add", "sliding_window_pattern", "slow_but_exact",
    "softmax_in_fp32", "softmax_scale", "spatial_merge_size", "summary_activation",
    "summary_first_dropout", "summary_hidden_size", "summary_proj_to_labels", "summary_type",
    "summary_use_proj", "suppress_tokens", "swa_rope_theta", "swiglu_alpha", "swiglu_limit",
    "task_specific_params", "temperature", "template", "tensor_parallel_degree", "tf_legacy_loss",
    "tie_encoder_decoder", "tile_tag", "time_step_floor", "time_step_limit", "time_step_max",
    "time_step_min", "time_step_rank", "tokenizer_class", "top_k", "top_p", "topk_group",
    "topk_method", "topk_scaling_factor", "torchscript", "train_router", "transformers.js_config",
    "transformers_version", "type_vocab_size", "typical_p", "unsloth_fixed", "unsloth_version",
    "use_aux_free", "use_backbone_lora", "use_bfloat16", "use_bias",
    "use_bidirectional_attention", "use_cache", "use_cla", "use_conv_bias", "use_dynamic_ntk",
    "use_embedding_sharing", "use_expert_bias", "use_flash_attn", "use_fused_rms_norm",
    "use_gemma_norm", "use_grouped_topk", "use_llm_lora", "use_logn_attn", "use_mamba_kernels",
    "use_moe", "use_moe_router_bias", "use_mrope", "use_mtp", "use_parallel_block",
    "use_parallel_embedding", "use_parallel_residual", "use_qk_norm", "use_rmsnorm", "use_rope",
    "use_rotary_pos_emb", "use_routing_bias", "use_scaled_rope", "use_sliding_window",
    "use_thumbnail", "use_unified_vision_chunk", "validate_runner_input", "verbose",
    "video_placeholder", "vision_feature_layer", "vision_feature_select_strategy",
    "vision_soft_tokens_per_image", "vision_use_head", "weight_share_add_bias", "z_loss_weight"};
static_assert(std::is_sorted(std::begin(keys), std::end(keys)));

// Numbers of special tokens and settings of training have many names.
constexpr std::string_view endings[] = {"_token_id", "_token_ids", "_token_index", "_token",
                                        "_dropout",  "_pdrop",     "_loss_coef"};

}  // namespace

bool is_harmless(std::string_view key) {
  if (key.starts_with('_')) return true;  // what a library keeps for itself
  for (const std::string_view ending : endings) {
    if (key.ends_with(ending)) return true;
  }
  return std::binary_search(std::begin(keys), std::end(keys), key);
}

}  // namespace rooflua
