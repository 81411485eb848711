#pragma once
// The number format of quantised linear weights, from the quantization_config of a config.json.

#include <optional>

#include "base/fields.h"
#include "spec/dtype.h"

namespace rooflua {

/// The format; nothing if the weights are not quantised.
/// @throws Error if the quantization_config names no known format
std::optional<Dtype> quantised_weights(const Fields& config);

}  // namespace rooflua
