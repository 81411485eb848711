#include "measure/write/step_report.h"

#include <cmath>

#include "measure/write/evidence_text.h"
#include "measure/write/report.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

bool is_correction(const LedgerRow& row) {
  return row.kind == "correction";
}

double time_of(const LedgerRow& row) {
  return row.time_s * row.count;
}

double share(double part, double whole) {
  return whole != 0 ? part / whole : 0;
}

std::string micros(double time_s) {
  return std::string(time_s < 0 ? "-" : "").append(figure(std::abs(time_s) * 1e6));
}

std::vector<std::string> cells(const LedgerRow& row, double time_s) {
  const bool has_mfu = std::isfinite(row.mfu) && row.mfu > 0;
  return {(is_correction(row) ? "  " : "") + row.name,
          row.shape,
          is_correction(row) ? "" : figure(row.count).substr(0, figure(row.count).find('.')),
          row.flop > 0 ? scaled(row.flop * row.count, "flop") : "",
          row.bytes > 0 ? scaled(row.bytes * row.count, "B") : "",
          has_mfu ? percent(row.mfu) : "",
          row.bound,
          micros(time_of(row)),
          percent(share(time_of(row), time_s)),
          std::string(name(row.evidence)),
          row.note};
}

}  // namespace

std::string step_table(const std::vector<LedgerRow>& rows, double time_s) {
  Table table;
  for (const std::size_t column : {1u, 6u, 9u, 10u}) table.left(column);
  table.add({"op", "shape", "runs", "work", "traffic", "MFU", "bound", "time us", "share",
             "evidence", "rests on"});
  table.rule();
  for (const LedgerRow& row : rows) table.add(cells(row, time_s));
  table.rule();
  double flop = 0, bytes = 0;
  for (const LedgerRow& row : rows) {
    flop += row.flop * row.count;
    bytes += row.bytes * row.count;
  }
  table.add({"step", "", "", flop > 0 ? scaled(flop, "flop") : "",
             bytes > 0 ? scaled(bytes, "B") : "", "", "", micros(time_s), "100.0 %"});
  return table.text();
}

std::string step_report(const std::vector<LedgerRow>& rows, const EvidenceShares& shares,
                        double time_s) {
  return step_table(rows, time_s) + "\nevidence  " + evidence_line(shares) + "\n";
}

Json step_json(const std::vector<LedgerRow>& rows, const EvidenceShares& shares, double time_s) {
  Json out = Json::object();
  out["time_s"] = time_s;
  out["evidence"] = evidence_json(shares);
  out["rows"] = Json::array();
  for (const LedgerRow& row : rows) {
    Json entry = Json::object();
    entry["name"] = row.name;
    entry["kind"] = row.kind;
    entry["shape"] = row.shape;
    entry["count"] = row.count;
    entry["flop"] = row.flop;
    entry["bytes"] = row.bytes;
    entry["mfu"] = std::isfinite(row.mfu) && row.mfu > 0 ? Json(row.mfu) : Json();
    entry["bound"] = row.bound;
    entry["evidence"] = is_correction(row) ? Json() : Json(name(row.evidence));
    entry["note"] = row.note;
    entry["time_s"] = time_of(row);
    entry["share"] = share(time_of(row), time_s);
    out["rows"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace rooflua
