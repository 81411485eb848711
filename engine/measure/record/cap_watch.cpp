#include "measure/record/cap_watch.h"

#include <algorithm>

namespace rooflua {

void CapWatch::on_preempt(const Request& request, Picoseconds now) {
  (void)request, (void)now;
  limited_ = true;
}

void CapWatch::on_step(const StepDone& step) {
  if (limited_) return;
  most_running_ = std::max(most_running_, step.running);
  const bool spent =
      step.max_num_batched_tokens > 0 && step.batch->tokens >= step.max_num_batched_tokens;
  const bool cut = std::any_of(step.prefills.begin(), step.prefills.end(),
                               [](const PrefillWork& each) { return each.completes == 0; });
  const bool full = step.max_num_seqs > 0 && step.running >= step.max_num_seqs;
  limited_ = spent || full || cut || step.waiting > 0;
}

void CapWatch::on_done(const RequestDone& done) {
  if (done.outcome != Outcome::completed) limited_ = true;
}

}  // namespace rooflua
