#pragma once
// The metrics of a run: each declared once, in the order of documents. JSON (writing and reading),
// reports, pages, the names that scripts know, help and the table of the documentation loop over
// these lists. A new metric is one entry in metrics.cpp and the member that holds its value.
// Metrics of parts that only some runs have are in measure/parts.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "measure/parts/metric.h"
#include "measure/record/summary.h"

namespace rooflua {

/// One figure of a distribution: the statistics of requests, of gaps between tokens, of sessions.
struct Figure {
  std::string_view name;
  double Statistics::*read;
};
inline constexpr Figure statistic_figures[] = {
    {"mean", &Statistics::mean}, {"std", &Statistics::std}, {"min", &Statistics::min},
    {"p50", &Statistics::p50},   {"p90", &Statistics::p90}, {"p95", &Statistics::p95},
    {"p99", &Statistics::p99},   {"max", &Statistics::max}};

using OutcomeCounts = std::array<std::int64_t, outcome_count>;

/// Where a metric is read: a member of the record. A member that is a number is a scalar metric,
/// Statistics are a distribution. Nothing: documents of another kind hold it (time_s).
template <class Record>
using Source = std::variant<std::monostate, std::int64_t Record::*, double Record::*,
                            std::optional<double> Record::*, std::optional<std::int64_t> Record::*,
                            Statistics Record::*, bool Record::*, Slo Record::*,
                            OutcomeCounts Record::*, EvidenceShares Record::*,
                            std::optional<PartSeconds> Record::*>;

template <class Record>
struct MetricOf {
  std::string_view name;   // its key in documents
  std::string_view label;  // in tables for people: "TTFT"
  std::string_view unit;   // "s", "requests/s", "tokens"; "1" of a share; "" of what is no number
  Better better;
  std::string_view help;
  Source<Record> source;
  bool of_requests = false;  // a single request has it, too
};
using Metric = MetricOf<Summary>;

/// In the order of the document; classes, replicas and sessions come after them.
std::span<const Metric> run_metrics();
/// Of a class or a replica.
std::span<const MetricOf<GroupSummary>> group_metrics();
/// Of a replica, besides those of its requests.
std::span<const MetricOf<ReplicaSummary>> replica_metrics();
std::span<const MetricOf<SessionSummary>> session_metrics();

/// A metric that scripts compute from others: the product of the factors over the divisor.
struct DerivedMetric {
  std::string_view name, unit;
  Better better;
  std::string_view help;
  std::array<std::string_view, 2> factors;  // metrics; "" = none
  bool whole;                               // the product is a count: rounded to a whole number
  std::string_view divisor;                 // a metric, or "gpus": how many the run has
};
std::span<const DerivedMetric> derived_metrics();

/// One number of a record: a metric, or one figure of a distribution.
template <class Record>
struct ColumnOf {
  const MetricOf<Record>* metric = nullptr;
  const Figure* figure = nullptr;  // null: the metric is no distribution

  /// NaN where the record has no such number. Of outcomes the failed requests, of evidence the
  /// unsupported share.
  double value(const Record& record) const;
  /// "TTFT p50"
  std::string label() const;
  bool is_time() const { return metric->unit == "s"; }
  bool is_share() const { return metric->unit == "1"; }
  bool is_count() const;
  bool is_optional() const;
};
using Column = ColumnOf<Summary>;
using GroupColumn = ColumnOf<GroupSummary>;
using ReplicaColumn = ColumnOf<ReplicaSummary>;

/// The column "ttft_s_p50" or "preemptions". A name that no metric has is our mistake.
Column run_column(std::string_view name);
GroupColumn group_column(std::string_view name);
ReplicaColumn replica_column(std::string_view name);

/// Requests that ended in another way than completed.
std::int64_t failed(const OutcomeCounts& ended);

}  // namespace rooflua
