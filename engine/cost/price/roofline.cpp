#include "cost/price/roofline.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua {
namespace {

void require(bool holds, const char* what, double found, const char* right) {
  if (holds) return;
  throw Error("roofline",
              std::string(what) + ": expected " + right + ", found " + std::to_string(found));
}

void require_peak(double value, const char* what) {
  require(std::isfinite(value) && value > 0, what, value, "a finite number above 0");
}

void require_work(double value, const char* what) {
  require(std::isfinite(value) && value >= 0, what, value, "a finite number, 0 or more");
}

}  // namespace

Duration roofline(Work work, Ceiling ceiling, double mfu) {
  require_work(work.flop.in_base_units(), "flop");
  require_work(work.bytes.in_base_units(), "bytes");
  require_peak(ceiling.compute.in_base_units(), "peak_flop_per_s");
  require_peak(ceiling.memory.in_base_units(), "bytes_per_s");
  require(mfu > 0 && mfu <= 1, "mfu", mfu, "a fraction of peak above 0 and at most 1");
  const Seconds arithmetic = work.flop / (ceiling.compute * mfu);
  const Seconds traffic = work.bytes / ceiling.memory;
  if (traffic > arithmetic) return {traffic, Bound::memory};
  return {arithmetic, Bound::compute};
}

}  // namespace rooflua
