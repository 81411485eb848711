#pragma once
// How folders of kernel tables are laid out (docs/DATA.md).

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

enum class Layout { rooflua, infersim, blis, aic };
inline constexpr std::array<std::string_view, 4> layout_names = {"rooflua", "infersim", "blis",
                                                                 "aic"};

constexpr std::string_view name(Layout layout) {
  return layout_names[static_cast<std::size_t>(layout)];
}

constexpr std::optional<Layout> parse_layout(std::string_view text) {
  for (std::size_t i = 0; i < layout_names.size(); ++i) {
    if (layout_names[i] == text) return static_cast<Layout>(i);
  }
  return std::nullopt;
}

/// "H100_SXM" -> h100, sxm
std::vector<std::string> gpu_words(std::string_view text);
/// "H100", "h100-sxm" and "h100_sxm" are the same GPU, "h20" and "h200" are not.
bool same_gpu(std::string_view a, std::string_view b);

}  // namespace rooflua
