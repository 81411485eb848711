#pragma once
// Whether the queue of a run grows: the mean time to first token in its two halves.

#include <optional>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua {

/// Keeps the time to first token of every completed request.
class GrowthWatch : public Observer {
 public:
  /// Mean seconds to the first token of the completed requests among the first half of those that
  /// were sent, and of those among the second half.
  struct Halves {
    double early_s = 0, late_s = 0;
  };

  bool reads_prices() const override { return false; }
  void on_done(const RequestDone& done) override;

  /// @return nothing where one half has no completed request
  std::optional<Halves> halves() const;

 private:
  std::vector<Picoseconds> ttft_;  // by id, in the order of arrival; `never`: not completed
};

}  // namespace rooflua
