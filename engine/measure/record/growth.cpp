#include "measure/record/growth.h"

#include <cstddef>
#include <span>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

std::optional<double> mean_s(std::span<const Picoseconds> times) {
  double sum_s = 0;
  std::size_t count = 0;
  for (const Picoseconds each : times) {
    if (each == never) continue;
    sum_s += seconds(each);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum_s / static_cast<double>(count);
}

}  // namespace

void GrowthWatch::on_done(const RequestDone& done) {
  if (done.id < 0) return;
  const auto place = static_cast<std::size_t>(done.id);
  if (place >= ttft_.size()) ttft_.resize(place + 1, never);
  if (done.outcome == Outcome::completed) ttft_[place] = done.first_token - done.arrival;
}

std::optional<GrowthWatch::Halves> GrowthWatch::halves() const {
  const std::span<const Picoseconds> all = ttft_;
  const std::size_t half = all.size() / 2;
  const std::optional<double> early_s = mean_s(all.first(half)), late_s = mean_s(all.subspan(half));
  if (!early_s || !late_s) return std::nullopt;
  return Halves{*early_s, *late_s};
}

}  // namespace rooflua
