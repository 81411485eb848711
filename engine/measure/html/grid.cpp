#include "measure/html/grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/json_text.h"
#include "measure/html/chart/scale.h"
#include "measure/html/parameter_unit.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

constexpr int steps = 8;           // of colour: the classes h1 to h8
constexpr double wide_range = 20;  // beyond, steps of colour are equal ratios

/// A metric in the unit in which its cells are shown.
struct Shown {
  std::string label, unit;
  std::vector<double> values;  // NaN: none
  std::optional<double> limit;
  double least = 0, most = 0;  // ends of the colours
  bool by_ratio = false;
};

Shown shown(const Json& metric) {
  Shown out;
  out.label = text_of(metric, "label");
  out.unit = text_of(metric, "unit");
  const double low = number_of(metric, "low"), high = number_of(metric, "high");
  double factor = 1;
  if (out.unit == "s") {
    const TimeUnit unit = time_unit(std::max(std::abs(low), std::abs(high)));
    out.unit = unit.name, factor = unit.per_s;
  } else if (out.unit == "1") {
    out.unit = "%", factor = 100;
  }
  for (const Json& value : metric.find("values")->items())
    out.values.push_back(value.is_number() ? value.number() * factor
                                           : std::numeric_limits<double>::quiet_NaN());
  out.least = low * factor, out.most = high * factor;
  if (const Json* limit = metric.find("limit"); limit != nullptr && limit->is_number())
    out.limit = limit->number() * factor;
  out.by_ratio = out.least > 0 && out.most > wide_range * out.least;
  return out;
}

int step_of(double value, const Shown& metric) {
  if (metric.most <= metric.least) return 1;
  const double share = metric.by_ratio
                           ? std::log(value / metric.least) / std::log(metric.most / metric.least)
                           : (value - metric.least) / (metric.most - metric.least);
  return std::clamp(1 + static_cast<int>(share * steps), 1, steps);
}

std::string with_unit(double value, const std::string& unit) {
  return figure(value) + (unit.empty() ? "" : " " + unit);
}

std::string name_of(const Json& axis, const Json& parameters) {
  const std::string label = text_of(axis, "label");
  const std::string unit = unit_of_parameter(parameters, label);
  return unit.empty() ? label : label + " (" + unit + ")";
}

std::string last_word(const Json& axis) {
  const std::string label = text_of(axis, "label");
  return label.substr(label.rfind('.') + 1);
}

/// What the colours stand for.
std::string legend(const Shown& metric) {
  std::string out = "<p class=\"scale\">" + escaped(with_unit(metric.least, metric.unit)) + " ";
  if (metric.most > metric.least) {
    for (int step = 1; step <= steps; ++step)
      out += "<span class=\"h" + std::to_string(step) + "\"></span>";
    out += " " + escaped(with_unit(metric.most, metric.unit));
    out += metric.by_ratio ? ", steps of equal ratio" : ", steps of equal size";
  } else {
    out += "everywhere";
  }
  if (metric.limit)
    out += ". <span class=\"miss\">Framed</span>: above the SLO of " +
           escaped(short_text(*metric.limit) + (metric.unit.empty() ? "" : " " + metric.unit));
  return out + "</p>\n";
}

class Grid {
 public:
  Grid(const Json& described, const Json& parameters)
      : described_(described),
        parameters_(parameters),
        xs_(described.find("xs")->items()),
        ys_(described.find("ys")->items()) {}

  std::string table(const Shown& metric) const {
    std::string out =
        "<div class=\"scroll\"><table class=\"cells\">\n<tr><th></th><th colspan=\"" +
        std::to_string(xs_.size()) + "\">" + escaped(name_of(*described_.find("x"), parameters_)) +
        "</th></tr>\n<tr><th>" + escaped(name_of(*described_.find("y"), parameters_)) + "</th>";
    for (const Json& x : xs_) out += "<th>" + escaped(short_text(x.number())) + "</th>";
    out += "</tr>\n";
    for (std::size_t row = 0; row < ys_.size(); ++row) {
      out += "<tr><th>" + escaped(short_text(ys_[row].number())) + "</th>";
      for (std::size_t column = 0; column < xs_.size(); ++column)
        out += cell(metric, row * xs_.size() + column);
      out += "</tr>\n";
    }
    return out + "</table></div>\n";
  }

