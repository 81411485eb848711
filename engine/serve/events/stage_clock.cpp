#include "serve/events/stage_clock.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rooflua {

StageClock::StageClock(const StageConfig& config)
    : until_(config.shares.size()), links_(config.links), free_at_(config.shares.size(), 0) {
  std::partial_sum(config.shares.begin(), config.shares.end(), until_.begin());
  if (!until_.empty()) until_.back() = 1;  // the sum of the shares is 1 but for its last bits
}

StageClock::Passage StageClock::pass(Picoseconds now, double time_s, std::int32_t tokens) {
  const auto whole = static_cast<double>(picoseconds(time_s, "step model"));
  Passage passage;
  Picoseconds there = now, cut = 0;
  for (std::size_t s = 0; s < free_at_.size(); ++s) {
    const double way_s = s > 0 ? links_[s - 1].pp_send_s + tokens * links_[s - 1].s_per_token : 0;
    if (way_s > 0) there = after(there, way_s, "transfer between stages");
    const Picoseconds begin = std::max(there, free_at_[s]);
    if (s == 0) passage.start = begin;
    const auto next_cut = static_cast<Picoseconds>(std::llround(whole * until_[s]));
    const Picoseconds work = std::max<Picoseconds>(1, next_cut - cut);
    cut = next_cut;
    there = free_at_[s] = after(begin, seconds(work), "step model");
  }
  passage.end = there;
  return passage;
}

}  // namespace rooflua
