#pragma once
// A priced step, op by op: what `step --explain` prints and writes.

#include <string>
#include <vector>

#include "base/json.h"
#include "cost/ledger.h"

namespace rooflua {

/// A table with a row per op in the order of the step, its share of the step's time and what that
/// rests on. Rows of kind "correction" are indented: they say what a correction added to the op
/// above. A last row has the sum, one before it what the rows do not explain ("not itemised").
/// @param shares  of the whole step, from the ledger's account
std::string step_report(const std::vector<LedgerRow>& rows, const EvidenceShares& shares,
                        double time_s);

/// {time_s, evidence: {measured: share}, rows: [{name, kind, shape, count, flop, bytes, mfu, bound,
/// evidence, note, time_s, share}], not_itemised_s}. flop and bytes are of one run, time_s of all
/// `count`; the last is there where the rows do not add up to the step, below 0 where they overlap.
Json step_json(const std::vector<LedgerRow>& rows, const EvidenceShares& shares, double time_s);

}  // namespace rooflua
