#pragma once
// The number formats of weights and of the KV cache, from the quantization_config of a config.json,
// or from a hf_quant_config.json that lies beside it.

#include <string>
#include <vector>

#include "base/fields.h"
#include "spec/hf/by_layer.h"
#include "spec/model.h"

namespace rooflua {

/// What of a quantization_config is followed beyond whole classes of weights.
struct FollowedFormats {
  hf::Ordered layers;          // modules of some layers of a class
  bool config_groups = false;  // all of them
};

/// Fills weight_dtype, weights and kv_dtype, and cuts groups of layers in formats of their own. The
/// kinds of layers are known before.
/// @throws Error if the quantization_config names no known format
FollowedFormats read_hf_formats(Model& model, const Fields& config);

/// Names of modules that a quantization_config leaves in 16 bit.
std::vector<std::string> excluded_modules(const Fields& quantization);

/// The table with the formats of a config.json; nothing if its weights are not quantised.
std::optional<Fields> quantization_of(const Fields& config);

}  // namespace rooflua
