#pragma once
// Tables of routed experts. Named by the declaration of its op.

#include <vector>

#include "cost/lookup/keyed.h"
#include "cost/lookup/row_index.h"

namespace rooflua {

/// Which distribution of tokens over experts stands for real routing: mildly skewed, where a table
/// has a choice.
bool has_usual_distribution(const KernelTable& table);
bool is_usual_distribution(const KernelTable& table, const KernelRow& row, bool has_usual);

/// Grouped GEMMs. Key: decode table, experts of the rank, experts per token, hidden size, width per
/// rank,
/// all experts. A foreign key is the donor at as many tokens per expert, times the ratio of
/// weights.
class ExpertIndex final : public RowIndex {
 public:
  explicit ExpertIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const override { return whole_.empty() && single_.empty(); }
  double gap(const Query& query) const override;
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  /// Which entry answers for a key, remembered: a simulation asks for few.
  struct Plan {
    const KeyedIndex* index = nullptr;
    KeyedIndex::Key key{};
    const KeyedIndex::Entry* entry = nullptr;
    double tokens = 1, latency = 1;  // factors
    double ratio = 1;
    bool stand_in = false;
  };
  static KeyedIndex::Key whole_key(const Query& query);
  const Plan& plan(const KeyedIndex& index, const KeyedIndex::Key& key) const;
  static Plan make_plan(const KeyedIndex& index, const KeyedIndex::Key& key);
  Reading read(const KeyedIndex& index, const KeyedIndex::Key& key, double tokens,
               Strategy strategy, RowsUsed* trace) const;
  mutable std::vector<Plan> plans_;
  KeyedIndex whole_;   // up and down projection together
  KeyedIndex single_;  // one GEMM of [hidden, width] each
};

}  // namespace rooflua
