#include "library/price_memory.h"

#include <utility>

namespace rooflua::library {

std::optional<double> PriceMemory::find(std::string_view content) {
  if (const auto found = younger_.find(content); found != younger_.end()) return found->second;
  const auto found = older_.find(content);
  if (found == older_.end()) return std::nullopt;
  const double seconds = found->second;
  keep(content, seconds);
  return seconds;
}

void PriceMemory::keep(std::string_view content, double seconds) {
  constexpr std::size_t entry_bytes = 96;  // about what an entry takes besides its content
  if (younger_bytes_ >= generation_bytes) {
    older_ = std::exchange(younger_, {});
    younger_bytes_ = 0;
  }
  younger_.emplace(content, seconds);
  younger_bytes_ += content.size() + entry_bytes;
}

}  // namespace rooflua::library
