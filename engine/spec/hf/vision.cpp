#include "spec/hf/vision.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace rooflua::hf {

namespace {

/// A number, or the first of a list (sides of a square: [14, 14]).
double first_of(const Fields& fields, std::initializer_list<std::string_view> keys,
                double otherwise) {
  const std::string_view key = fields.first_of(keys);
  if (key.empty()) return otherwise;
  const Json* value = fields.find(key);
  const bool is_list = value->is_array() && !value->items().empty();
  if (is_list && value->items()[0].is_number()) return value->items()[0].number();
  return fields.number(key).value_or(otherwise);
}

/// What stands between an encoder and the language model.
enum class Projector {
  merger,     // two matrices over merged patches, and copies of them (DeepStack)
  one,        // one matrix
  shuffled,   // three matrices over merged patches (Llama 4)
  mistral,    // one matrix over merged patches, and two behind it
  per_patch,  // two matrices over single patches, and two over merged ones (MiniMax-M3)
  tiles,      // two matrices over merged patches (InternVL)
  glm,        // one over merged patches, one behind it, and an MLP of gate, up, down (GLM-V)
};

/// Encoders that are known by the word of their model. Sources: modeling_*.py of transformers;
/// kimi_k25: vllm/model_executor/models/kimi_k25_vit.py.
struct Known {
  std::string_view family, processor;
  Projector projector = Projector::merger;
  bool gated = false;     // whatever hidden_act says
  bool positions = true;  // a table of positions, which rotated ones need not
  bool has_edge = false;  // image_size bounds an image, or is the size of a tile
  bool outward = false;   // MLPs are as wide as its output; intermediate_size is the projector's
};
constexpr int merged_image_tokens = 16384;  // of an encoder without a processor: as those of Qwen's
constexpr Known known[] = {
    {"qwen2_vl", "qwen2_vl", Projector::merger, false, true},
    {"qwen2_5_vl", "qwen2_vl", Projector::merger, false, true},
    {"qwen3_vl", "qwen3_vl", Projector::merger, false, true},
    {"qwen3_vl_moe", "qwen3_vl", Projector::merger, false, true},
    {"qwen3_omni_moe", "qwen3_vl", Projector::merger, false, true},
    {"qwen3_5", "qwen3_vl", Projector::merger, false, true},
    {"qwen3_5_moe", "qwen3_vl", Projector::merger, false, true},
    {"kimi_k25", "kimi", Projector::merger, false, true},
    {"gemma3", "gemma3", Projector::one, false, true, true},
    {"gemma4", "gemma4", Projector::one, true, true},
    {"llama4", "llama4", Projector::shuffled, false, true, true},
    {"mistral3", "pixtral", Projector::mistral, true, false, true},
    {"internvl", "internvl", Projector::tiles, false, true, true},
    {"intern_vit_6b", "internvl", Projector::tiles, false, true, true},
    {"glm4v", "glm4v", Projector::glm, true, true, false, true},
    {"glm4v_moe", "glm4v", Projector::glm, true, true, false, true},
    {"minimax_m3", "minimax_m3", Projector::per_patch, false, false},
    {"minimax_m3_vl", "minimax_m3", Projector::per_patch, false, false},
};

/// "gemma3" of "gemma3_text", "llama4" of "llama4_vision_model".
std::string_view without_part(std::string_view type) {
  for (const std::string_view part : {"_text", "_vision_model", "_vision", "_visual"})
    if (type.ends_with(part)) return type.substr(0, type.size() - part.size());
  return type;
}

const Known* known_as(std::string_view family) {
  const auto* found = std::find_if(std::begin(known), std::end(known),
                                   [&](const Known& each) { return each.family == family; });
  return found == std::end(known) ? nullptr : found;
}

bool is_llava(const Fields& config) {
  for (const std::string& each : config.texts("architectures"))
    if (each.starts_with("Llava")) return true;
  return false;
}

/// By the word of the encoder, or of the language model, whose own file has another one.
const Known* known_by(const Fields& config, const Fields& vision, std::string_view family) {
  if (vision.has("vt_hidden_size")) return known_as("kimi_k25");
  const std::string type = vision.text("model_type").value_or("");
  // LLaVA has the same encoder with a projector of its own, which merges nothing.
  if (type == "pixtral") return is_llava(config) ? nullptr : known_as("mistral3");
  const Known* found = known_as(without_part(type));
  return found != nullptr ? found : known_as(without_part(family));
}

double position_weights(const Fields& vision, double width) {
  const double patch = first_of(vision, {"patch_size"}, 14);
  const double stated = first_of(vision, {"num_position_embeddings"}, 0);
  if (stated > 0) return stated * width;
  const double grid = first_of(vision, {"init_pos_emb_height"}, 0);
  if (grid > 0) return grid * first_of(vision, {"init_pos_emb_width"}, grid) * width;
  const double each_axis = first_of(vision, {"position_embedding_size"}, 0);
  if (each_axis > 0) return 2 * each_axis * width;
  const double side = first_of(vision, {"image_size"}, 0) / patch;
  return side * side * width;
}

/// Patches along a side of what becomes one token.
double merged_side(const Fields& config, const Fields& vision, const Known* about) {
  if (about != nullptr && about->processor == "gemma3") {
    const double side =
        first_of(vision, {"image_size"}, 896) / first_of(vision, {"patch_size"}, 14);
    const double tokens = first_of(config, {"mm_tokens_per_image"}, 256);
    return tokens > 0 ? std::sqrt(side * side / tokens) : 0;
  }
  if (const double ratio = first_of(vision, {"pixel_shuffle_ratio"}, 0); ratio > 0)
    return 1 / ratio;
  if (about != nullptr && about->projector == Projector::tiles)
    return 1 / std::max(1e-3, first_of(config, {"downsample_ratio"}, 0.5));
  if (about != nullptr && about->projector == Projector::per_patch)
    return first_of(vision, {"spatial_merge_size"}, 2);
  const Json* kernel = vision.find("merge_kernel_size");
  if (kernel != nullptr && kernel->is_array() && !kernel->items().empty() &&
      kernel->items()[0].is_number())
    return kernel->items()[0].number();
  if (about != nullptr && about->projector == Projector::mistral)
    return first_of(config, {"spatial_merge_size"}, 2);
  return first_of(vision, {"spatial_merge_size", "pooling_kernel_size"}, 1);
}

constexpr double most = 1e6;  // of any width, and of pixels

/// @returns without inputs where a width is none
Projection matrix(double inputs, double outputs, double times = 1, bool per_patch = false) {
  for (const double each : {inputs, outputs, times})
    if (!(each >= 1 && each <= most)) return {};
  return {static_cast<int>(inputs), static_cast<int>(outputs), static_cast<int>(times), per_patch};
}

std::vector<Projection> projector_of(const Fields& config, const Fields& vision, Projector form,
                                     double width, double side, double hidden) {
  const double merged = width * side * side;
  switch (form) {
    case Projector::merger: {
      const Json* deep = vision.find("deepstack_visual_indexes");
      const double copies =
          1.0 +
          (deep != nullptr && deep->is_array() ? static_cast<double>(deep->items().size()) : 0.0);
      return {matrix(merged, merged, copies),
              matrix(merged, first_of(vision, {"out_hidden_size"}, hidden), copies)};
    }
    case Projector::one:
      return {matrix(width, hidden)};
    case Projector::tiles:
      return {matrix(merged, hidden), matrix(hidden, hidden)};
    case Projector::glm: {
      const double outer = first_of(vision, {"out_hidden_size"}, hidden);
      const double inner = first_of(vision, {"intermediate_size"}, outer);
      return {matrix(merged, outer), matrix(outer, outer), matrix(outer, inner, 2),
              matrix(inner, outer)};
    }
    case Projector::shuffled: {
      const double inner = first_of(vision, {"projector_input_dim"}, 4096);
      const double outer = first_of(vision, {"projector_output_dim"}, 4096);
      return {matrix(merged, inner), matrix(inner, outer), matrix(outer, hidden)};
    }
    case Projector::mistral:
      return {matrix(merged, width), matrix(width, hidden), matrix(hidden, hidden)};
    case Projector::per_patch: {
      const double inner = first_of(config, {"projector_hidden_size"}, hidden);
      return {matrix(width, inner, 1, true), matrix(inner, hidden, 1, true),
              matrix(hidden * side * side, inner), matrix(inner, hidden)};
    }
  }
  return {};
}

/// Of an encoder whose model is not known: a projection of merged patches, or of single ones, in
/// two layers, the second one as wide as the language model.
double projector_weights(const Fields& vision, double width, double hidden) {
  const double side = first_of(vision, {"spatial_merge_size"}, 0);
  if (side > 0) {
    const double merged = width * side * side;
    return merged * merged + merged * first_of(vision, {"out_hidden_size"}, hidden);
  }
  return width * hidden + hidden * hidden;
}

double weights_of(const std::vector<Projection>& projector) {
  double out = 0;
  for (const Projection& each : projector)
    out += static_cast<double>(each.inputs) * each.outputs * each.times;
  return out;
}

/// Windows of attention (Qwen2.5-VL), in patches.
void read_windows(const Fields& vision, ItemEncoder& out) {
  const double window = first_of(vision, {"window_size"}, 0);
  const Json* whole = vision.find("fullatt_block_indexes");
  if (!(window >= out.patch_size && window <= 1e4) || whole == nullptr || !whole->is_array())
    return;
  const double side = window / out.patch_size;
  out.window = static_cast<int>(side * side);
  out.whole_layers = static_cast<int>(whole->items().size());
}

/// What its price follows from. Its weights are counted anew. An encoder of other figures than
/// these keeps its memory, and has no price.
void read_price(const Fields& config, const Fields& vision, const Known& about, double hidden,
                ItemEncoder& known_so_far) {
  ItemEncoder out = known_so_far;
  const double heads =
      first_of(vision, {"num_heads", "num_attention_heads", "vt_num_attention_heads"}, 0);
  const double layers = first_of(vision, {"depth", "num_hidden_layers", "vt_num_hidden_layers"}, 0);
  if (!(heads >= 1 && heads <= 1e4)) return;
  const double side = merged_side(config, vision, &about);
  if (!(side >= 1 && side <= 1e3) || std::abs(side - std::round(side)) > 1e-6) return;
  const double edge = about.has_edge ? first_of(vision, {"image_size"}, 0) : 0;
  if (!(edge >= 0 && edge <= most)) return;
  out.layers = static_cast<int>(layers);
  out.heads = static_cast<int>(heads);
  out.patches_per_token = static_cast<int>(side * side + 0.5);
  out.projector = projector_of(config, vision, about.projector, out.hidden_size, side, hidden);
  out.processor = about.processor;
  if (about.outward)
    out.intermediate_size = static_cast<int>(first_of(vision, {"out_hidden_size"}, hidden));
  if (about.projector == Projector::tiles)
    out.tiles = static_cast<int>(std::clamp(first_of(config, {"max_dynamic_patch"}, 0), 0.0, 1e4));
  for (const Projection& each : out.projector)
    if (each.inputs < 1) return;
  out.edge = static_cast<int>(edge);
  out.image_tokens = 0;  // its processor says it
  read_windows(vision, out);
  if (out.whole_layers > out.layers) return;
  const double matrices = out.gated ? 3 : 2, width = out.hidden_size;
  out.parameters =
      layers * (4 * width * width + matrices * width * out.intermediate_size) +
      double(out.channels) * out.patch_size * out.patch_size * out.patch_frames * width +
      (about.positions ? position_weights(vision, width) : 0) + weights_of(out.projector);
  known_so_far = std::move(out);
}

}  // namespace

