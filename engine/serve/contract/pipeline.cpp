#include "serve/contract/pipeline.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

Step& Pipeline::append() {
  ROOFLUA_ASSERT(!full());
  Step& step = at(planned_++);
  step.own_gaps.clear();
  step.stamps.clear();
  step.ending.clear();
  step.skipped.clear();
  step.fills.clear();
  step.filled.clear();
  step.prefills.clear();
  step.discarded = 0;
  step.plain = false;
  step.decode_index = -1;
  return step;
}

Step& Pipeline::replace_plain() {
  const Step& like = steps_[static_cast<std::size_t>(behind(first_))];
  const bool is_own = &like == &at(planned_);
  Step& step = is_own ? at(planned_++) : append();
  if (!is_own) step.batch = like.batch;
  step.plain = true;
  return step;
}

void Pipeline::start(Picoseconds now, Picoseconds end) {
  ROOFLUA_ASSERT(planned_ > 0 && !executing_);
  Step& step = at(0);
  step.start = now;
  step.end = end;
  executing_ = true;
}

const Step& Pipeline::retire() {
  ROOFLUA_ASSERT(executing_);
  Step& step = at(0);
  step.batch.prefills = step.prefills.data();
  first_ = behind(first_);
  --planned_;
  executing_ = false;
  return step;
}

Pipeline::CommonGap Pipeline::stamp_plain(Picoseconds now) {
  const CommonGap common{now - common_token_, front().batch.decodes};
  common_token_ = now;
  return common;
}

Pipeline::CommonGap Pipeline::stamp_decodes(Requests& requests, Picoseconds now,
                                            std::vector<Picoseconds>& gaps) {
  const Step& step = front();
  for (const std::int32_t slot : step.own_gaps)
    gaps.push_back(now - requests.progress(slot).last_token);
  for (const std::int32_t slot : step.stamps) requests.progress(slot).last_token = now;
  if (step.decode_index < 0) return {};
  const auto own = static_cast<std::int32_t>(step.own_gaps.size());
  const CommonGap common{now - common_token_, step.batch.decodes - step.discarded - own};
  common_token_ = now;
  return common;
}

/// First tokens, and those of requests that were preempted and prefilled again.
void Pipeline::stamp_prefills(Requests& requests, Picoseconds now, std::vector<Picoseconds>& gaps) {
  for (const PrefillWork& work : front().prefills) {
    if (work.completes == 0) continue;
    Progress& progress = requests.progress(work.slot);
    if (progress.first_token == never) {
      progress.first_token = now;
    } else {
      gaps.push_back(now - progress.last_token);
    }
    progress.last_token = now;
  }
}

std::int32_t Pipeline::landing_prompts(const Requests& requests) const {
  std::int32_t out = 0;
  for (std::int32_t place = 0; place < planned_; ++place) {
    for (const PrefillWork& work : at(place).prefills)
      out += work.completes != 0 && requests.progress(work.slot).first_token == never ? 1 : 0;
  }
  return out;
}

bool Pipeline::last_step_lands(std::int32_t slot, const Progress& progress) const {
  if (planned_ == 0) return false;
  const Step& step = at(planned_ - 1);
  if (step.decode_index >= progress.token_from) return true;
  const auto completes = [&](const PrefillWork& work) {
    return work.slot == slot && work.completes != 0;
  };
  return std::find(step.own_gaps.begin(), step.own_gaps.end(), slot) != step.own_gaps.end() ||
         std::any_of(step.prefills.begin(), step.prefills.end(), completes);
}

void Pipeline::leave_common_pace(std::int32_t slot, Progress& progress) {
  for (std::int32_t place = planned_ - 1; place >= 0; --place) {
    Step& step = at(place);
    if (step.decode_index < progress.token_from) continue;
    step.stamps.push_back(slot);
    step.plain = false;
    return;
  }
  progress.last_token = common_token_;
}

void Pipeline::discard_behind(std::int32_t slot) {
  Step& behind = at(1);
  std::erase(behind.own_gaps, slot);
  std::erase(behind.stamps, slot);
  ++behind.discarded;
  behind.plain = false;
}

}  // namespace rooflua
