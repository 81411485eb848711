#pragma once
// Tables whose shape is a key and whose only axis is tokens, batch or bytes: experts, linear
// attention, collectives, memory, element-wise kernels. Private to the grid lookups.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "cost/lookup/grid.h"

namespace rooflua {

/// Series by key. Keys are compared as numbers; a key that was not measured is somebody's to judge.
class KeyedIndex {
 public:
  using Key = std::array<double, 6>;
  struct Entry {
    Key key{};
    Series series;
  };

  void add(const Key& key, const Point& point);
  /// Of two kernels for the same point the faster stays: engines choose.
  void finish();
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const Key& key) const;

 private:
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> of_;
};

/// Which distribution of tokens over experts stands for real routing: mildly skewed, where a table
/// has a choice.
bool has_usual_distribution(const KernelTable& table);
bool is_usual_distribution(const KernelTable& table, const KernelRow& row, bool has_usual);

/// Grouped GEMMs. Key: decode table, experts of the rank, experts per token, hidden size, width per
/// rank,
/// all experts. A foreign key is the donor at as many tokens per expert, times the ratio of
/// weights.
class ExpertIndex {
 public:
  explicit ExpertIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const { return whole_.empty() && single_.empty(); }
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const;

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
  const Plan& plan(const KeyedIndex& index, const KeyedIndex::Key& key) const;
  static Plan make_plan(const KeyedIndex& index, const KeyedIndex::Key& key);
  Reading read(const KeyedIndex& index, const KeyedIndex::Key& key, double tokens,
               Strategy strategy, RowsUsed* trace) const;
  mutable std::vector<Plan> plans_;
  KeyedIndex whole_;   // up and down projection together
  KeyedIndex single_;  // one GEMM of [hidden, width] each
};

/// linear_attention, all_reduce, memory, launch, elementwise.
class OneAxisIndex {
 public:
  OneAxisIndex(Op op, const std::vector<const KernelTable*>& tables);
  bool empty() const { return index_.empty(); }
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const;

 private:
  Reading all_reduce(const Query& query, Strategy strategy, RowsUsed* trace) const;
  Reading elementwise(const Query& query, Strategy strategy, RowsUsed* trace) const;
  Reading foreign(const KeyedIndex::Key& key, std::size_t exact, double x, Strategy strategy,
                  RowsUsed* trace) const;
  Op op_;
  KeyedIndex index_;
};

}  // namespace rooflua
