#include "cost/quality/table_check.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/digits.h"
#include "base/power.h"
#include "cost/quality/measured_row.h"

namespace rooflua {
namespace {

constexpr double mfu_tolerance = 0.03;
constexpr double monotone_tolerance = 0.10;  // timers are noisy
constexpr double warm_up_factor = 1.2;

std::string number(double value) {
  return significant(value, 6);
}

}  // namespace

std::string tflop(FlopPerSecond peak) {
  return number(peak.in_base_units() / 1e12) + " TFLOP/s";
}

Finding single(FindingKind kind, const KernelTable& table, std::string text) {
  Finding finding;
  finding.kind = kind;
  finding.table = table.name;
  finding.path = table.path;
  finding.count = 1;
  finding.text = std::move(text);
  return finding;
}

std::string grid_of(const KernelTable& table) {
  std::string text;
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    std::vector<double> values;
    for (const KernelRow& row : table.rows) values.push_back(row.shape[axis]);
    std::sort(values.begin(), values.end());
    const auto end = std::unique(values.begin(), values.end());
    const auto count = end - values.begin();
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + table.axes[axis] + " ";
    text += count == 1 ? number(values[0])
                       : std::to_string(count) + " (" + number(values[0]) + ".." +
                             number(*(end - 1)) + ")";
  }
  return text;
}

namespace {

std::string factor(double ratio) {
  return significant(ratio > 1 ? ratio : 1 / ratio, 3) + "x too " + (ratio > 1 ? "high" : "low");
}

using Rows = std::vector<const KernelRow*>;

/// The order of everything that tells rows apart but one axis (max_axes: but none).
bool before(const KernelRow& a, const KernelRow& b, std::size_t but) {
  for (std::size_t i = 0; i < max_axes; ++i) {
    if (i != but && a.shape[i] != b.shape[i]) return a.shape[i] < b.shape[i];
  }
  return a.kv_dtype < b.kv_dtype;
}

std::string shape_of(const KernelTable& table, const KernelRow& row) {
  std::string text;
  for (std::size_t i = 0; i < table.axes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + table.axes[i] + " " + number(row.shape[i]);
  }
  return "(" + text + ")";
}

/// Collects one finding of a table: its lines, and the first three in words.
class Collector {
 public:
  Collector(FindingKind kind, const KernelTable& table) {
    finding_.kind = kind;
    finding_.table = table.name;
    finding_.path = table.path;
  }
  void add(int line, const std::string& example) {
    ++finding_.count;
    finding_.lines.push_back(line);
    if (finding_.count > 3) return;
    examples_ += (examples_.empty() ? "" : "; ") + ("line " + std::to_string(line) + " " + example);
  }
  void into(std::vector<Finding>& findings, const std::string& what) {
    if (finding_.count == 0) return;
    finding_.text = what + ": " + examples_ + (finding_.count > 3 ? "; ..." : "");
    findings.push_back(std::move(finding_));
  }

 private:
  Finding finding_;
  std::string examples_;
};

class TableCheck {
 public:
  TableCheck(const KernelTable& table, const std::optional<Hardware>& hardware,
             std::vector<Finding>& findings)
      : table_(table),
        findings_(findings),
        peak_(implied_peak(table)),
        work_axis_(work_axis(declaration_of(table.op))) {
    if (hardware) {
      if (const auto stated = hardware->stated_peak(table.dtype))
        datasheet_ = stated->in_base_units();
      hardware_ = &*hardware;
    }
  }

  void run() {
    if (!table_.header) {
      findings_.push_back(
          single(FindingKind::no_header, table_,
                 "the first line is a row; readers that drop it lose a measurement"));
    }
    check_duplicates();
    check_rows();
    check_listed();
    check_denominator();
    check_parts();
    check_monotone();
    check_holes();
    check_warm_up();
  }

