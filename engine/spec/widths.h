#pragma once
// Over how many ranks a model is divided.

namespace rooflua {

/// tp * dp = moe_tp * ep ranks run one engine. Attention is divided over the tp ranks of each of dp
/// groups, which have requests of their own; the experts over all ranks: whole experts over ep, and
/// the width of each over moe_tp.
struct Widths {
  int tp = 1, dp = 1, ep = 1, moe_tp = 1;

  /// Everything divided by tp.
  static constexpr Widths of_tp(int tp) { return {tp, 1, 1, tp}; }
  constexpr int ranks() const { return tp * dp; }
  bool operator==(const Widths&) const = default;
};

}  // namespace rooflua
