#include "cost/lookup/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/ops/fields.h"
#include "cost/work/op_work.h"

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

ElementwiseIndex::Donor ElementwiseIndex::nearest(const Query& q) const {
  Donor donor;
  for (const auto& entry : index_.entries()) {
    const double kernel = entry.key[0];
    if (!may_stand_in(fields::kernel, kernel, q.kernel)) continue;
    const double found = key_gap(entry.key[1], q.width) + (kernel == q.kernel ? 0 : 100);
    if (donor.entry == nullptr || found < donor.distance) donor = {&entry, found};
  }
  return donor;
}

double ElementwiseIndex::gap(const Query& query) const {
  const Donor donor = nearest(query);
  return donor.entry == nullptr ? std::numeric_limits<double>::infinity() : donor.distance;
}

Reading ElementwiseIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const Donor donor = nearest(q);
  const double there = elementwise_bytes(donor.entry->key[0], 1, donor.entry->key[1]);
  const double tokens = q.tokens * (elementwise_bytes(q.kernel, 1, q.width) / there);
  Reading reading = donor.entry->series.at(tokens, strategy, trace);
  if (donor.distance == 0) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(std::min(donor.distance, 60.0)));
}

}  // namespace rooflua
