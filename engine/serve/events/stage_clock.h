#pragma once
// Pipeline parallelism: the layers of a model in stages, one after the other, each on GPUs of its
// own. Several steps are under way at once, each in another stage. Step j leaves stage s at
//
//     C(j, s) = max( C(j, s-1) + x(j, s), C(j-1, s) ) + w(s) time(j)
//
// with C(j, -1) + x(j, 0) the moment of the plan, w(s) the stage's share of the step's time, and
// x(j, s) the transfer of the step's activations from the stage before:
//
//     x(j, s) = pp_send_s + tokens of the step * seconds per token
//
// A stage is busy with one step at a time, and steps keep their order. Times are whole picoseconds:
// the step's time is cut at llround(time * (w(0) + ... + w(s))), and no stage takes less than 1 ps.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

/// The way from one stage to the next.
struct StageLink {
  double pp_send_s = 10e-6, s_per_token = 0;
};

/// Stages of a replica. Fewer than two shares: all layers are in one stage.
struct StageConfig {
  std::vector<double> shares;    // of a step's time, by stage; they sum to 1
  std::vector<StageLink> links;  // from each stage to the next: one fewer than shares
  std::optional<std::int32_t> pp_batches = {};  // as many as stages where none are given
  bool several() const { return shares.size() > 1; }
  std::int32_t most_batches() const {
    return pp_batches.value_or(static_cast<std::int32_t>(shares.size()));
  }
};

class StageClock {
 public:
  explicit StageClock(const StageConfig& config);

  struct Passage {
    Picoseconds start = 0, end = 0;  // in the first stage, out of the last one
  };
  /// The next step, planned now, takes its way through all stages.
  /// @param time_s  of all stages together, transfers excluded
  /// @throws Error if time_s is no time, or the clock would pass its end
  Passage pass(Picoseconds now, double time_s, std::int32_t tokens);
  /// When a step that is planned now begins.
  Picoseconds next_start(Picoseconds now) const { return std::max(now, free_at_.front()); }
  /// It begins so much later. @throws Error if the clock would pass its end
  void hold(Picoseconds now, double wait_s) {
    free_at_.front() = after(next_start(now), wait_s, "what a step waits for");
  }

 private:
  std::vector<double> until_;  // shares of a stage and all before it
  std::vector<StageLink> links_;
  std::vector<Picoseconds> free_at_;  // by stage
};

}  // namespace rooflua
