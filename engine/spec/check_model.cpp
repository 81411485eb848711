// validate(), declared in model.h: ranges of a model's figures, and relations between them.

#include "base/error.h"
#include "spec/model.h"
#include "spec/ranges.h"
#include "spec/read_layers.h"

namespace rooflua {

namespace {

struct Check {
  std::string where;

  void range(int value, const char* key) const {
    check_range("model." + std::string(key), value, where + ": " + key);
  }
  void that(bool ok, const char* key, const std::string& problem) const {
    if (!ok) throw Error(where + ": " + key, problem);
  }
};

void validate_experts(const Model& model, const Check& check) {
  const MixtureOfExperts& moe = *model.moe;
  check.range(moe.experts, "moe.experts");
  check.range(moe.experts_per_token, "moe.experts_per_token");
  check.range(moe.intermediate_size, "moe.intermediate_size");
  check.that(moe.experts_per_token <= moe.experts, "moe.experts_per_token",
             std::to_string(moe.experts_per_token) + " is more than the " +
                 std::to_string(moe.experts) + " experts there are");
  check.range(moe.shared_intermediate_size, "moe.shared_intermediate_size");
  check.that(moe.dense_layers >= 0 && moe.dense_layers <= model.layers, "moe.dense_layers",
             "expected 0 to " + std::to_string(model.layers) + ", found " +
                 std::to_string(moe.dense_layers));
}

void validate_attention(const Model& model, const Check& check) {
  if (model.mla) {
    check.range(model.mla->kv_lora_rank, "mla.kv_lora_rank");
    check.range(model.mla->qk_nope_head_dim, "mla.qk_nope_head_dim");
    check.range(model.mla->qk_rope_head_dim, "mla.qk_rope_head_dim");
    check.range(model.mla->v_head_dim, "mla.v_head_dim");
    check.range(model.mla->q_lora_rank, "mla.q_lora_rank");
  }
  if (model.hybrid) {
    check.range(model.hybrid->full_attention_interval, "hybrid.full_attention_interval");
    check.range(model.hybrid->conv_kernel, "hybrid.conv_kernel");
    check.range(model.hybrid->key_heads, "hybrid.key_heads");
    check.range(model.hybrid->key_head_dim, "hybrid.key_head_dim");
    check.range(model.hybrid->value_heads, "hybrid.value_heads");
    check.range(model.hybrid->value_head_dim, "hybrid.value_head_dim");
    check.that(model.hybrid->full_attention_interval <= model.layers,
               "hybrid.full_attention_interval",
               "is more than the " + std::to_string(model.layers) + " layers there are");
    check.that(!model.mla, "hybrid",
               "latent and linear attention in one model need [[attention]] kinds");
  }
}

}  // namespace

void validate(const Model& model, std::string_view where) {
  const Check check{std::string(where)};
  check.range(model.layers, "layers");
  check.range(model.hidden_size, "hidden_size");
  check.range(model.heads, "heads");
  check.range(model.kv_heads, "kv_heads");
  check.range(model.head_dim, "head_dim");
  check.range(model.vocab_size, "vocab_size");
  check.range(model.intermediate_size, "intermediate_size");
  check.range(model.max_model_len, "max_model_len");
  check.that(model.heads % model.kv_heads == 0, "kv_heads",
             std::to_string(model.heads) + " heads do not divide by " +
                 std::to_string(model.kv_heads) + " KV heads");
  validate_attention(model, check);
  if (model.moe) validate_experts(model, check);
  validate_layer_kinds(model, check.where);
  if (model.mlps.empty() && model.dense_mlp_layers() > 0) {
    check.that(model.intermediate_size > 0, "intermediate_size",
               "expected 1 or more for the dense layers, found 0");
  }
}

}  // namespace rooflua
