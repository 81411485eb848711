#pragma once
// Over how many ranks a model is divided.

namespace rooflua {

/// tp * dp * cp = moe_tp * ep ranks run one engine. Attention is divided over the tp ranks of each
/// of dp groups, which have requests of their own; the experts over all ranks: whole experts over
/// ep, and the width of each over moe_tp. The cp ranks with the same part of the attention have the
/// same requests and each a part of the tokens of every prompt. With expert_gpus, the experts are
/// over these GPUs in place of the ranks of the attention: moe_tp * ep = expert_gpus.
struct Widths {
  int tp = 1, dp = 1, ep = 1, moe_tp = 1;
  int cp = 1, dcp = 1;  // see pipeline/context.h
  int expert_gpus = 0;  // see pipeline/afd.h

  /// Everything divided by tp.
  static constexpr Widths of_tp(int tp) { return {tp, 1, 1, tp}; }
  constexpr int ranks() const { return tp * dp * cp; }
  /// Whether experts are on GPUs of their own.
  constexpr bool afd() const { return expert_gpus > 0; }
  /// Ranks that hold experts.
  constexpr int expert_ranks() const { return afd() ? expert_gpus : ranks(); }
  /// Groups of tp ranks whose tokens the experts see together.
  constexpr int groups() const { return dp * cp; }
  bool operator==(const Widths&) const = default;
};

}  // namespace rooflua
