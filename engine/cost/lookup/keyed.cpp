#include "cost/lookup/keyed.h"

#include <algorithm>
#include <cmath>

#include "cost/lookup/lookup.h"

namespace rooflua {
namespace {

double gap(double a, double b) {
  return std::abs(std::log2((a + 1e-9) / (b + 1e-9)));
}

constexpr std::string_view usual_distribution = "power_law_1.01";

constexpr double graph = 0, eager = 1, nccl = 2;  // modes of an all-reduce
double mode_of(const KernelTable& table, const KernelRow& row) {
  if (table.variant == "nccl") return nccl;
  if (table.labels.empty()) return graph;
  return table.labels[static_cast<std::size_t>(row.shape[2])].ends_with("eager") ? eager : graph;
}

double kernel_of(const KernelTable& table, const KernelRow& row) {
  return static_cast<double>(query_of(table, row).kernel);
}

}  // namespace

bool has_usual_distribution(const KernelTable& table) {
  return std::any_of(table.labels.begin(), table.labels.end(),
                     [](const std::string& label) { return label.ends_with(usual_distribution); });
}

bool is_usual_distribution(const KernelTable& table, const KernelRow& row, bool has_usual) {
  if (!has_usual || table.labels.empty()) return true;
  return table.labels[static_cast<std::size_t>(row.shape[7])].ends_with(usual_distribution);
}

void KeyedIndex::add(const Key& key, const Point& point) {
  const auto [found, fresh] = of_.try_emplace(key, entries_.size());
  if (fresh) entries_.push_back({key, Series()});
  entries_[found->second].series.add(point);
}

void KeyedIndex::finish() {
  for (Entry& entry : entries_) entry.series.finish(true);
}

const KeyedIndex::Entry* KeyedIndex::find(const Key& key) const {
  const auto found = of_.find(key);
  return found == of_.end() ? nullptr : &entries_[found->second];
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
    const double found = 0.01 * std::abs(entry.key[0] - key[0]) + gap(entry.key[1], key[1]) +
                         2 * gap(entry.key[2], key[2]) + 2 * gap(entry.key[3], key[3]) +
                         2 * gap(entry.key[4], key[4]) + 0.001 * gap(entry.key[5], key[5]);
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

Reading ExpertIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double tp = std::max(1, q.tp);
  const double groups = std::max(1.0, std::max(1, q.ranks) / tp);
  const double local = std::max(1.0, q.experts / groups), width = q.intermediate_size / tp;
  const double topk = q.experts_per_token, all = q.experts;
  if (!whole_.empty()) {
    return read(whole_, {q.decode ? 1.0 : 0.0, local, topk, q.hidden_size, width, all}, q.tokens,
                strategy, trace);
  }
  Reading up =
      read(single_, {0, local, topk, q.hidden_size, 2 * width, local}, q.tokens, strategy, trace);
  const Reading down =
      read(single_, {0, local, topk, width, q.hidden_size, local}, q.tokens, strategy, trace);
  up.latency_s += down.latency_s;
  return up.also(down);
}

OneAxisIndex::OneAxisIndex(Op op, const std::vector<const KernelTable*>& tables) : op_(op) {
  for (const KernelTable* table : tables) {
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      const auto& s = row.shape;
      if (!(row.latency_s > 0)) continue;
      KeyedIndex::Key key{};
      double x = 0;
      switch (op) {
        case Op::linear_attention:
          key = {table->decode ? 1.0 : 0.0, s[0], s[1], s[2], s[3], s[4]};
          x = s[5];
          break;
        case Op::all_reduce:
          key = {mode_of(*table, row), s[0]};
          x = s[1];
          break;
        case Op::memory:
          key = {kernel_of(*table, row)};
          x = s[1];
          break;
        case Op::launch:
          key = {kernel_of(*table, row)};
          x = 1;
          break;
        default:
          key = {kernel_of(*table, row), s[2]};
          x = s[1];
          break;
      }
      index_.add(key, {x, row.latency_s, table, static_cast<int>(i)});
    }
  }
  index_.finish();
}

