#pragma once
// What a step's price rests on: seconds per evidence, always; every primitive as a row, when
// somebody listens (explain).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/units.h"
#include "border.h"
#include "cost/evidence.h"

namespace rooflua {

/// Seconds per evidence, in the order of the enum. Plain doubles, because compiled Lua code adds to
/// them in place through a pointer: the layout is part of the border.
struct EvidenceSeconds {
  double seconds[evidence_count] = {};

  Seconds total() const;
  void add(Evidence evidence, Seconds time) { seconds[int(evidence)] += time / unit::s; }
  /// Adds another account `factor` times.
  void add(const EvidenceSeconds& other, double factor = 1);
  /// Share of each evidence; they sum to 1 to the last bit or two, or are all 0 for no time at all.
  std::array<double, evidence_count> shares() const;
};

/// One primitive as it was priced. `time_s` and work are of one run; it ran `count` times.
struct LedgerRow {
  std::string name;   // what the step model calls it: "qkv"
  std::string kind;   // "gemm", "attention_decode", "step", "correction" ...
  std::string shape;  // "m=256 k=4096 n=6144 bf16"
  double flop = 0, bytes = 0;
  double mfu = 0;     // NaN = the op has none
  std::string bound;  // "compute", "memory", "link" or ""
  Evidence evidence = Evidence::assumed;
  std::string note;  // table and rows in words
  double time_s = 0;
  double count = 1;
};

/// The state that Lua sees by pointer: listening is 0 or 1.
struct LedgerState {
  EvidenceSeconds account;
  std::int32_t listening = 0;
  std::int32_t reserved = 0;
};
static_assert(std::is_standard_layout_v<LedgerState> && std::is_trivially_copyable_v<LedgerState>);
static_assert(evidence_count == rooflua_evidence_count);
static_assert(sizeof(LedgerState) == sizeof(rooflua_ledger));
static_assert(offsetof(LedgerState, listening) == offsetof(rooflua_ledger, listening));

/// The account of one step, and its rows when listening.
class Ledger {
 public:
  /// Empties account and rows; keeps listening or not.
  void reset();
  void listen(bool on) { state_.listening = on ? 1 : 0; }
  bool listening() const { return state_.listening != 0; }

  /// time of `row` times its count goes to its evidence; the row is kept when listening.
  void record(LedgerRow row);
  /// Scales the account so that it sums to `time`, the step's price: corrections of a whole step
  /// and terms that a model adds outside the primitives are spread like the rest. Time without
  /// any recorded second is `assumed`. @throws Error if time is negative or not finite
  void settle(Seconds time);

  LedgerState& state() { return state_; }
  const EvidenceSeconds& account() const { return state_.account; }
  const std::vector<LedgerRow>& rows() const { return rows_; }

 private:
  LedgerState state_;
  std::vector<LedgerRow> rows_;
};

}  // namespace rooflua
