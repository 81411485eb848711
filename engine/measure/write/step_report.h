#pragma once
// A priced step, op by op: what `step --explain` prints and writes.

#include <string>
#include <vector>

#include "base/json.h"
#include "cost/price/ledger.h"

namespace rooflua {

/// A table with a row per op in the order of the step, its share of the step's time and what that
/// rests on. Rows of kind "correction" are indented: they say what a correction added to the op
/// above. A last row has the sum.
std::string step_table(const std::vector<LedgerRow>& rows, double time_s);

/// The same table, and below it what the time of the step rests on.
/// @param shares  of the whole step, from the ledger's account
std::string step_report(const std::vector<LedgerRow>& rows, const EvidenceShares& shares,
                        double time_s);

/// {time_s, evidence: {measured: share}, rows: [{name, kind, shape, count, flop, bytes, mfu, bound,
/// evidence, note, time_s, share}]}. flop and bytes are of one run, time_s of all `count`. The times
/// sum to that of the step: what a step model does not record is a row "not_itemised", and work
/// that overlaps a row "overlap" below 0.
Json step_json(const std::vector<LedgerRow>& rows, const EvidenceShares& shares, double time_s);

}  // namespace rooflua
