#include "cost/lookup/all_reduce.h"

#include <algorithm>
#include <cmath>

namespace rooflua {
namespace {

constexpr double graph = 0, eager = 1, nccl = 2;  // modes

double mode_of(const KernelTable& table, const KernelRow& row) {
  if (table.variant == "nccl") return nccl;
  return query_of(table, row).eager != 0 ? eager : graph;
}

double distance(const KeyedIndex::Entry& entry, const Query& q) {
  const bool same_mode = entry.key[0] == (q.eager != 0 ? eager : graph);
  return key_gap(entry.key[1], q.ranks) + (same_mode ? 0 : 0.1);
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

const KeyedIndex::Entry& AllReduceIndex::nearest(const Query& q) const {
  const auto& entries = index_.entries();
  return *std::min_element(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
    return distance(a, q) < distance(b, q);
  });
}

double AllReduceIndex::gap(const Query& query) const {
  return key_gap(nearest(query).key[1], query.ranks);
}

Reading AllReduceIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double ranks = q.ranks;
  const auto* own = index_.find({q.eager != 0 ? eager : graph, ranks});
  const auto* library = index_.find({nccl, ranks});
  if (own != nullptr && (library == nullptr || q.bytes <= own->series.last())) {
    return own->series.at(q.bytes, strategy, trace);
  }
  if (library != nullptr) return library->series.at(q.bytes, strategy, trace);
  const KeyedIndex::Entry& donor = nearest(q);
  const double there = donor.key[1];
  const double scale = ((ranks - 1) / ranks) / ((there - 1) / there);
  Reading reading = donor.series.at(q.bytes * scale, strategy, trace);
  if (there == ranks) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(distance(donor, q)));
}

}  // namespace rooflua