  /// Which cells have no run, by the reason.
  std::string missing() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // and their cells
    std::size_t empty = 0;
    const Json::Array& states = described_.find("states")->items();
    for (std::size_t at = 0; at < states.size(); ++at) {
      const std::string& why = states[at].text();
      if (why.empty()) {
        empty += variant(at) < 0;
        continue;
      }
      auto known = std::find_if(reasons.begin(), reasons.end(),
                                [&](const auto& each) { return each.first == why; });
      if (known == reasons.end()) known = reasons.insert(reasons.end(), {why, {}});
      known->second.push_back(place(at));
    }
    std::string out;
    for (const auto& [why, cells] : reasons) {
      const std::string more =
          cells.size() > 1 ? " and " + std::to_string(cells.size() - 1) + " more" : "";
      out += "<p class=\"note\">" + escaped("Missing: " + cells.front() + more + ": " + why) +
             "</p>\n";
    }
    if (empty > 0)
      out += "<p class=\"note\">" + std::to_string(empty) +
             (empty == 1 ? " pair of values was" : " pairs of values were") +
             " not asked for.</p>\n";
    return out;
  }

 private:
  std::int64_t variant(std::size_t at) const {
    return described_.find("variants")->items()[at].integer();
  }

  /// "max_num_seqs=4, rate_per_s=160"
  std::string place(std::size_t at) const {
    return last_word(*described_.find("x")) + "=" + short_text(xs_[at % xs_.size()].number()) +
           ", " + last_word(*described_.find("y")) + "=" +
           short_text(ys_[at / xs_.size()].number());
  }

  std::string cell(const Shown& metric, std::size_t at) const {
    const double value = metric.values[at];
    const std::string& state = described_.find("states")->items()[at].text();
    if (std::isfinite(value)) {
      const bool misses = metric.limit && value > *metric.limit;
      std::string out =
          "<td class=\"h" + std::to_string(step_of(value, metric)) + (misses ? " miss\"" : "\"");
      if (variant(at) >= 0) out += " data-v=\"" + std::to_string(variant(at)) + "\"";
      if (!state.empty()) out += " title=\"" + escaped(state) + "\"";
      return out + ">" + escaped(figure(value)) + (state.empty() ? "" : "*") + "</td>";
    }
    const std::string word = variant(at) >= 0                ? "none"
                             : state.empty()                 ? ""
                             : state.rfind("failed", 0) == 0 ? "failed"
                                                             : "not run";
    const std::string why = state.empty() ? "the run has no such figure" : state;
    return "<td class=\"none\" title=\"" + escaped(word.empty() ? "not asked for" : why) + "\">" +
           word + "</td>";
  }

  const Json& described_;
  const Json& parameters_;
  const Json::Array& xs_;
  const Json::Array& ys_;
};

}  // namespace

std::string grid_html(const Json& described, const Json& parameters, int number) {
  const Grid grid(described, parameters);
  const std::string name = "grid" + std::to_string(number);
  const std::string title = text_of(described, "title");
  std::string out = title.empty() ? "" : "<h3>" + escaped(title) + "</h3>\n";
  out += "<div class=\"heat\">\n";
  int position = 0;
  for (const Json& each : described.find("metrics")->items()) {
    const Shown metric = shown(each);
    const std::string id = name + "-" + std::to_string(++position);
    const std::string label =
        metric.unit.empty() ? metric.label : metric.label + " (" + metric.unit + ")";
    out += "<input type=\"radio\" name=\"" + name + "\" id=\"" + id + "\"" +
           (position == 1 ? " checked=\"checked\"" : "") + "/><label for=\"" + id + "\">" +
           escaped(label) + "</label>\n<div class=\"pane\">\n" + legend(metric) +
           grid.table(metric) + "</div>\n";
  }
  return out + grid.missing() + "</div>\n";
}

}  // namespace rooflua::html
