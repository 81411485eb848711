#pragma once
// Whether the seats or the token budget of a replica decided anything in a run.

#include <cstdint>

#include "serve/contract/observer.h"

namespace rooflua {

/// A run in which no plan left a request waiting, cut a prompt, preempted, took the last seat or
/// spent the whole budget is the run of every deployment that differs by more seats or a larger
/// budget only, where prices do not depend on these and the scheduler reads them as limits alone.
class CapWatch : public Observer {
 public:
  bool reads_prices() const override { return false; }
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  void on_done(const RequestDone& done) override;

  /// Whether a cap may have decided something.
  bool limited() const { return limited_; }
  /// Of one replica, in its fullest step.
  std::int32_t most_running() const { return most_running_; }

 private:
  bool limited_ = false;
  std::int32_t most_running_ = 0;
};

}  // namespace rooflua