 private:
  void check_duplicates() {
    Rows rows = all_rows();
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow* a, const KernelRow* b) {
      return before(*a, *b, max_axes);
    });
    std::vector<std::pair<const KernelRow*, const KernelRow*>> again;  // a second row, the first
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const bool same = !before(*rows[i - 1], *rows[i], max_axes);
      const bool third = i > 1 && !before(*rows[i - 2], *rows[i], max_axes);
      if (same && !third) again.emplace_back(rows[i], rows[i - 1]);
    }
    std::sort(again.begin(), again.end());  // in the order of the file: rows lie in one vector
    Collector found(FindingKind::duplicate_key, table_);
    for (const auto& [row, first] : again) {
      found.add(row->line, shape_of(table_, *row) + " also on line " + std::to_string(first->line) +
                               ": " + number(row->latency_s * 1e6) + " and " +
                               number(first->latency_s * 1e6) + " us");
    }
    found.into(findings_, "keys that occur more than once");
  }

  /// What one row says against itself or the datasheet.
  void check_rows() {
    static constexpr std::pair<FindingKind, const char*> kinds[] = {
        {FindingKind::not_positive, "latencies of 0 or less"},
        {FindingKind::impossible_shape, "shapes that nothing has"},
        {FindingKind::impossible_latency, "latencies that no kernel has"},
        {FindingKind::quantiles, "the median is not between p10 and p90"},
        {FindingKind::above_peak, "faster than the peak allows"},
        {FindingKind::above_bandwidth, "faster than memory: timed in the cache"},
        {FindingKind::spread, "p90 is more than 1.25 times p10"}};
    for (const auto& [kind, what] : kinds) {
      Collector found(kind, table_);
      for (const KernelRow& row : table_.rows) {
        const RowDoubt doubt = doubt_of(table_, row, hardware_);
        if (doubt.kind == kind) found.add(row.line, shape_of(table_, row) + ": " + doubt.text);
      }
      found.into(findings_, what);
    }
  }

  /// Listed MFU against latency, with the denominator the table itself uses.
  void check_listed() {
    Collector zero(FindingKind::mfu_zero, table_), above(FindingKind::above_peak, table_);
    Collector wrong(FindingKind::mfu_disagrees, table_);
    const double rounding = 0.5 * power_of_ten(-table_.mfu_decimals);
    const FlopPerSecond peak =
        peak_.median.in_base_units() > 0 ? peak_.median : FlopPerSecond(datasheet_);
    for (const KernelRow& row : table_.rows) {
      const double derived = derived_mfu(table_, row, peak);
      const double real = derived_mfu(table_, row, FlopPerSecond(datasheet_of(row)));
      if (row.listed_mfu > 1 || real > 1) {
        const double shown = row.listed_mfu > 1 ? row.listed_mfu : real;
        above.add(row.line, shape_of(table_, row) + ": " + number(shown));
      }
      if (std::isnan(row.listed_mfu)) continue;
      if (row.listed_mfu == 0) {
        zero.add(row.line, shape_of(table_, row) + ": " + number(row.latency_s * 1e6) + " us");
      } else if (std::abs(row.listed_mfu - derived) > mfu_tolerance * derived + rounding * 1.01) {
        wrong.add(row.line, shape_of(table_, row) + " lists " + number(row.listed_mfu) + ", " +
                                number(row.latency_s * 1e6) + " us give " + number(derived) + " (" +
                                number(row.listed_mfu / derived) + "x)");
      }
    }
    zero.into(findings_, "MFU is printed as 0");
    above.into(findings_, "MFU above 1");
    wrong.into(findings_, "MFU does not follow from the latency");
  }

  /// Kernels that read a cache of FP8 may multiply in FP8.
  double datasheet_of(const KernelRow& row) const {
    if (hardware_ == nullptr || row.kv_dtype != Dtype::fp8) return datasheet_;
    const auto stated = hardware_->stated_peak(Dtype::fp8);
    return stated ? std::max(datasheet_, stated->in_base_units()) : datasheet_;
  }

  void check_denominator() {
    const double implied = peak_.median.in_base_units();
    if (!(implied > 0) || !(datasheet_ > 0)) return;
    if (std::abs(implied / datasheet_ - 1) <= mfu_tolerance) return;
    std::string text = "MFU was divided by " + tflop(peak_.median) + ", but the " +
                       std::string(name(table_.dtype)) + " peak of " + hardware_->name + " is " +
                       tflop(FlopPerSecond(datasheet_)) + ": " + factor(datasheet_ / implied);
    for (const auto& [dtype, peak] : hardware_->peak) {
      if (std::abs(implied / peak.in_base_units() - 1) <= mfu_tolerance) {
        text += " (it is the " + std::string(name(dtype)) + " peak)";
        break;
      }
    }
    findings_.push_back(single(FindingKind::denominator, table_, std::move(text)));
  }

  /// Grouped GEMMs print one MFU per projection, of padded or random token counts.
  void check_parts() {
    if (table_.op != Op::grouped_gemm || table_.part_names.size() != 5) return;
    double low = 1e9, high = 0;
    int loose = 0;
    Collector zero(FindingKind::mfu_zero, table_), above(FindingKind::above_peak, table_);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const KernelRow& row = table_.rows[i];
      const double up = table_.part(i, 2);
      if (up == 0 || table_.part(i, 4) == 0) zero.add(row.line, shape_of(table_, row));
      if (up > 1 || table_.part(i, 4) > 1) above.add(row.line, shape_of(table_, row));
      const double flop = 4 * row.shape[6] * row.shape[3] * row.shape[4] * row.shape[5];
      if (!(datasheet_ > 0) || !(up > 0)) continue;
      const double ratio = up * (table_.part(i, 1) * 1e-6 * datasheet_) / flop;
      low = std::min(low, ratio);
      high = std::max(high, ratio);
      if (std::abs(ratio - 1) > mfu_tolerance) ++loose;
    }
    zero.into(findings_, "MFU is printed as 0");
    above.into(findings_, "MFU above 1");
    if (loose == 0) return;
    Finding finding = single(FindingKind::loose_mfu, table_,
                             "MFU counts padded or random tokens: " + number(low) + ".." +
                                 number(high) + " of what tokens * experts_per_token give, in " +
                                 std::to_string(loose) + " rows");
    finding.count = loose;
    findings_.push_back(std::move(finding));
  }

  Rows all_rows() const {
    Rows rows;
    for (const KernelRow& row : table_.rows) rows.push_back(&row);
    return rows;
  }

  /// Rows that differ only along one axis, in its order.
  std::vector<Rows> lines_along(std::size_t axis) const {
    Rows rows = all_rows();
    std::stable_sort(rows.begin(), rows.end(), [axis](const KernelRow* a, const KernelRow* b) {
      if (before(*a, *b, axis)) return true;
      return !before(*b, *a, axis) && a->shape[axis] < b->shape[axis];
    });
    std::vector<Rows> lines;
    for (const KernelRow* row : rows) {
      if (lines.empty() || before(*lines.back().front(), *row, axis)) lines.emplace_back();
      lines.back().push_back(row);
    }
    return lines;
  }

  void check_monotone() {
    const std::size_t axis = work_axis_;
    if (axis == max_axes) return;
    Collector found(FindingKind::non_monotone, table_);
    for (const Rows& rows : lines_along(axis)) {
      for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i]->shape[axis] == rows[i - 1]->shape[axis]) continue;
        if (rows[i]->latency_s >= (1 - monotone_tolerance) * rows[i - 1]->latency_s) continue;
        found.add(rows[i]->line, shape_of(table_, *rows[i]) + ": " +
                                     number(rows[i]->latency_s * 1e6) + " us, " +
                                     number(rows[i - 1]->latency_s * 1e6) + " us at " +
                                     table_.axes[axis] + " " + number(rows[i - 1]->shape[axis]));
      }
    }
    found.into(findings_, "more work takes over 10 % less time");
  }

  /// Cells of the grid (every value of the last axis that some line has) that were not measured.
  void check_holes() {
    const std::size_t axis = work_axis_;
    if (axis == max_axes) return;
    const auto lines = lines_along(axis);
    std::vector<double> values;
    for (const KernelRow& row : table_.rows) values.push_back(row.shape[axis]);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    int holes = 0;
    std::string example;
    for (const Rows& rows : lines) {
      auto next = rows.begin();
      for (const double value : values) {
        const auto first = next;
        while (next != rows.end() && (*next)->shape[axis] == value) ++next;
        if (next != first || ++holes > 1) continue;
        KernelRow missing = *rows.front();
        missing.shape[axis] = value;
        example = shape_of(table_, missing);
      }
    }
    if (holes == 0) return;
    Finding finding =
        single(FindingKind::hole, table_,
               std::to_string(holes) + " of " + std::to_string(lines.size() * values.size()) +
                   " cells were not measured, first " + example);
    finding.count = holes;
    findings_.push_back(std::move(finding));
  }

  void check_warm_up() {
    if (table_.rows.size() < 2 || work_axis_ == max_axes) return;
    const KernelRow& first = table_.rows[0];
    const KernelRow& second = table_.rows[1];
    const bool more_work = std::equal(first.shape.begin(), first.shape.end(), second.shape.begin(),
                                      [](double a, double b) { return a <= b; });
    if (!more_work || first.latency_s < warm_up_factor * second.latency_s) return;
    Collector found(FindingKind::warm_up, table_);
    found.add(first.line, shape_of(table_, first) + ": " + number(first.latency_s * 1e6) +
                              " us, the next row " + number(second.latency_s * 1e6) +
                              " us with more work");
    found.into(findings_, "the first row looks like a warm-up");
  }

  const KernelTable& table_;
  std::vector<Finding>& findings_;
  ImpliedPeak peak_;
  std::size_t work_axis_;  // max_axes where the op has none
  double datasheet_ = 0;
  const Hardware* hardware_ = nullptr;
};

}  // namespace

void check_table(const KernelTable& table, const std::optional<Hardware>& hardware,
                 std::vector<Finding>& findings) {
  TableCheck(table, hardware, findings).run();
}

}  // namespace rooflua
