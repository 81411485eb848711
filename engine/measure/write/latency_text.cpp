#include "measure/write/latency_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

Json parts_json(const PartSeconds& parts) {
  Json out = Json::object();
  for (const Word<LatencyPart>& word : latency_part_words) {
    const double time_s = parts[static_cast<std::size_t>(word.value)];
    if (time_s != 0) out[word.name] = time_s;
  }
  return out;
}

std::string parts_shares(const PartSeconds& parts) {
  double whole = 0;
  std::vector<std::pair<double, std::string_view>> shares;
  for (const Word<LatencyPart>& word : latency_part_words) {
    const double time_s = parts[static_cast<std::size_t>(word.value)];
    whole += time_s;
    if (time_s > 0) shares.emplace_back(time_s, word.name);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (const auto& [time_s, name] : shares)
    out += (out.empty() ? "" : ", ") + std::string(name) + " " + percent(time_s / whole);
  return out;
}

namespace {

/// Where a latency goes, for all requests and for the slowest.
std::string parts_line(std::string_view label, const std::optional<PartSeconds>& all,
                       const std::optional<PartSeconds>& slowest) {
  if (!all) return "";
  const std::string of_all = parts_shares(*all), of_slowest = parts_shares(*slowest);
  if (of_all.empty()) return "";
  return std::string(label) + "   " + of_all +
         (of_slowest == of_all ? "" : "; of the slowest 1 %: " + of_slowest) + "\n";
}

}  // namespace

std::string latency_lines(const Summary& s) {
  return parts_line("TTFT is", s.ttft_parts_s, s.ttft_parts_slowest_1pct_s) +
         parts_line("TPOT is", s.tpot_parts_s, s.tpot_parts_slowest_1pct_s);
}

}  // namespace rooflua
