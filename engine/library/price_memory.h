#pragma once
// Prices of the batches that were asked for last, by their content. It has two generations: where
// the younger one is full, the older one is forgotten and the younger one takes its place.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rooflua::library {

class PriceMemory {
 public:
  static constexpr std::size_t generation_bytes = std::size_t{8} << 20;

  std::optional<double> find(std::string_view content);
  void keep(std::string_view content, double seconds);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Generation = std::unordered_map<std::string, double, Hash, std::equal_to<>>;

  Generation younger_, older_;
  std::size_t younger_bytes_ = 0;
};

}  // namespace rooflua::library
