#pragma once
// The declared range of every figure of a model. The limits lie far outside
// of what exists, so that thought experiments pass; they keep products of figures, loops over them
// and memory within bounds.

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

/// @param key    of figure_ranges()
/// @param where  in front of the message: the file and the user's key
/// @throws Error "WHERE: expected 1 to 2000 layers, found 1000000000"
void check_range(std::string_view key, double value, const std::string& where);

}  // namespace rooflua
