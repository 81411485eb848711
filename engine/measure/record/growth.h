#pragma once
// Whether the queue of a run grows: the mean time to first token in its two halves, and whether its load grows by itself.

#include <cstdint>
#include <optional>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua {

/// Keeps when every completed request came, how long it is, and its time to first token.
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

  /// Whether a part of the second half of the requests comes faster, or is longer, than the first half by more than
  /// chance explains: a ramp, a day, a burst. The requests are divided into ten blocks. The mean of a block of the
  /// second half is compared with that of the first half, in standard errors of a block whose gaps (or lengths) are
  /// independent. The squares of those that are heavier are summed; they follow a mixture of chi-square distributions.
  /// @return false for fewer than 40 completed requests
  bool load_rises() const;

 private:
  struct Seen {
    Picoseconds arrival = never, ttft = never;  // never: not completed
    std::int32_t tokens = 0;                    // of prompt and answer
  };
  std::vector<Seen> seen_;  // by id, in the order of arrival
};

}  // namespace rooflua
