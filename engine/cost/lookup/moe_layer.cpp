#include "cost/lookup/moe_layer.h"

#include <cmath>

namespace rooflua {
namespace {

/// What the time of a rank depends on: its experts, how many of all experts a token visits, the
/// widths, and how tokens are spread.
struct Shape {
  double local, topk, all, hidden, width, distribution;
};

Shape shape_of(const KeyedIndex::Key& key) {
  const double tp = key[4], ep = key[5];
  return {key[2] / ep, key[3], key[2], key[0], key[1] / tp, key[6]};
}

KeyedIndex::Key key_of(const Query& q) {
  return {q.hidden_size,       q.intermediate_size,           q.experts,     q.experts_per_token,
          std::max(1.0, q.tp), std::max(1.0, q.expert_ranks), q.distribution};
}

double gap_of(const Shape& a, const Shape& b) {
  const double skew = a.distribution == b.distribution ? 0 : 0.1;
  return skew + key_gap(a.hidden, b.hidden) + key_gap(a.width, b.width) +
         0.5 * key_gap(a.local, b.local) + 0.5 * key_gap(a.topk, b.topk) +
         0.25 * key_gap(a.all, b.all);
}

}  // namespace

MoeLayerIndex::MoeLayerIndex(const std::vector<const KernelTable*>& tables) {
  for (const KernelTable* table : tables) {
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      if (!(row.latency_s > 0)) continue;
      const Query query = query_of(*table, row);
      index_.add(key_of(query), {query.tokens, row.latency_s, table, static_cast<int>(i)});
    }
  }
  index_.finish();
}

const MoeLayerIndex::Plan& MoeLayerIndex::plan(const Query& query) const {
  const KeyedIndex::Key key = key_of(query);
  for (const Plan& plan : plans_) {
    if (plan.key == key) return plan;
  }
  plans_.push_back(make_plan(key));
  return plans_.back();
}

MoeLayerIndex::Plan MoeLayerIndex::make_plan(const KeyedIndex::Key& key) const {
  Plan plan{key, index_.find(key)};
  if (plan.entry != nullptr) return plan;
  const Shape wanted = shape_of(key);
  for (const KeyedIndex::Entry& entry : index_.entries()) {
    const double gap = gap_of(shape_of(entry.key), wanted);
    if (plan.entry == nullptr || gap < plan.gap) plan.entry = &entry, plan.gap = gap;
  }
  const Shape donor = shape_of(plan.entry->key);
  plan.tokens = (wanted.topk / wanted.all) / (donor.topk / donor.all);
  plan.latency =
      (wanted.local * wanted.hidden * wanted.width) / (donor.local * donor.hidden * donor.width);
  return plan;
}

Reading MoeLayerIndex::at(const Query& query, Strategy strategy, RowsUsed* trace) const {
  const Plan& plan = this->plan(query);
  Reading reading = plan.entry->series.at(query.tokens * plan.tokens, strategy, trace);
  reading.latency_s *= plan.latency;
  if (plan.gap == 0) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(plan.gap));
}

}  // namespace rooflua
