#pragma once
// From the texts of one row to a checked TraceRow. Used by the readers in read.cpp only.

#include <string>
#include <string_view>
#include <unordered_map>

#include "serve/traces/columns.h"
#include "serve/traces/not_replayed.h"
#include "serve/traces/time_unit.h"
#include "serve/traces/trace.h"

namespace rooflua {

class TraceBuilder {
 public:
  TraceBuilder(Trace& trace, const TraceOptions& options) : trace_(trace), options_(options) {}

  /// What the column of arrivals is. Call before the first row, and again where another column
  /// takes its place. @throws Error if its name contradicts the unit that the options state
  void set_arrival_unit(const TraceColumn& column);
  /// @throws Error as read_trace
  void append(const RawTraceRow& raw);
  /// Counts a row that is not replayed.
  void leave_out(const std::string& why, const RawTraceRow& raw);
  /// Whether the rows that follow change nothing.
  bool full() const { return has_enough() && !is_told_; }
  /// Sorts if the options say so. Call once, after the last row. @throws Error if no row is left
  void finish();

 private:
  bool has_enough() const {
    return options_.limit > 0 && trace_.rows.size() >= options_.limit && !sorts();
  }
  /// Makes seconds of the stamps of all rows, whose unit is inferred from them.
  void tell_unit();
  void sort();
  bool sorts() const { return options_.sort || trace_.format == TraceFormat::requests; }
  double arrival(const RawTraceRow& raw);
  /// Whether the recording says that the request failed.
  bool failed(const RawTraceRow& raw) const;
  void skip(const std::string& why, const RawTraceRow& raw);
  /// When the client left; never_cancelled where it did not.
  double cancelled(const RawTraceRow& raw, const TraceRow& row) const;
  std::int64_t prompt(const RawTraceRow& raw) const;
  /// The place of its items in the trace; -1: it has none. @throws Error for one that is no list
  std::int32_t items(const RawTraceRow& raw);
  /// Its number, or that of its name.
  std::int32_t tenant(const RawTraceRow& raw);
  /// Both append the segments of a row to the trace and return their tokens.
  std::int64_t append_content(const RawTraceRow& raw, const TraceRow& row);
  std::int64_t append_hash_ids(const RawTraceRow& raw, const TraceRow& row);
  [[noreturn]] void wrong_hash_ids(const RawTraceRow& raw, const TraceRow& row,
                                   std::int64_t found) const;
  /// Where some rows have a class, all others get the class "(none)".
  void name_classes();
  std::int64_t whole(const RawTraceRow& raw, TraceRole role, std::int64_t absent) const;
  std::string where(const RawTraceRow& raw, TraceRole role) const;
  std::int32_t index_of(std::string_view name, std::vector<std::string>& names,
                        std::unordered_map<std::string, std::int32_t>& known) const;

  std::vector<std::string> tenants_;  // names, in order of appearance
  Trace& trace_;
  const TraceOptions& options_;
  double units_per_s_ = 1;
  bool is_told_ = false;  // the unit follows from the stamps; until finish() rows have stamps
  bool documented_s_ = false;
  Stamps stamps_;
  double first_stamp_ = 0;
  std::optional<std::int64_t> start_ns_;  // of a trace with dates
  std::optional<double> start_s_;         // of a trace with Unix times
  double last_arrival_s_ = 0;
  NotReplayed not_replayed_;
  std::unordered_map<std::string, std::int32_t> class_index_, session_index_,
      tenant_index_;  // looked up only
};

}  // namespace rooflua
