#include "cost/quality/verify.h"

#include <algorithm>

#include "cost/quality/table_check.h"

namespace rooflua {
namespace {

bool same_rows(const KernelTable& a, const KernelTable& b) {
  if (a.op != b.op || a.decode != b.decode || a.rows.size() != b.rows.size() || a.parts != b.parts)
    return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    if (a.rows[i].latency_s != b.rows[i].latency_s) return false;
  }
  return !a.rows.empty();
}

}  // namespace

int VerifyReport::errors() const {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(),
                                        [](const Finding& f) { return is_error(f.kind); }));
}
int VerifyReport::notes() const {
  return static_cast<int>(findings.size()) - errors();
}

std::string VerifyReport::text() const {
  std::string result;
  for (const TableReport& table : tables) {
    result += table.name + "  " + std::to_string(table.rows) + " rows  " + table.grid + "\n";
    if (table.peak.median.in_base_units() > 0) {
      result += "  implied peak " + tflop(table.peak.median) + " (" + tflop(table.peak.min) +
                " .. " + tflop(table.peak.max) + ")\n";
    }
    if (!table.source.empty()) result += "  " + table.source + "\n";
    for (const Finding& finding : findings) {
      if (finding.path != table.path || finding.table != table.name) continue;
      result += std::string(is_error(finding.kind) ? "  error  " : "  note   ") +
                std::string(name(finding.kind)) + " x" + std::to_string(finding.count) + "  " +
                finding.text + "\n";
    }
  }
  return result + std::to_string(tables.size()) + " tables, " + std::to_string(errors()) +
         " errors, " + std::to_string(notes()) + " notes\n";
}

VerifyReport verify(const std::vector<const KernelTable*>& tables,
                    const std::optional<Hardware>& hardware) {
  VerifyReport report;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const KernelTable& table = *tables[i];
    report.tables.push_back({table.name, table.path, static_cast<int>(table.rows.size()),
                             grid_of(table), implied_peak(table), table.source});
    check_table(table, hardware, report.findings);
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_rows(*tables[j], table)) continue;
      report.findings.push_back(
          single(FindingKind::copy, table, "the rows are those of " + tables[j]->name));
      break;
    }
  }
  return report;
}

VerifyReport verify(const MfuDatabase& database) {
  return verify(database.tables(), database.hardware());
}

}  // namespace rooflua