std::optional<ItemEncoder> vision_encoder(const Fields& config, const std::string& family,
                                          int hidden_size) {
  const auto vision = config.table("vision_config");
  if (!vision) return std::nullopt;
  const Known* about = known_by(config, *vision, family);
  const double width = first_of(*vision, {"embed_dim", "vt_hidden_size", "hidden_size"}, 0);
  const double layers =
      first_of(*vision, {"depth", "num_hidden_layers", "vt_num_hidden_layers"}, 0);
  const double ratio = first_of(*vision, {"mlp_ratio"}, 4);
  const double inner =
      first_of(*vision, {"intermediate_size", "vt_intermediate_size"}, ratio * width);
  const double side = first_of(*vision, {"spatial_merge_size"}, 1);
  const double patch = first_of(*vision, {"patch_size"}, 14);
  const double channels = first_of(*vision, {"in_channels", "in_chans", "num_channels"}, 3);
  const double frames = first_of(*vision, {"temporal_patch_size"}, 1);
  for (const double each : {width, layers, inner, side}) {
    if (!(each >= 1 && each <= most)) return std::nullopt;
  }
  for (const double each : {patch, channels, frames}) {
    if (!(each >= 1 && each <= 1e4)) return std::nullopt;
  }
  ItemEncoder out;
  // SiLU stands between gate and up, the others after one projection.
  out.gated =
      (about != nullptr && about->gated) || vision->text("hidden_act").value_or("") == "silu";
  out.hidden_size = static_cast<int>(width);
  out.intermediate_size = static_cast<int>(inner);
  out.patches_per_token = static_cast<int>(std::min(side * side, most));
  out.image_tokens = side > 1 ? merged_image_tokens : 0;
  out.patch_size = static_cast<int>(patch);
  out.channels = static_cast<int>(channels);
  out.patch_frames = static_cast<int>(frames);
  const Json* deep = vision->find("deepstack_visual_indexes");
  const double projectors =
      1.0 + (deep != nullptr && deep->is_array() ? static_cast<double>(deep->items().size()) : 0.0);
  out.parameters = layers * (4 * width * width + (out.gated ? 3 : 2) * width * inner) +
                   channels * patch * patch * frames * width + position_weights(*vision, width) +
                   projectors * projector_weights(*vision, width, hidden_size);
  if (about != nullptr) read_price(config, *vision, *about, hidden_size, out);
  return out;
}

}  // namespace rooflua::hf
