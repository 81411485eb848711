#include "cost/lookup/elementwise.h"

#include <algorithm>
#include <cmath>

#include "cost/ops/work.h"

namespace rooflua {

ElementwiseIndex::ElementwiseIndex(const std::vector<const KernelTable*>& tables) {
  for (const KernelTable* table : tables) {
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      if (!(row.latency_s > 0)) continue;
      const Query query = query_of(*table, row);
      index_.add({query.kernel, query.width},
                 {query.tokens, row.latency_s, table, static_cast<int>(i)});
    }
  }
  index_.finish();
}

Reading ElementwiseIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double kernel = q.kernel;
  const KeyedIndex::Entry* donor = nullptr;
  double least = 0;
  for (const auto& entry : index_.entries()) {
    const double found = key_gap(entry.key[1], q.width) + (entry.key[0] == kernel ? 0 : 100);
    if (donor == nullptr || found < least) donor = &entry, least = found;
  }
  const double there = donor->key[1] * passes(donor->key[0]);
  const double tokens = q.tokens * (q.width * passes(q.kernel) / there);
  Reading reading = donor->series.at(tokens, strategy, trace);
  if (least == 0) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(std::min(least, 60.0)));
}

}  // namespace rooflua
