#include "measure/write/survivors.h"

#include <algorithm>

#include "measure/write/table.h"

namespace rooflua {

namespace {

std::string survivors(std::int64_t completed, std::int64_t requests, const std::string& of) {
  if (completed >= requests || completed == 0) return "";
  const double frac = static_cast<double>(completed) / static_cast<double>(requests);
  return percent(frac) + " of the requests" + of + " completed: quantiles are of these alone\n";
}

double completed_frac(const Summary& s) {
  return s.requests > 0 ? static_cast<double>(s.completed) / static_cast<double>(s.requests) : 1;
}

}  // namespace

std::string survivors_text(const Summary& s) {
  return survivors(s.completed, s.requests, "");
}

std::string survivors_text(const std::vector<NamedSummary>& runs) {
  const auto worst =
      std::min_element(runs.begin(), runs.end(), [](const NamedSummary& a, const NamedSummary& b) {
        return completed_frac(*a.summary) < completed_frac(*b.summary);
      });
  if (worst == runs.end()) return "";
  const std::string of = runs.size() > 1 ? " of " + std::string(worst->name) : "";
  return survivors(worst->summary->completed, worst->summary->requests, of);
}

}  // namespace rooflua
