#pragma once
// Attention tables as planes, one per shape of heads, and which shape stands for another.
// Private to the grid lookups.
//
//   decode    latency over (batch, context tokens)
//   prefill   latency over (batch, new tokens), a layer per prior context. Without rows that have a
//             prior context a chunk costs what a fresh prompt of as many causal pairs costs
//             (t p + t^2 / 2 = S^2 / 2): extrapolated.
//
// A shape that was not measured is matched on heads / kv_heads first, then head_dim, then size:
//   decode    the donor at a batch with as many KV bytes: decode MFU is proportional to
//             heads / kv_heads
//   prefill   the donor at a batch of as much work; below the smallest batch its latency times the
//             ratio of heads * head_dim, but not less than a launch
//   MLA       the donor times the ratio of flop
// with evidence stand_in.

#include <array>
#include <utility>
#include <vector>

#include "cost/lookup/grid.h"

namespace rooflua {

class AttentionIndex {
 public:
  AttentionIndex(Op op, const std::vector<const KernelTable*>& tables);

  bool empty() const { return shapes_.empty(); }
  /// @param strategy  along tokens; batch and prior context follow `across`
  Reading at(const Query& query, Strategy strategy, Strategy across, RowsUsed* trace) const;

 private:
  using Heads =
      std::array<double, 3>;  // per rank: heads, kv_heads (or rank, nope), head_dim (or rope)
  struct Shape {
    Heads heads{};
    Dtype kv = Dtype::bf16;
    std::vector<std::pair<double, Plane>> layers;  // prior context -> plane; decode has one
  };
  struct Key {
    double a = 0, b = 0, c = 0, tp = 0;  // heads and widths of the model
    Dtype kv = Dtype::bf16;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Plan {
    Key key;
    std::size_t shape = 0;
    double scale = 1;  // of batch (decode) or of latency (else)
    double ratio = 1;
    bool stand_in = false;
  };

  Shape& shape_for(const Heads& heads, Dtype kv);
  Key key_of(const Query& query) const;
  const Plan& plan(const Query& query) const;
  Plan make_plan(const Key& key) const;
  double mismatch(const Shape& shape, const Heads& wanted, Dtype kv) const;
  double size(const Heads& heads, Dtype kv) const;
  Reading decode(const Query& query, const Plan& plan, Strategy strategy, Strategy across,
                 RowsUsed* trace) const;
  Reading foreign_prefill(const Query& query, const Plan& plan, Strategy strategy, Strategy across,
                          RowsUsed* trace) const;
  Reading prefill(const Shape& shape, const Query& query, double batch, Strategy strategy,
                  Strategy across, RowsUsed* trace) const;

  Op op_;
  std::vector<Shape> shapes_;
  mutable std::vector<Plan> plans_;
};

}  // namespace rooflua
