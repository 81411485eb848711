#pragma once
// Shares of evidence as documents and reports write them.

#include <string>

#include "base/json.h"
#include "cost/evidence.h"

namespace rooflua {

/// {measured: 0.7, interpolated: 0.3}: shares above 0, from good to bad.
Json evidence_json(const EvidenceShares& shares);
/// The inverse: what is not named is 0, unknown names are left out.
EvidenceShares shares_from_json(const Json& evidence);

/// "measured 71.2 %, interpolated 28.8 %": shares above 0, from good to bad.
std::string evidence_line(const EvidenceShares& shares);

}  // namespace rooflua
