#include "base/json_text.h"
#include "measure/html/parts.h"
#include "measure/write/interval_lines.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// "22.1 ms (19.8 to 25.0)" of one figure; "" where the run does not have it.
std::string range(const Json& intervals, const char* key) {
  const Json* of = intervals.find(key);
  return of == nullptr ? "" : text_of(*of, "text");
}

/// A row per served run that has an interval.
Rows served_rows(const Json& variants) {
  Rows table;
  for (const Json& variant : variants.items()) {
    const Json* intervals = variant.find("intervals");
    if (intervals == nullptr || intervals->find("deployments") == nullptr ||
        variant.find("price") != nullptr)
      continue;
    table.push_back({text_of(variant, "name"), range(*intervals, "tpot_s"),
                     range(*intervals, "ttft_s"), range(*intervals, "e2e_s"),
                     grouped(intervals->find("deployments")->integer())});
  }
  if (!table.empty())
    table.insert(table.begin(), {"variant", "TPOT", "TTFT", "E2E", "deployments like it"});
  return table;
}

/// A row per batch that has an interval.
Rows price_rows(const Json& variants) {
  Rows table;
  for (const Json& variant : variants.items()) {
    const Json* prices = variant.find("price");
    if (prices == nullptr) continue;
    for (const Json& batch : prices->items()) {
      const Json* interval = batch.find("interval");
      if (interval == nullptr) continue;
      table.push_back({text_of(variant, "name"), text_of(batch, "name"),
                       figure(number_of(batch, "time_s") * 1e3) + " ms",
                       text_of(*interval, "text")});
    }
  }
  if (!table.empty()) table.insert(table.begin(), {"variant", "batch", "time", "interval"});
  return table;
}

/// A table without the column of names where nothing varies; folded away where it is long.
void add_table(HtmlPage& page, Rows table, bool varies) {
  if (table.empty()) return;
  if (!varies) {
    for (std::vector<std::string>& row : table) row.erase(row.begin());
  }
  const bool is_long = table.size() > most_listed + 1;
  if (is_long) page.open_details(std::to_string(table.size() - 1) + " intervals");
  page.table(table);
  if (is_long) page.close_details();
}

/// Whether a line of a report says what the table of the only run says.
bool is_in_table(const std::string& line, const Json& variant) {
  const Json* intervals = variant.find("intervals");
  for (const char* key : {"tpot_s", "ttft_s", "e2e_s"}) {
    const std::string text = intervals == nullptr ? "" : range(*intervals, key);
    if (!text.empty() && line.find(text.substr(0, text.size() - 1)) != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace

void add_intervals(HtmlPage& page, const Json& variants) {
  std::vector<const Json*> documents;
  for (const Json& variant : variants.items()) documents.push_back(&variant);
  const std::vector<std::string> about = interval_kinds(documents);
  if (about.empty()) return;
  page.heading("How sure");
  const bool varies = documents.size() > 1;
  add_table(page, served_rows(variants), varies);
  add_table(page, price_rows(variants), varies);
  for (const std::string& line : about) page.note(line);
  if (varies) return;
  const std::vector<std::string> lines = interval_lines(*documents.front());
  for (const std::string& line : lines) {
    if (line != about.front() && !is_in_table(line, *documents.front())) page.note(line);
  }
}

}  // namespace rooflua::html
