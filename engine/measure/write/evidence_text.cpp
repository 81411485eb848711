#include "measure/write/evidence_text.h"

#include <algorithm>
#include <cstdio>

#include "measure/write/table.h"

namespace rooflua {

Json evidence_json(const EvidenceShares& shares) {
  Json out = Json::object();
  for (const EvidenceWord& word : evidence_words) {
    const double share = shares[static_cast<std::size_t>(word.value)];
    if (share > 0) out[word.name] = share;
  }
  return out;
}

EvidenceShares shares_from_json(const Json& evidence) {
  EvidenceShares out{};
  for (const EvidenceWord& word : evidence_words) {
    const Json* share = evidence.find(word.name);
    if (share != nullptr && share->is_number())
      out[static_cast<std::size_t>(word.value)] = share->number();
  }
  return out;
}

std::string evidence_line(const EvidenceShares& shares, std::optional<double> noted_frac) {
  std::string out;
  for (const EvidenceWord& word : evidence_words) {
    const double share = shares[static_cast<std::size_t>(word.value)];
    if (share <= 0) continue;
    out += (out.empty() ? "" : ", ") + std::string(word.name) + " " + percent(share);
  }
  if (out.empty()) return "none: nothing was priced";
  return noted_frac.value_or(0) > 0 ? out + "; touched by notes " + percent(*noted_frac) : out;
}

std::string strict_problem(const EvidenceShares& shares, double noted_frac, double allowed_percent,
                           const std::string& of) {
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0; })) {
    return "nothing is known of what the time" + of +
           " rests on: its step model priced nothing from tables or by the library's own formulas";
  }
  const double percent = 100 * (unsupported_share(shares) + noted_frac);
  if (percent <= allowed_percent) return "";
  char share[40], allowed[40];
  std::snprintf(share, sizeof share, "%.2f", percent);
  std::snprintf(allowed, sizeof allowed, "%g", allowed_percent);
  return std::string(share) + " % of the time" + of + " is " + unsupported_names() +
         (noted_frac > 0 ? ", or notes of the model touch it" : "") + " (allowed: " + allowed +
         " %)";
}

std::string unsupported_text(const std::vector<const Summary*>& runs) {
  const bool noted = std::any_of(
      runs.begin(), runs.end(), [](const Summary* run) { return run->noted_frac.value_or(0) > 0; });
  return unsupported_names() + (noted ? ", or that notes of the model touch" : "");
}

std::string unlike_evidence(const std::vector<NamedSummary>& runs) {
  constexpr double least = 0.2;
  if (runs.size() < 2) return "";
  const auto share = [](const NamedSummary& run) { return run.summary->unsupported_share(); };
  const auto [low, high] = std::minmax_element(
      runs.begin(), runs.end(),
      [&](const NamedSummary& a, const NamedSummary& b) { return share(a) < share(b); });
  if (share(*high) - share(*low) < least) return "";
  return "unlike evidence: " + percent(share(*low)) + " of the time of " + std::string(low->name) +
         " is unsupported, " + percent(share(*high)) + " of " + std::string(high->name) +
         "; a difference between them may come from what they rest on";
}

}  // namespace rooflua
