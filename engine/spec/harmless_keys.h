#pragma once
// Keys of a config.json that are known to change neither the operations of a forward pass nor
// their sizes: names, training, generation, positions, scales.

#include <string_view>

namespace rooflua {

bool is_harmless(std::string_view key);

}  // namespace rooflua
