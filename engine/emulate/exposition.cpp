#include "emulate/exposition.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/json.h"

namespace rooflua::emulate {

namespace {

/// Backslashes, quotes and ends of lines of a label's value or of a help text.
std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
  return out;
}

/// A bound as people write it: 0.0001.
std::string bound_text(double bound) {
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", bound);
  return out;
}

}  // namespace

void Histogram::observe(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::int64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

void Exposition::begin(const std::string& name, const std::string& type, const std::string& help) {
  name_ = name;
  text_ += "# HELP " + name + " " + escaped(help, false) + "\n# TYPE " + name + " " + type + "\n";
}

void Exposition::add(const Labels& labels, double value, std::string_view suffix) {
  text_.append(name_).append(suffix);
  char open = '{';
  for (const auto& [key, own] : labels) {
    text_ += open + key + "=\"" + escaped(own, true) + "\"";
    open = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += ' ' + json_number(value) + '\n';
}

void Exposition::add(const Labels& labels, const Histogram& histogram) {
  std::int64_t below = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    below += histogram.counts()[i];
    Labels bounded = labels;
    const auto& bounds = histogram.bounds();
    bounded.emplace_back("le", i < bounds.size() ? bound_text(bounds[i]) : "+Inf");
    add(bounded, static_cast<double>(below), "_bucket");
  }
  add(labels, histogram.sum(), "_sum");
  add(labels, static_cast<double>(below), "_count");
}

}  // namespace rooflua::emulate
