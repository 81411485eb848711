#include "cost/lookup/declared.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace rooflua {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double other_key = 100;  // farther than any number of doublings

bool is_key(FieldRole role) {
  return role == FieldRole::table || role == FieldRole::key || role == FieldRole::near ||
         role == FieldRole::scale;
}

}  // namespace

DeclaredIndex::DeclaredIndex(Op op, const std::vector<const KernelTable*>& tables) {
  for (const Field& field : declaration_of(op).fields) {
    if (is_key(field.role)) keys_.push_back(&field);
    if (field.role == FieldRole::axis) axes_.push_back(&field);
  }
  ROOFLUA_ASSERT(keys_.size() <= max_axes);
  ROOFLUA_ASSERT(axes_.size() <= 3);
  for (const KernelTable* table : tables) {
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      if (!(row.latency_s > 0)) continue;
      const Query query = query_of(*table, row);
      const Key key = key_of(query);
      const auto [found, fresh] = of_.try_emplace(key, entries_.size());
      if (fresh) entries_.push_back({key, Contexts()});
      const At at = at_axes(query);
      entries_[found->second].rows.add(at.context, at.outer,
                                       {at.inner, row.latency_s, table, static_cast<int>(i)});
    }
  }
  for (Entry& entry : entries_) entry.rows.finish(true);
}

DeclaredIndex::Key DeclaredIndex::key_of(const Query& query) const {
  Key key{};
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Field& field = *keys_[i];
    if (field.is_kv()) {
      key[i] = static_cast<double>(format_of(query.kv_dtype).runs_as);
    } else {
      key[i] = field.number(query);
    }
    if (field.per_rank) key[i] = std::max(1.0, key[i] / std::max(1.0, query.tp));
  }
  return key;
}

DeclaredIndex::At DeclaredIndex::at_axes(const Query& query) const {
  At at;
  int read = 0;
  for (const Field* field : axes_) {
    if (!field->read_by(query)) continue;
    if (axes_.size() == 3 && field->number == &Query::context_tokens) {
      at.context = query.context_tokens;
      continue;
    }
    at.outer = read++ == 0 ? 1 : at.inner;
    at.inner = std::max(field->at_least, field->number(query));
  }
  return at;
}

const DeclaredIndex::Donor& DeclaredIndex::nearest(const Key& key) const {
  Words<max_axes> words;
  for (std::size_t i = 0; i < key.size(); ++i)
    words.words[i] = std::bit_cast<std::uint64_t>(key[i]);
  return nearest_.of(words, [&] { return find_nearest(key); });
}

DeclaredIndex::Donor DeclaredIndex::find_nearest(const Key& key) const {
  const auto same = of_.find(key);
  if (same != of_.end()) return {&entries_[same->second]};
  Donor donor;
  donor.distance = infinity;
  for (const Entry& entry : entries_) {
    double found = 0, ratio = 1;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Field& field = *keys_[i];
      const double here = entry.key[i], wanted = key[i];
      if (!may_stand_in(field, here, wanted)) found = infinity;
      if (field.role == FieldRole::key || field.role == FieldRole::table) {
        const bool agrees = here == wanted || (field.any && wanted == field.otherwise);
        found += agrees ? 0 : other_key;
      } else {
        found += key_gap(here, wanted);
        if (field.role == FieldRole::scale && here > 0) ratio *= wanted / here;
      }
    }
    if (found == infinity) continue;
    if (donor.entry == nullptr || found < donor.distance) donor = {&entry, found, ratio};
  }
  return donor;
}

Reading DeclaredIndex::at(const Query& query, Strategy strategy, RowsUsed* trace) const {
  const Donor& donor = nearest(key_of(query));
  const At at = at_axes(query);
  Reading reading = donor.entry->rows.at(at.context, at.outer, at.inner, strategy, strategy, trace);
  reading.latency_s *= donor.scale;
  if (donor.distance == 0) return reading;
  return reading.downgrade(Evidence::stand_in, std::exp2(std::min(donor.distance, 60.0)));
}

}  // namespace rooflua
