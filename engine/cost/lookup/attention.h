#pragma once
// Attention tables as planes, one per shape of heads, and which shape stands for another.
// Named by the declaration of its op.
//
//   decode    latency over (batch, context tokens)
//   prefill   latency over (batch, new tokens), a plane per prior context (Contexts, grid.h)
//
// With a window, the window is part of the shape.
//
// A shape that was not measured is matched on heads / kv_heads and window first, then head_dim,
// then size:
//   decode    the donor at a batch with as many KV bytes: decode MFU is proportional to
//             heads / kv_heads
//   prefill   the donor at a batch of as much work; below the smallest batch its latency times the
//             ratio of heads * head_dim, but not less than a launch
//   MLA       the donor times the ratio of flop
// with evidence stand_in.

#include <array>
#include <utility>
#include <vector>

#include "cost/lookup/row_index.h"

namespace rooflua {

class AttentionIndex final : public RowIndex {
 public:
  AttentionIndex(Op op, const std::vector<const KernelTable*>& tables);

  bool empty() const override { return shapes_.empty(); }
  double gap(const Query& query) const override;
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  /// Per rank: heads, kv_heads (or rank, nope), head_dim (or rope), window (0: none).
  using Heads = std::array<double, 4>;
  struct Shape {
    Heads heads{};
    Dtype kv = Dtype::bf16;
    Contexts rows;  // of decode: all at context 0
  };
  struct Key {
    double a = 0, b = 0, c = 0, window = 0, tp = 0;  // heads and widths of the model
    Dtype kv = Dtype::bf16;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Plan {
    Key key;
    std::size_t shape = 0;
    double scale = 1;  // of batch (decode) or of latency (else)
    double ratio = 1, gap = 0;
    bool stand_in = false;
  };

  Shape& shape_for(const Heads& heads, Dtype kv);
  Key key_of(const Query& query) const;
  const Plan& plan(const Query& query) const;
  Plan make_plan(const Key& key) const;
  double mismatch(const Shape& shape, const Heads& wanted, Dtype kv) const;
  double size(const Heads& heads, Dtype kv) const;
  Reading decode(const Query& query, const Plan& plan, Strategy strategy, RowsUsed* trace) const;
  Reading foreign_prefill(const Query& query, const Plan& plan, Strategy strategy,
                          RowsUsed* trace) const;
  static Reading prefill(const Shape& shape, const Query& query, double batch, Strategy strategy,
                         RowsUsed* trace);

  Op op_;
  std::vector<Shape> shapes_;
  mutable std::vector<Plan> plans_;
};

}  // namespace rooflua
