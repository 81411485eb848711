#pragma once
// A part of a run that not every run has: a gate, clients, links. What a part is in results stands
// in one file of this folder: what it counts while the run goes, its metrics, its sentence.
// Documents (writing, reading, schema), reports and pages loop over parts(): a part that is one of
// them is everywhere.

#include <any>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "measure/parts/counter.h"
#include "measure/parts/metric.h"

namespace rooflua {

/// Where a part stands in a report or on a page: in front of the groups of requests, among the
/// other parts, or at the end; there by rank.
struct PartPosition {
  enum Spot { before_groups, among_parts, at_end, nowhere } spot = among_parts;
  int rank = 100;
};

/// A row of parts().
struct PartRow {
  std::string_view name;  // its key in documents
  std::string_view help;
  std::span<const PartMetric> metrics;  // in the order of documents
  bool many = false;                    // documents have a list of instances
  std::any (*empty)() = nullptr;        // figures without values: empty<GateFigures>
  /// Lines of a report, without those of tables: says<gate_text>. Null: a table of the instances.
  std::string (*text)(const std::any& figures) = nullptr;
  /// Labels and cells of tables where those of the metrics do not do.
  std::span<const std::string_view> labels = {};
  std::vector<std::string> (*cells)(const std::any& figures) = nullptr;
  bool in_gb = false;                        // the metrics' bytes in tables are GB
  std::string_view heading = {}, note = {};  // of its table on a page
  PartPosition in_report = {}, on_page = {};
  /// Null: this run has none. `asked`: what SummaryOptions::parts say of it; null: nothing.
  std::unique_ptr<PartCounter> (*counter)(const SummaryOptions& options, const Json* asked);
};

/// What a part, or an instance of it, amounted to.
struct PartFigures {
  const PartRow* part = nullptr;
  std::any figures;
};

/// All parts, in the order of documents (list.cpp).
std::span<const PartRow* const> parts();
/// Those at a spot of a report or of a page, in its order.
std::vector<const PartRow*> parts_at(PartPosition PartRow::*where, PartPosition::Spot spot);

/// Header and cells of tables.
std::vector<std::string> labels_of(const PartRow& part);
std::vector<std::string> cells_of(const PartFigures& each);

// --- what rows are made of

template <class Figures>
std::any empty() {
  return Figures{};
}

namespace detail {
template <class Figures, class Answer>
Figures argument_of(Answer (*)(const Figures&));
}

template <auto function>
auto says(const std::any& figures) {
  return function(std::any_cast<const decltype(detail::argument_of(function))&>(figures));
}

/// The counter of runs whose options ask for the part.
template <class Counter>
std::unique_ptr<PartCounter> where_asked(const SummaryOptions& options, const Json* asked) {
  if (asked == nullptr) return nullptr;
  if constexpr (std::is_constructible_v<Counter, const SummaryOptions&>)
    return std::make_unique<Counter>(options);
  else
    return std::make_unique<Counter>();
}

/// The counter of every run: it has figures where something happened.
template <class Counter>
std::unique_ptr<PartCounter> everywhere(const SummaryOptions&, const Json*) {
  return std::make_unique<Counter>();
}

}  // namespace rooflua
