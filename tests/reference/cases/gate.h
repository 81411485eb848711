#pragma once
// Random questions to gates: which requests are held, in which order they go, and when.

#include "serve/contract/admission.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

struct GateCase {
  int kind = 0;  // 0: there is none; 1: it looks at the replicas; 2: and chooses among flows;
                 // 3: it looks at the clock; 4: every request passes
  GateRules rules;
  Ps staleness = 0, interval = 0, delay = 0;
  double limit = 1;
  int most_in_flight = 1000;
  bool refuses = false, passes = false;  // some of the requests, at once
};

GateCase draw_gate(std::uint64_t seed, bool split);

/// What a request of a case with a gate says besides.
inline std::int32_t tenant_of(int id) {
  return id % 7 == 6 ? -1 : id * 5 % 3;
}
inline std::int32_t program_of(int id) {
  return id / 4;
}
/// From when it was sent; 0: none.
Ps deadline_of(int id);

/// The same for both simulators: it remembers nothing.
class CaseGate : public AdmissionPolicy {
 public:
  explicit CaseGate(const GateCase& gate) : gate_(gate) {}
  GateRules rules() const override { return gate_.rules; }
  Verdict admit(const rooflua::Request& request, const GateView& view) override;
  Next next(const rooflua::Request& request, const GateView& view) override;
  bool chooses() const override { return gate_.kind == 2; }
  std::int32_t choose(std::span<const GateFlow> flows, const GateView& view) override;

 private:
  GateCase gate_;
};

}  // namespace rooflua::reference
