// validate(), declared in model.h: ranges of a model's figures, and relations between them.

#include <cmath>

#include "base/error.h"
#include "spec/figures/model.h"
#include "spec/layer_kinds.h"
#include "spec/read_layers.h"
#include "spec/weights.h"

namespace rooflua {

namespace {

void check_heads(int heads, int kv_heads, const std::string& where) {
  if (kv_heads == 0 || heads % kv_heads == 0) return;
  throw Error(where + "kv_heads", std::to_string(heads) + " heads do not divide by " +
                                      std::to_string(kv_heads) + " KV heads");
}

template <class Kinds>
int sum_of_layers(const Kinds& kinds) {
  int sum = 0;
  for (const auto& each : kinds) sum += each.layers;
  return sum;
}

void check_layers(const Model& model, const std::string& where) {
  const int attending = sum_of_layers(model.attentions), mlps = sum_of_layers(model.mlps);
  const bool two_blocks = attending <= model.layers && mlps <= model.layers &&
                          attending + mlps + model.left_out_blocks == 2 * model.layers;
  if (two_blocks || attending + mlps == model.layers) return;
  throw Error(where + "layers",
              std::to_string(model.layers) + " layers, but the kinds of attention add up to " +
                  std::to_string(attending) + " and those of MLPs to " + std::to_string(mlps) +
                  "; a layer has one of each, or, in every layer, one of either");
}

/// Layers that see the tail of a prompt alone: of one length, and without a state, which every
/// token updates.
void check_tails(const Model& model, const std::string& where) {
  int tail = 0;
  const auto check = [&](int own, const std::string& key) {
    if (own > 0 && tail > 0 && own != tail)
      throw Error(where + key + ".prefill_tail",
                  "tails of two lengths in one model: " + std::to_string(tail) + " and " +
                      std::to_string(own));
    tail = own > 0 ? own : tail;
  };
  for (const AttentionLayers& each : model.attentions) {
    check(each.prefill_tail, "attention." + each.name);
    if (each.prefill_tail > 0 && each.state_bytes() > 0)
      throw Error(where + "attention." + each.name + ".prefill_tail",
                  "every token of a prompt updates the state of such a layer");
  }
  for (const MlpLayers& each : model.mlps) check(each.prefill_tail, "mlp." + each.name);
}

/// A processor turns pixels or sound into patches, whose price needs the encoder's shape.
/// @param key  the table: "vision" or "audio"
void check_encoder(const ItemEncoder& encoder, const std::string& where, const std::string& key) {
  if (encoder.processor.empty()) return;
  const std::string table = where + key + ".";
  const auto need = [&](bool is_stated, const char* name) {
    if (!is_stated) throw Error(table + name, "needed where the encoder has a processor");
  };
  need(encoder.layers > 0, "layers");
  need(encoder.heads > 0, "heads");
  need(encoder.patch_size > 0 || !encoder.stem.empty(), key == "audio" ? "stem" : "patch_size");
  const int side = static_cast<int>(std::lround(std::sqrt(encoder.patches_per_token)));
  if (key == "vision" && side * side != encoder.patches_per_token)
    throw Error(table + "patches_per_token", "expected the square of a side, found " +
                                                 std::to_string(encoder.patches_per_token));
  if (encoder.whole_layers > encoder.layers)
    throw Error(table + "whole_layers", std::to_string(encoder.whole_layers) + " of " +
                                            std::to_string(encoder.layers) + " layers");
}

}  // namespace

void check_experts(const MixtureOfExperts& moe, const std::string& where) {
  if (moe.experts_per_token <= moe.experts) return;
  throw Error(where + "experts_per_token", std::to_string(moe.experts_per_token) +
                                               " is more than the " + std::to_string(moe.experts) +
                                               " experts there are");
}

void validate(const Model& model, std::string_view origin) {
  const std::string where = std::string(origin) + ": ";
  if (model.uniform && model.intermediate_size <= 0 && model.dense_mlp_layers() > 0)
    throw Error(where + "intermediate_size", "expected 1 or more for the dense layers, found " +
                                                 std::to_string(model.intermediate_size));
  check_figures(model, where);
  check_heads(model.heads, model.kv_heads, where);
  for (const AttentionLayers& each : model.attentions)
    check_heads(each.heads, each.kv_heads, where + "attention." + each.name + ".");
  for (const MlpLayers& each : model.mlps)
    if (each.moe) check_experts(*each.moe, where + "mlp." + each.name + ".");
  check_layers(model, where);
  check_tails(model, where);
  if (model.vision) check_encoder(*model.vision, where, "vision");
  if (model.audio) check_encoder(*model.audio, where, "audio");
  check_layer_formats(model, where);
  context_limits(model);
}

}  // namespace rooflua
