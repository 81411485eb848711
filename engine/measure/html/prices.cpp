// Reports in HTML of what has no clock: priced batches, and figures of a static model.

#include <algorithm>
#include <set>

#include "base/json_text.h"
#include "measure/html/chart/chart.h"
#include "measure/html/parts.h"
#include "measure/write/evidence_text.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

constexpr std::size_t most_priced_ops = 7;

std::string label(const Json& variant, const Json& batch) {
  const std::string own = text_of(variant, "name"), name = text_of(batch, "name");
  return own.empty() ? name : own + ": " + name;
}

EvidenceShares shares_of(const Json& batch) {
  const Json* evidence = batch.find("evidence");
  return evidence == nullptr ? EvidenceShares{} : shares_from_json(*evidence);
}

/// Ops of one batch, the largest first, the small ones together.
std::string op_bars(const std::vector<const Json*>& batches, const std::vector<std::string>& names,
                    const TimeUnit& unit) {
  std::vector<std::pair<double, std::string>> order;
  for (const Json* batch : batches) {
    for (const Json& row : batch->find("rows")->items()) {
      const std::string op = text_of(row, "name");
      auto found = std::find_if(order.begin(), order.end(),
                                [&](const auto& each) { return each.second == op; });
      if (found == order.end()) found = order.insert(order.end(), {0, op});
      found->first -= number_of(row, "time_s");
    }
  }
  std::sort(order.begin(), order.end());
  const bool others = order.size() > most_priced_ops + 1;
  if (others) order.resize(most_priced_ops);
  BarChart chart;
  chart.title = "Time by operation";
  chart.value = {"time", unit.name, Axis::Kind::linear, {}, {}};
  for (const auto& [time, op] : order) chart.segments.push_back({op, ""});
  if (others) chart.segments.push_back({"others", ""});
  for (std::size_t i = 0; i < batches.size(); ++i) {
    Bar bar{names[i], std::vector<double>(chart.segments.size())};
    for (const Json& row : batches[i]->find("rows")->items()) {
      std::size_t at = 0;
      while (at < order.size() && order[at].second != text_of(row, "name")) ++at;
      if (at < bar.values.size()) bar.values[at] += number_of(row, "time_s") * unit.per_s;
    }
    for (double& value : bar.values) value = std::max(value, 0.0);
    bar.total = figure(number_of(*batches[i], "time_s") * unit.per_s) + " " + unit.name;
    chart.bars.push_back(std::move(bar));
  }
  return svg(chart);
}

/// A row per variant, a column per batch.
void times_table(HtmlPage& page, const Json& variants, const TimeUnit& unit) {
  std::vector<std::vector<std::string>> table{{"variant"}};
  for (const Json& batch : variants.items()[0].find("price")->items())
    table[0].push_back(text_of(batch, "name") + " " + unit.name);
  for (const Json& variant : variants.items()) {
    const std::string name = text_of(variant, "name");
    table.push_back({name.empty() ? "time of the step" : name});
    for (const Json& batch : variant.find("price")->items())
      table.back().push_back(figure(number_of(batch, "time_s") * unit.per_s));
  }
  page.table(table);
}

void rows_table(HtmlPage& page, const Json& batch) {
  std::vector<std::vector<std::string>> table{
      {"op", "shape", "runs", "flop", "bytes", "MFU", "bound", "time us", "share", "rests on", ""}};
  for (const Json& row : batch.find("rows")->items()) {
    const double mfu = number_of(row, "mfu"), count = number_of(row, "count");
    const double flop = number_of(row, "flop") * count, bytes = number_of(row, "bytes") * count;
    table.push_back(
        {text_of(row, "name"), text_of(row, "shape"), grouped(static_cast<std::int64_t>(count)),
         flop > 0 ? scaled(flop, "flop") : "", bytes > 0 ? scaled(bytes, "B") : "",
         mfu > 0 ? percent(mfu) : "", text_of(row, "bound"), figure(number_of(row, "time_s") * 1e6),
         percent(number_of(row, "share")), text_of(row, "evidence"), text_of(row, "note")});
  }
  page.table(table);
}

void leaves(const Json& value, const std::string& path,
            std::vector<std::pair<std::string, std::string>>& out) {
  if (value.is_object()) {
    for (const Json::Member& member : value.members())
      leaves(member.value, path.empty() ? member.key : path + "." + member.key, out);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      leaves(value.items()[i], path + "[" + std::to_string(i + 1) + "]", out);
  } else {
    out.emplace_back(path, value.is_number() ? figure(value.number())
                           : value.is_text() ? value.text()
                                             : dump_json(value));
  }
}

}  // namespace

void add_evidence(HtmlPage& page, const Json& variants) {
  std::vector<std::string> names;
  std::vector<EvidenceShares> shares;
  for (const Json& variant : variants.items()) {
    if (names.size() == most_drawn) break;
    const std::string name = text_of(variant, "name");
    names.push_back(name.empty() ? "all runs" : name);
    shares.push_back(shares_of(*variant.find("summary")));
  }
  if (names.empty()) return;
  page.heading("Evidence");
  page.charts({evidence_bars(names, shares)});
}

void add_prices(HtmlPage& page, const Json& variants) {
  std::vector<const Json*> batches;
  std::vector<std::string> names;
  std::vector<EvidenceShares> shares;
  double largest = 0;
  for (const Json& variant : variants.items()) {
    for (const Json& batch : variant.find("price")->items()) {
      batches.push_back(&batch);
      names.push_back(label(variant, batch));
      shares.push_back(shares_of(batch));
      largest = std::max(largest, number_of(batch, "time_s"));
    }
  }
  const TimeUnit unit = time_unit(largest);
  page.heading("Prices");
  times_table(page, variants, unit);
  const std::size_t some = std::min<std::size_t>(batches.size(), 3 * most_drawn);
  names.resize(some), shares.resize(some);
  const std::vector<const Json*> shown(batches.begin(),
                                       batches.begin() + static_cast<std::ptrdiff_t>(some));
  page.charts({op_bars(shown, names, unit), evidence_bars(names, shares)});
  page.note(
      "The number at a bar is the time of the step; where operations overlap, they take longer "
      "than the step when laid end to end.");
  page.heading("Operations");
  for (std::size_t i = 0; i < some; ++i) {
    page.open_details(names[i]);
    rows_table(page, *batches[i]);
    page.close_details();
  }
  if (some < batches.size())
    page.note("Shown are the first " + std::to_string(some) + " of " +
              std::to_string(batches.size()) + " batches.");
}

void add_static(HtmlPage& page, const Json& variants) {
  page.heading("Figures");
  std::vector<std::string> order;
  std::vector<std::vector<std::pair<std::string, std::string>>> columns;
  std::vector<std::vector<std::string>> table{{"figure"}};
  for (const Json& variant : variants.items()) {
    table[0].push_back(text_of(variant, "name").empty() ? "value" : text_of(variant, "name"));
    leaves(*variant.find("static"), "", columns.emplace_back());
    for (const auto& [path, value] : columns.back())
      if (std::find(order.begin(), order.end(), path) == order.end()) order.push_back(path);
  }
  for (const std::string& path : order) {
    table.push_back({path});
    for (const auto& column : columns) {
      const auto found = std::find_if(column.begin(), column.end(),
                                      [&](const auto& each) { return each.first == path; });
      table.back().push_back(found == column.end() ? "" : found->second);
    }
  }
  page.table(table);
}

}  // namespace rooflua::html
