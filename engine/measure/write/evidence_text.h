#pragma once
// Shares of evidence as documents and reports write them.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cost/price/evidence.h"
#include "measure/record/summary.h"

namespace rooflua {

/// {measured: 0.7, interpolated: 0.3}: shares above 0, from good to bad.
Json evidence_json(const EvidenceShares& shares);
/// The inverse: what is not named is 0, unknown names are left out.
EvidenceShares shares_from_json(const Json& evidence);

/// "measured 71.2 %, interpolated 28.8 %; touched by notes 40.0 %": shares above 0, from good to
/// bad. @param noted_frac  share of supported time that notes of the model touch
std::string evidence_line(const EvidenceShares& shares, std::optional<double> noted_frac = {});

/// Why --strict refuses a time that rests on these shares: "43.20 % of the time is extrapolated,
/// stand_in, modelled or assumed (allowed: 20 %)"; empty where it does not.
/// @param noted_frac       share of supported time that notes of the model touch
/// @param allowed_percent  most of the time that may be unsupported or touched by notes
/// @param of               " of NAME", or empty for the only time there is
std::string strict_problem(const EvidenceShares& shares, double noted_frac, double allowed_percent,
                           const std::string& of = "");

/// What these runs count as unsupported: "extrapolated, stand_in, modelled or assumed", and "or
/// that notes touch" where that occurs.
std::string unsupported_text(const std::vector<const Summary*>& runs);

/// Of runs that stand side by side, that the time of one is supported and that of another is not:
/// a sentence with both names; empty where their unsupported shares differ by less than a fifth.
std::string unlike_evidence(const std::vector<NamedSummary>& runs);

}  // namespace rooflua
