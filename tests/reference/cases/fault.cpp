#include "tests/reference/cases/fault.h"

namespace rooflua::reference {

std::optional<Fault> CaseFaults::next(double, std::int32_t) {
  if (place_ == faults_.list.size()) return {};
  const CaseFault& each = faults_.list[place_++];
  Fault out;
  out.time_s = seconds(each.time);
  out.kind = each.factor == 0 ? Fault::Kind::fail : Fault::Kind::slow;
  out.replica = each.replica;
  if (each.lasts != unset) out.for_s = seconds(each.lasts);
  if (each.factor > 0) out.factor = each.factor;
  return out;
}

}  // namespace rooflua::reference
