#include "spec/hf/vision.h"

#include <algorithm>
#include <initializer_list>

namespace rooflua::hf {

namespace {

double first_of(const Fields& fields, std::initializer_list<std::string_view> keys,
                double otherwise) {
  const std::string_view key = fields.first_of(keys);
  return key.empty() ? otherwise : fields.number(key).value_or(otherwise);
}

/// A projection of merged patches, or of single ones: two layers, the second one as wide as the
/// language model.
double projector(const Fields& vision, double width, double hidden) {
  const double side = first_of(vision, {"spatial_merge_size"}, 0);
  if (side > 0) {
    const double merged = width * side * side;
    return merged * merged + merged * first_of(vision, {"out_hidden_size"}, hidden);
  }
  return width * hidden + hidden * hidden;
}

double position_weights(const Fields& vision, double width) {
  const double patch = first_of(vision, {"patch_size"}, 14);
  const double stated = first_of(vision, {"num_position_embeddings"}, 0);
  const double side = first_of(vision, {"image_size"}, 0) / patch;
  return (stated > 0 ? stated : side * side) * width;
}

constexpr int merged_image_tokens = 16384;  // the processors of encoders that merge patches

}  // namespace

std::optional<VisionEncoder> vision_encoder(const Fields& config, int hidden_size) {
  const auto vision = config.table("vision_config");
  if (!vision) return std::nullopt;
  const double width = first_of(*vision, {"embed_dim", "hidden_size"}, 0);
  const double layers = first_of(*vision, {"depth", "num_hidden_layers"}, 0);
  const double ratio = first_of(*vision, {"mlp_ratio"}, 4);
  const double inner = first_of(*vision, {"intermediate_size"}, ratio * width);
  const double side = first_of(*vision, {"spatial_merge_size"}, 1);
  constexpr double most = 1e6;
  for (const double each : {width, layers, inner, side}) {
    if (!(each >= 1 && each <= most)) return std::nullopt;
  }
  // SiLU stands between gate and up, the others after one projection.
  const double matrices = vision->text("hidden_act").value_or("") == "silu" ? 3 : 2;
  const double patch = first_of(*vision, {"patch_size"}, 14);
  const double channels = first_of(*vision, {"in_channels", "in_chans", "num_channels"}, 3);
  const double frames = first_of(*vision, {"temporal_patch_size"}, 1);
  const Json* deep = vision->find("deepstack_visual_indexes");
  const double projectors =
      1.0 + (deep != nullptr && deep->is_array() ? static_cast<double>(deep->items().size()) : 0.0);
  VisionEncoder out;
  out.parameters = layers * (4 * width * width + matrices * width * inner) +
                   channels * patch * patch * frames * width + position_weights(*vision, width) +
                   projectors * projector(*vision, width, hidden_size);
  out.hidden_size = static_cast<int>(width);
  out.intermediate_size = static_cast<int>(inner);
  out.patches_per_token = static_cast<int>(side * side);
  out.image_tokens = side > 1 ? merged_image_tokens : 0;
  return out;
}

}  // namespace rooflua::hf
