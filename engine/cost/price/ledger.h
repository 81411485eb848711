#pragma once
// What the price of a step rests on: seconds per kind of evidence, in every step; one row per
// operation only in explanations.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/units.h"
#include "border.h"
#include "cost/price/evidence.h"

namespace rooflua {

/// Seconds per evidence, in the order of the enum. Plain doubles, because compiled Lua code adds to
/// them in place through a pointer: the layout is part of the border to Lua.
struct EvidenceSeconds {
  double seconds[evidence_count] = {};

  Seconds total() const;
  void add(Evidence evidence, Seconds time) { seconds[int(evidence)] += time / unit::s; }
  /// Adds another account `factor` times.
  void add(const EvidenceSeconds& other, double factor = 1);
  /// Share of each evidence; they sum to 1 to the last bit or two, or are all 0 for no time at all.
  EvidenceShares shares() const;
};

/// One operation as it was priced. `time_s`, flop and bytes are of one run; it ran `count` times.
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

/// The account of the step that is being priced. Lua holds a pointer to it and adds to it in place.
/// `listening` is 0 or 1: whether Lua keeps a LedgerRow per operation. `corrected` is 0, or
/// the number of the list of corrections that apply to operations.
struct Ledger {
  EvidenceSeconds account;
  std::int32_t listening = 0;
  std::int32_t corrected = 0;
};
static_assert(std::is_standard_layout_v<Ledger> && std::is_trivially_copyable_v<Ledger>);
static_assert(evidence_count == rooflua_evidence_count);
static_assert(sizeof(Ledger) == sizeof(rooflua_ledger));
static_assert(offsetof(Ledger, listening) == offsetof(rooflua_ledger, listening));

}  // namespace rooflua
