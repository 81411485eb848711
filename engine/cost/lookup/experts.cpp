#include "cost/lookup/experts.h"

#include <algorithm>
#include <cmath>

namespace rooflua {
namespace {

constexpr std::string_view usual_distribution = "power_law_1.01";

}  // namespace

bool has_usual_distribution(const KernelTable& table) {
  return std::any_of(table.labels.begin(), table.labels.end(),
                     [](const std::string& label) { return label.ends_with(usual_distribution); });
}

bool is_usual_distribution(const KernelTable& table, const KernelRow& row, bool has_usual) {
  if (!has_usual || table.labels.empty()) return true;
  return table.labels[static_cast<std::size_t>(row.shape[7])].ends_with(usual_distribution);
}

ExpertIndex::ExpertIndex(const std::vector<const KernelTable*>& tables) {
  for (const KernelTable* table : tables) {
    const bool has_usual = has_usual_distribution(*table);
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      const auto& s = row.shape;
      if (!(row.latency_s > 0) || !is_usual_distribution(*table, row, has_usual)) continue;
      const bool single = table->variant == "single";
      const KeyedIndex::Key key{table->decode ? 1.0 : 0.0, s[2], s[3], s[4], s[5], s[0]};
      (single ? single_ : whole_).add(key, {s[6], row.latency_s, table, static_cast<int>(i)});
    }
  }
  whole_.finish();
  single_.finish();
}

const ExpertIndex::Plan& ExpertIndex::plan(const KeyedIndex& index,
                                           const KeyedIndex::Key& key) const {
  for (const Plan& plan : plans_) {
    if (plan.index == &index && plan.key == key) return plan;
  }
  plans_.push_back(make_plan(index, key));
  return plans_.back();
}

ExpertIndex::Plan ExpertIndex::make_plan(const KeyedIndex& index, const KeyedIndex::Key& key) {
  Plan plan{&index, key, index.find(key)};
  if (plan.entry != nullptr) return plan;
  double least = 0;
  for (const auto& entry : index.entries()) {
    const double found = 0.01 * std::abs(entry.key[0] - key[0]) + key_gap(entry.key[1], key[1]) +
                         2 * key_gap(entry.key[2], key[2]) + 2 * key_gap(entry.key[3], key[3]) +
                         2 * key_gap(entry.key[4], key[4]) + 0.001 * key_gap(entry.key[5], key[5]);
    if (plan.entry == nullptr || found < least) plan.entry = &entry, least = found;
  }
  const auto& d = plan.entry->key;
  plan.tokens = (key[2] / key[1]) * (d[1] / d[2]);  // as many tokens per expert
  plan.latency = (key[1] * key[3] * key[4]) / (d[1] * d[3] * d[4]);
  plan.stand_in = d[1] != key[1] || d[2] != key[2] || d[3] != key[3] || d[4] != key[4];
  plan.ratio = plan.stand_in ? std::exp2(least) : 1;
  return plan;
}

Reading ExpertIndex::read(const KeyedIndex& index, const KeyedIndex::Key& key, double tokens,
                          Strategy strategy, RowsUsed* trace) const {
  const Plan& plan = this->plan(index, key);
  Reading reading = plan.entry->series.at(tokens * plan.tokens, strategy, trace);
  reading.latency_s *= plan.latency;
  return plan.stand_in ? reading.downgrade(Evidence::stand_in, plan.ratio) : reading;
}

KeyedIndex::Key ExpertIndex::whole_key(const Query& q) {
  const double local = std::max(1.0, q.experts / expert_groups(q)), tp = std::max(1.0, q.tp);
  return {q.decode, local, q.experts_per_token, q.hidden_size, q.intermediate_size / tp, q.experts};
}

double ExpertIndex::gap(const Query& query) const {
  if (whole_.empty()) return 0;
  return std::log2(plan(whole_, whole_key(query)).ratio);
}

Reading ExpertIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const KeyedIndex::Key key = whole_key(q);
  if (!whole_.empty()) return read(whole_, key, q.tokens, strategy, trace);
  const double local = key[1], topk = key[2], width = key[4];
  Reading up =
      read(single_, {0, local, topk, q.hidden_size, 2 * width, local}, q.tokens, strategy, trace);
  const Reading down =
      read(single_, {0, local, topk, width, q.hidden_size, local}, q.tokens, strategy, trace);
  up.latency_s += down.latency_s;
  return up.also(down);
}

}  // namespace rooflua
