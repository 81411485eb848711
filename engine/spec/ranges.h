#pragma once
// The declared range of every figure of a model, as one list (spec/figures/model.h).

#include <span>
#include <string>
#include <string_view>

namespace rooflua {

struct FigureRange {
  std::string key;        // "model.moe.experts"
  std::string_view unit;  // in messages: "layers", "tokens"
  double least, most;
  bool operator==(const FigureRange&) const = default;
};

std::span<const FigureRange> figure_ranges();

}  // namespace rooflua