/// Rows of the kernel asked for (of any, if it has none) at the width nearest to it, where they
/// move as many bytes: what such a kernel does beside moving them does not grow with its width.
Reading OneAxisIndex::elementwise(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double kernel = static_cast<double>(q.kernel);
  const KeyedIndex::Entry* donor = nullptr;
  double least = 0;
  for (const auto& entry : index_.entries()) {
    const double found = gap(entry.key[1], q.width) + (entry.key[0] == kernel ? 0 : 100);
    if (donor == nullptr || found < least) donor = &entry, least = found;
  }
  const double there = donor->key[1] * passes(static_cast<Kernel>(static_cast<int>(donor->key[0])));
  const double tokens = q.tokens * (q.width * passes(q.kernel) / there);
  Reading reading = donor->series.at(tokens, strategy, trace);
  if (least == 0) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(std::min(least, 60.0)));
}

/// The nearest key whose first `exact` parts agree (all of them, if any does); latency goes with
/// the rest.
Reading OneAxisIndex::foreign(const KeyedIndex::Key& key, std::size_t exact, double x,
                              Strategy strategy, RowsUsed* trace) const {
  const KeyedIndex::Entry* donor = nullptr;
  double least = 0, scale = 1;
  for (const auto& entry : index_.entries()) {
    double found = 0, ratio = 1;
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (i < exact) {
        found += entry.key[i] == key[i] ? 0 : 100;
      } else {
        found += gap(entry.key[i], key[i]);
        const bool counts = op_ != Op::linear_attention || i != 2;  // state grows with value heads
        if (counts && entry.key[i] > 0) ratio *= key[i] / entry.key[i];
      }
    }
    if (donor == nullptr || found < least) donor = &entry, least = found, scale = ratio;
  }
  Reading reading = donor->series.at(x, strategy, trace);
  reading.latency_s *= scale;
  return least == 0 ? reading
                    : reading.downgrade(Evidence::stand_in, std::exp2(std::min(least, 60.0)));
}

Reading OneAxisIndex::all_reduce(const Query& q, Strategy strategy, RowsUsed* trace) const {
  const double ranks = q.ranks;
  const auto* own = index_.find({q.eager ? eager : graph, ranks});
  const auto* library = index_.find({nccl, ranks});
  if (own != nullptr && (library == nullptr || q.bytes <= own->series.last())) {
    return own->series.at(q.bytes, strategy, trace);
  }
  if (library != nullptr) return library->series.at(q.bytes, strategy, trace);
  // Another number of ranks: a ring moves 2 (ranks - 1) / ranks of the bytes over each link.
  const KeyedIndex::Entry* donor = nullptr;
  double least = 0;
  for (const auto& entry : index_.entries()) {
    const double found =
        gap(entry.key[1], ranks) + (entry.key[0] == (q.eager ? eager : graph) ? 0 : 0.1);
    if (donor == nullptr || found < least) donor = &entry, least = found;
  }
  const double there = donor->key[1];
  const double scale = ((ranks - 1) / ranks) / ((there - 1) / there);
  Reading reading = donor->series.at(q.bytes * scale, strategy, trace);
  return there == ranks ? reading : reading.downgrade(Evidence::stand_in, std::exp2(least));
}

Reading OneAxisIndex::at(const Query& q, Strategy strategy, RowsUsed* trace) const {
  switch (op_) {
    case Op::all_reduce:
      return all_reduce(q, strategy, trace);
    case Op::linear_attention:
      return foreign({q.decode ? 1.0 : 0.0, 1.0 * q.conv, 1.0 * q.key_heads, 1.0 * q.key_head_dim,
                      1.0 * q.value_heads, 1.0 * q.value_head_dim},
                     2, q.decode ? std::max(1.0, q.batch) : q.new_tokens, strategy, trace);
    case Op::memory:
      return foreign({static_cast<double>(q.kernel)}, 1, q.bytes, strategy, trace);
    case Op::launch:
      return foreign({static_cast<double>(q.kernel)}, 1, 1, strategy, trace);
    default:
      return elementwise(q, strategy, trace);
  }
}

}  // namespace rooflua
