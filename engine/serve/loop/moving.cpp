#include "serve/loop/moving.h"

#include "base/error.h"
#include "serve/loop/simulation.h"

namespace rooflua {

void Moving::weigh(const RankGroup& group) {
  const std::int32_t engine = s_.group_of_[static_cast<std::size_t>(group.members.front())];
  ExpertSteps& own = s_.experts_[static_cast<std::size_t>(engine)];
  const bool begins = own.left == 0;
  if (begins) {
    own.period =
        s_.bindings_.experts->next(engine, s_.now_s(), own.steps, static_cast<double>(own.tokens));
    const ExpertPeriod& made = own.period;
    ROOFLUA_ASSERT(made.steps >= 1 && made.load >= 1 && made.stall_s >= 0);
    own.left = made.steps;
    own.steps = own.tokens = 0;
  }
  for (const std::int32_t index : group.members) {
    Batch& batch = s_.at(index).planned_batch();
    const bool counts = begins && index == group.members.front();
    batch.expert_load = own.period.load;
    batch.expert_stall_s = begins ? own.period.stall_s : 0;
    batch.expert_moved_bytes = counts ? own.period.moved_bytes : 0;
    batch.expert_rebalanced = counts ? own.period.rebalanced : 0;
    own.tokens += batch.tokens;
    if (begins) s_.runs_[static_cast<std::size_t>(index)].forget();
  }
  --own.left;
  ++own.steps;
}

std::int32_t Moving::left(std::int32_t index) const {
  const auto engine = static_cast<std::size_t>(s_.group_of_[static_cast<std::size_t>(index)]);
  return s_.experts_[engine].left;
}

void Moving::pass(std::int32_t index, std::int64_t steps, std::int64_t tokens) {
  const auto engine = static_cast<std::size_t>(s_.group_of_[static_cast<std::size_t>(index)]);
  ExpertSteps& own = s_.experts_[engine];
  own.left -= static_cast<std::int32_t>(steps);
  own.steps += steps;
  own.tokens += steps * tokens;
}

}  // namespace rooflua
