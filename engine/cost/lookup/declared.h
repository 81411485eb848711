#pragma once
// The index of every op that is nothing but its declaration: rows by the fields that are keys, read
// along its axes. Private to the grid lookups.
//
//   key     rows of another value answer only where no row has this one            stand_in;
//           rows of a word of another group (FieldWord) never do
//   near    the nearest value answers                                              stand_in
//   scale   as near, and the latency is multiplied by the ratio of the values     stand_in
//   axis    one axis: Series; two: Plane, the first being proportional to work; three: Contexts,
//           batch, context_tokens and new_tokens of a prefill
//
// Of two kernels for the same point the faster answers: engines choose.

#include <map>
#include <vector>

#include "cost/lookup/keyed.h"
#include "cost/lookup/row_index.h"
#include "cost/price/recent_values.h"

namespace rooflua {

class DeclaredIndex final : public RowIndex {
 public:
  DeclaredIndex(Op op, const std::vector<const KernelTable*>& tables);
  bool empty() const override { return entries_.empty(); }
  /// Infinite where no row may stand in.
  double gap(const Query& query) const override { return nearest(key_of(query)).distance; }
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  using Key = KeyedIndex::Key;
  struct Entry {
    Key key{};
    Contexts rows;
  };
  /// Where a question is asked along the axes; an axis that the op has not is 1.
  struct At {
    double context = 0, outer = 1, inner = 1;
  };
  struct Donor {
    const Entry* entry = nullptr;
    double distance = 0, scale = 1;
  };

  Key key_of(const Query& query) const;
  At at_axes(const Query& query) const;
  const Donor& nearest(const Key& key) const;
  Donor find_nearest(const Key& key) const;

  std::vector<const Field*> keys_, axes_;
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> of_;
  mutable RecentValues<Words<max_axes>, Donor> nearest_;
};

}  // namespace rooflua
