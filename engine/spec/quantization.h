#pragma once
// The number format of quantised linear weights, from the quantization_config of a config.json.

#include <optional>

#include "base/fields.h"
#include "spec/dtype.h"

namespace rooflua {

/// Nothing if the weights are not quantised.
/// @throws Error if there is a quantization_config that says no format we know
std::optional<Dtype> quantised_weights(const Fields& config);

}  // namespace rooflua
