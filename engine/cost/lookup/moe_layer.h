#pragma once
// Tables of whole MoE layers: latency over the tokens of all ranks, by shape, widths and
// distribution. Named by the declaration of its op.
//
// A shape that was not measured is read off the nearest one at as many tokens per expert, times the
// ratio of the weights of a rank: where few tokens come the weights are read, where many come each
// weight is multiplied as often. OpDeclaration::farthest bounds how far the donor may be.

#include <vector>

#include "cost/lookup/keyed.h"
#include "cost/lookup/row_index.h"

namespace rooflua {

class MoeLayerIndex final : public RowIndex {
 public:
  explicit MoeLayerIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const override { return index_.empty(); }
  double gap(const Query& query) const override { return plan(query).gap; }
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  /// Which entry answers for a key, remembered: a simulation asks for few.
  struct Plan {
    KeyedIndex::Key key{};
    const KeyedIndex::Entry* entry = nullptr;
    double tokens = 1, latency = 1;  // factors
    double gap = 0;
  };
  const Plan& plan(const Query& query) const;
  Plan make_plan(const KeyedIndex::Key& key) const;

  KeyedIndex index_;
  mutable std::vector<Plan> plans_;
};

}  // namespace rooflua
