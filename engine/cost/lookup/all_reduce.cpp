#include "cost/lookup/all_reduce.h"

#include <cmath>

namespace rooflua {
namespace {

constexpr double graph = 0, eager = 1, nccl = 2;  // modes

double mode_of(const KernelTable& table, const KernelRow& row) {
  if (table.variant == "nccl") return nccl;
  return query_of(table, row).eager != 0 ? eager : graph;
}

}  // namespace

AllReduceIndex::AllReduceIndex(const std::vector<const KernelTable*>& tables) {
  for (const KernelTable* table : tables) {
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      if (!(row.latency_s > 0)) continue;
      index_.add({mode_of(*table, row), row.shape[0]},
                 {row.shape[1], row.latency_s, table, static_cast<int>(i)});
    }
  }
  index_.finish();
}

Reading AllReduceIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double ranks = q.ranks;
  const auto* own = index_.find({q.eager != 0 ? eager : graph, ranks});
  const auto* library = index_.find({nccl, ranks});
  if (own != nullptr && (library == nullptr || q.bytes <= own->series.last())) {
    return own->series.at(q.bytes, strategy, trace);
  }
  if (library != nullptr) return library->series.at(q.bytes, strategy, trace);
  const KeyedIndex::Entry* donor = nullptr;
  double least = 0;
  for (const auto& entry : index_.entries()) {
    const double found =
        key_gap(entry.key[1], ranks) + (entry.key[0] == (q.eager != 0 ? eager : graph) ? 0 : 0.1);
    if (donor == nullptr || found < least) donor = &entry, least = found;
  }
  const double there = donor->key[1];
  const double scale = ((ranks - 1) / ranks) / ((there - 1) / there);
  Reading reading = donor->series.at(q.bytes * scale, strategy, trace);
  return there == ranks ? reading : reading.downgrade(Evidence::stand_in, std::exp2(least));
}

}  // namespace rooflua
