#pragma once
// Whether the queue of a run grows: the mean time to first token in its two halves; and whether its load changes by
// itself.

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

  /// Whether requests come faster and slower, or are longer and shorter, in the course of the run by more than chance
  /// explains: a ramp, a day, a burst. Ten blocks of requests are compared with the mean of all, in standard errors of
  /// a block whose gaps (or lengths) are independent. Later requests of a session, and retries, do not count: when
  /// these come depends on the server.
  /// @return false for fewer than 40 requests that count
  bool load_varies() const;

 private:
  struct Seen {
    Picoseconds arrival = never, ttft = never;  // never: not completed
    std::int32_t tokens = 0;                    // of prompt and answer
    std::int32_t session = -1, attempt = 0;
  };
  std::vector<Seen> seen_;  // by id, in the order of arrival
};

}  // namespace rooflua
